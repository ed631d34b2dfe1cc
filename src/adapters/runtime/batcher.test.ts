import { expect, it } from "vitest";
import { createBatcher } from "./batcher.ts";

it("makes one batch of what comes in one turn, and answers each its own", async () => {
  const batches: number[][] = [];
  const batcher = createBatcher<number, string>({
    maxItems: 100,
    flush: async (items) => {
      batches.push([...items]);
      return items.map((item) => `answer ${item}`);
    },
  });
  const answers = await Promise.all([1, 2, 3].map((item) => batcher.add(item)));
  expect(batches).toEqual([[1, 2, 3]]);
  expect(answers).toEqual(["answer 1", "answer 2", "answer 3"]);
});

it("gathers while a batch is under way, and keeps to its largest size", async () => {
  const sizes: number[] = [];
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const batcher = createBatcher<number, number>({
    maxItems: 10,
    flush: async (items) => {
      sizes.push(items.length);
      if (sizes.length === 1) await opened;
      return items;
    },
  });
  const first = batcher.add(0);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const rest = Array.from({ length: 15 }, (_, item) => batcher.add(item));
  open();
  await Promise.all([first, ...rest]);
  await batcher.idle();
  expect(sizes).toEqual([1, 10, 5]);
});

it("fails a whole batch that fails, and goes on with the next", async () => {
  let isBroken = true;
  const batcher = createBatcher<number, number>({
    maxItems: 10,
    flush: async (items) => {
      if (isBroken) throw new Error("broken");
      return items;
    },
  });
  const answers = await Promise.allSettled([batcher.add(1), batcher.add(2)]);
  expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isBroken = false;
  expect(await batcher.add(3)).toBe(3);
});

it("fails a batch whose answers are not one for each", async () => {
  const batcher = createBatcher<number, number>({ maxItems: 10, flush: async () => [] });
  await expect(batcher.add(1)).rejects.toThrow(/batch of 1 got 0 answers/);
});
