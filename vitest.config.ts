import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";

export default defineConfig({
  test: {
    // Two cores are the smallest machine that this runs on. Tests wait for other processes a third of
    // their time, so that three workers keep both cores busy.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./test/support/summary-reporter.ts"],
    projects: [
      {
        test: {
          name: "core",
          // Pure tests leave no state behind, so that modules need not be loaded again for each file.
          isolate: false,
          include: ["src/core/**/*.test.ts", "ui/src/**/*.test.ts"],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "real",
          // Tests have databases, folders and servers of their own, and modules keep nothing of them.
          // Loading the same modules again would take a second of a core for each file.
          isolate: false,
          // Of the cases that a file runs at once: each starts programs of its own.
          maxConcurrency: 3,
          include: [
            "src/{adapters,cli,gateway,orchestrator,worker}/**/*.test.ts",
            "test/**/*.test.ts",
          ],
          // `npm run test:images` takes minutes and needs root.
          exclude: ["test/images/**"],
          globalSetup: ["test/support/global-setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
