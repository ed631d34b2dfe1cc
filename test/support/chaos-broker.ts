import { startRabbitmq } from "./rabbitmq.ts";
import { ServiceBusServer } from "./service-bus-server.js";

/** An outside broker of a chaos run. */
export interface ChaosBroker {
  /** What makes programs use it. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends it without warning. */
  leave(): Promise<void>;
  /** Starts it again with the messages that it has confirmed. */
  comeBack(): Promise<void>;
  stop(): Promise<void>;
  /** Tells what it holds, for a run that is stuck; absent: it cannot be looked into. */
  describe?(): string;
}

export async function startChaosBroker(name: string | undefined): Promise<ChaosBroker | undefined> {
  switch (name) {
    case "rabbitmq":
      return rabbitmq();
    case "servicebus":
      return serviceBus();
    default:
      return undefined;
  }
}

async function rabbitmq(): Promise<ChaosBroker> {
  const server = await startRabbitmq();
  return {
    env: { BROKER: "rabbitmq", RABBITMQ_URL: `${server.url}?heartbeat=1` },
    leave: () => server.kill(),
    comeBack: () => server.start(),
    stop: () => server.remove(),
  };
}

/** The stand-in keeps its messages while it refuses connections. */
async function serviceBus(): Promise<ChaosBroker> {
  const server = new ServiceBusServer();
  server.lockMs = 2000;
  await server.listen();
  const { port } = server;
  return {
    env: { BROKER: "servicebus", SERVICE_BUS_CONNECTION_STRING: server.connectionString },
    leave: () => server.close(),
    comeBack: () => server.listen(port),
    stop: () => server.close(),
    describe: () => server.describe(),
  };
}
