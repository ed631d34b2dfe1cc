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

it("leaves a picture of more colours to others", () => {
  expect(encodePalette(picture(257, 0))).toBeUndefined();
});
