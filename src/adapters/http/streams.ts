/**
 * Live streams over HTTP and over WebSockets. The next message is read from the source only when the
 * client has taken the last one, so a slow client costs the memory of one message. Sources of state
 * give the newest state when they are read, so a slow client skips states in between.
 */
import type { ServerResponse } from "node:http";
import { GzipStream, gzipPart, plainPart } from "./gzip-stream.ts";

const heartbeatMs = 15_000;

/** Encodes a message once: a source may give one message to many clients. */
function encodedOnce<Encoded>(encode: (message: object) => Encoded): (message: object) => Encoded {
  const known = new WeakMap<object, { readonly encoded: Encoded }>();
  return (message) => {
    const { encoded } = known.get(message) ?? { encoded: encode(message) };
    known.set(message, { encoded });
    return encoded;
  };
}

const bytesOfMessage = encodedOnce((message) => Buffer.from(JSON.stringify(message)));

const bytesOfEvent = encodedOnce((message) => {
  const id = "seq" in message && typeof message.seq === "number" ? `id: ${message.seq}\n` : "";
  // JSON text has no line ends, so one data line is enough.
  return Buffer.from(`${id}data: ${JSON.stringify(message)}\n\n`);
});

const gzippedEvent = encodedOnce((message) => gzipPart(bytesOfEvent(message)));

/** A comment, which clients ignore. */
const heartbeatBytes = Buffer.from(":\n\n");
const gzippedHeartbeat = plainPart(heartbeatBytes);

/**
 * Writes messages as server-sent events. Fifty clients that watch a wide job are sent its events fifty times,
 * and the bytes are most of what that costs: clients that accept gzip share what is compressed once.
 */
export async function writeEvents(
  raw: ServerResponse,
  headers: Readonly<Record<string, string>>,
  messages: AsyncIterable<object>,
  { signal, gzip }: { readonly signal: AbortSignal; readonly gzip: boolean },
): Promise<void> {
  const zipped = gzip ? new GzipStream() : undefined;
  raw.writeHead(200, {
    ...headers,
    ...(gzip && { "content-encoding": "gzip" }),
    vary: "accept-encoding",
    "content-type": "text/event-stream; charset=utf-8",
    // An idle connection after the stream would delay the closing of the server.
    connection: "close",
    // A proxy that buffers answers would delay events.
    "x-accel-buffering": "no",
  });
  raw.flushHeaders();
  if (zipped !== undefined) raw.write(zipped.start());
  const heartbeat = setInterval(
    () => raw.write(zipped?.add(gzippedHeartbeat) ?? heartbeatBytes),
    heartbeatMs,
  );
  try {
    for await (const message of messages) {
      if (signal.aborted) break;
      const bytes =
        zipped === undefined ? bytesOfEvent(message) : zipped.add(await gzippedEvent(message));
      if (!raw.write(bytes)) await drained(raw, signal);
    }
  } finally {
    clearInterval(heartbeat);
    raw.end(zipped?.end());
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
