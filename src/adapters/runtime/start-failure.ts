import { MigrationError } from "../postgres/migration-error.ts";
import { hasErrorCode } from "./error-code.ts";

/** In words, where a program cannot start for a reason that its operator can cure. */
export function startFailure(error: unknown, portName = "ORCHESTRATOR_PORT"): string | undefined {
  if (error instanceof MigrationError) return error.message;
  const { port, address } = error as { port?: number; address?: string };
  if (hasErrorCode(error, "EADDRINUSE")) {
    return `Port ${port ?? ""} on ${address ?? "this machine"} is taken: stop who uses it, or set ${portName}.`;
  }
  if (hasErrorCode(error, "EACCES") && port !== undefined) return `Port ${port} needs more rights.`;
  if (hasErrorCode(error, "ECONNREFUSED")) {
    return `No PostgreSQL answers at ${address ?? "its address"}:${port ?? ""}: start it, or correct DATABASE_URL.`;
  }
  return undefined;
}
