const languageByte = 29;

/**
 * Of a dBASE table that says nothing about it. Undefined: it does say, or there is nothing beyond
 * ASCII to guess about. Bytes that follow the rules of UTF-8 by chance are rare enough.
 */
export function guessEncoding(table: Uint8Array): "UTF-8" | "CP1252" | undefined {
  if ((table[languageByte] ?? 0) !== 0) return undefined;
  const header = (table[8] ?? 0) | ((table[9] ?? 0) << 8);
  const rows = table.subarray(header);
  if (rows.every((byte) => byte < 0x80)) return undefined;
  return isUtf8(rows) ? "UTF-8" : "CP1252";
}

function isUtf8(bytes: Uint8Array): boolean {
  let following = 0;
  for (const byte of bytes) {
    if (following > 0) {
      if (byte >> 6 !== 0b10) return false;
      following -= 1;
    } else if (byte >= 0x80) {
      if (byte >> 5 === 0b110) following = 1;
      else if (byte >> 4 === 0b1110) following = 2;
      else if (byte >> 3 === 0b11110) following = 3;
      else return false;
    }
  }
  return true;
}
