import { promisify } from "node:util";
import { gzip } from "node:zlib";

const gzipBytes = promisify(gzip);

/** Smaller bodies gain less than the header costs. */
const leastBytes = 1024;

type Header = (name: string) => string | undefined;

export function acceptsGzip(header: Header): boolean {
  const offers = (header("accept-encoding") ?? "").split(",");
  return offers.some((offer) => /^\s*gzip\s*(?:;(?!\s*q=0(?:\.0*)?\s*$)|$)/i.test(offer));
}

/** Compresses a body where the client accepts it; answers with the headers that belong to it. */
export async function compress(
  body: Uint8Array | string,
  header: Header,
): Promise<{ body: Uint8Array | string; headers: Record<string, string> }> {
  const vary = { vary: "accept-encoding" };
  if (!acceptsGzip(header) || body.length < leastBytes) return { body, headers: vary };
  // Level 4 takes a third of the time of the default and compresses nearly as well.
  const bytes = await gzipBytes(body, { level: 4 });
  return { body: bytes, headers: { ...vary, "content-encoding": "gzip" } };
}
