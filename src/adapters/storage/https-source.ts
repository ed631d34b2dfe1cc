import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import type { Source } from "./source.ts";
import { BadSource, SourceNotServed } from "./source.ts";
import { pour, writeWhole } from "./transfer.ts";

/**
 * `https://…` on an allowed host: a name, `*.` and a name for all below it, and `:port` where it is
 * not 443. Redirects are not followed: they would lead to hosts that nobody allowed.
 */
export function httpsSource(
  text: string,
  allowedHosts: readonly string[],
  schemes: readonly string[] = ["https:"],
): Source {
  if (!URL.canParse(text)) {
    throw new BadSource("SOURCE_SCHEME_NOT_ALLOWED", "The source is not a valid address.");
  }
  const url = new URL(text);
  const display = `${url.origin}${url.pathname}`;
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

  async function ask(method: "GET" | "HEAD", signal?: AbortSignal): Promise<Response> {
    return fetch(url, { method, redirect: "manual", ...(signal === undefined ? {} : { signal }) });
  }

  return {
    kind: "https",
    display,
    gdalPath: async () => `/vsicurl/${url.href}`,
    head: async () => {
      const response = await ask("HEAD");
      await response.body?.cancel();
      if (response.status === 404 || response.status === 410) return undefined;
      if (!response.ok) throw new SourceNotServed(display, response.status);
      return { bytes: sizeOf(response), etag: response.headers.get("etag") };
    },
    fetchTo: async (file, options) => {
      const response = await ask("GET", options?.signal);
      if (!response.ok || response.body === null) {
        await response.body?.cancel();
        throw new SourceNotServed(display, response.status);
      }
      const body = Readable.fromWeb(response.body as never);
      await writeWhole(file, (temporary) => pour(body, temporary, sizeOf(response) ?? 0, options));
      return { bytes: (await stat(file)).size };
    },
  };
}

function isAllowed(url: URL, allowed: string): boolean {
  if (!allowed.startsWith("*.")) return url.host === allowed;
  // An address of the network layer has no names below it: `*.1` must not allow 10.0.0.1.
  const isName = /[a-z]/.test(url.hostname) && !url.hostname.startsWith("[");
  return isName && url.host.endsWith(allowed.slice(1));
}

function sizeOf(response: Response): number | null {
  const text = response.headers.get("content-length");
  return text === null || !/^\d+$/.test(text) ? null : Number(text);
}
