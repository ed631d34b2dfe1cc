import { setTimeout as pause } from "node:timers/promises";
import { ServiceBusClient } from "@azure/service-bus";
import type { ServiceBusClientOptions, ServiceBusReceiver } from "@azure/service-bus";
import type { BrokerSettings } from "../settings.ts";

export type ServiceBusAccess = Extract<BrokerSettings, { kind: "servicebus" }>["access"];

/**
 * Three connections. One sends, because a message that is sent within 40 ms of a settlement on the
 * same connection waits for it. One receives and completes. The side one never receives: it settles by
 * lock token, also what arrived on a connection that is gone, and counts.
 */
export interface ServiceBusClients {
  readonly sending: ServiceBusClient;
  readonly receiving: ServiceBusClient;
  /** The receiver of a queue on the side connection. */
  side(queue: string, dead: boolean): ServiceBusReceiver;
  close(): Promise<void>;
}

/** A call that was under way when the connection dropped fails after this time; the default is 60 s. */
const options: ServiceBusClientOptions = {
  retryOptions: { timeoutInMs: 5000, maxRetries: 1, retryDelayInMs: 100, maxRetryDelayInMs: 2000 },
};

/** The client waits for a minute for links that were opened while their connection dropped. */
const longestCloseMs = 2000;

export async function openClients(access: ServiceBusAccess): Promise<ServiceBusClients> {
  const open = await opener(access);
  const [sending, receiving, settling] = [open(), open(), open()];
  const sides = new Map<string, ServiceBusReceiver>();
  return {
    sending,
    receiving,
    side(queue, dead) {
      const key = `${queue} ${dead}`;
      const known = sides.get(key) ?? settling.createReceiver(queue, receiverOptions(dead));
      sides.set(key, known);
      return known;
    },
    close: async () => {
      const limit = new AbortController();
      await Promise.race([
        Promise.all([sending, receiving, settling].map((client) => client.close())),
        pause(longestCloseMs, undefined, limit),
      ]);
      limit.abort();
    },
  };
}

export function receiverOptions(dead: boolean) {
  return {
    // The client's own renewal ends with its connection; our messages are settled at once.
    maxAutoLockRenewalDurationInMs: 0,
    skipParsingBodyAsJson: true,
    ...(dead ? { subQueueType: "deadLetter" as const } : {}),
  };
}

async function opener(access: ServiceBusAccess): Promise<() => ServiceBusClient> {
  if ("connectionString" in access) {
    return () => new ServiceBusClient(access.connectionString, options);
  }
  const { DefaultAzureCredential } = await import("@azure/identity");
  const credential = new DefaultAzureCredential();
  return () => new ServiceBusClient(access.host, credential, options);
}
