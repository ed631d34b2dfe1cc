/**
 * Makes `npx rmhdag` run this checkout. With a `bin` entry in package.json, npx would install the
 * package a second time into its cache; a link among the installed programs is what it looks for first.
 */
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";

const folder = new URL("../node_modules/.bin/", import.meta.url);
const program = "../../bin/rmhdag.js";

await mkdir(folder, { recursive: true });
await rm(new URL("rmhdag", folder), { force: true });
try {
  await symlink(program, new URL("rmhdag", folder));
} catch {
  // Where links are not allowed (Windows), a script does it.
  await writeFile(new URL("rmhdag.cmd", folder), `@node "%~dp0\\..\\..\\bin\\rmhdag.js" %*\r\n`);
}
