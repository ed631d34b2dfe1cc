/** Connects a worker to a push server; both have proved that they know the key when it opens. */
import { connect as connectPlain } from "node:net";
import type { Socket } from "node:net";
import { connect as connectByTls } from "node:tls";
import { maxProofLength, proveAsWorker } from "./prove-key.ts";
import { createLineReader, isLoopback, tlsOptions, toIdentity } from "./protocol.ts";

export interface ConnectionTarget {
  readonly address: string;
  readonly key: string;
  readonly workerId: string;
}

interface LineEvents {
  readonly onOpen: () => void;
  readonly onLine: (line: string) => void;
}

export interface LineSocket {
  readonly socket: Socket;
  /** Reads what has arrived; throws when the server does not prove itself. */
  readonly read: (piece: string) => void;
}

export function connectToServer(
  { address, key: hexKey, workerId }: ConnectionTarget,
  events: LineEvents,
): LineSocket {
  const colon = address.lastIndexOf(":");
  const [host, port] = [address.slice(0, colon), Number(address.slice(colon + 1))];
  const key = Buffer.from(hexKey, "hex");
  return isLoopback(host)
    ? connectWithinMachine({ host, port }, key, workerId, events)
    : connectEncrypted({ host, port }, key, workerId, events);
}

interface Place {
  readonly host: string;
  readonly port: number;
}

/** Only the two ends can read or write a connection over loopback, so its lines are not encrypted. */
function connectWithinMachine(
  place: Place,
  key: Buffer,
  workerId: string,
  { onOpen, onLine }: LineEvents,
): LineSocket {
  const socket = connectPlain(place);
  const proof = proveAsWorker(key, workerId);
  socket.once("connect", () => socket.write(`${proof.first}\n`));
  let isProved = false;
  const readLine = createLineReader((line) => {
    if (isProved) {
      onLine(line);
      return;
    }
    socket.write(`${proof.answer(line)}\n`);
    isProved = true;
    onOpen();
  });
  const read = (piece: string): void => {
    if (readLine(piece) > maxProofLength && !isProved) throw new Error("the proof is too long");
  };
  return { socket, read };
}

function connectEncrypted(
  place: Place,
  psk: Buffer,
  workerId: string,
  { onOpen, onLine }: LineEvents,
): LineSocket {
  const socket = connectByTls({
    ...tlsOptions,
    ...place,
    pskCallback: () => ({ psk, identity: toIdentity(workerId) }),
    // The pre-shared key identifies the server; there is no certificate to compare.
    checkServerIdentity: () => undefined,
  });
  socket.once("secureConnect", onOpen);
  return { socket, read: createLineReader(onLine) };
}
