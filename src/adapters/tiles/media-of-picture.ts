import { mediaOf } from "../../core/serving/render-options.ts";

/** By its first bytes, so that a kept picture needs no label. */
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
