import { createHash, createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** The one account that the stand-in knows. */
export const s3Keys = { id: "TESTKEY", secret: "test secret" };

/**
 * Why a request is refused, or undefined: the signature version 4 of AWS, calculated from its
 * description and not with the SDK, in the header or in the address.
 */
export function findBadSignature(request: IncomingMessage, body: Buffer): string | undefined {
  const url = new URL(request.url ?? "/", "http://x");
  const inAddress = url.searchParams.get("X-Amz-Signature");
  const signed = inAddress === null ? fromHeader(request) : fromAddress(url.searchParams);
  if (signed === undefined) return "AccessDenied";
  const { credential, names, signature, date, expires, hash } = signed;
  const [id, ...scope] = credential.split("/");
  if (id !== s3Keys.id) return "InvalidAccessKeyId";
  const began = Date.parse(date.replace(/^(....)(..)(..T..)(..)(..)/, "$1-$2-$3:$4:$5"));
  if (Math.abs(Date.now() - began) > 20 * 60_000 && inAddress === null)
    return "RequestTimeTooSkewed";
  if (Date.now() > began + expires * 1000) return "AccessDenied";
  if (hash !== "UNSIGNED-PAYLOAD" && hash !== sha256(body)) return "XAmzContentSHA256Mismatch";
  const canonical = [
    request.method ?? "",
    url.pathname,
    canonicalQuery(url.search),
    ...names.map((name) => `${name}:${String(request.headers[name] ?? "").trim()}`),
    "",
    names.join(";"),
    hash,
  ].join("\n");
  const text = ["AWS4-HMAC-SHA256", date, scope.join("/"), sha256(canonical)].join("\n");
  let key: Buffer | string = `AWS4${s3Keys.secret}`;
  for (const part of scope) key = createHmac("sha256", key).update(part).digest();
  const expected = createHmac("sha256", key).update(text).digest("hex");
  return expected === signature ? undefined : "SignatureDoesNotMatch";
}

interface Signed {
  readonly credential: string;
  readonly names: readonly string[];
  readonly signature: string;
  readonly date: string;
  readonly expires: number;
  readonly hash: string;
}

function fromHeader({ headers }: IncomingMessage): Signed | undefined {
  const pattern = /^AWS4-HMAC-SHA256 Credential=(.+?), ?SignedHeaders=(.+?), ?Signature=(\w+)$/;
  const found = pattern.exec(headers.authorization ?? "");
  if (found === null) return undefined;
  const [, credential = "", names = "", signature = ""] = found;
  return {
    credential,
    names: names.split(";"),
    signature,
    date: String(headers["x-amz-date"]),
    expires: 20 * 60,
    hash: String(headers["x-amz-content-sha256"]),
  };
}

function fromAddress(query: URLSearchParams): Signed {
  const get = (name: string) => query.get(`X-Amz-${name}`) ?? "";
  return {
    credential: get("Credential"),
    names: get("SignedHeaders").split(";"),
    signature: get("Signature"),
    date: get("Date"),
    expires: Number(get("Expires")),
    hash: "UNSIGNED-PAYLOAD",
  };
}

function canonicalQuery(search: string): string {
  return [...new URLSearchParams(search)]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map((pair) => pair.map(encode).join("="))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join("&");
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}
