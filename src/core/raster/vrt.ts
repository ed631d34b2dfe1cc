/**
 * Writes virtual rasters as text, because one of GDAL's two engines has no program that makes them.
 */
import type { NodataValue, Transform } from "./facts.ts";

export function escapeXml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly transform: Transform;
  readonly wkt2: string;
}

/**
 * The one place that decides the axis order of a virtual raster: without a mapping GDAL counts x to
 * the east and y to the north, as it does for the transform of every file, whatever the order of the
 * axes in the definition (latitude first in EPSG:4326, northing first in EPSG:3035).
 */
function openDataset({ width, height, transform, wkt2 }: Frame): string {
  const [dx, xSkew, x, ySkew, dy, y] = transform;
  return [
    `<VRTDataset rasterXSize="${width}" rasterYSize="${height}">`,
    `<SRS>${escapeXml(wkt2)}</SRS>`,
    `<GeoTransform>${[x, dx, xSkew, y, ySkew, dy].join(",")}</GeoTransform>`,
  ].join("\n");
}

/**
 * The bands of a file with NaN where its mask or alpha says that there is nothing, so that GDAL's
 * statistics leave those pixels out.
 */
export function maskedVrt(file: string, size: Pick<Frame, "width" | "height">, count: number) {
  const name = `<SourceFilename relativeToVRT="0">${escapeXml(file)}</SourceFilename>`;
  const bands = Array.from(
    { length: count },
    (_, index) =>
      `<VRTRasterBand dataType="Float64" band="${index + 1}"><NoDataValue>nan</NoDataValue><ComplexSource>${name}<SourceBand>${index + 1}</SourceBand><UseMaskBand>true</UseMaskBand></ComplexSource></VRTRasterBand>`,
  );
  const head = `<VRTDataset rasterXSize="${size.width}" rasterYSize="${size.height}">`;
  return [head, ...bands, "</VRTDataset>"].join("\n");
}

/** A virtual raster over bytes that GDAL takes for unsigned, with the signed numbers that they are. */
export function signedBytesVrt(vrt: string): string {
  // The bytes of a mask have no sign: 255 means that a pixel has data.
  return vrt
    .split(/(<MaskBand>.*?<\/MaskBand>)/s)
    .map((part) => (part.startsWith("<MaskBand>") ? part : withSigns(part)))
    .join("");
}

function withSigns(bands: string): string {
  return bands
    .replaceAll(/<MDI key="PIXELTYPE">[^<]*<\/MDI>\s*/g, "")
    .replaceAll(/<VRTRasterBand dataType="\w+"/g, '<VRTRasterBand dataType="Int16"')
    .replaceAll(/<(?:Simple|Complex)Source[^>]*>/g, "<ComplexSource>")
    .replaceAll(/<NODATA>[^<]*<\/NODATA>\s*/g, "")
    .replaceAll(
      /<\/(?:Simple|Complex)Source>/g,
      "<LUT>0:0,127:127,128:-128,255:-1</LUT></ComplexSource>",
    );
}

/** A virtual raster of one empty pixel, with which GDAL is asked to interpret a CRS. */
export function probeVrt(crs: string): string {
  return `<VRTDataset rasterXSize="1" rasterYSize="1"><SRS>${escapeXml(crs)}</SRS><GeoTransform>0,1,0,0,0,-1</GeoTransform><VRTRasterBand dataType="Byte" band="1"/></VRTDataset>`;
}

export interface ImageBand {
  readonly sourceBand: number;
  /** The values that become 1 and 255; undefined keeps the values. */
  readonly scale?: readonly [number, number] | undefined;
  /** The component of the palette: 1 red, 2 green, 3 blue. */
  readonly paletteComponent?: 1 | 2 | 3 | undefined;
}

/** The band of the source that marks where data exist, and the value that means fully present. */
export interface ImageAlpha {
  readonly sourceBand: number;
  readonly full: number;
}

const colors = ["Red", "Green", "Blue"] as const;

/**
 * Red, green, blue and alpha in 8 bits over any source. Alpha is set where at least one band has
 * data, whether the source marks it by nodata, by a mask or by alpha: a pixel whose red alone
 * equals the nodata value still has data.
 */
export function imageVrt(
  frame: Frame & {
    readonly source: string;
    readonly bands: readonly ImageBand[];
    readonly alpha: ImageAlpha | undefined;
  },
): string {
  const file = `<SourceFilename relativeToVRT="0">${escapeXml(frame.source)}</SourceFilename>`;
  const isGray = frame.bands.length === 1;
  const bands = frame.bands.map((band, index) => {
    const source = [
      file,
      `<SourceBand>${band.sourceBand}</SourceBand>`,
      band.paletteComponent === undefined
        ? ""
        : `<ColorTableComponent>${band.paletteComponent}</ColorTableComponent>`,
      band.scale === undefined ? "" : `<LUT>${band.scale[0]}:1,${band.scale[1]}:255</LUT>`,
    ].join("");
    const color = isGray ? "Gray" : (colors[index] ?? "Undefined");
    return `<VRTRasterBand dataType="Byte" band="${index + 1}"><ColorInterp>${color}</ColorInterp><ComplexSource>${source}</ComplexSource></VRTRasterBand>`;
  });
  const masks = [...new Set(frame.bands.map(({ sourceBand }) => sourceBand))].map(
    (band) => `<SimpleSource>${file}<SourceBand>mask,${band}</SourceBand></SimpleSource>`,
  );
  const alpha = alphaBand(bands.length + 1, file, frame.alpha, masks);
  return [openDataset(frame), ...bands, alpha, "</VRTDataset>"].join("\n");
}

