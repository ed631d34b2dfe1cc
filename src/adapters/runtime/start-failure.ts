/** By name: these adapters import runtime, so runtime cannot import their classes. */
const explained = new Set(["MigrationError", "StorageNotOpened"]);

/** The message for an operator when a program cannot start; undefined for an unexpected error. */
export function startFailure(error: unknown, portName = "ORCHESTRATOR_PORT"): string | undefined {
  if (error instanceof Error && explained.has(error.name)) return error.message;
  const { code, port, address } = error as NodeJS.ErrnoException & {
    port?: number;
    address?: string;
  };
  if (code === "EADDRINUSE") {
    return `Port ${port ?? ""} on ${address ?? "this machine"} is in use: stop the program that uses it, or set ${portName}.`;
  }
  if (code === "EACCES" && port !== undefined) {
    return `This user may not listen on port ${port}: set ${portName} to a port above 1023.`;
  }
  if (code === "ECONNREFUSED") {
    return `No PostgreSQL answers at ${address ?? "this address"}:${port ?? ""}: start it, or correct DATABASE_URL.`;
  }
  return undefined;
}
