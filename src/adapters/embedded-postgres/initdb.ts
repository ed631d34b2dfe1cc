/**
 * Where initdb is, also for a uid that has no name.
 *
 * In a container that runs with `--user 4242` the uid is not in /etc/passwd. The server does not
 * mind, but initdb and the single-user server that it starts ask for the name of their uid and give
 * up without one, although nothing is done with the answer once `--username` is given. No option or
 * variable turns the question off. So for such a uid we make a private copy of these two programs in
 * which the imported function getpwuid is replaced by its neighbour getpwent, which takes no
 * argument and answers with the first entry of /etc/passwd. The names have the same length and the
 * same version in the C library, so only these eight bytes change; the copies live for one initdb.
 */
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import path from "node:path";
import type { Binaries } from "./find-binaries.ts";

const asked = Buffer.from("\0getpwuid\0");
const answered = Buffer.from("\0getpwent\0");

export async function withInitdb<T>(
  binaries: Binaries,
  workDirectory: string,
  use: (initdb: string) => Promise<T>,
): Promise<T> {
  // As root the server's account is known from /etc/passwd, or is nobody.
  const nameless = process.platform === "linux" && process.geteuid?.() !== 0 && !hasName();
  if (!nameless) return use(path.join(binaries.binDirectory, "initdb"));

  const copies = await mkdtemp(path.join(workDirectory, "initdb-"));
  try {
    await mkdir(path.join(copies, "bin"));
    for (const program of ["initdb", "postgres"]) {
      const copy = path.join(copies, "bin", program);
      await cp(path.join(binaries.binDirectory, program), copy);
      await replaceImport(copy);
      await chmod(copy, 0o700);
    }
    // Both find their libraries and files from where they lie themselves.
    for (const folder of ["lib", "share"]) {
      await symlink(path.join(binaries.binDirectory, "..", folder), path.join(copies, folder));
    }
    return await use(path.join(copies, "bin/initdb"));
  } finally {
    await rm(copies, { recursive: true, force: true });
  }
}

function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

async function replaceImport(program: string): Promise<void> {
  const bytes = await readFile(program);
  for (let at = bytes.indexOf(asked); at !== -1; at = bytes.indexOf(asked, at + 1)) {
    answered.copy(bytes, at);
  }
  await writeFile(program, bytes);
}
