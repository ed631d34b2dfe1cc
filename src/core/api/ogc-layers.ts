/**
 * All vector layers below one address, as OGC API – Features and Tiles: QGIS and GDAL find them there
 * by themselves. Like the catalogue, each answer holds only the layers that its caller may see.
 */
import { z } from "zod";
import { defineContract } from "./contract.ts";
import { featureContracts } from "./features.ts";
import { integer, object } from "./schemas.ts";

const links = z.array(z.looseObject({ rel: z.string(), href: z.string() }));
/** Clients ask for JSON by this parameter, which is the only form anyway. */
const form = { f: z.string().max(32).optional().describe("json, the only form") };
const common = { method: "GET", access: "public", errors: ["UNAVAILABLE"] } as const;
const plainQuery = z.object(form);

/** `collection:item` of the catalogue; the ids of items have no colon. */
const layerId = z.string().min(3).max(511);

export const layerFeatureContracts = featureContracts("Layer", "/ogc/collections/{layer_id}", {
  params: { layer_id: layerId },
  query: {},
  access: "public",
});

export const ogcContracts = [
  defineContract({
    ...common,
    id: "ogcLanding",
    path: "/ogc",
    summary: "The landing page of the vector layers, for QGIS and GDAL.",
    query: plainQuery,
    response: z.looseObject({ title: z.string(), links }),
  }),
  defineContract({
    ...common,
    id: "ogcConformance",
    path: "/ogc/conformance",
    summary: "The parts of OGC API Features and Tiles that are followed.",
    query: plainQuery,
    response: z.object({ conformsTo: z.array(z.string()) }),
  }),
  defineContract({
    ...common,
    id: "ogcApi",
    path: "/ogc/api",
    summary: "This API as an OpenAPI document.",
    query: plainQuery,
    response: object,
    types: ["application/vnd.oai.openapi+json;version=3.1"],
  }),
  defineContract({
    ...common,
    id: "ogcCollections",
    path: "/ogc/collections",
    summary: "The vector layers that the caller may see.",
    query: z.object({
      ...form,
      limit: integer(1, Number.MAX_SAFE_INTEGER)
        .prefault(1000)
        .transform((wanted) => Math.min(wanted, 1000))
        .describe("how many layers at most; 1,000 if more are asked for"),
      token: z.string().max(4096).optional().describe("of the `next` link of the page before"),
    }),
    response: z.object({ collections: z.array(object), links }),
    errors: ["BAD_REQUEST", "UNAVAILABLE"],
  }),
  defineContract({
    ...common,
    id: "ogcTileMatrixSets",
    path: "/ogc/tileMatrixSets",
    summary: "The tile matrix sets of all tiles.",
    query: plainQuery,
    response: object,
  }),
  defineContract({
    ...common,
    id: "ogcTileMatrixSet",
    path: "/ogc/tileMatrixSets/WebMercatorQuad",
    summary: "The definition of WebMercatorQuad.",
    query: plainQuery,
    response: object,
  }),
  ...layerFeatureContracts,
] as const;
