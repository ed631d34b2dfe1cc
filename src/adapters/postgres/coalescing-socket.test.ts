import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { CoalescingSocket } from "./coalescing-socket.ts";

it("a connected socket holds what is written until the turn of the event loop ends", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = new CoalescingSocket(true);
  socket.connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [accepted] = (await once(server, "connection")) as [NodeJS.ReadableStream];
  const received = text(accepted);
  if (socket.connecting) await once(socket, "connect");

  socket.write("a");
  socket.write(Buffer.from("b"));
  expect(socket.writableCorked).toBe(1);
  await new Promise(setImmediate);
  expect(socket.writableCorked).toBe(0);

  socket.end("c");
  expect(await received).toBe("abc");
  server.close();
});
