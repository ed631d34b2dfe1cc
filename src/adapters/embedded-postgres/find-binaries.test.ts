import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, expect, it } from "vitest";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { chooseBinaries, findBinaries } from "./find-binaries.ts";

const folders = temporaryFolders();
afterEach(() => folders.remove());

async function fakeSystem(major: number, postgis: boolean): Promise<string> {
  const folder = await folders.make();
  const bin = path.join(folder, "bin");
  const share = path.join(folder, "share");
  await mkdir(bin);
  await mkdir(path.join(share, "extension"), { recursive: true });
  await writeFile(path.join(share, "postgres.bki"), "");
  if (postgis) await writeFile(path.join(share, "extension/postgis.control"), "");
  for (const [name, answer] of [
    ["postgres", `postgres (PostgreSQL) ${major}.1`],
    ["initdb", ""],
    ["pg_config", share],
  ] as const) {
    await writeFile(path.join(bin, name), `#!/bin/sh\necho '${answer}'\n`, { mode: 0o755 });
  }
  return bin;
}
const summary = (found: { source: string; major: number }[]) =>
  found.map(({ source, major }) => `${source} ${major}`);

it("takes a system PostgreSQL by itself only when it has PostGIS", async () => {
  const bare = await fakeSystem(17, false);
  const postgis15 = await fakeSystem(15, true);
  const postgis16 = await fakeSystem(16, true);
  const find = (system: string[]) => findBinaries("auto", { system }).then(summary);
  expect(await find([bare])).toEqual(["npm 18"]);
  expect(await find([bare, postgis15, postgis16])).toEqual(["system 16", "system 15", "npm 18"]);
});

it("takes any system PostgreSQL when that is preferred, one with PostGIS first", async () => {
  const system = [await fakeSystem(17, false), await fakeSystem(15, true)];
  const found = await findBinaries("system", { system });
  expect(summary(found)).toEqual(["system 15", "system 17"]);
});

it("finds nothing in folders without a server", async () => {
  const system = [await folders.make(), "/no/such/folder"];
  expect(await findBinaries("system", { system })).toEqual([]);
});

it("says what to install when there is nothing", () => {
  const options = { prefer: "auto", made: undefined, dataDirectory: "/data" } as const;
  expect(() => chooseBinaries([], options)).toThrow(/No PostgreSQL programs .* set DATABASE_URL/);
});

it("goes on with the version that made the data, although a better one is there", async () => {
  const system = [await fakeSystem(16, true)];
  const candidates = await findBinaries("auto", { system });
  const choose = (made: number | undefined) =>
    chooseBinaries(candidates, { prefer: "auto", made, dataDirectory: "/data" });
  expect(summary([choose(undefined), choose(16), choose(18)])).toEqual([
    "system 16",
    "system 16",
    "npm 18",
  ]);
  expect(() => choose(15)).toThrow(
    /made by PostgreSQL 15, and here is only 16 \(system\), 18 \(npm\)/,
  );
});
