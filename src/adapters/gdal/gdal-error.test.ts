import { expect, it } from "vitest";
import { GdalError } from "./gdal-error.ts";

it.each([
  ["ERROR 3: Free disk space available is 10 bytes", "DISK_FULL", "transient"],
  ["ERROR 1: TIFFAppendToStrip:Write error: No space left on device", "DISK_FULL", "transient"],
  ["ERROR 1: Cannot open TIFF file due to missing codec JPEG.", "UNSUPPORTED_CODEC", "permanent"],
  ["ERROR 4: `x' not recognized as a supported file format.", "NOT_READABLE", "permanent"],
  ["ERROR 1: HTTP error code: 503 - https://x", "SOURCE_UNREACHABLE", "transient"],
  ["FAILURE: No target filename specified.", "GDAL_FAILED", "permanent"],
])("%s means %s", (stderr, code, category) => {
  expect(new GdalError("gdalwarp", 1, stderr)).toMatchObject({ code, category });
});

it("takes a kill without a timeout or an abort for the kernel's, and hides signatures", () => {
  const killed = new GdalError("gdalwarp", null, "", "SIGKILL");
  expect(killed).toMatchObject({ code: "OUT_OF_MEMORY", category: "transient" });
  const signed = new GdalError(
    "gdalinfo",
    1,
    "Warning 1: x\nERROR 4: https://h/a?sv=1&sig=abc%3D no",
  );
  expect(signed.message).toBe("gdalinfo failed: https://h/a?sv=1&sig=[hidden] no");
  expect(JSON.stringify(signed.details)).not.toContain("abc");
});

it("shows no path of the machine", () => {
  const stderr =
    "ERROR 4: Unable to open /srv/data/work/task-1/source.gpkg: `/home/me/x y' or /vsicurl/https://h.example/a/b.tif, PROJ: /usr/share/proj";
  const { message, lines } = new GdalError("ogr2ogr", 1, stderr);
  expect(message).toBe(
    "ogr2ogr failed: Unable to open source.gpkg: `x y' or https://h.example/a/b.tif, PROJ: proj",
  );
  expect(lines.join()).not.toMatch(/srv|home|usr/);
});
