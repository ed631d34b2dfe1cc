import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

/** The files that take longest, the longest first. */
const longest = [
  "src/worker/handlers/raster/families.test.ts",
  "test/faults/crash-matrix.test.ts",
  "src/worker/handlers/vector/exact.test.ts",
  "test/system/cli.test.ts",
  "test/system/gateway-governed.test.ts",
  "test/system/attack-files.test.ts",
  "test/browser/layers.test.ts",
  "test/browser/console.test.ts",
  "test/faults/chaos.test.ts",
  "test/system/raster.test.ts",
  "test/faults/database.test.ts",
  "src/worker/handlers/raster/tiles.test.ts",
  "test/system/own-handlers.test.ts",
  "test/system/programs.test.ts",
  "test/browser/everyday.test.ts",
  "test/faults/fencing.test.ts",
  "test/system/push.test.ts",
  "test/faults/messages.test.ts",
  "src/adapters/embedded-postgres/ownership.test.ts",
  "test/system/rabbitmq.test.ts",
  "src/worker/handlers/vector/values.test.ts",
  "test/system/package.test.ts",
  "test/faults/remote-crashes.test.ts",
  "src/adapters/gdal/gdal.test.ts",
  "test/system/cli-up.test.ts",
  "test/browser/job.test.ts",
  "test/system/export.test.ts",
];

/**
 * Starts the longest files first: one that began last would run alone, with the other core idle. The
 * files of a project follow each other, because a process that loaded its modules runs only these.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      if (project.name === "core") return longest.length + 1;
      const place = longest.findIndex((name) => moduleId.endsWith(name));
      return place < 0 ? longest.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
