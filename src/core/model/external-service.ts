import { z } from "zod";

export const serviceId = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,62}$/, "must hold lower-case letters, digits, _ or -");

/** Kinds whose services are shown as layers. */
export const layerKinds = [
  "xyz",
  "wms",
  "wmts",
  "ogc_features",
  "ogc_tiles",
  "stac",
  "arcgis",
] as const;
export const serviceKind = z.enum([...layerKinds, "webhook", "data_factory", "other"]);

const address = z.url({ protocol: /^https?$/ }).max(1024);

/** What an operator registers. */
export const serviceEdit = z.strictObject({
  name: z.string().min(1).max(200),
  kind: serviceKind,
  url: address
    .describe("of tiles with {z}/{x}/{y} for the kind xyz")
    .meta({ format: "uri-template" }),
  health_url: address.nullable().default(null).describe("asked by GET; default: the url"),
  attribution: z.string().min(1).max(500).nullable().default(null),
  is_active: z.boolean().default(true),
});
export type ServiceEdit = z.output<typeof serviceEdit>;

export interface ExternalService extends ServiceEdit {
  readonly service_id: string;
  readonly health: "unknown" | "ok" | "failing";
  readonly health_error: string | null;
  readonly latency_ms: number | null;
  readonly failures: number;
  readonly checked_at: string | null;
  readonly updated_by: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/**
 * The address that a check asks. Places of tiles are filled in with the tile of the whole world,
 * which every service of tiles has.
 */
export function healthAddress({
  url,
  health_url,
}: Pick<ServiceEdit, "url" | "health_url">): string {
  return (health_url ?? url).replaceAll(/\{-?[a-z]\}|%7B-?[a-z]%7D/gi, "0");
}
