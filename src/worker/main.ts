import { arm } from "../adapters/runtime/fail-points.ts";
import { createLogger } from "../adapters/runtime/logger.ts";
import { stopOnSignals } from "../adapters/runtime/shutdown.ts";
import { ConfigError, readConfig } from "./config.ts";
import { startWorker } from "./wiring.ts";

try {
  const config = readConfig();
  arm(config.failPoint);
  const log = createLogger({ name: "worker", level: config.logLevel, format: config.logFormat });
  const worker = await startWorker(config, log);
  stopOnSignals({ log, steps: worker.stopSteps });
  log.info({ worker: config.workerId, queues: config.queues }, "worker started");
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
