/**
 * Live streams over HTTP and over WebSockets. The next message is read from the source only when the
 * client has taken the last one, so a slow client costs the memory of one message. Sources of state
 * give the newest state when they are read, so a slow client skips states in between.
 */
import type { ServerResponse } from "node:http";

const heartbeatMs = 15_000;

/** Encodes a message once: a source may give one message to many clients. */
function encodedOnce(encode: (message: object) => string): (message: object) => Buffer {
  const known = new WeakMap<object, Buffer>();
  return (message) => {
    const bytes = known.get(message) ?? Buffer.from(encode(message));
    known.set(message, bytes);
    return bytes;
  };
}

const bytesOfMessage = encodedOnce((message) => JSON.stringify(message));

const bytesOfEvent = encodedOnce((message) => {
  const id = "seq" in message && typeof message.seq === "number" ? `id: ${message.seq}\n` : "";
  // JSON text has no line ends, so one data line is enough.
  return `${id}data: ${JSON.stringify(message)}\n\n`;
});

/** Writes messages as server-sent events. */
export async function writeEvents(
  raw: ServerResponse,
  headers: Readonly<Record<string, string>>,
  messages: AsyncIterable<object>,
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
      if (!raw.write(bytesOfEvent(message))) await drained(raw, signal);
    }
  } finally {
    clearInterval(heartbeat);
    raw.end();
  }
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
  send(data: Buffer, options: { binary: boolean }, done: (error?: Error | null) => void): void;
  ping(): void;
  close(code: number, reason: string): void;
  terminate(): void;
  on(event: "pong" | "close" | "error", listener: () => void): unknown;
}

/** Sends messages over a WebSocket and closes it when they end. */
export async function sendMessages(
  socket: Socket,
  messages: AsyncIterable<object>,
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
      await send(socket, bytesOfMessage(message));
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

async function send(socket: Socket, text: Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.send(text, { binary: false }, (error) => {
      if (error == null) resolve();
      else reject(error);
    });
  });
}
