/**
 * Live streams over HTTP and over WebSockets. The next message is read from the source only when the
 * client has taken the last one, so a slow client costs the memory of one message. Sources of state
 * give the newest state when they are read, so a slow client skips states in between.
 */
import type { ServerResponse } from "node:http";

const heartbeatMs = 15_000;

/** Texts of messages: a source may give one message to many clients. */
const texts = new WeakMap<object, string>();

function textOf(message: unknown): string {
  if (typeof message !== "object" || message === null) return JSON.stringify(message);
  const known = texts.get(message) ?? JSON.stringify(message);
  texts.set(message, known);
  return known;
}

/** Writes messages as server-sent events. */
export async function writeEvents(
  raw: ServerResponse,
  headers: Readonly<Record<string, string>>,
  messages: AsyncIterable<unknown>,
  signal: AbortSignal,
): Promise<void> {
  raw.writeHead(200, {
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
    // An idle connection after the stream would delay the closing of the server.
    connection: "close",
    // A proxy that buffers answers would delay events.
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
  return `${id}data: ${textOf(message)}\n\n`;
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

/** The part of a socket that is used here. */
export interface Socket {
  send(data: string, done: (error?: Error | null) => void): void;
  ping(): void;
  close(code: number, reason: string): void;
  terminate(): void;
  on(event: "pong" | "close" | "error", listener: () => void): unknown;
}

/** Sends messages over a WebSocket and closes it when they end. */
export async function sendMessages(
  socket: Socket,
  messages: AsyncIterable<unknown>,
  aborter: AbortController,
  onError: (error: unknown) => void,
): Promise<void> {
  let answered = true;
  const heartbeat = setInterval(() => {
    // A peer that vanished does not answer; TCP alone might not notice it for hours.
    if (!answered) socket.terminate();
    answered = false;
    socket.ping();
  }, heartbeatMs);
  socket.on("pong", () => (answered = true));
  socket.on("error", () => undefined);
  socket.on("close", () => {
    aborter.abort();
  });
  try {
    for await (const message of messages) {
      if (aborter.signal.aborted) break;
      await send(socket, textOf(message));
    }
    if (aborter.signal.aborted) socket.close(1001, "going away");
    else socket.close(1000, "finished");
  } catch (error) {
    if (!aborter.signal.aborted) onError(error);
    socket.close(1011, "something went wrong on our side");
  } finally {
    clearInterval(heartbeat);
  }
}

async function send(socket: Socket, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.send(text, (error) => {
      if (error == null) resolve();
      else reject(error);
    });
  });
}
