import { connect } from "amqplib";
import type { Channel, ChannelModel } from "amqplib";
import type { Logger } from "../../runtime/logger.ts";
import type { TransportStatus } from "../transport.ts";
import { declareQueues } from "./queues.ts";

export interface RabbitmqConnection {
  /** Opens a channel on a connection that has the queues; `onClose` is called once it is gone. */
  openChannel(queue: string, onClose: () => void): Promise<Channel>;
  /** The connection itself, for a channel with confirmations. */
  open(queue: string): Promise<ChannelModel>;
  /** Declares the queues again before their next use: the broker has lost them. */
  forgetQueues(): void;
  status(): TransportStatus;
  close(): Promise<void>;
}

export interface RabbitmqOptions {
  readonly url: string;
  /** Shown in the broker's list of connections. */
  readonly name: string;
  readonly log: Logger;
}

const connectTimeoutMs = 10_000;
/**
 * The broker ends the connection of a process that is silent for two of these, and delivers its
 * unsettled messages again; a process that dies is noticed at once. Short, because a lost connection
 * costs a busy process nothing: its leases are in PostgreSQL.
 */
const heartbeatSeconds = 10;

/** One connection for all parts of a process, opened when it is needed and again after it is lost. */
export function createConnection({ url, name, log }: RabbitmqOptions): RabbitmqConnection {
  let opening: Promise<ChannelModel> | undefined;
  let isConnected = false;
  let isClosed = false;
  let lastError: string | null = null;
  const declared = new Map<string, Promise<void>>();

  async function openModel(): Promise<ChannelModel> {
    if (isClosed) throw new Error("The connection to RabbitMQ is closed.");
    const model = await connect(withHeartbeat(url), {
      // Without it a message waits for the acknowledgement of the one before, 40 ms.
      noDelay: true,
      timeout: connectTimeoutMs,
      clientProperties: { connection_name: name },
    });
    model.on("error", (err) => {
      lastError = err.message;
    });
    model.on("close", (err) => {
      isConnected = false;
      opening = undefined;
      declared.clear();
      if (isClosed) return;
      lastError = err?.message ?? lastError ?? "the connection was closed";
      log.warn({ reason: lastError }, "the connection to RabbitMQ was lost");
    });
    isConnected = true;
    lastError = null;
    return model;
  }

  function model(): Promise<ChannelModel> {
    opening ??= openModel().catch((error: unknown) => {
      opening = undefined;
      lastError = describe(error);
      throw error;
    });
    return opening;
  }

  async function open(queue: string): Promise<ChannelModel> {
    const opened = await model();
    let declaring = declared.get(queue);
    if (declaring === undefined) {
      declaring = declareQueues(opened, queue, log);
      declared.set(queue, declaring);
      declaring.catch(() => declared.delete(queue));
    }
    await declaring;
    return opened;
  }

  return {
    open,
    async openChannel(queue, onClose) {
      const channel = await (await open(queue)).createChannel();
      // The error is followed by "close"; without a listener it would end the process.
      channel.on("error", (err) => {
        lastError = err.message;
      });
      channel.on("close", onClose);
      return channel;
    },
    forgetQueues: () => {
      declared.clear();
    },
    status: () => ({ connected: isConnected, error: lastError }),
    async close() {
      isClosed = true;
      const opened = await opening?.catch(() => undefined);
      await opened?.close().catch(() => undefined);
    },
  };
}

function withHeartbeat(url: string): string {
  const parsed = new URL(url);
  if (!parsed.searchParams.has("heartbeat")) {
    parsed.searchParams.set("heartbeat", String(heartbeatSeconds));
  }
  return parsed.href;
}

/** A refused connection to a host with two addresses has no message of its own. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join("; ");
  return error instanceof Error ? error.message : String(error);
}
