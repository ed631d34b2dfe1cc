/** Reads colours from screenshots. */
import type { Locator } from "playwright-core";
import sharp from "sharp";

export interface Colour {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
}

/** The colour at a place of an element, in shares of its width and height. */
export async function colourAt(element: Locator, x = 0.5, y = 0.5): Promise<Colour> {
  const picture = sharp(await element.screenshot());
  const { width, height } = await picture.metadata();
  const [red = 0, green = 0, blue = 0] = await picture
    .extract({ left: Math.round(x * width), top: Math.round(y * height), width: 1, height: 1 })
    .removeAlpha()
    .raw()
    .toBuffer();
  return { red, green, blue };
}

/** How many different colours the middle of an element shows: a base map has one or two. */
export async function coloursInMiddle(element: Locator): Promise<number> {
  const picture = sharp(await element.screenshot());
  const { width, height } = await picture.metadata();
  const [left, top] = [Math.round(width * 0.4), Math.round(height * 0.4)];
  const pixels = await picture
    .extract({ left, top, width: Math.round(width * 0.2), height: Math.round(height * 0.2) })
    .removeAlpha()
    .raw()
    .toBuffer();
  const seen = new Set<number>();
  for (let at = 0; at < pixels.length; at += 3) seen.add(pixels.readUIntBE(at, 3));
  return seen.size;
}
