import type { Picture } from "./paint.ts";

/** One picture over another of the same size; undefined where there is none. */
export function layOver(top: Picture | undefined, below: Picture | undefined): Picture | undefined {
  if (top === undefined || below === undefined || top.isOpaque) return top ?? below;
  const rgba = top.rgba.slice();
  let isOpaque = true;
  for (let place = 0; place < rgba.length; place += 4) {
    const alpha = (rgba[place + 3] ?? 0) / 255;
    if (alpha === 1) continue;
    const under = ((1 - alpha) * (below.rgba[place + 3] ?? 0)) / 255;
    const whole = alpha + under;
    for (let channel = 0; channel < 3 && whole > 0; channel++) {
      const mixed =
        alpha * (rgba[place + channel] ?? 0) + under * (below.rgba[place + channel] ?? 0);
      rgba[place + channel] = Math.round(mixed / whole);
    }
    rgba[place + 3] = Math.round(whole * 255);
    isOpaque &&= rgba[place + 3] === 255;
  }
  return { width: top.width, height: top.height, rgba, isOpaque };
}
