import { expect, it } from "vitest";
import { WriteBatch } from "./write-batch.ts";

it("takes more rows at once than a call takes arguments", () => {
  const [one, all] = [new WriteBatch(), new WriteBatch()];
  one.addAll(
    "completed",
    Array.from({ length: 300_000 }, () => "a_b_0"),
  );
  all.merge(one);
  expect(all.completed.length).toBe(300_000);
});
