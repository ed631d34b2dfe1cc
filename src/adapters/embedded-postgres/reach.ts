import { open } from "node:fs/promises";
import type { Account } from "./account.ts";

/** The folder of a cluster, as a PostgreSQL program of the given account can name it. */
export interface Reach {
  readonly folder: string;
  /** To be inherited by the program as its descriptors from 3 on. */
  readonly descriptors: readonly number[];
}

/**
 * As root the data directory may lie below a folder that the server's account cannot enter, such as
 * a root home. We open the cluster's folder and let the program inherit it: /proc/self/fd/3 leads
 * there without a look at the folders above, for the server, its children and the programs that
 * initdb starts.
 *
 * Rejected: to put the data elsewhere, because whoever mounts a volume at the data directory would
 * lose the data with the container. And /proc/self/cwd, because PostgreSQL up to 15 leaves its
 * folder to resolve its own symlinks and cannot come back. Without /proc (macOS) the folder must be
 * reachable.
 */
export async function withReach<T>(
  account: Account | undefined,
  cluster: string,
  use: (reach: Reach) => Promise<T>,
): Promise<T> {
  if (account === undefined || process.platform !== "linux") {
    return use({ folder: cluster, descriptors: [] });
  }
  const opened = await open(cluster, "r");
  try {
    return await use({ folder: "/proc/self/fd/3", descriptors: [opened.fd] });
  } finally {
    await opened.close();
  }
}
