import sharp from "sharp";
import type { ImageFormat } from "../../core/serving/render-options.ts";
import type { Picture } from "../../core/serving/paint.ts";

/** Tiles are made once and kept, but somebody waits for each: so the cheaper settings. */
const settings = {
  png: { compressionLevel: 4 },
  webp: { quality: 85, effort: 2 },
  jpeg: { quality: 85 },
} as const;

export async function encodeImage(picture: Picture, format: ImageFormat): Promise<Uint8Array> {
  const { width, height, rgba, isOpaque } = picture;
  const image = sharp(rgba, { raw: { width, height, channels: 4 } });
  // JPEG has no transparency: nothing there is white, as paper is.
  const flat =
    format === "jpeg" && !isOpaque
      ? image.flatten({ background: "#ffffff" })
      : isOpaque
        ? image.removeAlpha()
        : image;
  return flat.toFormat(format, settings[format]).toBuffer();
}
