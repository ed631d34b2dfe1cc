import { arm } from "../adapters/runtime/fail-points.ts";
import { createLogger } from "../adapters/runtime/logger.ts";
import { stopOnSignals } from "../adapters/runtime/shutdown.ts";
import { startFailure } from "../adapters/runtime/start-failure.ts";
import { ConfigError } from "../adapters/runtime/environment.ts";
import { readConfig } from "./config.ts";
import { startOrchestrator } from "./wiring.ts";

try {
  const config = readConfig();
  arm(config.failPoint);
  const { logLevel: level, logFormat: format } = config;
  const log = createLogger({ name: "orchestrator", level, format });
  const orchestrator = await startOrchestrator(config, log);
  stopOnSignals({ log, steps: orchestrator.stopSteps });
  log.info({ url: orchestrator.url, owner: orchestrator.ownerId }, "orchestrator started");
} catch (error) {
  const reason = error instanceof ConfigError ? error.message : startFailure(error);
  if (reason === undefined) throw error;
  process.stderr.write(`${reason}\n`);
  process.exit(error instanceof ConfigError ? 2 : 1);
}
