/**
 * Sends one callback to the server of a partner, or asks whether a server answers. That server is not trusted: no redirect is followed,
 * the address is checked and the connection pinned to it, and time and size of the answer are limited.
 */
import type { LookupAddress } from "node:dns";
import http from "node:http";
import https from "node:https";
import type { Lookup, Network } from "./check-address.ts";
import { findAddresses, isPrivateAllowed, pinnedTo, resolveAll } from "./check-address.ts";
import { errorCode } from "../runtime/error-code.ts";

export interface SendOptions {
  readonly privateNetworks: readonly Network[];
  readonly timeoutMs?: number;
  readonly lookup?: Lookup;
}

export interface Sent {
  readonly status_code: number | null;
  /** Null: the partner accepted the callback. */
  readonly error: string | null;
}

const defaultTimeoutMs = 10_000;
/** The body of the answer is ignored; a longer one ends the connection. */
const longestAnswer = 64 * 1024;

export async function sendPartnerCallback(
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  options: SendOptions,
): Promise<Sent> {
  return send(url, { method: "POST", body, headers }, options);
}

/** Whether a GET is answered well; the answer itself is ignored. */
export async function probeAddress(url: URL, options: SendOptions): Promise<Sent> {
  return send(url, { method: "GET", body: "", headers: {} }, options);
}

interface Message {
  readonly method: "GET" | "POST";
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function send(url: URL, message: Message, options: SendOptions): Promise<Sent> {
  const { privateNetworks, timeoutMs = defaultTimeoutMs, lookup = resolveAll } = options;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const address = await findAddress(url, privateNetworks, within(lookup, signal));
    if (typeof address === "string") return { status_code: null, error: address };
    return await exchange(url, address, message, signal);
  } catch (error) {
    const late = signal.aborted ? `no answer within ${timeoutMs} ms` : undefined;
    return { status_code: null, error: late ?? describe(error) };
  }
}

async function findAddress(
  url: URL,
  privateNetworks: readonly Network[],
  lookup: Lookup,
): Promise<LookupAddress | string> {
  const found = await findAddresses(url, privateNetworks, lookup);
  if (typeof found === "string") return found;
  const isPlain = url.protocol === "http:";
  if (isPlain && !found.every(({ address }) => isPrivateAllowed(address, privateNetworks))) {
    return "must be https: only an allowed private network is reached without";
  }
  return found[0];
}

function exchange(
  url: URL,
  pinned: LookupAddress,
  { method, body, headers }: Message,
  signal: AbortSignal,
): Promise<Sent> {
  const { request } = url.protocol === "https:" ? https : http;
  const bytes = Buffer.from(body);
  return new Promise((resolve, reject) => {
    const sending = request(
      url,
      {
        method,
        headers: method === "GET" ? headers : { ...headers, "content-length": bytes.length },
        signal,
        // A connection that is kept alive could outlive the check of its address.
        agent: false,
        lookup: pinnedTo(pinned),
      },
      (response) => {
        const { statusCode = 0 } = response;
        let length = 0;
        const settle = () => {
          resolve({ status_code: statusCode, error: refusal(statusCode) });
        };
        response.on("data", (chunk: Buffer) => {
          length += chunk.length;
          if (length > longestAnswer) {
            settle();
            response.destroy();
          }
        });
        response.on("end", settle);
        response.on("error", reject);
      },
    );
    sending.on("error", reject);
    sending.end(bytes);
  });
}

function refusal(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `answered ${status}: redirects are not followed`;
  return `answered ${status}`;
}

function within(lookup: Lookup, signal: AbortSignal): Lookup {
  return (hostname) =>
    Promise.race([
      lookup(hostname),
      new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => {
          reject(new Error("DNS did not answer in time"));
        });
      }),
    ]);
}

/** The text is shown to other people, so it contains nothing that the partner's server sent. */
function describe(error: unknown): string {
  const code = errorCode(error);
  if (code !== undefined) return `could not be reached: ${code}`;
  return error instanceof Error ? error.message.slice(0, 200) : "could not be reached";
}
