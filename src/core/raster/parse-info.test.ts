import { expect, it } from "vitest";
import { parseGdalInfo } from "./parse-info.ts";

it("takes statistics with all their digits, which GDAL rounds in its own fields", () => {
  const kept = {
    STATISTICS_MINIMUM: "0.00041",
    STATISTICS_MAXIMUM: "0.98765",
    STATISTICS_MEAN: "0.12345",
    STATISTICS_STDDEV: "0.00123",
    STATISTICS_VALID_PERCENT: "99.5",
  };
  const rounded = { minimum: 0, maximum: 0.988, mean: 0.123, stdDev: 0.001 };
  const band = { band: 1, block: [256, 256], type: "Float32", ...rounded, metadata: { "": kept } };
  const info = { driverShortName: "GTiff", size: [256, 256], bands: [band] };
  expect(parseGdalInfo(JSON.stringify(info))?.bands[0]?.statistics).toEqual({
    minimum: 0.00041,
    maximum: 0.98765,
    mean: 0.12345,
    stddev: 0.00123,
    valid_percent: 99.5,
  });
});
