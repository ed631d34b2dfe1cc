import { stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import http from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import type { Lookup, Network } from "../net/check-address.ts";
import { findAddresses, pinnedTo, resolveAll } from "../net/check-address.ts";
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
}

/** A server that does not answer must not block a check of the source. */
const headTimeoutMs = 10_000;

/**
 * A source at `https://…` on an allowed host. Redirects are not followed, because they may lead to a
 * host that is not allowed. The address behind a name is checked and the connection goes to that
 * address, because the DNS of the name may be hostile. An IP address on the allow-list is not
 * checked further.
 */
export function httpsSource(text: string, rules: HttpsRules): Source {
  const url = demandAllowed(text, rules);
  const display = displayOf(url);

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
    gdalPath: async () => `/vsicurl/${url.href}`,
    head: async () => {
      const response = await askHead();
      response.destroy();
      const { statusCode = 0, headers } = response;
      if (statusCode === 404 || statusCode === 410) return undefined;
      if (!isGood(statusCode)) throw new SourceNotServed(display, statusCode);
      return { bytes: sizeOf(response), etag: headers.etag ?? null };
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
      await writeWhole(file, (temporary) => pour(response, temporary, total, options));
      return { bytes: (await stat(file)).size };
    },
  };
}

interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
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
