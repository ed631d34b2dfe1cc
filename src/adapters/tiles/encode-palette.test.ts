import sharp from "sharp";
import { expect, it } from "vitest";
import { encodePalette } from "./encode-palette.ts";

/** A picture with so many colours, the first of which are partly transparent. */
function picture(colours: number, alphas: number) {
  const [width, height] = [64, 20];
  const rgba = new Uint8Array(width * height * 4);
  for (let index = 0; index < width * height; index++) {
    const colour = (index * 7) % colours;
    const alpha = colour < alphas ? colour * 3 : 255;
    rgba.set([colour % 256, (colour * 31) % 256, colour >> 8, alpha], 4 * index);
  }
  return { width, height, rgba, isOpaque: alphas === 0 };
}

it.each([
  [1, 0],
  [256, 0],
  [256, 80],
])("keeps every pixel of %s colours, %s of them transparent", async (colours, alphas) => {
  const given = picture(colours, alphas);
  const png = encodePalette(given)!;
  const read = sharp(png);
  expect(await read.metadata()).toMatchObject({ format: "png", width: 64, height: 20 });
  expect(new Uint8Array(await read.ensureAlpha().raw().toBuffer())).toEqual(given.rgba);
});

it.each([true, false])("keeps every pixel of a painted table; a ramp: %s", async (isRamp) => {
  const given = picture(256, 0);
  const indices = Uint8Array.from({ length: 64 * 20 }, (_, index) => (index * 7) % 256);
  const colours = new Uint8Array(256 * 4);
  for (const [at, index] of indices.entries()) {
    colours.set(given.rgba.subarray(4 * at, 4 * at + 4), 4 * index);
  }
  const png = encodePalette({ ...given, palette: { indices, colours, isRamp } })!;
  const read = await sharp(png).ensureAlpha().raw().toBuffer();
  expect(new Uint8Array(read)).toEqual(given.rgba);
});

it("leaves a picture of more colours to others", () => {
  expect(encodePalette(picture(257, 0))).toBeUndefined();
});
