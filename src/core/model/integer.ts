import { z } from "zod";

/** A whole number in an address, where it is text: digits only, unlike in `Number("0x10")`. */
export function integer(minimum: number, maximum: number) {
  const fromText = (value: unknown) =>
    typeof value === "string" && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
  return z.preprocess(fromText, z.number().int().min(minimum).max(maximum));
}
