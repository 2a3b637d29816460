#!/usr/bin/env node
// srt [--settings FILE] [-c] COMMAND...: as the program of sandbox-runtime.
"use strict";
const { spawn } = require("child_process");
const fs = require("fs");
const { constants, homedir } = require("os");
const path = require("path");
const { parseArgs } = require("util");
const { SandboxManager, EMPTY, quoted } = require("./sandbox-runtime.js");

async function main() {
  const args = process.argv.slice(2);
  const options = { settings: { type: "string", short: "s" },
    debug: { type: "boolean", short: "d" }, command: { type: "string", short: "c" } };
  // What follows the first word of the command is the command's own.
  let end = 0;
  while (end < args.length && args[end].startsWith("-") && args[end] !== "--")
    end += ["-s", "--settings", "-c", "--command"].includes(args[end]) ? 2 : 1;
  const { values } = parseArgs({ args: args.slice(0, end), options });
  const words = args.slice(args[end] === "--" ? end + 1 : end);
  const command = values.command ??
    (words.length === 1 ? words[0] : words.map(quoted).join(" "));
  if (!command) throw new Error("no command; srt [--settings FILE] COMMAND...");
  const file = values.settings ?? path.join(homedir(), ".srt-settings.json");
  const config = values.settings || fs.existsSync(file) ?
    JSON.parse(fs.readFileSync(file, "utf8")) : EMPTY;
  await SandboxManager.initialize(config);
  const { argv } = await SandboxManager.wrapWithSandboxArgv(command);
  const child = spawn(argv[0], argv.slice(1), { stdio: "inherit" });
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(name, () => child.kill(name));
  child.on("exit", (code, signal) =>
    process.exit(code ?? 128 + constants.signals[signal]));
}

main().catch((error) => {
  console.error(`srt: ${error.message.trim()}`);
  process.exit(125);
});
