/**
 * `npm run test:package`: packs the product, installs the file into an empty folder with npm, and runs
 * the package's test there. The ordinary tests run the same test with links instead of an installation.
 */
import { spawnSync } from "node:child_process";

const { status } = spawnSync(
  "npx",
  ["vitest", "run", "--project", "real", "test/system/package.test.ts"],
  { stdio: "inherit", env: { ...process.env, PACKAGE_INSTALL: "npm" } },
);
process.exitCode = status ?? 1;
