import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { makeWorkFolder } from "./work-folder.ts";

it("removes the folders of killed processes of this machine, and no others", async () => {
  const base = await mkdtemp(path.join(tmpdir(), "rmhdag-work-"));
  const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
  await once(child, "exit");
  const left = [
    `here.${child.pid ?? 0}.aaaaaa`,
    `here.${process.pid}.bbbbbb`,
    `there.${child.pid ?? 0}.cccccc`,
    `here.${process.ppid}.dddddd`,
  ];
  for (const name of left) {
    await mkdir(path.join(base, name, "task-1"), { recursive: true });
    await writeFile(path.join(base, name, "task-1/half.tif"), "half");
  }
  const made = await makeWorkFolder(base, { host: "here", pid: process.pid });
  const kept = [path.basename(made.folder), ...left.slice(2)];
  expect((await readdir(base)).toSorted()).toEqual(kept.toSorted());
  await made.remove();
  expect((await readdir(base)).toSorted()).toEqual(left.slice(2).toSorted());
  await rm(base, { recursive: true });
});
