import { defineConfig } from "vitest/config";

/** `npm run test:images`: builds the images and runs a whole platform from them; it takes minutes. */
export default defineConfig({
  test: {
    include: ["test/images/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 300_000,
    hookTimeout: 1_800_000,
  },
});
