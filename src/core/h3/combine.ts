/** Computes the columns of a combined data set for one cell. Pure. */
import type { CombinedColumn } from "./combination.ts";
import { formulasOf } from "./combination.ts";
import type { ReadValue } from "./formula.ts";

/** `finest`: the values of each of the finest cells below the cell. Undefined: the cell has no value. */
type ComputeColumn = (own: ReadValue, finest: () => readonly ReadValue[]) => number | undefined;

export function columnOf(column: CombinedColumn): ComputeColumn {
  const [first, ...others] = formulasOf(column);
  if (first === undefined) return () => undefined;
  if ("formula" in column) return (own) => first.evaluate(own);
  if ("weights" in column) {
    const weights = Object.keys(column.weights)
      .toSorted()
      .map((name) => column.weights[name] ?? 0);
    const formulas = [first, ...others];
    return (own) =>
      weightedMean(formulas.map(({ evaluate }, index) => [evaluate(own), weights[index]] as const));
  }
  return (_, finest) =>
    weightedMean(
      finest().map((read) => {
        let weight: number | undefined = 1;
        for (const { evaluate } of others) {
          const value = evaluate(read);
          weight = value === undefined || weight === undefined ? undefined : weight * value;
        }
        return [first.evaluate(read), weight] as const;
      }),
    );
}

/** Values without a weight, and weights without a value, do not count. */
function weightedMean(
  pairs: readonly (readonly [number | undefined, number | undefined])[],
): number | undefined {
  let [sum, total] = [0, 0];
  for (const [value, weight] of pairs) {
    if (value === undefined || weight === undefined || weight <= 0) continue;
    sum += value * weight;
    total += weight;
  }
  return total > 0 ? sum / total : undefined;
}
