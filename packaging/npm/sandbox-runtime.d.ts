/// <reference types="node" />
// What of @anthropic-ai/sandbox-runtime runs on sbx; sandbox-runtime.js says what
// differs.

/** The settings, as that package documents them. */
export interface SandboxRuntimeConfig {
  network: { allowedDomains: string[]; deniedDomains: string[];
    [member: string]: unknown };
  filesystem: { denyRead: string[]; allowRead?: string[]; allowWrite: string[];
    denyWrite: string[]; [member: string]: unknown };
  ignoreViolations?: Record<string, string[]>;
  [member: string]: unknown;
}

export interface SandboxViolationEvent {
  line: string;
  command?: string;
  encodedCommand?: string;
  timestamp: Date;
}

export interface WrapWithSandboxOptions {
  commandId?: string;
  commandText?: string;
}

export class SandboxViolationStore {
  addViolation(violation: SandboxViolationEvent): void;
  getViolations(limit?: number): SandboxViolationEvent[];
  getCount(): number;
  getTotalCount(): number;
  getViolationsForCommand(command: string): SandboxViolationEvent[];
  clear(): void;
  subscribe(listener: (violations: SandboxViolationEvent[]) => void): () => void;
}

export const SandboxManager: {
  initialize(config: SandboxRuntimeConfig,
    ask?: (host: { host: string; port: number }) => Promise<boolean>): Promise<void>;
  isSupportedPlatform(): boolean;
  isSandboxingEnabled(): boolean;
  checkDependencies(): { errors: string[]; warnings: string[] };
  waitForNetworkInitialization(): Promise<boolean>;
  wrapWithSandbox(command: string, shell?: string,
    config?: Partial<SandboxRuntimeConfig>, abort?: AbortSignal,
    options?: WrapWithSandboxOptions): Promise<string>;
  wrapWithSandboxArgv(command: string, shell?: string,
    config?: Partial<SandboxRuntimeConfig>, abort?: AbortSignal, cwd?: string,
    options?: WrapWithSandboxOptions):
    Promise<{ argv: string[]; env: NodeJS.ProcessEnv }>;
  getSandboxViolationStore(): SandboxViolationStore;
  annotateStderrWithSandboxFailures(command: string, stderr: string): string;
  getConfig(): SandboxRuntimeConfig | undefined;
  updateConfig(config: SandboxRuntimeConfig): void;
  cleanupAfterCommand(): void;
  reset(): Promise<void>;
  [member: string]: unknown;
};
