import { readFile } from "node:fs/promises";

/** Whom the server runs as: undefined is ourselves. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** `nobody` on every Linux; the kernel needs no entry in /etc/passwd to run a process as it. */
const nobody: Account = { uid: 65534, gid: 65534 };

/**
 * PostgreSQL refuses to run as root. As root we lend the server the uid of `postgres` where there
 * is one, and otherwise that of nobody: creating a user would change the machine.
 */
export async function serverAccount(passwdFile = "/etc/passwd"): Promise<Account | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  const passwd = await readFile(passwdFile, "utf8").catch(() => "");
  const fields = passwd
    .split("\n")
    .map((line) => line.split(":"))
    .find(([name]) => name === "postgres");
  const uid = Number(fields?.[2]);
  const gid = Number(fields?.[3]);
  return uid > 0 && gid > 0 ? { uid, gid } : nobody;
}
