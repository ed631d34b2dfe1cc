import { spawn } from "node:child_process";
import { open, readFile } from "node:fs/promises";

/** The user that PostgreSQL's programs run as; undefined: the user of this process. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** The user `nobody` of every Linux; the kernel needs no entry in /etc/passwd for it. */
const nobody: Account = { uid: 65534, gid: 65534 };

/**
 * The account of the server. PostgreSQL refuses to run as root: root runs it with the uid of
 * `postgres` where that user exists, else with that of `nobody`. No user is created, because that
 * would change the machine.
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

/** A cluster's folder under a path that the server's account can open. */
interface ReachableFolder {
  readonly folder: string;
  /** The program must inherit these as its file descriptors from 3 on. */
  readonly descriptors: readonly number[];
}

/**
 * Calls `use` with a path of the cluster's folder that the server's account can open. For root, the
 * data directory may be below a folder that the account cannot enter, such as /root. The program
 * inherits the open folder as a file descriptor, and /proc/self/fd/3 leads there without access to
 * the folders above: for the server, its children and the programs that initdb starts.
 *
 * Rejected: another place for the data, because a container whose data directory is a mounted
 * volume would lose it. And /proc/self/cwd, because PostgreSQL up to 15 leaves its folder to
 * resolve its own symbolic links and cannot return. Without /proc (macOS) the account must be able
 * to enter.
 */
export async function withReachableFolder<T>(
  account: Account | undefined,
  cluster: string,
  use: (reachable: ReachableFolder) => Promise<T>,
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

export interface Outcome {
  /** Null when the program could not be started or was killed. */
  readonly status: number | null;
  readonly stdout: string;
  readonly output: string;
}

/**
 * The environment of the PostgreSQL programs. It is not inherited: PGDATA, LC_ALL or a library path
 * of the user would change what they do.
 */
export const serverEnvironment = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };

export interface RunOptions {
  readonly account?: Account | undefined;
  /** The program inherits them as 3, 4 and so on. */
  readonly descriptors?: readonly number[];
  readonly env?: Record<string, string>;
}

/** Runs a program to its end. Never rejects: a program that cannot start is an outcome too. */
export function run(
  program: string,
  parameters: readonly string[],
  { account, descriptors = [], env }: RunOptions = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, {
      ...account,
      // The account may not be able to enter the working directory of this process.
      cwd: "/",
      ...(env === undefined ? {} : { env }),
      stdio: ["ignore", "pipe", "pipe", ...descriptors],
    });
    let stdout = "";
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      output += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.on("error", (error) => {
      resolve({ status: null, stdout, output: output + error.message });
    });
    child.on("close", (status) => {
      resolve({ status, stdout, output });
    });
  });
}
