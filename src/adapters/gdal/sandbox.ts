import type { SandboxKind } from "../../core/api/fleet.ts";
import type { GdalLimits } from "./limits.ts";
import type { Command } from "./run-process.ts";

/** What one run may reach besides the system's libraries and GDAL's data. */
interface Reach {
  /** The only folder that the program can change. */
  readonly workDir: string;
  /** Files and folders that it can read. */
  readonly sources: readonly string[];
  readonly limits: GdalLimits;
}

/**
 * Confines programs of this machine. Inside, a program has its own process ids, no /proc, no
 * network, no capabilities, an empty /tmp, and the files of `Reach`.
 */
export interface Sandbox {
  readonly kind: Exclude<SandboxKind, "wasm">;
  /** The command that runs `command` inside. Ending it ends every process that it has started. */
  confine(command: Command, reach: Reach): Command;
}
