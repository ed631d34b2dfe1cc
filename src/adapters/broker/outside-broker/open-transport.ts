import type { Logger } from "../../runtime/logger.ts";
import type { BrokerSettings } from "../settings.ts";
import type { Transport } from "../transport.ts";

/**
 * Opens the outside broker that the settings name; undefined: messages stay in PostgreSQL. The
 * clients are loaded when they are needed, because loading one takes longer than starting a worker.
 */
export async function openTransport(
  settings: BrokerSettings,
  name: string,
  log: Logger,
): Promise<Transport | undefined> {
  switch (settings.kind) {
    case "postgres":
      return undefined;
    case "rabbitmq": {
      const { createRabbitmqTransport } =
        await import("../rabbitmq-broker/create-rabbitmq-transport.ts");
      return createRabbitmqTransport({ url: settings.url, name, log });
    }
    case "servicebus": {
      const { createServiceBusTransport } =
        await import("../service-bus-broker/create-service-bus-transport.ts");
      return createServiceBusTransport({ access: settings.access, log });
    }
  }
}
