/** The launcher as other users, and where the server's account cannot go. Most of it needs root. */
import { chmod, chown, cp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { rows, startOwner, temporaryFolders } from "../../../test/support/embedded.ts";
import { serverAccount } from "./run-as-account.ts";
import { describeNative, findBinaries, npmNativeDirectory } from "./find-binaries.ts";
import { makeRunnable } from "./make-runnable.ts";
import { startEmbeddedPostgres } from "./start-embedded-postgres.ts";

const isRoot = process.geteuid?.() === 0;
const folders = temporaryFolders();
afterEach(() => folders.remove());

async function folderOf(uid: number): Promise<string> {
  const folder = await folders.make();
  await chown(folder, uid, uid);
  return folder;
}

/** The platform package with its programs and, unless asked for, without its symlinks. */
async function copyOfPackage(into: string, keepSymlinks = true): Promise<string> {
  const original = path.dirname(npmNativeDirectory()!);
  const copy = path.join(into, "package");
  await cp(original, copy, { recursive: true, verbatimSymlinks: true });
  if (!keepSymlinks) {
    const lib = path.join(copy, "native/lib");
    for (const entry of await readdir(lib, { withFileTypes: true })) {
      if (entry.isSymbolicLink()) await rm(path.join(lib, entry.name));
    }
  }
  return path.join(copy, "native");
}

const [system] = await findBinaries("system");

describe.skipIf(!isRoot)("started by root (needs root)", () => {
  it("works with data and programs below a folder that only root can enter", async () => {
    const home = await folders.make();
    await chmod(home, 0o700);
    const binaries = await describeNative(await copyOfPackage(home));
    const dataDirectory = path.join(home, "project/.data/postgres");
    const shared = await folders.make();
    await chmod(shared, 0o755);
    const options = { dataDirectory, binaries, sharedDirectories: [shared], sync: false };
    const server = await startEmbeddedPostgres(options);
    await rows(server.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    await server.stop();

    const again = await startEmbeddedPostgres(options);
    expect(await rows(again.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
    await rows(again.url, "CHECKPOINT");
    await again.stop();
    // The data is where it was asked for, and not somewhere that the account can reach.
    const account = await serverAccount();
    expect((await stat(path.join(dataDirectory, "cluster/data/base"))).uid).toBe(account?.uid);
  });

  it("copies the programs once, to where no other user can write", async () => {
    const home = await folders.make();
    await chmod(home, 0o700);
    const shared = await folders.make();
    await chmod(shared, 0o755);
    const binaries = await describeNative(await copyOfPackage(home));
    const account = await serverAccount();
    const options = { account, dataDirectory: home, sharedDirectories: [shared] };
    const [first, second] = await Promise.all([
      makeRunnable(binaries, options),
      makeRunnable(binaries, options),
    ]);
    expect(second).toEqual(first);
    expect(await readdir(shared)).toHaveLength(1);

    await chmod(path.dirname(first.binDirectory), 0o777);
    await expect(makeRunnable(binaries, options)).rejects.toMatchObject({
      code: "BINARIES_UNUSABLE",
      message: expect.stringContaining("belongs to another user") as string,
    });
  });

  it("attaches without the right to look into the processes of others", async () => {
    const folder = await folders.make();
    const first = await startOwner(folder);
    const second = await startOwner(folder, { capabilities: "-sys_ptrace" });
    expect(second.attached).toBe(true);
    await first.stop();
    await second.stop();
  });

  it("serves an ordinary user", async () => {
    const owner = await startOwner(await folderOf(65534), { uid: 65534 });
    expect(await rows(owner.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await owner.stop();
  });

  it("serves a uid that has no name", async () => {
    expect(await readFile("/etc/passwd", "utf8")).not.toContain(":4242:");
    const folder = await folderOf(4242);
    const owner = await startOwner(folder, { uid: 4242 });
    await rows(owner.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    await owner.kill();
    const again = await startOwner(folder, { uid: 4242 });
    expect(await rows(again.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
    await again.stop();
    expect((await stat(path.join(folder, "cluster/data"))).uid).toBe(4242);
  });

  it("refuses a folder that belongs to another user", async () => {
    const folder = await folderOf(65534);
    await expect(startOwner(folder, { uid: 4242 })).rejects.toThrow(/DATA_DIRECTORY_UNUSABLE/);
  });

  it.skipIf(system === undefined)(
    "drives a system PostgreSQL, also without a name (needs PostgreSQL)",
    async () => {
      for (const uid of [0, 4242]) {
        const owner = await startOwner(await folderOf(uid), { uid, options: { binaries: system } });
        expect(owner.source).toBe("system");
        const [version] = await rows(owner.url, "SHOW server_version");
        expect(version?.["server_version"]).toContain(String(system!.major));
        await owner.stop();
      }
    },
  );
});

it("makes the symlinks that an install without scripts left out", async () => {
  const folder = await folders.make();
  await chmod(folder, 0o755);
  const binaries = await describeNative(await copyOfPackage(folder, false));
  const server = await startEmbeddedPostgres({
    dataDirectory: path.join(folder, "data"),
    binaries,
    sync: false,
    sharedDirectories: [path.join(folder, "shared")],
  });
  expect(await rows(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await server.stop();
});

it("takes the account of postgres, or else that of the user nobody", async () => {
  const passwd = path.join(await folders.make(), "passwd");
  await writeFile(passwd, "root:x:0:0::/root:/bin/sh\npostgres:x:101:104::/:/bin/sh\n");
  const postgres = isRoot ? { uid: 101, gid: 104 } : undefined;
  expect(await serverAccount(passwd)).toEqual(postgres);
  await writeFile(passwd, "root:x:0:0::/root:/bin/sh\n");
  expect(await serverAccount(passwd)).toEqual(isRoot ? { uid: 65534, gid: 65534 } : undefined);
});
