/**
 * A hostile program: tries to leave the sandbox that it runs in, and prints the outcome of each
 * attempt, which is what it has got or the code of an error. Tests send it into sandboxes as text
 * (attack-from-inside.ts), because it is not among the files that are visible there.
 */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";

const { canary, source, workDir, port, parent } = JSON.parse(process.argv[1]);
const outcomes = {};
const codeOf = (error) => error.code ?? error.message;
const tryTo = (name, act) => {
  try {
    outcomes[name] = `got ${String(act())}`;
  } catch (error) {
    outcomes[name] = codeOf(error);
  }
};
const read = (file) => fs.readFileSync(file, "utf8");

tryTo("read the source", () => read(source));
tryTo("write the work folder", () => {
  fs.writeFileSync(`${workDir}/made`, "made inside");
  return read(`${workDir}/made`);
});
tryTo("read the canary", () => read(canary));
tryTo("read the canary by ..", () => read(`${workDir}/../${canary}`));
tryTo("read the canary through /proc", () => read(`/proc/self/root${canary}`));
tryTo("read the canary through its parent", () => read(`/proc/${parent}/root${canary}`));
tryTo("read its parent's environment", () => read(`/proc/${parent}/environ`));
tryTo("read its own memory map", () => read("/proc/self/maps"));
tryTo("read the canary through a link that was there", () => read(`${workDir}/link`));
tryTo("read the passwords", () => read("/etc/shadow"));
tryTo("list the canary's folder", () => fs.readdirSync(path.dirname(canary)).join());
tryTo("list the folder of the source", () => fs.readdirSync(path.dirname(source)).join());
tryTo("list the home of root", () => fs.readdirSync("/root").join());
tryTo("make a hard link", () => {
  fs.linkSync(canary, `${workDir}/hard`);
  return read(`${workDir}/hard`);
});
tryTo("make a symbolic link", () => {
  fs.symlinkSync(canary, `${workDir}/soft`);
  return "a link";
});
tryTo("change the source", () => {
  fs.appendFileSync(source, "changed");
});
tryTo("remove the source", () => {
  fs.unlinkSync(source);
});
tryTo("write beside the source", () => {
  fs.writeFileSync(`${source}.aux.xml`, "x");
  return "written";
});
tryTo("write to a library folder", () => {
  fs.writeFileSync("/usr/lib/attack", "x");
});
tryTo("write to the root folder", () => {
  fs.writeFileSync("/attack", "x");
});
tryTo("stop its parent", () => process.kill(parent, 0));
tryTo("see a disk", () => fs.readdirSync("/dev").toSorted().join());
outcomes["environment"] = Object.keys(process.env).toSorted().join();
outcomes["root folder"] = fs.readdirSync("/").toSorted().join();
outcomes["user"] = String(process.getuid?.());

const { error, status } = spawnSync(process.execPath, ["--version"]);
outcomes["start a program"] = error === undefined ? `status ${String(status)}` : codeOf(error);
outcomes["connect"] = await new Promise((resolve) => {
  const socket = net.connect(port, "127.0.0.1");
  socket.once("connect", () => {
    resolve("got a connection");
  });
  socket.once("error", (failure) => {
    resolve(codeOf(failure));
  });
}).catch(codeOf);
process.stdout.write(JSON.stringify(outcomes));
process.exit(0);
