/** The port: one GDAL program run to its end. Two engines, the same argument lists. */
export interface Gdal {
  /** The installed programs, or the same library compiled to WebAssembly, from npm. */
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
  /** Compressions inside of GeoTIFF, read and written. */
  readonly codecs: readonly string[];
  readonly programs: readonly GdalProgram[];
}

export interface GdalRunOptions {
  /** The task's own folder: relative paths, temporary files. */
  readonly workDir: string;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** From 0 to 100; only programs that show a progress bar have it. */
  readonly onProgress?: ((percent: number) => void) | undefined;
  readonly stdin?: string | undefined;
  /** GDAL's configuration options, besides those that every run gets. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export interface GdalOutput {
  readonly stdout: string;
  /** May tell of errors although the program ended well: GDAL leaves out a block that it cannot read. */
  readonly stderr: string;
}
