/**
 * WMTS 1.0.0 for one layer. It is RESTful only: the document names the template of the tiles, and no
 * request with parameters is answered.
 */
import { wmtsLayer } from "../catalogue/web-map-links.ts";
import { matrixSetName, tileMatrices, worldEdge } from "./tile-matrix-set.ts";
import type { TileJson } from "./tilejson.ts";

export interface WmtsFacts {
  readonly tilejson: TileJson;
  /** The address of this document. */
  readonly address: string;
  /** Pictures, or vector tiles. */
  readonly isVector: boolean;
}

export function makeWmtsCapabilities({ tilejson, address, isVector }: WmtsFacts): string {
  const { name, bounds, maxzoom, tiles } = tilejson;
  const [west, south, east, north] = bounds;
  const media = isVector ? "application/vnd.mapbox-vector-tile" : "image/png";
  const template = (tiles[0] ?? "")
    .replace("{z}", "{TileMatrix}")
    .replace("{x}", "{TileCol}")
    .replace("{y}", isVector ? "{TileRow}.mvt" : "{TileRow}.png");
  const matrices = tileMatrices(0, maxzoom).map(
    ({ zoom, scale, side }) => `<TileMatrix>
<ows:Identifier>${zoom}</ows:Identifier>
<ScaleDenominator>${scale}</ScaleDenominator>
<TopLeftCorner>${-worldEdge} ${worldEdge}</TopLeftCorner>
<TileWidth>256</TileWidth><TileHeight>256</TileHeight>
<MatrixWidth>${side}</MatrixWidth><MatrixHeight>${side}</MatrixHeight>
</TileMatrix>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink" version="1.0.0">
<ows:ServiceIdentification>
<ows:Title>${escapeXml(name)}</ows:Title>
<ows:ServiceType>OGC WMTS</ows:ServiceType>
<ows:ServiceTypeVersion>1.0.0</ows:ServiceTypeVersion>
</ows:ServiceIdentification>
<Contents>
<Layer>
<ows:Title>${escapeXml(name)}</ows:Title>
<ows:WGS84BoundingBox>
<ows:LowerCorner>${west} ${south}</ows:LowerCorner>
<ows:UpperCorner>${east} ${north}</ows:UpperCorner>
</ows:WGS84BoundingBox>
<ows:Identifier>${wmtsLayer}</ows:Identifier>
<Style isDefault="true"><ows:Identifier>default</ows:Identifier></Style>
<Format>${media}</Format>
<TileMatrixSetLink><TileMatrixSet>${matrixSetName}</TileMatrixSet></TileMatrixSetLink>
<ResourceURL format="${media}" resourceType="tile" template="${escapeXml(template)}"/>
</Layer>
<TileMatrixSet>
<ows:Identifier>${matrixSetName}</ows:Identifier>
<ows:SupportedCRS>urn:ogc:def:crs:EPSG::3857</ows:SupportedCRS>
<WellKnownScaleSet>urn:ogc:def:wkss:OGC:1.0:GoogleMapsCompatible</WellKnownScaleSet>
${matrices.join("\n")}
</TileMatrixSet>
</Contents>
<ServiceMetadataURL xlink:href="${escapeXml(address)}"/>
</Capabilities>
`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

function escapeXml(text: string): string {
  // Other control characters cannot stand in XML 1.0 at all.
  // oxlint-disable-next-line no-control-regex -- control characters are what it removes
  const allowed = text.replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "");
  return allowed.replaceAll(/[&<>"]/g, (sign) => entities[sign] ?? sign);
}
