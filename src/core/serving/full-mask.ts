/** Whether all pixels of a mask have data. Four are compared at a time: each tile asks this. */
export function isFullMask(mask: Uint8Array): boolean {
  const whole = mask.byteOffset % 4 === 0 ? mask.length >> 2 : 0;
  const words = new Uint32Array(mask.buffer, whole === 0 ? 0 : mask.byteOffset, whole);
  for (let index = 0; index < whole; index++) if (words[index] !== 0xffffffff) return false;
  for (let index = 4 * whole; index < mask.length; index++) if (mask[index] !== 255) return false;
  return true;
}
