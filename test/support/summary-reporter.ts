import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** Counts for whoever runs the tests by machine: `N passed, N failed, N skipped` in a file. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const file = process.env["TEST_SUMMARY"];
    if (file === undefined || file === "") return;
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      // A file that cannot be loaded has no tests, and is a failure all the same.
      if (module.errors().length > 0) counts.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== "pending") counts[state] += 1;
      }
    }
    const { passed, failed, skipped } = counts;
    writeFileSync(file, `${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  }
}
