/**
 * The contents of a data directory:
 *
 *   cluster/data       PostgreSQL's own folder, owned by the server's account
 *   cluster/password   the password of our role, mode 0600
 *   new-<pid>-…        a cluster that process <pid> is making, or was making when it died
 *   server.log         the server's log
 *   postgres-<version> the programs, when they had to be copied
 *
 * Data and password are in one folder, so that one rename creates both. That folder is inside of
 * the data directory and not beside it, because a mounted volume cannot be renamed.
 */
import path from "node:path";

export interface Layout {
  readonly dataDirectory: string;
  readonly cluster: string;
  readonly data: string;
  readonly password: string;
  readonly log: string;
}

export function layoutOf(dataDirectory: string): Layout {
  const root = path.resolve(dataDirectory);
  const cluster = path.join(root, "cluster");
  return {
    dataDirectory: root,
    cluster,
    data: path.join(cluster, "data"),
    password: path.join(cluster, "password"),
    log: path.join(root, "server.log"),
  };
}

/** The only role that initdb creates. */
export const role = "rmhdag";
