import type { GdalProgram } from "./gdal.ts";

export interface SplitArguments {
  /** The options that the library's function takes. */
  readonly options: readonly string[];
  readonly names: readonly string[];
  /** `--config KEY VALUE` */
  readonly config: readonly (readonly [string, string])[];
  /** `-oo KEY=VALUE`: for opening the first file. */
  readonly openOptions: readonly string[];
}

const words = (text: string) => new Set(text.split(" "));

/** Options without a value. Every other option has one value, except for those below. */
const flags: Readonly<Partial<Record<GdalProgram, ReadonlySet<string>>>> = {
  gdalinfo: words(
    "-json -mm -stats -approx_stats -hist -nogcp -nomd -norat -noct -nofl -checksum -listmdd -proj4",
  ),
  gdal_translate: words("-strict -unscale -epo -eco -nogcp -nomd -noxmp -norat -q -stats -sds"),
  gdalwarp: words(
    "-tps -rpc -geoloc -tap -dstalpha -srcalpha -nosrcalpha -crop_to_cutline -overwrite -nomd -multi -q -setci -novshift -vshift",
  ),
  gdalbuildvrt: words(
    "-separate -allow_projection_difference -hidenodata -overwrite -addalpha -strict -non_strict -q -tap",
  ),
  gdal_rasterize: words("-i -at -3d -add -q -tap"),
  gdaltransform: words("-i -tps -rpc -geoloc -field_sep -output_xy"),
  ogrinfo: words(
    "-al -so -ro -json -features -q -rl -nocount -noextent -nogeomtype -nomd -listmdd",
  ),
  ogr2ogr: words(
    "-skipfailures -append -upsert -update -overwrite -progress -preserve_fid -unsetFid -nomd -unsetFieldWidth -makevalid -emptyStrAsNull -addfields -relaxedFieldNameMatch -forceNullable -unsetDefault -noNativeData -splitlistfields -explodecollections -wrapdateline -skipinvalid -resolveDomains -ds_transaction -q",
  ),
};
const pairs = words("-tr -ts -outsize");
const fours = words("-te -srcwin -projwin -a_ullr -spat");
/** Options that take the numbers that follow them, at least and at most so many. */
const numbers: ReadonlyMap<string, readonly [least: number, most: number]> = new Map([
  ["-scale", [0, 4]],
  ["-gcp", [4, 5]],
  ["-clipsrc", [1, 4]],
  ["-clipdst", [1, 4]],
]);
const dropped = words("-oo -if --config");

/**
 * Splits a program's arguments for the library, which takes options apart from the names of files.
 * To know which argument is a name, it must know how many values each option takes.
 */
export function splitArguments(program: GdalProgram, args: readonly string[]): SplitArguments {
  const options: string[] = [];
  const names: string[] = [];
  const config: [string, string][] = [];
  const openOptions: string[] = [];
  for (let index = 0; index < args.length;) {
    const arg = args[index] ?? "";
    index++;
    if (!arg.startsWith("-") || arg === "-" || isNumber(arg)) {
      names.push(arg);
      continue;
    }
    const values = args.slice(index, index + valuesOf(program, arg, args.slice(index)));
    index += values.length;
    const [first = "", second = ""] = values;
    if (arg === "--config") config.push([first, second]);
    else if (arg === "-oo") openOptions.push(first);
    if (!dropped.has(arg)) options.push(arg, ...values);
  }
  return { options, names, config, openOptions };
}

function valuesOf(program: GdalProgram, option: string, rest: readonly string[]): number {
  if (option === "--config") return 2;
  // `-fields=YES`: the value is part of the word.
  if (flags[program]?.has(option) === true || option.includes("=")) return 0;
  const range = numbers.get(option.replace(/_\d+$/, ""));
  if (range !== undefined) {
    const [least, most] = range;
    const end = rest.findIndex((value) => !isNumber(value));
    return Math.max(least, Math.min(most, end < 0 ? rest.length : end));
  }
  if (pairs.has(option)) return 2;
  return fours.has(option) ? 4 : 1;
}

function isNumber(text: string): boolean {
  return text !== "" && Number.isFinite(Number(text));
}
