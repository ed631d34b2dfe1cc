/**
 * Reads what a flood tile is from the name of its file, by a pattern such as
 * `1in{return_period}-{flood_type}-{defence}-{depth_unit}-{year}[-{scenario}]_{tile}.tif`: names in
 * braces are read, parts in brackets may be missing, `*` stands for any letters.
 */
import { z } from "zod";

/** Bounded, so that no name takes long to compare. */
const parts = {
  return_period: String.raw`\d{1,6}`,
  flood_type: "[A-Za-z]{1,40}",
  defence: "[A-Za-z]{1,40}",
  depth_unit: "[A-Za-z]{1,40}",
  year: String.raw`\d{4}`,
  scenario: "[A-Za-z0-9._]{1,40}",
  tile: String.raw`[nsNS]\d{1,2}[ewEW]\d{1,3}`,
} as const;
type Part = keyof typeof parts;

export interface FloodName {
  readonly return_period: number;
  /** Such as n05w010. */
  readonly tile: string;
  readonly attributes: FloodAttributes;
}

export type FloodAttributes = Partial<
  Record<"flood_type" | "defence" | "depth_unit" | "year" | "scenario", string>
>;

const attributeNames = ["flood_type", "defence", "depth_unit", "year", "scenario"] as const;
const mostWildcards = 3;
const longestName = 255;

export const usualPattern =
  "1in{return_period}-{flood_type}-{defence}-{depth_unit}-{year}[-{scenario}]_{tile}.tif";

export const namePattern = z
  .string()
  .min(1)
  .max(300)
  .superRefine((pattern, context) => {
    const problem = problemOf(pattern);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  });

function problemOf(pattern: string): string | undefined {
  const names = [...pattern.matchAll(/\{([^}]*)\}/g)].map(([, name = ""]) => name);
  const unknown = names.find((name) => !Object.hasOwn(parts, name));
  if (unknown !== undefined) {
    return `names {${unknown}}: known are ${Object.keys(parts).join(", ")}`;
  }
  if (new Set(names).size < names.length) return "names the same part twice";
  const missing = ["return_period", "tile"].find((name) => !names.includes(name));
  if (missing !== undefined) return `must name {${missing}}`;
  if (pattern.split("*").length - 1 > mostWildcards) return `has more than ${mostWildcards} "*"`;
  if (!/^(?:[^[\]{}]|\{\w+\}|\[(?:[^[\]{}]|\{\w+\})*\])*$/.test(pattern)) {
    return "has a bracket or brace that is not closed, or brackets in brackets";
  }
  return undefined;
}

/** A reader of names; undefined: the pattern does not fit the name. */
export function compilePattern(pattern: string): (path: string) => FloodName | undefined {
  const source = pattern.replaceAll(
    /\{(\w+)\}|([[\]*])|([.+?^${}()|\\])/g,
    (_, name: Part | undefined, sign: string | undefined, other: string | undefined) => {
      if (name !== undefined) return `(?<${name}>${parts[name]})`;
      if (sign === "[") return "(?:";
      if (sign === "]") return ")?";
      return sign === "*" ? "[^/]{0,100}" : `\\${other ?? ""}`;
    },
  );
  const matcher = new RegExp(`(?:^|/)${source}$`, "i");
  return (path) => {
    if ((path.split("/").at(-1) ?? "").length > longestName) return undefined;
    const found = matcher.exec(path)?.groups;
    if (found === undefined) return undefined;
    const attributes = attributeNames.flatMap((name) => {
      const value = found[name];
      return value === undefined ? [] : [[name, value.toLowerCase()]];
    });
    return {
      return_period: Number(found["return_period"]),
      tile: placeName(...cornerOf(found["tile"] ?? "")),
      attributes: Object.fromEntries(attributes) as FloodAttributes,
    };
  };
}

/** `s05w010` → [-5, -10] */
function cornerOf(tile: string): [number, number] {
  const [, ns = "n", lat = "0", ew = "e", lon = "0"] = /^([ns])(\d+)([ew])(\d+)$/i.exec(tile) ?? [];
  const [south, west] = [ns.toLowerCase() === "s", ew.toLowerCase() === "w"];
  return [(south ? -1 : 1) * Number(lat), (west ? -1 : 1) * Number(lon)];
}

function placeName(lat: number, lon: number): string {
  const [y, x] = [String(Math.abs(lat)).padStart(2, "0"), String(Math.abs(lon)).padStart(3, "0")];
  return `${lat < 0 ? "s" : "n"}${y}${lon < 0 ? "w" : "e"}${x}`;
}

/** The grid cell of a tile: `n07w003` in a grid of 5° is in `n05w005`. */
export function cellOf(tile: string, degrees: number): string {
  const [lat, lon] = cornerOf(tile).map((each) => Math.floor(each / degrees) * degrees);
  return placeName(lat ?? 0, lon ?? 0);
}

/** The tiles with these attributes are one product: `fluvial-defended-cm-2050-ssp2_4.5`. */
export function productOf(attributes: FloodAttributes): string {
  const words = attributeNames.flatMap((name) => attributes[name] ?? []);
  return words.length === 0 ? "flood" : words.join("-");
}
