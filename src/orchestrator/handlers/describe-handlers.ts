import type { OfferedContract } from "../../adapters/postgres/queries/handlers.ts";
import type { HandlerView } from "../../core/api/handlers.ts";
import { describeContract } from "../../core/handlers/contract-data.ts";
import type { HandlerContract } from "../../core/handlers/index.ts";

/** Joins the shipped contracts and the registered ones to one list by name. */
export function describeHandlers(
  shipped: ReadonlyMap<string, HandlerContract>,
  rows: readonly OfferedContract[],
): HandlerView[] {
  const byName = new Map<string, OfferedContract[]>([...shipped.keys()].map((name) => [name, []]));
  for (const row of rows) {
    byName.set(row.contract.name, [...(byName.get(row.contract.name) ?? []), row]);
  }
  return [...byName]
    .map(([name, offered]) => describe(name, shipped.get(name), offered))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function describe(
  name: string,
  own: HandlerContract | undefined,
  offered: readonly OfferedContract[],
): HandlerView {
  const contracts = offered.map((row) => ({
    contract_hash: row.contract_hash,
    contract: { ...row.contract, examples: row.contract.examples.map((each) => ({ ...each })) },
    first_offered_at: row.first_offered_at.toISOString(),
    last_offered_at: row.last_offered_at.toISOString(),
    offered_by: row.offered_by.map((each) => ({ ...each })),
  }));
  const live = contracts.filter(({ offered_by }) => offered_by.length > 0);
  // Old contracts matter only while no worker is alive.
  const shown: HandlerView["contracts"] = live.length > 0 ? live : contracts.slice(0, 1);
  if (own !== undefined && shown.length === 0) {
    shown.push({
      contract_hash: null,
      contract: describeContract(own),
      first_offered_at: null,
      last_offered_at: null,
      offered_by: [],
    });
  }
  const first = shown[0]?.contract;
  return {
    name,
    description: first?.description ?? "",
    queue: first?.queue ?? "",
    ships: own !== undefined,
    alive: live.length > 0,
    conflict: live.length > 1,
    contracts: shown,
  };
}
