/// <reference types="node" />
import { ChildProcess, StdioOptions } from "child_process";

/** How a sandbox is made.  sbxrun(1) says what each word means. */
export interface SandboxOptions {
  /** "@NAME", or the path of a text or a blob; "@coding" by default. */
  policy?: string;
  /** By default the top of the git working tree, or the directory of the call. */
  workspace?: string;
  /** "full" or "standard"; the best there is by default. */
  level?: string;
  parameters?: Record<string, string>;
  limits?: Record<string, string>;
  /** Rules beside those of the policy, such as "read /data". */
  allow?: string[];
  deny?: string[];
  /** Whether to record what is denied: true by default; it costs each system
   * call that names a file some 10 microseconds. */
  explain?: boolean;
  /** Asked about each host that no rule is about, while the command waits; what it
   * gives is one of `answers`.  Without it such a host is refused. */
  ask?: (question: Question) => Answer | Promise<Answer>;
  /** One sandbox for all commands, which share /tmp and the network: it lives
   * until close().  Without it each command has a new one. */
  session?: boolean;
  /** The program; by default that of the package, or the one of PATH.  It must
   * not lie in the workspace, where a command could replace it. */
  sbxrun?: string;
}

export type Answer = "no" | "once" | "session";

/** A host that a command wants, what the rule for it would open besides, and how long
 * the command waits. */
export interface Question {
  name: string;
  port: number;
  rule: string;
  opens: string;
  seconds: number;
  answers: Answer[];
  [member: string]: unknown;
}

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** For run(): standard input. */
  input?: string | Buffer;
  /** Milliseconds, counted in whole seconds; then everything is ended. */
  timeout?: number;
  /** Sends SIGTERM when it is aborted. */
  signal?: AbortSignal;
  /** Bytes that are kept of each stream: 16 MiB by default. */
  maxBuffer?: number;
  onStdout?: (part: Buffer) => void;
  onStderr?: (part: Buffer) => void;
  /** For spawn(): the first three descriptors. */
  stdio?: StdioOptions & unknown[];
}

/** Something the command was denied.  output.schema.json has all members. */
export interface Denial {
  right: string;
  object: string | null;
  program: string;
  count: number;
  /** Rules that would allow it, as `sbxc allow` takes them; or none. */
  fix: string[];
  [member: string]: unknown;
}

/** Something that runs later was made or changed: a hook, an editor's setting. */
export interface Change {
  change: string;
  path: string;
  [member: string]: unknown;
}

export interface Result {
  /** The command's own status; 126 and 127 where it could not be executed. */
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  stdout: string;
  stderr: string;
  /** Bytes of output that are missing. */
  cut: number;
  denials: Denial[];
  changes: Change[];
  /** sbxrun's last record. */
  receipt: Record<string, unknown> | null;
}

/** The command was not started; the message says why. */
export class SandboxError extends Error {
  stderr: string;
}

/** A command: words, or a text for `sh -c` inside. */
export type Command = string | readonly string[];

export class Sandbox {
  static open(options?: SandboxOptions): Promise<Sandbox>;
  run(command: Command, options?: RunOptions): Promise<Result>;
  spawn(command: Command, options?: RunOptions):
    { child: ChildProcess; done: Promise<Result> };
  close(): Promise<void>;
}

/** What a policy says of an access, such as ["read", "/etc/passwd"]. */
export function why(policy: string, question: readonly string[],
  options?: { cwd?: string; sbxc?: string }):
  Promise<{ allowed: boolean; text: string }>;
