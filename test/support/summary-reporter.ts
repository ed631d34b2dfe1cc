import { writeFileSync } from "node:fs";
import type { Reporter, TestCase, TestModule } from "vitest/node";

/**
 * Prints which programs the machine lacks and how many tests were skipped for each: a suite that
 * needs an optional program says "(needs NAME)" in its title. With TEST_SUMMARY, also writes
 * `N passed, N failed, N skipped` to that file.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    const skipped = new Map<string, number>();
    for (const module of modules) {
      // A file that cannot be loaded has no tests, and is a failure all the same.
      if (module.errors().length > 0) counts.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "pending") continue;
        counts[state] += 1;
        if (state !== "skipped") continue;
        const reason = reasonOf(test);
        skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
      }
    }
    for (const [reason, count] of skipped) {
      process.stdout.write(`skipped ${count} ${count === 1 ? "test" : "tests"}: ${reason}\n`);
    }
    const file = process.env["TEST_SUMMARY"];
    if (file === undefined || file === "") return;
    const { passed, failed } = counts;
    writeFileSync(file, `${passed} passed, ${failed} failed, ${counts.skipped} skipped\n`);
  }
}

function reasonOf(test: TestCase): string {
  const names = [...test.fullName.matchAll(/\(needs ([^)]+)\)/g)].map(([, name = ""]) => name);
  if (names.length > 0) return `this machine lacks ${[...new Set(names)].join(" or ")}`;
  const result = test.result();
  return (result.state === "skipped" ? result.note : undefined) ?? "not selected";
}
