import type { Library, Pointer } from "./emscripten.ts";

const readOnlyVerbose = 0x40;
export const access = { raster: 2, vector: 4, updateRaster: 3, updateVector: 5 } as const;
const failure = 3;

/** The few calls of the C interface that all programs share. */
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

  /** A list that ends with a null, as the library takes them. What is small is never freed. */
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

  /** Zero: it could not be opened, and the library has said why, unless it should be quiet. */
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

  /** `GDALWarpAppOptionsNew` and its like; zero: the options are wrong. */
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

  /** What was made is on disk only now; what fails here would otherwise be a silent half. */
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
