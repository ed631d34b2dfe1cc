/** A worker's connection to the push server of one orchestrator. */
import type { Settled } from "../../broker.ts";
import type { LeasedMessage } from "../sql/message-columns.ts";
import { connectToServer } from "./connect.ts";
import type { ConnectionTarget } from "./connect.ts";
import type { FromClient, FromServer, SentReport } from "./protocol.ts";

export interface ClientConnection {
  isOpen(): boolean;
  /** How many messages of a queue the server may still push. */
  credit(queue: string): number;
  addCredit(queue: string, count: number): void;
  /** Tells the server whose messages it may push. */
  announce(handlers: readonly string[]): void;
  /** `again`: the report may or may not be recorded; the caller writes it to the database. */
  report(report: SentReport): Promise<Settled | "again">;
  /** Resolves when the server pushes no further message of the queue, or the connection is closed. */
  stop(queue: string): Promise<void>;
  close(reason: string): void;
}

export interface ConnectionEvents {
  readonly onOpen: () => void;
  readonly onMessages: (queue: string, messages: readonly LeasedMessage[]) => void;
  /** Called once, also when the connection never opened. */
  readonly onClose: (reason: string, wasOpen: boolean) => void;
}

/** A server that does not answer for so long has stopped, or is out of reach. */
const answerTimeoutMs = 3000;

interface Pending<Answer> {
  readonly since: number;
  readonly resolve: (answer: Answer) => void;
}

export function openConnection(
  target: ConnectionTarget,
  events: ConnectionEvents,
): ClientConnection {
  const { socket, read } = connectToServer(target, {
    onOpen: () => {
      if (state !== "opening") return;
      state = "open";
      events.onOpen();
    },
    onLine: (line) => {
      if (state !== "closed") receive(JSON.parse(line) as FromServer);
    },
  });
  const reports = new Map<number, Pending<Settled | "again">>();
  const stops = new Map<string, Pending<void>>();
  const credits = new Map<string, number>();
  let state: "opening" | "open" | "closed" = "opening";
  /** The parts of the line that is sent at the end of this turn of the event loop. */
  let line: { reports: SentReport[]; credit: Map<string, number> } | undefined;
  const openingSince = performance.now();
  const watch = setInterval(() => {
    const [pending] = [...reports.values(), ...stops.values()];
    const since = state === "opening" ? openingSince : pending?.since;
    if (since !== undefined && performance.now() - since > answerTimeoutMs) {
      close("the server does not answer");
    }
  }, answerTimeoutMs / 3);
  watch.unref();

  function send(value: FromClient): void {
    socket.write(`${JSON.stringify(value)}\n`);
  }

  function nextLine(): NonNullable<typeof line> {
    if (line === undefined) {
      line = { reports: [], credit: new Map() };
      process.nextTick(flush);
    }
    return line;
  }

  function flush(): void {
    if (line === undefined || state !== "open") return;
    const { reports: sent, credit } = line;
    line = undefined;
    send({
      ...(sent.length === 0 ? {} : { reports: sent }),
      ...(credit.size === 0 ? {} : { credit: Object.fromEntries(credit) }),
    });
  }

  function answer(messageIds: readonly number[], settled: Settled | "again"): void {
    for (const id of messageIds) {
      reports.get(id)?.resolve(settled);
      reports.delete(id);
    }
  }

  function receive(value: FromServer): void {
    if ("recorded" in value) answer(value.recorded, "ok");
    else if ("refused" in value) answer(value.refused, "again");
    else if ("stopped" in value) {
      stops.get(value.stopped)?.resolve();
      stops.delete(value.stopped);
    } else {
      credits.set(value.queue, (credits.get(value.queue) ?? 0) - value.messages.length);
      events.onMessages(value.queue, value.messages);
    }
  }

  function close(reason: string): void {
    if (state === "closed") return;
    const wasOpen = state === "open";
    state = "closed";
    clearInterval(watch);
    socket.destroy();
    for (const { resolve } of reports.values()) resolve("again");
    for (const { resolve } of stops.values()) resolve();
    reports.clear();
    stops.clear();
    events.onClose(reason, wasOpen);
  }

  socket.setNoDelay(true);
  socket.setEncoding("utf8");
  socket.on("data", (piece: string) => {
    try {
      read(piece);
    } catch (error) {
      close(`a line cannot be read: ${String(error)}`);
    }
  });
  socket.on("error", (error: Error) => {
    close(error.message);
  });
  socket.on("close", () => {
    close("the server closed it");
  });

  return {
    isOpen: () => state === "open",
    credit: (queue) => credits.get(queue) ?? 0,
    addCredit(queue, count) {
      credits.set(queue, (credits.get(queue) ?? 0) + count);
      const { credit } = nextLine();
      credit.set(queue, (credit.get(queue) ?? 0) + count);
    },
    announce(handlers) {
      if (state === "open") send({ handlers: [...handlers] });
    },
    report: (report) =>
      new Promise((resolve) => {
        const { message_id } = report.lease;
        // A message that came again after its lease was lost: the earlier report has no answer left.
        reports.get(message_id)?.resolve("again");
        reports.set(message_id, { since: performance.now(), resolve });
        nextLine().reports.push(report);
      }),
    async stop(queue) {
      if (state !== "open") return;
      flush();
      credits.delete(queue);
      await new Promise<void>((resolve) => {
        stops.set(queue, { since: performance.now(), resolve });
        send({ stop: queue });
      });
    },
    close,
  };
}
