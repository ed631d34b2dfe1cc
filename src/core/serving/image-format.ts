export const imageFormats = ["png", "webp", "jpeg"] as const;
export type ImageFormat = (typeof imageFormats)[number];

export const mediaOf: Readonly<Record<ImageFormat, string>> = {
  png: "image/png",
  webp: "image/webp",
  jpeg: "image/jpeg",
};

/** Reads the media type from the first byte of a picture. */
export function mediaOfPicture([first]: Uint8Array): string {
  switch (first) {
    case 0x89:
      return mediaOf.png;
    case 0xff:
      return mediaOf.jpeg;
    default:
      return mediaOf.webp;
  }
}

/**
 * `auto`: JPEG where nothing is transparent, PNG elsewhere. An extension counts before what the
 * client says it accepts; a browser accepts everything, and `auto` serves it best.
 */
export function chooseFormat(
  extension: string | undefined,
  accept: string | undefined,
): ImageFormat | "auto" {
  if (extension === "jpg" || extension === "jpeg") return "jpeg";
  if (extension === "png" || extension === "webp") return extension;
  const named = (accept ?? "").split(",").map((part) => part.split(";")[0]?.trim() ?? "");
  if (named.some((media) => media === "*/*" || media === "image/*")) return "auto";
  return imageFormats.find((format) => named.includes(mediaOf[format])) ?? "auto";
}
