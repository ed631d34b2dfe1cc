import { stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import http from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import { Transform } from "node:stream";
import type { Lookup, Network } from "../net/check-address.ts";
import { findAddresses, pinnedTo, resolveAll } from "../net/check-address.ts";
import { errorCode } from "../runtime/error-code.ts";
import { KnownError } from "../runtime/known-error.ts";
import type { Source } from "./source.ts";
import { BadSource, SourceNotServed, SourceUnreachable } from "./source.ts";
import { pour, writeWhole } from "./transfer.ts";

export interface HttpsRules {
  /** Names, `*.name` for all subdomains, each with `:port` where that is not 443. */
  readonly allowedHosts: readonly string[];
  /** Private networks that a name may resolve to. */
  readonly privateNetworks?: readonly Network[];
  readonly lookup?: Lookup;
  readonly schemes?: readonly string[];
  /** The largest file that is fetched; by default `largestSourceBytes`. */
  readonly maxBytes?: number;
  /** How long the server may send nothing. */
  readonly idleMs?: number;
}

export const largestSourceBytes = 100 * 1024 ** 3;
const defaultIdleMs = 60_000;

/** A server that does not answer must not block a check of the source. */
const headTimeoutMs = 10_000;

/**
 * A source at `https://…` on an allowed host. Redirects are not followed, because they may lead to a
 * host that is not allowed. The address behind a name is checked and the connection goes to that
 * address, because the DNS of the name may be hostile. An IP address on the allow-list is not
 * checked further.
 */
export function httpsSource(text: string, rules: HttpsRules): HttpsSource {
  const url = demandAllowed(text, rules);
  const display = displayOf(url);
  const { maxBytes = largestSourceBytes, idleMs = defaultIdleMs } = rules;

  async function ask(method: "GET" | "HEAD", options: Asking = {}): Promise<IncomingMessage> {
    const { headers = {}, signal } = options;
    try {
      const lookup = await guard(url, rules);
      const { request } = url.protocol === "https:" ? https : http;
      return await new Promise<IncomingMessage>((resolve, reject) => {
        const asked = request(url, {
          method,
          headers,
          agent: false,
          ...(signal === undefined ? {} : { signal }),
          ...lookup,
        });
        asked.once("response", resolve);
        asked.once("error", reject);
        // Also while the answer is read: its stream then fails with this error.
        asked.setTimeout(idleMs, () => {
          asked.destroy(Object.assign(new Error("no answer"), { code: "ETIMEDOUT" }));
        });
        asked.end();
      });
    } catch (error) {
      if (error instanceof BadSource || signal?.reason === error) throw error;
      throw new SourceUnreachable(display, error);
    }
  }

  /** Asks for the first byte instead where the server does not support HEAD. */
  async function askHead(): Promise<IncomingMessage> {
    const signal = AbortSignal.timeout(headTimeoutMs);
    const response = await ask("HEAD", { signal });
    if (response.statusCode !== 405 && response.statusCode !== 501) return response;
    response.destroy();
    return ask("GET", { signal, headers: { range: "bytes=0-0" } });
  }

  return {
    kind: "https",
    display,
    localPath: async () => undefined,
    head: async () => {
      const response = await askHead();
      response.destroy();
      const { statusCode = 0, headers } = response;
      if (statusCode === 404 || statusCode === 410) return undefined;
      if (!isGood(statusCode)) throw new SourceNotServed(display, statusCode);
      return { bytes: sizeOf(response), etag: headers.etag ?? null };
    },
    readRange: async (offset, length, etag) => {
      const response = await ask("GET", {
        signal: AbortSignal.timeout(rangeTimeoutMs),
        headers: {
          range: `bytes=${offset}-${offset + length - 1}`,
          ...(etag === undefined ? {} : { "if-match": etag }),
        },
      });
      const { statusCode = 0, headers } = response;
      try {
        if (statusCode === 412 || (etag !== undefined && etag !== (headers.etag ?? etag))) {
          throw new BadSource(
            "SOURCE_CHANGED",
            `"${display}" was replaced: change \`updated\` of its item.`,
          );
        }
        if (isGood(statusCode) && statusCode !== 206) {
          throw new BadSource("SOURCE_NOT_IN_PARTS", `"${display}" is not served in parts.`);
        }
        if (statusCode !== 206) throw new SourceNotServed(display, statusCode);
        return await collect(response, length);
      } catch (error) {
        if (error instanceof KnownError) throw error;
        throw new SourceUnreachable(display, error);
      } finally {
        response.destroy();
      }
    },
    readAll: async (most) => {
      const response = await ask("GET", { signal: AbortSignal.timeout(rangeTimeoutMs) });
      const { statusCode = 0 } = response;
      try {
        if (!isGood(statusCode)) throw new SourceNotServed(display, statusCode);
        const bytes = await collect(response, most + 1);
        if (bytes.byteLength > most) throw tooLarge(display, most);
        return bytes;
      } catch (error) {
        if (error instanceof KnownError) throw error;
        throw new SourceUnreachable(display, error);
      } finally {
        response.destroy();
      }
    },
    fetchTo: async (file, options) => {
      const { signal } = options ?? {};
      const response = await ask("GET", signal === undefined ? {} : { signal });
      const { statusCode = 0 } = response;
      if (!isGood(statusCode)) {
        response.destroy();
        throw new SourceNotServed(display, statusCode);
      }
      const total = sizeOf(response) ?? 0;
      const limit = limitBytes(maxBytes, display);
      if (total > maxBytes) {
        response.destroy();
        throw tooLarge(display, maxBytes);
      }
      response.once("error", (error) => limit.destroy(error));
      await writeWhole(file, (temporary) =>
        pour(response.pipe(limit), temporary, total, options),
      ).catch((error: unknown) => {
        response.destroy();
        if (error instanceof BadSource || signal?.aborted === true) throw error;
        if (errorCode(error) === "ENOSPC") throw error;
        throw new SourceUnreachable(display, error);
      });
      return { bytes: (await stat(file)).size };
    },
  };
}

export function isHttps(source: Source): source is HttpsSource {
  return source.kind === "https";
}

export interface HttpsSource extends Source {
  readonly kind: "https";
  /** A small file as a whole. */
  readAll(maxBytes: number): Promise<Uint8Array>;
  /** A part of the file; with an ETag only of the file that had it. */
  readRange(offset: number, length: number, etag?: string): Promise<Uint8Array>;
}

/** A part is small, so a server that sends it slowly is not waited for. */
const rangeTimeoutMs = 30_000;

interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Passes bytes on, and fails with the first byte beyond the limit, whatever size was announced. */
function limitBytes(maxBytes: number, display: string): Transform {
  let passed = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      passed += chunk.length;
      if (passed > maxBytes) done(tooLarge(display, maxBytes));
      else done(null, chunk);
    },
  });
}