function alphaBand(
  number: number,
  file: string,
  given: ImageAlpha | undefined,
  masks: readonly string[],
): string {
  const open = `<VRTRasterBand dataType="Byte" band="${number}"`;
  const color = "<ColorInterp>Alpha</ColorInterp>";
  if (given !== undefined) {
    return `${open}>${color}<ComplexSource>${file}<SourceBand>${given.sourceBand}</SourceBand><LUT>0:0,${given.full}:255</LUT></ComplexSource></VRTRasterBand>`;
  }
  // GDAL's sum needs at least two terms.
  if (masks.length === 1) return `${open}>${color}${masks.join("")}</VRTRasterBand>`;
  return `${open} subClass="VRTDerivedRasterBand">${color}<PixelFunctionType>sum</PixelFunctionType><SourceTransferType>Float32</SourceTransferType>${masks.join("")}</VRTRasterBand>`;
}

/**
 * Puts a virtual raster that GDAL made of a part onto the grid of the whole: its size, its transform,
 * and the places of its sources. GDAL escapes all text of the file in it, so tags are what they seem.
 */
export function placeInFrame(
  vrt: string,
  frame: Omit<Frame, "wkt2"> & { readonly left: number; readonly top: number },
): string {
  const [dx, xSkew, x, ySkew, dy, y] = frame.transform;
  const numbers = [x, dx, xSkew, y, ySkew, dy].join(",");
  return vrt
    .replace(
      /<VRTDataset rasterXSize="\d+" rasterYSize="\d+"/,
      `<VRTDataset rasterXSize="${frame.width}" rasterYSize="${frame.height}"`,
    )
    .replace(/<GeoTransform>[^<]*</, `<GeoTransform>${numbers}<`)
    .replaceAll(
      /<DstRect xOff="(\d+)" yOff="(\d+)"/g,
      (_, left: string, top: string) =>
        `<DstRect xOff="${Number(left) + frame.left}" yOff="${Number(top) + frame.top}"`,
    );
}

export interface MosaicMember {
  readonly file: string;
  readonly width: number;
  readonly height: number;
  /** The place of the member's first pixel in the mosaic. */
  readonly left: number;
  readonly top: number;
}

export interface MosaicBand {
  /** GDAL's name of the data type. */
  readonly type: string;
  readonly color: string;
  readonly nodata: NodataValue | null;
  /** Of the members; by default the number that the band has in the mosaic. */
  readonly sourceBand?: number;
}

/** Places members on one grid; where they overlap, the later one is on top. */
export function mosaicVrt(
  frame: Frame & {
    readonly members: readonly MosaicMember[];
    readonly bands: readonly MosaicBand[];
    readonly hasMask: boolean;
  },
): string {
  const sources = (band: string, nodata: NodataValue | null) =>
    frame.members
      .map((member) => {
        const rect = (tag: string, left: number, top: number) =>
          `<${tag} xOff="${left}" yOff="${top}" xSize="${member.width}" ySize="${member.height}"/>`;
        const kind = nodata === null ? "SimpleSource" : "ComplexSource";
        return [
          `<${kind}><SourceFilename relativeToVRT="0">${escapeXml(member.file)}</SourceFilename>`,
          `<SourceBand>${band}</SourceBand>`,
          rect("SrcRect", 0, 0),
          rect("DstRect", member.left, member.top),
          nodata === null ? "" : `<NODATA>${nodata}</NODATA>`,
          `</${kind}>`,
        ].join("");
      })
      .join("\n");
  const bands = frame.bands.map(({ type, color, nodata, sourceBand }, index) =>
    [
      `<VRTRasterBand dataType="${escapeXml(type)}" band="${index + 1}">`,
      nodata === null ? "" : `<NoDataValue>${nodata}</NoDataValue>`,
      `<ColorInterp>${escapeXml(capitalise(color))}</ColorInterp>`,
      sources(String(sourceBand ?? index + 1), nodata),
      "</VRTRasterBand>",
    ].join(""),
  );
  const mask = frame.hasMask
    ? `<MaskBand><VRTRasterBand dataType="Byte">${sources("mask,1", null)}</VRTRasterBand></MaskBand>`
    : "";
  return [openDataset(frame), ...bands, mask, "</VRTDataset>"].join("\n");
}

/** The first bands of files on one grid, as the bands of one raster. */
export function stackVrt(
  frame: Frame & {
    /** GDAL's name of the data type. */
    readonly type: string;
    readonly nodata: NodataValue | null;
    readonly bands: readonly { readonly file: string; readonly description: string }[];
  },
): string {
  const bands = frame.bands.map(({ file, description }, index) =>
    [
      `<VRTRasterBand dataType="${escapeXml(frame.type)}" band="${index + 1}">`,
      `<Description>${escapeXml(description)}</Description>`,
      frame.nodata === null ? "" : `<NoDataValue>${frame.nodata}</NoDataValue>`,
      "<ColorInterp>Gray</ColorInterp>",
      `<SimpleSource><SourceFilename relativeToVRT="0">${escapeXml(file)}</SourceFilename>`,
      "<SourceBand>1</SourceBand></SimpleSource></VRTRasterBand>",
    ].join(""),
  );
  return [openDataset(frame), ...bands, "</VRTDataset>"].join("\n");
}

function capitalise(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/**
 * Sets the blocks of a warp that GDAL wrote to a size that makes several threads worthwhile. The
 * transformation is interpolated within each block, so the pixels depend on the blocks: every
 * program that warps must use the same, and tiles begin where blocks begin.
 */
export function threadBlocks(warp: string, threads: number): string {
  return warp
    .replace(/<BlockXSize>\d+</, "<BlockXSize>512<")
    .replace(/<BlockYSize>\d+</, "<BlockYSize>512<")
    .replace(/<Option name="INIT_DEST">/, `<Option name="NUM_THREADS">${threads}</Option>$&`);
}
