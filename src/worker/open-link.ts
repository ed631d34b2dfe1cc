import { connect } from "node:net";
import type { LeaseToken } from "../adapters/broker/broker.ts";
import { prove } from "../adapters/net/link-proof.ts";
import type {
  FromOrchestrator,
  FromWorker,
  HandedMessage,
  Hello,
  Settling,
  ToldResult,
} from "../core/link.ts";
import { createLineReader, fromLetter } from "../core/link.ts";

/** One connection to one orchestrator. */
export interface OpenLink {
  isOpen(): boolean;
  /** How many messages of a queue it may still hand over. */
  granted(queue: string): number;
  grant(queue: string, count: number): void;
  /** `again`: the link broke, or the orchestrator could not; nobody knows whether it is recorded. */
  tell(result: ToldResult & { readonly lease: LeaseToken }): Promise<Settling>;
  sayBye(): Promise<void>;
  close(reason: string): void;
}

export interface LinkTarget {
  readonly address: string;
  readonly key: string;
  readonly workerId: string;
}

export interface LinkEvents {
  readonly onOpen: () => void;
  readonly onMessages: (queue: string, messages: readonly HandedMessage[]) => void;
  /** Once, also when it never opened. */
  readonly onClose: (reason: string, wasOpen: boolean) => void;
}

/** An orchestrator that does not answer for so long has stopped, or is out of reach. */
const patienceMs = 3000;

interface Pending {
  readonly since: number;
  readonly resolve: (settled: Settling) => void;
}

export function openLink({ address, key, workerId }: LinkTarget, events: LinkEvents): OpenLink {
  const colon = address.lastIndexOf(":");
  const socket = connect({
    host: address.slice(0, colon),
    port: Number(address.slice(colon + 1)),
    noDelay: true,
  });
  const pending: Pending[] = [];
  const granted = new Map<string, number>();
  let state: "opening" | "open" | "closed" = "opening";
  /** What leaves at the end of this turn, as one line. */
  let line: { told: ToldResult[]; grants: Map<string, number>; bye: boolean } | undefined;
  let byeHeard: (() => void) | undefined;
  let byeSince: number | undefined;
  const opening = performance.now();
  const watch = setInterval(() => {
    const since = state === "opening" ? opening : (pending[0]?.since ?? byeSince);
    if (since !== undefined && performance.now() - since > patienceMs) close("it does not answer");
  }, patienceMs / 3);
  watch.unref();

  function say(value: Hello | FromWorker): void {
    socket.write(`${JSON.stringify(value)}\n`);
  }

  function outgoing(): NonNullable<typeof line> {
    if (line === undefined) {
      line = { told: [], grants: new Map(), bye: false };
      process.nextTick(flush);
    }
    return line;
  }

  function flush(): void {
    if (line === undefined || state !== "open") return;
    const { told, grants, bye } = line;
    line = undefined;
    say({
      ...(told.length === 0 ? {} : { told }),
      ...(grants.size === 0 ? {} : { grants: Object.fromEntries(grants) }),
      ...(bye ? { bye } : {}),
    });
  }

  function hear(heard: FromOrchestrator): void {
    if ("nonce" in heard) {
      say({ worker: workerId, proof: prove(key, heard.nonce) });
      state = "open";
      events.onOpen();
    } else if ("settled" in heard) {
      for (const letter of heard.settled) pending.shift()?.resolve(fromLetter(letter));
    } else if ("bye" in heard) {
      byeSince = undefined;
      byeHeard?.();
    } else {
      granted.set(heard.queue, (granted.get(heard.queue) ?? 0) - heard.messages.length);
      events.onMessages(heard.queue, heard.messages);
    }
  }

  function close(reason: string): void {
    if (state === "closed") return;
    const wasOpen = state === "open";
    state = "closed";
    clearInterval(watch);
    socket.destroy();
    for (const { resolve } of pending.splice(0)) resolve("again");
    byeHeard?.();
    events.onClose(reason, wasOpen);
  }

  const read = createLineReader((text) => {
    if (state !== "closed") hear(JSON.parse(text) as FromOrchestrator);
  });
  socket.setEncoding("utf8");
  socket.on("data", (piece: string) => {
    try {
      read(piece);
    } catch (error) {
      close(`what came is not understood: ${String(error)}`);
    }
  });
  socket.on("error", (error) => {
    close(error.message);
  });
  socket.on("close", () => {
    close("the orchestrator closed it");
  });

  return {
    isOpen: () => state === "open",
    granted: (queue) => granted.get(queue) ?? 0,
    grant(queue, count) {
      granted.set(queue, (granted.get(queue) ?? 0) + count);
      const { grants } = outgoing();
      grants.set(queue, (grants.get(queue) ?? 0) + count);
    },
    tell: ({ lease: { message_id, deliveries, leased_at }, ...result }) =>
      new Promise((resolve) => {
        pending.push({ since: performance.now(), resolve });
        outgoing().told.push({ ...result, lease: { message_id, deliveries, leased_at } });
      }),
    async sayBye() {
      if (state !== "open") return;
      outgoing().bye = true;
      byeSince = performance.now();
      // Or closed: a connection that is silent is no reason to stay.
      await new Promise<void>((resolve) => (byeHeard = resolve));
    },
    close,
  };
}
