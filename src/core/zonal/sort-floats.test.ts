import fc from "fast-check";
import { expect, it } from "vitest";
import { sortFloats } from "./sort-floats.ts";

it("sorts as comparing does, also negative numbers, both zeros and the smallest", () => {
  const float = fc.oneof(
    fc.float({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, -0, 1.5, -1.5, 2 ** -149, -(2 ** -149)),
  );
  fc.assert(
    fc.property(
      fc.array(float, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 60 }),
      (list, times) => {
        const values = Float32Array.from({ length: list.length * times }, (_, index) =>
          Math.fround((list[index % list.length] ?? 0) * (1 + (index % 7))),
        ).filter(Number.isFinite);
        const wanted = values.slice().sort();
        sortFloats(values);
        expect([...values].every((value, index) => Object.is(value, wanted[index]))).toBe(true);
      },
    ),
  );
});

it("sorts more than fits into its second list, in few values and in many", () => {
  for (const range of [3, 1000, 1e7]) {
    const values = Float32Array.from(
      { length: 2_500_000 },
      (_, index) => ((index * 7919) % range) / 3 - range / 7,
    );
    const wanted = values.slice().sort();
    sortFloats(values);
    expect(Buffer.compare(Buffer.from(values.buffer), Buffer.from(wanted.buffer))).toBe(0);
  }
});
