import { baseOf } from "../../adapters/http/base-url.ts";
import type { AccessPolicy } from "../../adapters/http/access.ts";
import type { ApiRequest, Caller } from "../../adapters/http/handler.ts";
import { systemClock } from "../../adapters/runtime/clock.ts";
import type { Contract } from "../../core/api/contract.ts";
import { Problem } from "../../core/errors.ts";
import type { Layer } from "../../core/serving/layer.ts";
import { toQueryText } from "../../core/serving/render-options.ts";

interface Signing {
  /** Finds the layer as a caller sees it. */
  readonly find: (caller: Caller) => Promise<Layer>;
  /** The path below which the layer's pictures are, and that of its features. */
  readonly base: string;
  readonly features: string;
  /** The layer's id below `/ogc/collections`; undefined: it has none. */
  readonly layerId?: string | undefined;
}

/**
 * Signs the addresses of a layer. They show what `read` access shows at the time of each request: a
 * layer that is withdrawn is gone from signed addresses too.
 */
export async function signLayer(
  { signer }: Pick<AccessPolicy, "signer">,
  request: Pick<ApiRequest<Contract>, "header"> & {
    readonly body: { readonly expires_in_seconds: number };
    readonly query?: object;
  },
  { find, base, features, layerId }: Signing,
) {
  if (signer === undefined) {
    throw new Problem(
      "SWITCHED_OFF",
      "Signed addresses need CALLBACK_SIGNING_KEY in the configuration.",
    );
  }
  const layer = await find({ name: "a signed address", access: ["read"] }).catch(
    (error: unknown) => {
      if (!(error instanceof Problem) || error.status !== 404) throw error;
      throw new Problem(
        "LAYER_NOT_FOUND",
        "A signed address shows what read access shows, which is not this layer: approve and clear its version first.",
      );
    },
  );
  const seconds = request.body.expires_in_seconds;
  const expiresAt = new Date(systemClock.now().getTime() + seconds * 1000);
  const isBelow = features === base || features.startsWith(`${base}/`);
  const isVector = layer.kind === "vector";
  const listed = isVector && layerId !== undefined ? [layerId] : [];
  const paths = [
    ...(isBelow ? [base] : [base, features]),
    ...listed.map((id) => `/ogc/collections/${encodeURIComponent(id)}`),
  ];
  const root = `${baseOf(request)}${signer.sign(paths, expiresAt)}`;
  const query = toQueryText((request.query ?? {}) as Record<string, unknown>);
  return {
    expires_at: expiresAt.toISOString(),
    tiles: `${root}${base}/tiles/WebMercatorQuad/{z}/{x}/{y}${query}`,
    tilejson: `${root}${base}/WebMercatorQuad/tilejson.json${query}`,
    style: `${root}${base}/style.json${query}`,
    wmts: `${root}${base}/WMTSCapabilities.xml${query}`,
    features: isVector ? `${root}${features}${query}` : null,
    ogc: listed.length > 0 ? `${root}/ogc` : null,
  };
}
