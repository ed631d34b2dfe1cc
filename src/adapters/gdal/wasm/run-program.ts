import { existsSync, rmSync } from "node:fs";
import type { GdalProgram } from "../gdal.ts";
import { access } from "./library-calls.ts";
import type { Calls } from "./library-calls.ts";
import type { Pointer } from "./emscripten.ts";
import { listDrivers } from "./list-drivers.ts";
import { splitArguments } from "./split-arguments.ts";
import type { SplitArguments } from "./split-arguments.ts";
import { transformPoints } from "./transform-points.ts";

export interface ProgramRun {
  readonly program: GdalProgram;
  readonly args: readonly string[];
  readonly stdin: string;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
  readonly progress: (percent: number) => void;
}

type Program = (calls: Calls, split: SplitArguments, run: ProgramRun) => boolean;

/** True: it went well. What went wrong was said by the library, or by `complain`. */
export function runProgram(calls: Calls, run: ProgramRun): boolean {
  const program = programs[run.program];
  if (program === undefined) {
    run.complain(`ERROR 1: ${run.program} is not part of this GDAL: install gdal-bin to use it.`);
    return false;
  }
  const split = splitArguments(run.program, run.args);
  for (const [key, value] of split.config) calls.configure(key, value);
  try {
    return program(calls, split, run);
  } finally {
    for (const [key] of split.config) calls.configure(key, null);
  }
}

const programs: Readonly<Partial<Record<GdalProgram, Program>>> = {
  gdalinfo: (calls, split, run) => {
    if (run.args.includes("--formats")) return listDrivers(calls, "DCAP_RASTER", run.print);
    return describe(calls, split, run, "GDALInfo", access.raster);
  },
  ogrinfo: (calls, split, run) => {
    if (run.args.includes("--formats")) return listDrivers(calls, "DCAP_VECTOR", run.print);
    return describe(calls, split, run, "GDALVectorInfo", access.vector);
  },

  gdal_translate: (calls, { names, options, openOptions }) => {
    const [from = "", to = ""] = names;
    const source = calls.open(from, access.raster, openOptions);
    const chosen = source === 0 ? 0 : calls.options("GDALTranslate", options);
    return chosen !== 0 && finish(calls, calls.number("GDALTranslate", [to, source, chosen, 0]));
  },

  gdalwarp: (calls, { names, options, openOptions }, run) => {
    const to = names.at(-1) ?? "";
    const sources = openAll(calls, names.slice(0, -1), openOptions);
    const chosen = sources.includes(0) ? 0 : calls.options("GDALWarpApp", options);
    if (chosen === 0) return false;
    tellProgress(calls, chosen, run);
    if (options.includes("-overwrite")) rmSync(to, { force: true });
    const existing = existsSync(to) ? calls.open(to, access.updateRaster) : 0;
    const list = calls.pointers(sources);
    const name = existing === 0 ? to : 0;
    return finish(
      calls,
      calls.number("GDALWarp", [name, existing, sources.length, list, chosen, 0]),
    );
  },

  gdalbuildvrt: (calls, { names, options }) => {
    const [to = "", ...sources] = names;
    const chosen = calls.options("GDALBuildVRT", options);
    if (chosen === 0) return false;
    const list = calls.texts(sources);
    return finish(calls, calls.number("GDALBuildVRT", [to, sources.length, 0, list, chosen, 0]));
  },

  gdal_rasterize: (calls, { names, options, openOptions }) => {
    const [from = "", to = ""] = names;
    const source = calls.open(from, access.vector, openOptions);
    const chosen = source === 0 ? 0 : calls.options("GDALRasterize", options);
    if (chosen === 0) return false;
    const isNew = options.includes("-ts") || options.includes("-tr") || !existsSync(to);
    const existing = isNew ? 0 : calls.open(to, access.updateRaster);
    return finish(
      calls,
      calls.number("GDALRasterize", [existing === 0 ? to : 0, existing, source, chosen, 0]),
    );
  },

  ogr2ogr: (calls, { names, options, openOptions }) => {
    const [to = "", from = "", ...layers] = names;
    const source = calls.open(from, access.vector, openOptions);
    const chosen = source === 0 ? 0 : calls.options("GDALVectorTranslate", [...options, ...layers]);
    if (chosen === 0) return false;
    const isUpdate = ["-append", "-update", "-upsert", "-overwrite"].some((option) =>
      options.includes(option),
    );
    const existing = isUpdate ? calls.open(to, access.updateVector, [], true) : 0;
    const list = calls.pointers([source]);
    const made = calls.number("GDALVectorTranslate", [
      ...[existing === 0 ? to : 0, existing, 1, list, chosen, 0],
    ]);
    return finish(calls, made);
  },

  gdaltransform: (calls, split, run) => transformPoints(calls, split.options, run),
};

function describe(
  calls: Calls,
  { names, options, openOptions }: SplitArguments,
  run: ProgramRun,
  name: "GDALInfo" | "GDALVectorInfo",
  mode: number,
): boolean {
  const [from = "", ...layers] = names;
  const source = calls.open(from, mode, openOptions);
  const chosen = source === 0 ? 0 : calls.options(name, [...options, ...layers]);
  if (chosen === 0) return false;
  run.print(calls.string(name, [source, chosen]));
  calls.close(source);
  return true;
}

function openAll(
  calls: Calls,
  names: readonly string[],
  openOptions: readonly string[],
): Pointer[] {
  return names.map((name) => calls.open(name, access.raster, openOptions));
}

/** Zero is a failure that the library has told about. */
function finish(calls: Calls, dataset: Pointer): boolean {
  return dataset !== 0 && calls.close(dataset);
}

/** Only of a warp can the library be asked for it in this build. */
function tellProgress(calls: Calls, options: Pointer, run: ProgramRun): void {
  const onStep = (fraction: number) => {
    run.progress(fraction * 100);
    return 1;
  };
  const callback = calls.library.addFunction(onStep, "idii");
  calls.library.ccall(
    "GDALWarpAppOptionsSetProgress",
    null,
    ["number", "number", "number"],
    [options, callback, 0],
  );
}
