// Runs the chaos test for as long and with the seeds that are asked for, one after the other:
//   npm run chaos -- --seconds 60 --seed 7,11,23 --broker rabbitmq --workers http,python
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(randomInt(1_000_000)) },
    broker: { type: "string", default: "postgres" },
    workers: { type: "string", default: "" },
  },
});
const brokers = ["postgres", "rabbitmq", "servicebus"];
if (!brokers.includes(values.broker)) {
  process.stderr.write(`--broker must be ${brokers.join(" or ")}, not "${values.broker}"\n`);
  process.exit(2);
}
if (!/^(?:(?:http|python)(?:,|$))*$/.test(values.workers)) {
  process.stderr.write(`--workers must be http, python or both, not "${values.workers}"\n`);
  process.exit(2);
}
for (const name of ["seconds", "seed"]) {
  const value = values[name];
  const numbers = name === "seed" ? value.split(",") : [value];
  if (!numbers.every((number) => /^[1-9]\d{0,5}$/.test(number))) {
    const wanted = name === "seed" ? "whole numbers, with commas between them," : "a whole number";
    process.stderr.write(`--${name} must be ${wanted} from 1 to 999999, not "${value}"\n`);
    process.exit(2);
  }
}
process.stdout.write(
  `chaos for ${values.seconds} s with seed ${values.seed} on ${values.broker}\n`,
);
const { status } = spawnSync(
  "npx",
  ["vitest", "run", "--project", "real", "test/faults/chaos.test.ts"],
  {
    stdio: "inherit",
    env: {
      ...process.env,
      CHAOS_SECONDS: values.seconds,
      CHAOS_SEED: values.seed,
      CHAOS_BROKER: values.broker,
      CHAOS_WORKERS: values.workers,
    },
  },
);
process.exitCode = status ?? 1;
