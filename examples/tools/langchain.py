"""A tool of LangChain that runs commands, confined: the model reads what was
denied."""
from langchain_core.tools import tool

import sbx

sandbox = sbx.Sandbox("@coding", session=True)


@tool
def shell(command: str) -> str:
    """Runs a command of the shell in the project."""
    result = sandbox.run(command, timeout=120)
    denied = [f"denied: {d['right']} {d['object']}" for d in result.denials]
    return "\n".join([result.stdout, result.stderr,
                      f"status {result.returncode}", *denied])
