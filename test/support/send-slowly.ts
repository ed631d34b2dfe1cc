import { once } from "node:events";
import { connect } from "node:net";

/** Sends what it is given and never more; answers all that came back until the server hung up. */
export async function sendSlowly(url: string, text: string): Promise<string> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  let got = "";
  socket.on("data", (chunk: Buffer) => (got += chunk.toString())).on("error", () => undefined);
  socket.write(text);
  await once(socket, "close");
  return got;
}
