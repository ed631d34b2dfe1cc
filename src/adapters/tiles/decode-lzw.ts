/**
 * Decodes the compressions LZW and PackBits of TIFF into a given number of bytes. What a block holds
 * beyond them is left, as libtiff does: a block of a megabyte can claim three thousand.
 */
const clear = 256;
const end = 257;
const mostCodes = 4096;

/** Codes of 9 to 12 bits, the highest bit first; the width grows one code earlier than it must. */
export function decodeLzw(bytes: Uint8Array, most: number): Uint8Array {
  const made = new Uint8Array(most);
  const before = new Uint16Array(mostCodes);
  const last = new Uint8Array(mostCodes);
  const lengths = new Uint16Array(mostCodes);
  for (let code = 0; code < clear; code++) {
    last[code] = code;
    lengths[code] = 1;
  }
  let [filled, known, width, bits, waiting, at] = [0, end + 1, 9, 0, 0, 0];
  let previous = clear;

  while (filled < most) {
    while (bits < width && at < bytes.length) {
      waiting = ((waiting << 8) | (bytes[at++] ?? 0)) & 0xff_ffff;
      bits += 8;
    }
    if (bits < width) break;
    bits -= width;
    const code = (waiting >> bits) & ((1 << width) - 1);
    if (code === end) break;
    if (code === clear) {
      [known, width, previous] = [end + 1, 9, clear];
      continue;
    }
    if (previous === clear ? code > clear : code > known) break;
    if (previous !== clear && known < mostCodes) {
      before[known] = previous;
      lengths[known] = (lengths[previous] ?? 0) + 1;
      last[known] = firstOf(code === known ? previous : code);
      known++;
    }
    write(code);
    previous = code;
    if (known >= (1 << width) - 1 && width < 12) width++;
  }
  return made;

  function firstOf(code: number): number {
    let each = code;
    while ((lengths[each] ?? 0) > 1) each = before[each] ?? 0;
    return last[each] ?? 0;
  }

  function write(code: number): void {
    const length = lengths[code] ?? 0;
    let each = code;
    for (let place = filled + length - 1; place >= filled; place--) {
      // A place beyond the end is ignored by a typed array.
      made[place] = last[each] ?? 0;
      each = before[each] ?? 0;
    }
    filled += length;
  }
}

/** A count, then as many bytes as they are; or a negative count, then one byte to repeat. */
export function decodePackBits(bytes: Uint8Array, most: number): Uint8Array {
  const made = new Uint8Array(most);
  let filled = 0;
  for (let at = 0; at < bytes.length && filled < most;) {
    const count = ((bytes[at++] ?? 0) << 24) >> 24;
    if (count === -128) continue;
    if (count < 0) {
      made.fill(bytes[at++] ?? 0, filled, filled + 1 - count);
      filled += 1 - count;
    } else {
      const part = bytes.subarray(at, at + Math.min(count + 1, most - filled));
      made.set(part, filled);
      filled += count + 1;
      at += count + 1;
    }
  }
  return made;
}
