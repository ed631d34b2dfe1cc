import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { ensureMemory, ensureSpace } from "./ensure-space.ts";

it("says no before the work, with numbers, where there is not enough", async () => {
  await ensureSpace(tmpdir(), 1024);
  await expect(ensureSpace(tmpdir(), 1e18)).rejects.toMatchObject({
    code: "DISK_FULL",
    category: "transient",
    details: { needed_bytes: 1e18, free_bytes: expect.any(Number) as number },
  });
  ensureMemory(1024);
  expect(() => {
    ensureMemory(1e18);
  }).toThrow(expect.objectContaining({ code: "OUT_OF_MEMORY" }) as Error);
});
