import type { Calls } from "./library-calls.ts";

/** In the form of `--formats`, with less about each. */
export function listDrivers(
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
