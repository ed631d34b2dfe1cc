import type { SandboxKind } from "../../core/api/fleet.ts";

/** The port of GDAL: runs one program to its end. Both engines take the same argument lists. */
export interface Gdal {
  /** native: the installed programs. wasm: the same library compiled to WebAssembly, from npm. */
  readonly engine: "native" | "wasm";
  readonly version: string;
  /** What confines its processes. */
  readonly sandbox: SandboxKind;
  /** The better sandboxes that do not work on this machine. */
  readonly unusable: readonly Unusable[];
  readonly capabilities: GdalCapabilities;
  /** Rejects with a `GdalError`, or with the signal's reason. */
  run(program: GdalProgram, args: readonly string[], options: GdalRunOptions): Promise<GdalOutput>;
}

/** A sandbox that cannot be used on this machine, with the reason. */
export interface Unusable {
  readonly kind: SandboxKind;
  readonly reason: string;
}

export const gdalPrograms = [
  "gdalinfo",
  "gdalmdiminfo",
  "gdal_translate",
  "gdalwarp",
  "gdalbuildvrt",
  "gdal_rasterize",
  "gdallocationinfo",
  "gdaltransform",
  "ogrinfo",
  "ogr2ogr",
] as const;
export type GdalProgram = (typeof gdalPrograms)[number];

export interface GdalCapabilities {
  readonly rasterDrivers: readonly string[];
  readonly vectorDrivers: readonly string[];
  /** The compressions that GDAL reads and writes inside of GeoTIFF. */
  readonly codecs: readonly string[];
  readonly programs: readonly GdalProgram[];
}

export interface GdalRunOptions {
  /**
   * The task's folder. The program may read and write it and no other folder; relative paths are
   * resolved in it.
   */
  readonly workDir: string;
  /**
   * Absolute paths of the files outside of `workDir` that the program may read, sidecars included.
   * It sees no other file of the machine and no network.
   */
  readonly sources?: readonly string[] | undefined;
  /**
   * The only drivers of this run, by their short names: those that may open the source, and those
   * that write the output (COG needs GTiff too). Undefined: all but those that name other places.
   */
  readonly drivers?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** Called with 0 to 100, only by programs that show a progress bar. */
  readonly onProgress?: ((percent: number) => void) | undefined;
  readonly stdin?: string | undefined;
  /** GDAL's configuration options, added to those of every run (environment.ts). */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export interface GdalOutput {
  readonly stdout: string;
  /** May hold errors although the program ended with 0: GDAL skips a block that it cannot read. */
  readonly stderr: string;
}
