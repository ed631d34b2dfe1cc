/** What the bytes of JSON mean to `scan-json.ts`: numbers, keys as GDAL compares them, and a CRS. */

/** A digit, a sign or a decimal point. */
export function isNumeric(byte: number): boolean {
  return byte >= 0x2b && byte <= 0x39 && byte !== 0x2c && byte !== 0x2f;
}

export function isExponent(byte: number): boolean {
  return byte === 0x65 || byte === 0x45;
}

/** The name of a member as GDAL calls its column, from the bytes between the quotation marks. */
export function decodeName(bytes: Uint8Array): string {
  // A name that was cut off may end within a character, which must not be an error.
  const text = new TextDecoder().decode(bytes);
  if (!text.includes("\\")) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

export function fitsInteger(digits: string): boolean {
  const value = BigInt(digits);
  return BigInt.asIntN(64, value) === value;
}

/** Numbers, words such as `null`, commas, and the record separator of RFC 8142. */
export function isOrdinary(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    byte === 0x2c ||
    byte === 0x2d ||
    byte === 0x2e ||
    byte === 0x2b ||
    byte === 0x1e
  );
}

/**
 * GDAL compares keys without regard to case, after decoding `\u0063`, and up to a NUL character. A
 * longer key than `longestKey` is cut, and equals no key that is searched.
 */
export function decodeKey(raw: string): string {
  const decoded = raw.replaceAll(/\\u([\da-f]{4})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return untilNul(decoded).toLowerCase();
}

function untilNul(text: string): string {
  return text.split("\0", 1)[0] ?? "";
}

const namedTypes = new Set(["name", "epsg", "ogc"]);

/** Null, a text, or an object that names its system: `{"type":"name","properties":{…}}`. */
export function isPlainCrs(text: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  if (value === null || typeof value !== "object") return true;
  const types = Object.entries(value)
    .filter(([key]) => untilNul(key).toLowerCase() === "type")
    .map(([, type]) => String(type).toLowerCase());
  return types.every((type) => namedTypes.has(type));
}
