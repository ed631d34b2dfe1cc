import type { Account } from "./account.ts";

/**
 * How a PostgreSQL program of the given account names its folder, when it is started in it.
 *
 * As root the data directory may lie below a folder that the server's account cannot enter, such
 * as a root home. We start the program inside of the folder before it becomes that account, and
 * /proc/self/cwd leads there without a look at the folders above. The server, its children and the
 * programs that initdb starts all stay in that folder, so the name is good for each of them.
 * Rejected: to put the data elsewhere. Whoever mounts a volume at the data directory would lose
 * the data with the container. Without /proc (macOS) the path must be reachable.
 */
export function nameOfCurrentFolder(account: Account | undefined, folder: string): string {
  return account !== undefined && process.platform === "linux" ? "/proc/self/cwd" : folder;
}
