import type { Library, Pointer } from "./wasm-library.ts";

const readOnlyVerbose = 0x40;
export const access = { raster: 2, vector: 4, updateRaster: 3, updateVector: 5 } as const;
const failure = 3;

/** The calls of GDAL's C interface that several programs need. */
export class Calls {
  readonly library: Library;

  constructor(library: Library) {
    this.library = library;
  }

  text(value: string): Pointer {
    const bytes = this.library.lengthBytesUTF8(value) + 1;
    const pointer = this.library._malloc(bytes);
    this.library.stringToUTF8(value, pointer, bytes);
    return pointer;
  }

  /** A list that ends with a null, as the library takes lists. It is never freed: it is small. */
  pointers(values: readonly Pointer[]): Pointer {
    const pointer = this.library._malloc(4 * (values.length + 1));
    [...values, 0].forEach((value, index) => {
      this.library.setValue(pointer + 4 * index, value, "*");
    });
    return pointer;
  }

  texts(values: readonly string[]): Pointer {
    return this.pointers(values.map((value) => this.text(value)));
  }

  /**
   * Opens a file. Zero: it failed, and the library has written the reason unless `isQuiet` is set.
   */
  open(name: string, mode: number, options: readonly string[] = [], isQuiet = false): Pointer {
    const flags = isQuiet ? mode : mode | readOnlyVerbose;
    const types = ["string", "number", "number", "number", "number"] as const;
    return this.library.ccall("GDALOpenEx", "number", types, [
      name,
      flags,
      0,
      options.length === 0 ? 0 : this.texts(options),
      0,
    ]);
  }

  /**
   * Calls `GDALWarpAppOptionsNew` or the like of another program. Zero: the options are invalid.
   */
  options(kind: string, values: readonly string[]): Pointer {
    return this.number(`${kind}OptionsNew`, [this.texts(values), 0]);
  }

  number(name: string, args: readonly (number | string)[]): number {
    const types = args.map((arg) => (typeof arg === "string" ? "string" : "number"));
    return this.library.ccall(name, "number", types, args);
  }

  string(name: string, args: readonly (number | string)[]): string {
    const types = args.map((arg) => (typeof arg === "string" ? "string" : "number"));
    return this.library.ccall(name, "string", types, args);
  }

  /** Closes a dataset, which writes it to disk. False: that failed, and the file is incomplete. */
  close(dataset: Pointer): boolean {
    this.library.ccall("CPLErrorReset", null, [], []);
    this.library.ccall("GDALClose", null, ["number"], [dataset]);
    return this.number("CPLGetLastErrorType", []) < failure;
  }

  configure(key: string, value: string | null): void {
    const type = value === null ? "number" : "string";
    this.library.ccall("CPLSetConfigOption", null, ["string", type], [key, value ?? 0]);
  }
}
