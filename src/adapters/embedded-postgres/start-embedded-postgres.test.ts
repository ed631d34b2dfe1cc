import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, expect, it } from "vitest";
import { rows, temporaryFolders } from "../../../test/support/embedded.ts";
import { describeNative, npmNativeDirectory } from "./find-binaries.ts";
import { findRunningServer, stopServer } from "./running-server.ts";
import { layoutOf } from "./layout.ts";
import { startEmbeddedPostgres } from "./start-embedded-postgres.ts";
import type { EmbeddedPostgres, StartEmbeddedPostgresOptions } from "./start-embedded-postgres.ts";

const folders = temporaryFolders();
const servers: EmbeddedPostgres[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  await folders.remove();
});

async function start(
  dataDirectory: string,
  options: Partial<StartEmbeddedPostgresOptions> = { sync: false },
): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDirectory, prefer: "npm", ...options });
  servers.push(server);
  return server;
}

it("makes a database on first use and finds it again after a restart", async () => {
  const folder = await folders.make();
  const first = await start(folder);
  expect(first).toMatchObject({ attached: false, source: "npm", hasPostgis: false });
  expect(first.version).toMatch(/^18\./);
  await rows(first.url, "CREATE TABLE kept AS SELECT 42 AS answer");
  await first.stop();
  expect(await findRunningServer(layoutOf(folder))).toBeUndefined();

  const second = await start(folder);
  expect(second.attached).toBe(false);
  expect(await rows(second.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
});

it("has stopped when its process has ended, not when it has removed postmaster.pid", async () => {
  const layout = layoutOf(await folders.make());
  await mkdir(layout.data, { recursive: true });
  const program = "process.on('SIGINT', () => console.log('asked')); process.stdin.resume()";
  const server = spawn(process.execPath, ["-e", `${program}; console.log('runs')`], {
    cwd: layout.data,
    stdio: ["pipe", "pipe", "inherit"],
  });
  await once(server.stdout, "data");
  const asked = once(server.stdout, "data");
  let hasStopped = false;
  const stopped = stopServer(layout, server.pid ?? 0).then(() => (hasStopped = true));
  expect(String(await asked)).toBe("asked\n");
  // The file is read in far fewer than a hundred turns of the event loop.
  for (let turn = 0; turn < 100; turn++) await stat(layout.data);
  expect(hasStopped).toBe(false);
  server.stdin.end();
  await stopped;
});

it("sends no signal to another process that has the pid of a server long gone", async () => {
  const layout = layoutOf(await folders.make());
  await mkdir(layout.data, { recursive: true });
  const other = spawn(process.execPath, ["-e", "process.stdin.resume()"], {
    cwd: path.dirname(layout.data),
    stdio: ["pipe", "ignore", "inherit"],
  });
  await once(other, "spawn");
  const ended = once(other, "exit");
  await stopServer(layout, other.pid ?? 0);
  other.stdin.end();
  expect(await ended).toEqual([0, null]);
});

it("keeps every commit durable and listens on the loopback address only", async () => {
  const { url } = await start(await folders.make(), {});
  const settings = await rows(
    url,
    `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes',
       'synchronous_commit', 'jit', 'listen_addresses', 'unix_socket_directories') ORDER BY name`,
  );
  expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
    fsync: "on",
    full_page_writes: "on",
    synchronous_commit: "on",
    jit: "off",
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
  });
});

it("refuses connections without the password, which only its owner can read", async () => {
  const folder = await folders.make();
  const { url, port } = await start(folder);
  const { mode } = await stat(layoutOf(folder).password);
  expect(mode & 0o777).toBe(0o600);
  const password = await readFile(layoutOf(folder).password, "utf8");
  expect(url).toContain(password);
  await expect(
    rows(`postgres://rmhdag:guess@127.0.0.1:${port}/rmhdag`, "SELECT 1"),
  ).rejects.toMatchObject({ code: "28P01" });
});

it("makes the database that is asked for, with any usual or odd name", async () => {
  const { url } = await start(await folders.make(), { database: `we"ird name ü` });
  expect(await rows(url, "SELECT current_database() AS name")).toEqual([{ name: `we"ird name ü` }]);
});

it("starts over a pid file whose process is gone", async () => {
  const folder = await folders.make();
  await (await start(folder)).stop();
  const pidFile = path.join(layoutOf(folder).data, "postmaster.pid");
  await writeFile(pidFile, `4194304\n/proc/self/fd/3/data\n1\n1\n\n127.0.0.1\n`);
  expect((await start(folder)).attached).toBe(false);
});

it("starts over a pid file whose pid now belongs to another process", async () => {
  const folder = await folders.make();
  await (await start(folder)).stop();
  const pidFile = path.join(layoutOf(folder).data, "postmaster.pid");
  await writeFile(pidFile, `${process.ppid}\n/proc/self/fd/3/data\n1\n1\n\n127.0.0.1\n`);
  expect((await start(folder)).attached).toBe(false);
});

it("removes what a process left behind that died while making the database", async () => {
  const folder = await folders.make();
  const abandoned = path.join(folder, "new-4194304-abcdef");
  await writeFile(abandoned, "half");
  await start(folder);
  await expect(stat(abandoned)).rejects.toMatchObject({ code: "ENOENT" });
});

it("refuses a folder of another major version and says what to do", async () => {
  const folder = await folders.make();
  await (await start(folder)).stop();
  await writeFile(path.join(layoutOf(folder).data, "PG_VERSION"), "14\n");
  await expect(start(folder)).rejects.toMatchObject({
    code: "VERSION_MISMATCH",
    message: expect.stringMatching(
      /made by PostgreSQL 14, and here is only 18 .*pg_dump/s,
    ) as string,
  });
});

it("refuses a data directory that is a file", async () => {
  const file = path.join(await folders.make(), "file");
  await writeFile(file, "");
  await expect(start(file)).rejects.toMatchObject({ code: "DATA_DIRECTORY_UNUSABLE" });
});

it("shows why the database could not be made, and leaves nothing of it", async () => {
  const folder = await folders.make();
  const binaries = { ...(await describeNative(npmNativeDirectory()!)), shareDirectory: "/nowhere" };
  await expect(start(folder, { binaries })).rejects.toMatchObject({
    code: "INITDB_FAILED",
    message: expect.stringContaining("/nowhere") as string,
  });
  expect(await readdir(folder)).toEqual([]);
});

it("shows why the server did not start", async () => {
  const folder = await folders.make();
  await (await start(folder)).stop();
  await writeFile(path.join(layoutOf(folder).data, "postgresql.conf"), "no_such_setting = 1\n");
  await expect(start(folder)).rejects.toMatchObject({
    code: "START_FAILED",
    message: expect.stringContaining("no_such_setting") as string,
  });
});

it("refuses a changed password with the file's name", async () => {
  const folder = await folders.make();
  await start(folder);
  await writeFile(layoutOf(folder).password, "changed");
  await expect(start(folder)).rejects.toMatchObject({ code: "WRONG_PASSWORD" });
});
