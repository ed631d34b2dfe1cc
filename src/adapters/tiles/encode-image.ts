import sharp from "sharp";
import type { ImageFormat } from "../../core/serving/render-options.ts";
import type { Picture } from "../../core/serving/paint.ts";
import { encodePalette } from "./encode-palette.ts";

/** A user waits for each tile, so the settings favour speed over size. */
const settings = {
  png: { compressionLevel: 4 },
  webp: { quality: 85, effort: 2 },
  jpeg: { quality: 85 },
} as const;

/** `auto`: PNG where something is transparent, otherwise JPEG. */
export async function encodeImage(
  picture: Picture,
  wanted: ImageFormat | "auto",
): Promise<Uint8Array> {
  const { width, height, rgba, isOpaque } = picture;
  const format = wanted !== "auto" ? wanted : isOpaque ? "jpeg" : "png";
  const small = format === "png" ? encodePalette(picture) : undefined;
  if (small !== undefined) return small;
  const image = sharp(rgba, { raw: { width, height, channels: 4 } });
  // JPEG has no transparency: transparent pixels become white.
  const flat =
    format === "jpeg" && !isOpaque
      ? image.flatten({ background: "#ffffff" })
      : isOpaque
        ? image.removeAlpha()
        : image;
  return flat.toFormat(format, settings[format]).toBuffer();
}

export function emptyPicture(size: { readonly width: number; readonly height: number }): Picture {
  return { ...size, rgba: new Uint8Array(size.width * size.height * 4), isOpaque: false };
}
