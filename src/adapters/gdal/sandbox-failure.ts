import { KnownError } from "../runtime/known-error.ts";
import { GdalError } from "./gdal-error.ts";
import type { Unusable } from "./gdal.ts";
import type { SandboxKind } from "../../core/api/fleet.ts";

/** The sandbox could not be built for a run: the machine is short of namespaces or of memory. */
export class SandboxFailed extends KnownError {
  constructor(kind: SandboxKind, error: GdalError) {
    const words = error.lines.join(" ");
    super("GDAL_SANDBOX_FAILED", "transient", `The sandbox (${kind}) could not be built: ${words}`);
  }
}

/** bubblewrap, `unshare` and our script begin the lines of their own errors with these names. */
export function isSandboxFailure(error: unknown): error is GdalError {
  if (!(error instanceof GdalError) || error.exitCode === 0) return false;
  return error.lines.some((line) => /^(?:bwrap|unshare|sandbox): /.test(line));
}

/**
 * The worker may not open a file without a sandbox, and has none. Transient: another worker may have
 * one.
 */
export class SandboxMissing extends KnownError {
  constructor(unusable: readonly Unusable[]) {
    super(
      "GDAL_SANDBOX_MISSING",
      "transient",
      `This worker opens files only in a sandbox (GDAL_SANDBOX=require), and none works here: ${describeUnusable(unusable)}. ${remedy} With GDAL_SANDBOX=prefer it would use the WebAssembly engine.`,
    );
  }
}

export const remedy =
  "Install bubblewrap, and allow user namespaces (in a container: a seccomp profile that permits unshare and mount).";

export function describeUnusable(unusable: readonly Unusable[]): string {
  return unusable.map(({ kind, reason }) => `${kind}: ${reason}`).join("; ");
}
