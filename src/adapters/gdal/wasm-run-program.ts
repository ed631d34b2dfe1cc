import { existsSync, rmSync } from "node:fs";
import type { GdalProgram } from "./gdal.ts";
import { access } from "./wasm-calls.ts";
import type { Calls } from "./wasm-calls.ts";
import type { Pointer } from "./wasm-library.ts";
import { splitArguments } from "./wasm-split-arguments.ts";
import type { SplitArguments } from "./wasm-split-arguments.ts";
import { transformPoints } from "./wasm-transform-points.ts";

export interface ProgramRun {
  readonly program: GdalProgram;
  readonly args: readonly string[];
  readonly stdin: string;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
  readonly progress: (percent: number) => void;
}

type Program = (calls: Calls, split: SplitArguments, run: ProgramRun) => boolean;

/** Runs one program. False: it failed, and the library or `complain` has written the reason. */
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
    reportProgress(calls, chosen, run);
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
    const name = existing === 0 ? to : 0;
    const args = [name, existing, 1, list, chosen, 0];
    return finish(calls, calls.number("GDALVectorTranslate", args));
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

/** Closes the result. Zero is a failed run, whose reason the library has written. */
function finish(calls: Calls, dataset: Pointer): boolean {
  return dataset !== 0 && calls.close(dataset);
}

/** Only a warp reports its progress in this build of the library. */
function reportProgress(calls: Calls, options: Pointer, run: ProgramRun): void {
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

/** Prints the drivers as `--formats` does, with fewer details. */
function listDrivers(
  calls: Calls,
  capability: "DCAP_RASTER" | "DCAP_VECTOR",
  print: (text: string) => void,
): boolean {
  print("Supported Formats:\n");
  const count = calls.number("GDALGetDriverCount", []);
  for (let index = 0; index < count; index++) {
    const driver = calls.number("GDALGetDriver", [index]);
    const fact = (name: string) => calls.string("GDALGetMetadataItem", [driver, name, 0]);
    if (fact(capability) !== "YES") continue;
    const canOpen = fact("DCAP_OPEN") === "YES" ? "r" : "w";
    const name = calls.string("GDALGetDescription", [driver]);
    const kind = capability === "DCAP_RASTER" ? "raster" : "vector";
    print(`  ${name} -${kind}- (${canOpen}): ${fact("DMD_LONGNAME")}\n`);
  }
  return true;
}
