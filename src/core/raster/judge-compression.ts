/** Judges a compression that the submission names, before any work is done with it. */
import type { Compression, Tier } from "./facts.ts";
import { makeFinding } from "./finding.ts";
import type { RasterFinding } from "./finding.ts";
import type { InspectedRaster } from "./inspected.ts";

export function judgeCompression(
  { bands, hasPalette }: Pick<InspectedRaster, "bands" | "hasPalette">,
  compression: Compression | undefined,
  tier: Tier,
): RasterFinding[] {
  // For display, imagery and palettes become bytes of red, green, blue.
  if (
    compression === undefined ||
    (tier === "visualization" && (hasPalette || bands.length >= 3))
  ) {
    return [];
  }
  const why = unsuitable(compression, bands, hasPalette);
  return why === undefined ? [] : [makeFinding("COMPRESSION_UNSUITABLE", why)];
}

function unsuitable(
  compression: Compression,
  bands: InspectedRaster["bands"],
  hasPalette: boolean,
): string | undefined {
  const name = compression.toUpperCase();
  const type = bands[0]?.data_type ?? "unknown";
  const isBytes = bands.every(({ data_type }) => data_type === "uint8");
  if (compression === "jpeg" || compression === "webp") {
    if (!isBytes) return `${name} holds bytes, and its bands are ${type}.`;
    if (hasPalette) return `${name} changes values slightly, which turns classes into others.`;
    const counts = compression === "jpeg" ? [1, 3, 4] : [3, 4];
    if (!counts.includes(bands.length)) return `${name} cannot hold ${bands.length} bands.`;
  }
  if (compression === "lerc" && type.startsWith("c")) return `${name} cannot hold ${type}.`;
  return undefined;
}
