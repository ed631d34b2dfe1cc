/**
 * Signed addresses: `/signed/{token}/…` in front of the path of a layer. They work without a token of
 * the caller until a time, for programs that cannot send one. Documents below such an address link to
 * further signed addresses, because the prefix is a part of the address by which they were asked for.
 *
 * A token holds its end, the paths that it opens, and an HMAC of both. It gives `read` access to GET
 * requests below those paths and no access to any other. Where one of them is a vector layer of OGC API,
 * the list of vector layers is open too, and shows the layers of the token only.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Problem } from "../../core/errors.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Caller } from "./handler.ts";

export interface AddressSigner {
  /** The prefix of the signed addresses of these paths. */
  sign(paths: readonly string[], expiresAt: Date): string;
  /** The caller of a GET at this path; undefined if the token does not open it. */
  check(token: string, path: string): Caller | undefined;
}

/** `key` is a secret that all orchestrators share. */
export function createAddressSigner(key: string, clock: Clock): AddressSigner {
  const own = createHmac("sha256", key).update("signed addresses of layers").digest();
  const digest = (text: string) => createHmac("sha256", own).update(text).digest();
  return {
    sign: (paths, expiresAt) => {
      const scope = Buffer.from(paths.join("\n")).toString("base64url");
      const text = `${Math.floor(expiresAt.getTime() / 1000)}.${scope}`;
      return `/signed/${text}.${digest(text).toString("base64url")}`;
    },
    check: (token, path) => {
      const [expires = "", scope = "", signature = ""] = token.split(".");
      const given = Buffer.from(signature, "base64url");
      const right = digest(`${expires}.${scope}`);
      if (given.length !== right.length || !timingSafeEqual(given, right)) {
        throw new Problem("LINK_NOT_VALID", "This signed address was changed, or its key was.");
      }
      if (Number(expires) * 1000 <= clock.now().getTime()) {
        throw new Problem("LINK_NOT_VALID", "The time of this signed address is over: sign again.");
      }
      const paths = Buffer.from(scope, "base64url").toString("utf8").split("\n");
      // QGIS writes the colon of a layer's id as it is.
      const asked = path.replaceAll(":", "%3A");
      const reader: Caller = { name: "a signed address", access: ["read"] };
      if (paths.some((each) => asked === each || asked.startsWith(`${each}/`))) return reader;
      const layers = paths.filter((each) => each.startsWith(`${layerList}/`));
      if (asked !== layerList || layers.length === 0) return undefined;
      const ids = layers.map((each) => decodeURIComponent(each.slice(layerList.length + 1)));
      return { ...reader, onlyLayers: ids };
    },
  };
}

const layerList = "/ogc/collections";

const signedUrl = /^\/signed\/([\w.-]{1,4096})(\/.*)$/s;

/**
 * Takes the token out of the request's URL, before it is routed and logged, and makes it a part of the
 * prefix that links begin with.
 */
export function takeSignature(
  request: IncomingMessage,
  tokens: WeakMap<IncomingMessage, string>,
): string {
  const url = request.url ?? "/";
  const [, token, rest] = signedUrl.exec(url) ?? [];
  if (token === undefined || rest === undefined) return url;
  tokens.set(request, token);
  const before = [request.headers["x-forwarded-prefix"]].flat()[0]?.split(",", 1)[0]?.trim() ?? "";
  request.headers["x-forwarded-prefix"] = `${before}/signed/${token}`;
  return rest;
}
