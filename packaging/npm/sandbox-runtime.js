// The interface of @anthropic-ai/sandbox-runtime, so that a program which uses that
// package runs on sbx by another import: require("sbx/sandbox-runtime").  Settings
// become a policy by `sbxc import`, and denials are read from sbxrun's records.
//
// Other than there: changed lists hold from the next command on, and a setting that
// sbx cannot hold is an error.
"use strict";
const { execFile } = require("child_process");
const { createHash } = require("crypto");
const fs = require("fs");
const path = require("path");
const { promisify } = require("util");
const { asker, program, state } = require("./index.js");

const KEY_LENGTH = 100;
const LIMIT = 100;
const EMPTY = {
  network: { allowedDomains: [], deniedDomains: [] },
  filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
};

const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;
const keyOf = (command) => String(command).slice(0, KEY_LENGTH);

class SandboxViolationStore {
  #violations = [];
  #total = 0;
  #listeners = new Set();

  addViolation(violation) {
    this.#violations.push(violation);
    this.#violations.splice(0, this.#violations.length - LIMIT);
    this.#total++;
    for (const listener of this.#listeners) listener(this.getViolations());
  }

  getViolations(limit = LIMIT) {
    collectAll();
    return limit > 0 ? this.#violations.slice(-limit) : [];
  }

  getCount() { return this.getViolations().length; }

  getTotalCount() { collectAll(); return this.#total; }

  getViolationsForCommand(command) {
    return this.getViolations().filter(({ key }) => key === keyOf(command));
  }

  clear() { this.#violations = []; }

  subscribe(listener) {
    this.#listeners.add(listener);
    listener(this.getViolations());
    return () => this.#listeners.delete(listener);
  }
}

const store = new SandboxViolationStore();
let config, workspace, sbxc, sbxrun, asks;
// Of each command: where its records are, and how much of them is read.
const runs = new Map();

async function compile(settings) {
  // Where no list has a name there is no proxy, which is what asks about others.
  if (asks && !settings.network?.allowedDomains?.length)
    settings = { ...settings,
      network: { ...settings.network, allowedDomains: ["nothing.invalid"] } };
  const text = JSON.stringify(settings);
  const { ino, mtimeMs } = fs.statSync(sbxc); // another compiler, another blob
  const name = createHash("sha256").update(`${ino} ${mtimeMs} ${text}`)
    .digest("hex");
  const blob = path.join(state(), `${name}.bin`);
  if (fs.existsSync(blob)) return blob;
  const made = fs.mkdtempSync(path.join(state(), "new-"));
  try {
    const [from, policy, out] = ["settings.json", "policy.sbx", "policy.bin"]
      .map((file) => path.join(made, file));
    fs.writeFileSync(from, text);
    const run = promisify(execFile);
    const { stderr } = await run(sbxc, ["import", "--from", "sandbox-runtime",
      "--lossy", "-p", "sandbox-runtime", "-o", policy, from]);
    // Less may be allowed than there, but nothing that is denied there.
    if (stderr.includes("[SBX1011]")) throw new Error(stderr);
    await run(sbxc, ["build", "-o", out, policy]);
    fs.renameSync(out, blob);
  } catch (error) {
    throw new Error(`the settings are refused: ${error.stderr || error.message}`);
  } finally {
    fs.rmSync(made, { recursive: true, force: true });
  }
  return blob;
}

function ignored(line, command) {
  return Object.entries(config?.ignoreViolations ?? {}).some(([name, texts]) =>
    (name === "*" || command.includes(name)) &&
      texts.some((text) => line.includes(text)));
}

// Reads what sbxrun has added to the records of a command since.
function collect(run) {
  let text = "";
  try {
    text = fs.readFileSync(run.records, "utf8");
  } catch {
    return;
  }
  const whole = text.lastIndexOf("\n") + 1;
  const lines = text.slice(run.read, whole).split("\n");
  run.read = whole;
  for (const line of lines.filter(Boolean)) {
    const record = JSON.parse(line);
    let what;
    if (record.event === "denied" && !record.probe && record.right !== "domain")
      what = `deny ${record.right} ${record.path ?? record.object}`;
    else if (record.event === "network" && record.name &&
        !["allowed", "no such name", "failed"].includes(record.verdict))
      what = `deny network-outbound ${record.name}:${record.port} ` +
        `(${record.verdict})`;
    if (what && !ignored(what, run.command))
      store.addViolation({ line: what, command: run.command, key: run.key,
        encodedCommand: Buffer.from(run.key).toString("base64"),
        timestamp: new Date(record.time * 1000) });
  }
}

let collecting = false;
function collectAll() {
  if (collecting) return;
  collecting = true;
  for (const run of runs.values()) collect(run);
  collecting = false;
}

function needed() {
  if (config === undefined)
    throw new Error("SandboxManager.initialize() has not been called");
}

// A shell's words that run a command confined.
async function wrap(command, shell, custom, options = {}) {
  needed();
  const blob = await compile(custom ? {
    ...config, ...custom,
    network: { ...config.network, ...custom.network },
    filesystem: { ...config.filesystem, ...custom.filesystem },
  } : config);
  const key = keyOf(options.commandId || command);
  const place = fs.mkdtempSync(path.join(state(), "run-"));
  const run = { key, command: options.commandText ?? command, read: 0, place,
    records: path.join(place, "records") };
  runs.set(place, run);
  return { run, argv: [sbxrun, ...asks ? [asks.option] : [], "--status-fd=3",
    "--explain=quiet", "-w", workspace, blob, "--", shell ?? "/bin/bash", "-c",
    command] };
}

const SandboxManager = {
  async initialize(settings, ask) {
    sbxrun = program("sbxrun");
    sbxc = program("sbxc");
    workspace = process.cwd();
    if (ask)
      asks = await asker(async ({ name, port }) =>
        await ask({ host: name, port }) ? "session" : "no");
    await compile(settings);
    config = settings;
  },

  isSupportedPlatform: () => process.platform === "linux",
  isSandboxingEnabled: () => config !== undefined,
  checkDependencies() {
    const errors = [];
    for (const name of ["sbxrun", "sbxc"]) {
      try {
        program(name);
      } catch (error) {
        errors.push(error.message);
      }
    }
    return { errors, warnings: [] };
  },
  checkDependenciesAsync: async () => SandboxManager.checkDependencies(),
  waitForNetworkInitialization: async () => true,

  async wrapWithSandbox(command, shell, custom, abort, options) {
    const { argv, run } = await wrap(command, shell, custom, options);
    abort?.throwIfAborted();
    return `${argv.map(quoted).join(" ")} 3>>${quoted(run.records)}`;
  },

  async wrapWithSandboxArgv(command, shell, custom, abort, cwd, options) {
    const text = await SandboxManager.wrapWithSandbox(command, shell, custom, abort,
      options);
    return { argv: ["/bin/sh", "-c", `exec ${text}`], env: process.env };
  },

  getSandboxViolationStore: () => store,
  annotateStderrWithSandboxFailures(command, stderr) {
    const lines = store.getViolationsForCommand(command).map(({ line }) => line);
    if (lines.length === 0) return stderr;
    return `${stderr}\n<sandbox_violations>\n${lines.join("\n")}\n` +
      "</sandbox_violations>";
  },

  getConfig: () => config,
  updateConfig(settings) { needed(); config = settings; },
  getFsReadConfig: () => ({ denyOnly: config?.filesystem?.denyRead ?? [],
    allowWithinDeny: config?.filesystem?.allowRead ?? [] }),
  getFsWriteConfig: () => ({ allowOnly: config?.filesystem?.allowWrite ?? [],
    denyWithinAllow: config?.filesystem?.denyWrite ?? [] }),
  getNetworkRestrictionConfig: () => ({
    allowedHosts: config?.network?.allowedDomains ?? [],
    deniedHosts: config?.network?.deniedDomains ?? [] }),
  getAllowUnixSockets: () => config?.network?.allowUnixSockets,
  getAllowLocalBinding: () => config?.network?.allowLocalBinding,
  getIgnoreViolations: () => config?.ignoreViolations,
  getEnableWeakerNestedSandbox: () => undefined,
  getLinuxGlobPatternWarnings: () => [],
  getProxyPort: () => undefined,
  getSocksProxyPort: () => undefined,
  cleanupAfterCommand() {},

  async reset() {
    collectAll();
    for (const { place } of runs.values())
      fs.rmSync(place, { recursive: true, force: true });
    runs.clear();
    asks?.close();
    config = asks = undefined;
  },
};

process.on("exit", () => {
  for (const { place } of runs.values())
    fs.rmSync(place, { recursive: true, force: true });
});

module.exports = { SandboxManager, SandboxViolationStore, EMPTY, quoted };
