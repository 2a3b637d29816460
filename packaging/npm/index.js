// Runs commands confined by a policy, from node: see index.d.ts for what each
// function takes and gives.  Each command is a process of sbxrun, whose records
// say how it ended and what was denied.
"use strict";
const { spawn } = require("child_process");
const fs = require("fs");
const net = require("net");
const os = require("os");
const path = require("path");
const { find, named } = require("./run.js");

const REFUSED = 125;

class SandboxError extends Error {
  constructor(message, text) {
    super(message);
    this.name = "SandboxError";
    this.stderr = text;
  }
}

// The workspace that sbxrun takes by itself: the top of the git working tree.
function workspaceOf(start) {
  for (let at = start; ; at = path.dirname(at)) {
    if (fs.existsSync(path.join(at, ".git"))) return at;
    if (at === path.dirname(at)) return start;
  }
}

// Found once, and never where a command could put another one in its place, which
// the next run would start unconfined.  node_modules/.bin is often in PATH.
function program(name, given, workspace) {
  const found = given ?? find(name);
  if (!found || !fs.existsSync(found))
    throw new SandboxError(`${name} was not found; install sbx`, "");
  const real = fs.realpathSync(found);
  const top = fs.realpathSync(workspace ?? workspaceOf(process.cwd()));
  if (real.startsWith(path.join(top, path.sep)))
    throw new SandboxError(`${real} lies in the workspace, where a command ` +
      "could replace it: install sbx elsewhere, as with npm install -g", "");
  return real;
}

// An argument vector; a text is for a shell inside.
function vector(command) {
  if (typeof command === "string") return ["sh", "-c", command];
  if (Array.isArray(command) && command.length > 0) return command.map(String);
  throw new TypeError("a command is a text for the shell, or a list of words");
}

// Collects a stream up to a number of bytes, and hands on what comes.
function collect(stream, max, seen) {
  const parts = [];
  let size = 0;
  stream.on("data", (part) => {
    if (seen) seen(part);
    if (size < max) parts.push(part.subarray(0, max - size));
    size += part.length;
  });
  return () => ({ bytes: Buffer.concat(parts), cut: Math.max(0, size - max) });
}

// The records of sbxrun: JSON lines.
function records(text) {
  return text.split("\n").filter((line) => line !== "").map((line) => {
    try {
      return JSON.parse(line);
    } catch {
      throw new SandboxError("sbxrun wrote a record that is no JSON", line);
    }
  });
}

function signalName(number) {
  return Object.keys(os.constants.signals)
    .find((name) => os.constants.signals[name] === number) ?? null;
}

// sbx keeps every command from writing here, whatever the policy says.
function state(name = ".local/state/sbx/node") {
  const places = [os.userInfo().homedir, os.homedir()]
    .map((home) => path.join(home, name));
  let cause;
  for (const place of places) {
    try {
      fs.mkdirSync(place, { recursive: true, mode: 0o700 });
      fs.accessSync(place, fs.constants.W_OK);
      return place;
    } catch (error) {
      cause = error;
    }
  }
  throw cause;
}

// What sbxrun starts for each question about a name that no rule has.  It lies where
// no command can write, as sbxrun wants of a program that runs outside.
const helper = (socket) => `#!${process.execPath}
require("net").connect({ path: ${JSON.stringify(socket)}, allowHalfOpen: true })
  .on("error", () => process.exit(1))
  .on("data", (answer) => process.stdout.write(answer))
  .on("connect", function () { process.stdin.pipe(this); });
`;

// `ask` gets each question, as an object, and answers with one of its words.
async function asker(ask) {
  const place = fs.mkdtempSync(path.join(state(".config/sbx/node"), "ask-"));
  const [socket, file] = ["s", "ask"].map((name) => path.join(place, name));
  fs.writeFileSync(file, helper(socket), { mode: 0o700 });
  const server = net.createServer({ allowHalfOpen: true }, (connection) => {
    const parts = [];
    connection.on("error", () => {});
    connection.on("data", (part) => parts.push(part));
    connection.on("end", async () => {
      let answer = "no";
      try {
        answer = await ask(JSON.parse(Buffer.concat(parts)));
      } catch { /* nobody allowed it */ }
      connection.end(`${answer}\n`);
    });
  });
  await new Promise((resolve, reject) =>
    server.on("error", reject).listen(socket, resolve));
  server.unref();
  const leave = () => fs.rmSync(place, { recursive: true, force: true });
  process.on("exit", leave);
  return {
    option: `--ask=${file}`,
    close() {
      server.close();
      leave();
      process.off("exit", leave);
    },
  };
}

let sessions = 0;

class Sandbox {
  constructor(options) {
    this.options = options;
    this.sbxrun = program("sbxrun", options.sbxrun,
      fs.existsSync(options.workspace ?? "") ? options.workspace : undefined);
    this.session = this.asks = null;
  }

  // With session: the sandbox lives until close(), or until this process ends.
  static async open(options = {}) {
    const sandbox = new Sandbox({ policy: "@coding", explain: true, ...options });
    if (options.ask) sandbox.asks = await asker(options.ask);
    if (options.session) {
      sandbox.session = `node-${process.pid}-${++sessions}`;
      await sandbox.#control(["--with-parent", "--idle=none",
        ...sandbox.#policy(), "--", "true"]);
    }
    return sandbox;
  }

