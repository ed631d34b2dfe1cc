/**
 * What every broker must do, run on each adapter. Where a broker says in its capabilities that it
 * cannot do something, that statement is not made for it.
 */
import { describe } from "vitest";
import type { BrokerUnderTest } from "./broker/bench.ts";
import { prepareBench } from "./broker/bench.ts";
import { describeDeadLetters } from "./broker/dead-letters.ts";
import { describeDeliveries } from "./broker/deliveries.ts";
import { describeLeases } from "./broker/leases.ts";
import { describeOutside } from "./broker/outside.ts";
import { describeTransactions } from "./broker/transactions.ts";

export function describeBroker(name: string, start: () => Promise<BrokerUnderTest>): void {
  describe(name, () => {
    const bench = prepareBench(start);
    describeDeliveries(bench);
    describeDeadLetters(bench);
    describeTransactions(bench);
    describeLeases(bench);
    describeOutside(bench);
  });
}
