import { expect, it } from "vitest";
import { WriteBatch } from "./write-batch.ts";

it("takes more rows at once than a call takes arguments", () => {
  const [one, all] = [new WriteBatch(), new WriteBatch()];
  one.addAll(
    "stopped",
    Array.from({ length: 300_000 }, () => "job"),
  );
  all.merge(one);
  expect(all.stopped.length).toBe(300_000);
});
