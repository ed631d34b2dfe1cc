import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

/** The files that take longest, the longest first. */
const longest = [
  "test/faults/crash-matrix.test.ts",
  "test/faults/chaos.test.ts",
  "test/browser/layers.test.ts",
  "test/browser/console.test.ts",
  "test/system/programs.test.ts",
  "test/faults/database.test.ts",
  "test/faults/fencing.test.ts",
  "test/system/cli.test.ts",
  "test/system/raster.test.ts",
  "test/browser/job.test.ts",
  "src/adapters/runtime/embedded-postgres/ownership.test.ts",
  "test/system/links.test.ts",
  "test/system/cli-up.test.ts",
  "src/adapters/runtime/embedded-postgres/accounts.test.ts",
  "src/worker/handlers/raster/tiles.test.ts",
  "src/worker/worker.test.ts",
];

/** Starts the longest files first: one that began last would run alone, with the other core idle. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = longest.findIndex((name) => moduleId.endsWith(name));
      return place < 0 ? longest.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