  #policy() {
    const { policy, workspace, level, parameters, limits, allow, deny } =
      this.options;
    const words = [];
    if (workspace) words.push("-w", workspace);
    if (level) words.push("-l", level);
    for (const [name, value] of Object.entries(parameters ?? {}))
      words.push("-D", `${name}=${value}`);
    for (const [name, value] of Object.entries(limits ?? {}))
      words.push(`--limit=${name}=${value}`);
    for (const rule of allow ?? []) words.push(`--allow=${rule}`);
    for (const rule of deny ?? []) words.push(`--deny=${rule}`);
    return [...words, ...named([policy])];
  }

  async #control(words) {
    const child = spawn(this.sbxrun, ["--session", this.session, ...words],
      { stdio: ["ignore", "ignore", "pipe"] });
    const said = collect(child.stderr, 65536);
    const code = await new Promise((resolve, reject) => {
      child.on("error", (error) => reject(new SandboxError(error.message, "")));
      child.on("close", resolve);
    });
    const text = said().bytes.toString();
    if (code !== 0) throw new SandboxError(text.trim(), text);
  }

  // Starts a command: { child, done }.  `done` is fulfilled as run() is.
  spawn(command, options = {}) {
    const argv = vector(command);
    const words = ["--status-fd=3"];
    if (this.options.explain) words.push("--explain=quiet");
    if (this.asks) words.push(this.asks.option);
    if (options.timeout)
      words.push(`--limit=timeout=${Math.ceil(options.timeout / 1000)}s`);
    words.push(...(this.session ? ["--session", this.session] :
      this.#policy()), "--", ...argv);
    const child = spawn(this.sbxrun, words, {
      cwd: options.cwd,
      env: options.env,
      stdio: [...(options.stdio ?? ["pipe", "pipe", "pipe"]), "pipe"],
    });
    const max = options.maxBuffer ?? 16 << 20;
    const record = collect(child.stdio[3], Infinity);
    const output = child.stdout && collect(child.stdout, max, options.onStdout);
    const errors = child.stderr && collect(child.stderr, max, options.onStderr);
    const abort = () => child.kill("SIGTERM");
    const done = new Promise((resolve, reject) => {
      child.on("error", (error) => reject(new SandboxError(error.message, "")));
      child.on("close", (code, signal) => {
        try {
          resolve(this.#result(code, signal, record().bytes.toString(),
            output?.(), errors?.()));
        } catch (error) {
          reject(error);
        }
      });
    });
    if (options.signal) {
      if (options.signal.aborted) abort();
      options.signal.addEventListener("abort", abort, { once: true });
      const off = () => options.signal.removeEventListener("abort", abort);
      done.then(off, off);
    }
    return { child, done };
  }

  #result(code, signal, text, output, errors) {
    const all = records(text);
    const end = all.findLast((record) => record.event === "end");
    const said = errors?.bytes.toString() ?? "";
    // A command may end with 125 as well: only sbxrun's record tells.
    if (code === REFUSED && end?.exit !== REFUSED)
      throw new SandboxError(said.trim() || "sbxrun refused the command", said);
    return {
      exitCode: end?.exit ?? (signal ? null : code),
      signal: end ? signalName(end.signal) : signal,
      timedOut: end?.timeout ?? false,
      stdout: output?.bytes.toString() ?? "",
      stderr: said,
      cut: (output?.cut ?? 0) + (errors?.cut ?? 0) + (end?.stdout_cut ?? 0) +
        (end?.stderr_cut ?? 0),
      denials: all.filter((record) => record.event === "denied"),
      changes: all.filter((record) => record.event === "changed"),
      receipt: end ?? null,
    };
  }

  run(command, options = {}) {
    const { child, done } = this.spawn(command, options);
    child.stdin?.on("error", () => {}); // the command may not read it
    child.stdin?.end(options.input ?? "");
    return done;
  }

  // Ends a session and what runs in it.
  async close() {
    this.asks?.close();
    if (this.session === null) return;
    await this.#control(["--end"]);
    this.session = null;
  }

  async [Symbol.asyncDispose ?? Symbol.for("asyncDispose")]() {
    await this.close();
  }
}

// What sbxc says of an access, such as ["read", "/etc/passwd"], without running
// anything: { allowed, text }.
async function why(policy, question, options = {}) {
  const child = spawn(program("sbxc", options.sbxc),
    ["why", ...named([policy]), ...question],
    { stdio: ["ignore", "pipe", "pipe"], cwd: options.cwd });
  const output = collect(child.stdout, 1 << 20);
  const errors = collect(child.stderr, 65536);
  await new Promise((resolve, reject) => {
    child.on("error", (error) => reject(new SandboxError(error.message, "")));
    child.on("close", resolve);
  });
  const text = output().bytes.toString();
  const word = /^(allowed|denied)/.exec(text);
  if (word === null) {
    const said = errors().bytes.toString();
    throw new SandboxError(said.trim(), said);
  }
  return { allowed: word[1] === "allowed", text };
}

module.exports = { Sandbox, SandboxError, why, asker, program, state };
