/** Protocol buffers, read by hand, so that no encoder judges its own work. */
type Field = readonly [number: number, value: number | Uint8Array];

/** Numbers of fixed width are bytes, as texts and messages are. */
export function fields(bytes: Uint8Array): Field[] {
  const found: Field[] = [];
  for (let offset = 0; offset < bytes.length;) {
    const [key, afterKey] = varint(bytes, offset);
    const [number, wire] = [key >> 3, key & 7];
    if (wire === 0) {
      const [value, end] = varint(bytes, afterKey);
      found.push([number, value]);
      offset = end;
      continue;
    }
    const [length, start] = wire === 2 ? varint(bytes, afterKey) : [wire === 1 ? 8 : 4, afterKey];
    found.push([number, bytes.subarray(start, start + length)]);
    offset = start + length;
  }
  return found;
}

export function varints(bytes: Uint8Array): number[] {
  const numbers: number[] = [];
  for (let offset = 0; offset < bytes.length;) {
    const [value, end] = varint(bytes, offset);
    numbers.push(value);
    offset = end;
  }
  return numbers;
}

function varint(bytes: Uint8Array, start: number): [value: number, end: number] {
  let value = 0;
  for (let offset = start, scale = 1; ; offset++, scale *= 128) {
    const byte = bytes[offset]!;
    value += (byte & 127) * scale;
    if (byte < 128) return [value, offset + 1];
  }
}

export function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
