/** The port of GDAL: runs one program to its end. Both engines take the same argument lists. */
export interface Gdal {
  /** native: the installed programs. wasm: the same library compiled to WebAssembly, from npm. */
  readonly engine: "native" | "wasm";
  readonly version: string;
  readonly capabilities: GdalCapabilities;
  /** Rejects with a `GdalError`, or with the signal's reason. */
  run(program: GdalProgram, args: readonly string[], options: GdalRunOptions): Promise<GdalOutput>;
}

export const gdalPrograms = [
  "gdalinfo",
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
  /** The task's folder: relative paths are resolved in it, and temporary files written to it. */
  readonly workDir: string;
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
