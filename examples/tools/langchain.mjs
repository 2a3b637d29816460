// A tool of LangChain that runs commands, confined: the model reads what was denied.
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import sbx from "sbx";

const sandbox = await sbx.Sandbox.open({ policy: "@coding", session: true });

export const shell = tool(
  async ({ command }) => {
    const { exitCode, stdout, stderr, denials } =
      await sandbox.run(command, { timeout: 120_000 });
    const denied = denials.map((d) => `denied: ${d.right} ${d.object}`);
    return [stdout, stderr, `status ${exitCode}`, ...denied].join("\n");
  },
  {
    name: "shell",
    description: "Runs a command of the shell in the project",
    schema: z.object({ command: z.string() }),
  },
);
