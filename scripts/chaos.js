// Runs the chaos test for as long and with the seed that is asked for:
//   npm run chaos -- --seconds 60 --seed 7
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(randomInt(1_000_000)) },
  },
});
for (const [name, value] of Object.entries(values)) {
  if (!/^[1-9]\d{0,5}$/.test(value)) {
    process.stderr.write(`--${name} must be a whole number from 1 to 999999, not "${value}"\n`);
    process.exit(2);
  }
}
process.stdout.write(`chaos for ${values.seconds} s with seed ${values.seed}\n`);
const { status } = spawnSync(
  "npx",
  ["vitest", "run", "--project", "real", "test/faults/chaos.test.ts"],
  {
    stdio: "inherit",
    env: { ...process.env, CHAOS_SECONDS: values.seconds, CHAOS_SEED: values.seed },
  },
);
process.exitCode = status ?? 1;