/** Reads no more than was asked for, whatever the server sends. */
async function collect(response: IncomingMessage, length: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= length) break;
  }
  return Buffer.concat(chunks).subarray(0, length);
}

function tooLarge(display: string, maxBytes: number): BadSource {
  return new BadSource(
    "SOURCE_TOO_LARGE",
    `"${display}" has more than ${maxBytes} bytes, the most that are fetched ` +
      "(RMHDAG_SOURCE_MAX_BYTES).",
  );
}

function displayOf(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

function demandAllowed(text: string, { allowedHosts, schemes = ["https:"] }: HttpsRules): URL {
  if (!URL.canParse(text)) {
    throw new BadSource("SOURCE_SCHEME_NOT_ALLOWED", "The source is not a valid address.");
  }
  const url = new URL(text);
  const display = displayOf(url);
  if (!schemes.includes(url.protocol)) {
    throw new BadSource("SOURCE_SCHEME_NOT_ALLOWED", `"${display}" must begin with https://.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new BadSource(
      "SOURCE_HAS_CREDENTIALS",
      `"${display}" was given with a user name or password: use an address without them.`,
    );
  }
  if (!allowedHosts.some((allowed) => isAllowed(url, allowed.toLowerCase()))) {
    throw new BadSource(
      "SOURCE_HOST_NOT_ALLOWED",
      `The host ${url.host} is not among those that sources may come from (RMHDAG_SOURCE_HOSTS).`,
    );
  }
  return url;
}

async function guard(url: URL, { privateNetworks = [], lookup = resolveAll }: HttpsRules) {
  if (isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0) return {};
  const found = await findAddresses(url, privateNetworks, lookup);
  if (typeof found !== "string") return { lookup: pinnedTo(found[0]) };
  throw new BadSource(
    "SOURCE_HOST_NOT_ALLOWED",
    `The host ${url.host} leads to an address that sources may not come from ` +
      "(RMHDAG_SOURCE_PRIVATE_NETWORKS).",
  );
}

function isAllowed(url: URL, allowed: string): boolean {
  if (!allowed.startsWith("*.")) return url.host === allowed;
  // An IP address has no subdomains: `*.1` must not allow 10.0.0.1.
  const isName = /[a-z]/.test(url.hostname) && !url.hostname.startsWith("[");
  return isName && url.host.endsWith(allowed.slice(1));
}

function isGood(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The size of the whole file, also where the answer is a part of it. */
function sizeOf({ headers, statusCode }: IncomingMessage): number | null {
  const part = /\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1];
  const text = statusCode === 206 ? part : headers["content-length"];
  return text === undefined || !/^\d+$/.test(text) ? null : Number(text);
}
