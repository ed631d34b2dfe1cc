import { arm } from "../adapters/runtime/fail-points.ts";
import { createLogger } from "../adapters/runtime/logger.ts";
import { stopOnSignals } from "../adapters/runtime/shutdown.ts";
import { startFailure } from "../adapters/runtime/start-failure.ts";
import { ConfigError } from "../adapters/runtime/environment.ts";
import { readConfig } from "./config.ts";
import { startWorker } from "./wiring.ts";

try {
  const config = readConfig();
  arm(config.failPoint);
  const log = createLogger({ name: "worker", level: config.logLevel, format: config.logFormat });
  if (config.alone !== undefined) {
    const { runAndPrint } = await import("./run-alone/run-and-print.ts");
    process.exit(await runAndPrint(config, config.alone));
  }
  const worker = await startWorker(config, log);
  stopOnSignals({ log, steps: worker.stopSteps });
  log.info({ worker: config.workerId, queues: config.queues }, "worker started");
} catch (error) {
  const reason = error instanceof ConfigError ? error.message : startFailure(error);
  if (reason === undefined) throw error;
  process.stderr.write(`${reason}\n`);
  process.exit(error instanceof ConfigError ? 2 : 1);
}
