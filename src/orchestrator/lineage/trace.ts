import type { LineageThing } from "../../adapters/postgres/queries/lineage.ts";
import { readRefs } from "../../adapters/postgres/queries/lineage.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";

export interface Traced {
  readonly nodes: readonly (LineageThing & { readonly distance: number })[];
  readonly edges: readonly {
    readonly from: LineageThing;
    readonly to: LineageThing;
    readonly relation: string;
    readonly created_at: string;
  }[];
  readonly truncated: boolean;
}

/** A screen shows no more, and a file that everything is made of must not load the whole database. */
const mostNodes = 2000;

/**
 * Follows references from some things, one query for each step and direction. A thing that is
 * reached in both directions keeps its first distance.
 */
export async function trace(
  db: Queryable,
  from: readonly LineageThing[],
  { direction, depth }: { readonly direction: "both" | "up" | "down"; readonly depth: number },
): Promise<Traced> {
  const nodes = new Map(from.map((thing) => [keyOf(thing), { ...thing, distance: 0 }]));
  const edges = new Map<string, Traced["edges"][number]>();
  let truncated = false;
  for (const way of ["up", "down"] as const) {
    if (direction !== "both" && direction !== way) continue;
    let level: readonly LineageThing[] = from;
    for (let step = 1; step <= depth && level.length > 0; step++) {
      const room = mostNodes - nodes.size;
      const refs = room > 0 ? await readRefs(db, level, way, room + 1) : [];
      truncated ||= room <= 0 || refs.length > room;
      const next: LineageThing[] = [];
      for (const ref of refs.slice(0, Math.max(0, room))) {
        const source = { kind: ref.source_kind, id: ref.source_id };
        const target = { kind: ref.target_kind, id: ref.target_id };
        const edge = {
          from: source,
          to: target,
          relation: ref.relation,
          created_at: ref.created_at.toISOString(),
        };
        edges.set(`${keyOf(source)} ${ref.relation} ${keyOf(target)}`, edge);
        const found = way === "down" ? target : source;
        if (nodes.has(keyOf(found))) continue;
        nodes.set(keyOf(found), { ...found, distance: way === "down" ? step : -step });
        next.push(found);
      }
      level = next;
    }
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()], truncated };
}

function keyOf({ kind, id }: LineageThing): string {
  return `${kind} ${id}`;
}
