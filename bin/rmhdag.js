#!/usr/bin/env node
import { existsSync } from "node:fs";

const program = new URL("../dist/programs/cli.js", import.meta.url);
if (existsSync(program)) {
  await import(program.href);
} else {
  process.stderr.write("rmhdag is not built yet: run `npm run build` in its folder.\n");
  process.exitCode = 1;
}
