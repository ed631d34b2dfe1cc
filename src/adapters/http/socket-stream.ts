/** The same messages over a WebSocket, with the same backpressure: one message under way at most. */

/** The part of a socket that is used here. */
export interface Socket {
  send(data: string, done: (error?: Error | null) => void): void;
  ping(): void;
  close(code: number, reason: string): void;
  terminate(): void;
  on(event: "pong" | "close" | "error", listener: () => void): unknown;
}

const heartbeatMs = 15_000;

export async function sendMessages(
  socket: Socket,
  messages: AsyncIterable<unknown>,
  aborter: AbortController,
  onError: (error: unknown) => void,
): Promise<void> {
  let answered = true;
  const heartbeat = setInterval(() => {
    // A peer that went away without a word never answers; TCP alone might not notice for hours.
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
      await send(socket, JSON.stringify(message));
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
