import { MigrationError } from "../postgres/migration-files.ts";

/** In words, where a program cannot start for a reason that its operator can cure. */
export function startFailure(error: unknown, portName = "ORCHESTRATOR_PORT"): string | undefined {
  if (error instanceof MigrationError) return error.message;
  const { code, port, address } = error as NodeJS.ErrnoException & {
    port?: number;
    address?: string;
  };
  if (code === "EADDRINUSE") {
    return `Port ${port ?? ""} on ${address ?? "this machine"} is taken: stop who uses it, or set ${portName}.`;
  }
  if (code === "EACCES" && port !== undefined) return `Port ${port} needs more rights.`;
  if (code === "ECONNREFUSED") {
    return `No PostgreSQL answers at ${address ?? "its address"}:${port ?? ""}: start it, or correct DATABASE_URL.`;
  }
  return undefined;
}
