import type { VariableBand } from "./variables.ts";
import type { Transform } from "./facts.ts";
import { escapeXml } from "./vrt.ts";

interface StackedBand extends VariableBand {
  readonly file: string;
  readonly number: number;
}

/**
 * A virtual raster whose bands come from several files of one grid. Packed values are unpacked to
 * their units; bands of different types become floating point.
 */
export function stackVrt(stack: {
  readonly width: number;
  readonly height: number;
  readonly transform: Transform | null;
  readonly wkt2: string | undefined;
  readonly bands: readonly StackedBand[];
  readonly metadata: Readonly<Record<string, string>>;
}): string {
  const { width, height, transform, wkt2, bands } = stack;
  const [first] = bands;
  const isPlain = bands.every(
    ({ type, scale, offset, nodata }) =>
      type === first?.type && nodata === first.nodata && scale === 1 && offset === 0,
  );
  const [dx, xSkew, x, ySkew, dy, y] = transform ?? [];
  const items = Object.entries(stack.metadata).map(
    ([key, value]) => `<MDI key="${escapeXml(key)}">${escapeXml(value)}</MDI>`,
  );
  return [
    `<VRTDataset rasterXSize="${width}" rasterYSize="${height}">`,
    wkt2 === undefined ? "" : `<SRS>${escapeXml(wkt2)}</SRS>`,
    transform === null
      ? ""
      : `<GeoTransform>${[x, dx, xSkew, y, ySkew, dy].join(",")}</GeoTransform>`,
    `<Metadata>${items.join("")}</Metadata>`,
    ...bands.map((band, index) => bandText(band, index + 1, isPlain)),
    "</VRTDataset>",
  ].join("\n");
}

function bandText(band: StackedBand, number: number, isPlain: boolean): string {
  const { file, nodata, scale, offset, label, unit } = band;
  // 64-bit floats hold no more than the packed numbers that they were made of.
  const type = isPlain ? band.type : "Float32";
  const source = [
    `<SourceFilename relativeToVRT="0">${escapeXml(file)}</SourceFilename>`,
    `<SourceBand>${band.number}</SourceBand>`,
    nodata === undefined ? "" : `<NODATA>${nodata}</NODATA>`,
    isPlain ? "" : `<ScaleOffset>${offset}</ScaleOffset><ScaleRatio>${scale}</ScaleRatio>`,
  ].join("");
  return [
    `<VRTRasterBand dataType="${type}" band="${number}">`,
    `<Description>${escapeXml(label)}</Description>`,
    unit === "" ? "" : `<UnitType>${escapeXml(unit)}</UnitType>`,
    isPlain
      ? nodata === undefined
        ? ""
        : `<NoDataValue>${nodata}</NoDataValue>`
      : "<NoDataValue>nan</NoDataValue>",
    `<ComplexSource>${source}</ComplexSource>`,
    "</VRTRasterBand>",
  ].join("");
}
