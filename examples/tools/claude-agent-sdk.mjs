// Options for query() of the Claude Agent SDK: each command of its Bash tool runs
// under sbxrun, in one session for the whole agent.  The hook gives back another
// command, whatever the model asked for; it decides nothing.
const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`;

async function confine(input) {
  const { command, ...rest } = input.tool_input;
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      updatedInput: {
        ...rest,
        command: `sbxrun --session=auto --explain=agent @coding -c ${quote(command)}`,
      },
    },
  };
}

export const options = {
  hooks: { PreToolUse: [{ matcher: "Bash", hooks: [confine] }] },
};
