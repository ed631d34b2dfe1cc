import { createLogger } from "../adapters/runtime/logger.ts";
import { stopOnSignals } from "../adapters/runtime/shutdown.ts";
import { startFailure } from "../adapters/runtime/start-failure.ts";
import { ConfigError } from "../adapters/runtime/environment.ts";
import { readConfig } from "./config.ts";
import { startGateway } from "./wiring.ts";

try {
  const config = readConfig();
  const log = createLogger({ name: "gateway", level: config.logLevel, format: config.logFormat });
  const gateway = await startGateway(config, log);
  stopOnSignals({ log, steps: gateway.stopSteps });
  log.info({ url: gateway.url }, "gateway started");
} catch (error) {
  const reason = error instanceof ConfigError ? error.message : startFailure(error, "GATEWAY_PORT");
  if (reason === undefined) throw error;
  process.stderr.write(`${reason}\n`);
  process.exit(error instanceof ConfigError ? 2 : 1);
}
