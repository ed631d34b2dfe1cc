/**
 * Writes messages as server-sent events. The next message is asked for only when the client has
 * taken the last one, so a slow client costs one message of memory; the source reads what is new at
 * that moment, and so leaves out what lies in between.
 */
import type { ServerResponse } from "node:http";

const heartbeatMs = 15_000;

export async function writeEvents(
  raw: ServerResponse,
  headers: Readonly<Record<string, string>>,
  messages: AsyncIterable<unknown>,
  signal: AbortSignal,
): Promise<void> {
  raw.writeHead(200, {
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
    // A connection that idles behind its stream would hold up the closing of the server.
    connection: "close",
    // Proxies that gather answers would hold events back.
    "x-accel-buffering": "no",
  });
  raw.flushHeaders();
  const heartbeat = setInterval(() => raw.write(":\n\n"), heartbeatMs);
  try {
    for await (const message of messages) {
      if (signal.aborted) break;
      if (!raw.write(encodeEvent(message))) await drained(raw, signal);
    }
  } finally {
    clearInterval(heartbeat);
    raw.end();
  }
}

function encodeEvent(message: unknown): string {
  const seq = (message as { seq?: unknown }).seq;
  const id = typeof seq === "number" ? `id: ${seq}\n` : "";
  // JSON text has no line ends, so one data line is enough.
  return `${id}data: ${JSON.stringify(message)}\n\n`;
}

async function drained(raw: ServerResponse, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      raw.off("drain", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    raw.once("drain", done);
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}
