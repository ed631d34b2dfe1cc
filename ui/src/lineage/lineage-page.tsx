import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { LazyFlow } from "../graph/lazy-flow.tsx";
import { api } from "../shared/api.ts";
import { setSearchParams, useSearchParams } from "../shared/navigation.ts";
import { Card, Page } from "../shared/page.tsx";
import { Await, Notice } from "../shared/states.tsx";
import { Table } from "../shared/table.tsx";
import { TextFilter } from "../shared/text-filter.tsx";
import type { LineageThing } from "./lineage-graph.ts";
import { lineageGraph } from "./lineage-graph.ts";

const names = {
  path: "File",
  asset: "Asset",
  version: "Version",
  item: "Item",
  job: "Job",
  table: "Table",
} as const;
type Name = keyof typeof names;

const nameOf: Readonly<Record<LineageThing["kind"], Name>> = {
  file: "path",
  table: "table",
  item: "item",
  version: "version",
  job: "job",
};

/** What something was made of, and what was made of it. */
export default function LineagePage() {
  const query = useSearchParams();
  const chosen = (Object.keys(names) as Name[]).find((name) => query.get(name));
  const id = chosen === undefined ? "" : (query.get(chosen) ?? "");
  return (
    <Page title="Lineage">
      <div className="filters">
        {Object.entries(names).map(([name, label]) => (
          <TextFilter key={name} name={name} label={label} value={query.get(name) ?? ""} />
        ))}
      </div>
      {chosen === undefined ? (
        <Notice icon="search" title="Name one thing">
          <p>
            A file such as <code>bronze/ddh/dem.tif</code>, an asset, a version as asset/ordinal, an
            item as collection/item, a job or a table.
          </p>
        </Notice>
      ) : (
        <Traced name={chosen} id={id} />
      )}
    </Page>
  );
}

function Traced({ name, id }: { name: Name; id: string }) {
  const traced = useQuery({
    queryKey: ["lineage", name, id],
    queryFn: ({ signal }) => api.getLineage({ query: { [name]: id }, signal }),
  });
  return (
    <Await query={traced} what="the lineage">
      {(found) => {
        if (found.edges.length === 0) {
          return (
            <Notice icon="search" title="Nothing is known of it">
              <p>No file, item, version or job is recorded as made of it, or as its source.</p>
            </Notice>
          );
        }
        const { graph, things } = lineageGraph(found);
        return (
          <>
            {found.truncated ? (
              <p className="error-text">There is more than is shown here.</p>
            ) : null}
            <Card title="Graph" flush>
              <LazyFlow
                graph={graph}
                onChoose={(label) => {
                  const thing = things.get(label);
                  if (thing !== undefined) show(thing);
                }}
              />
            </Card>
            <Card title="List" flush>
              <Table
                rows={found.nodes.toSorted((a, b) => a.distance - b.distance)}
                keyOf={(node) => `${node.kind} ${node.id}`}
                columns={[
                  { name: "Steps", numeric: true, cell: ({ distance }) => distance },
                  { name: "Kind", cell: ({ kind }) => kind },
                  { name: "Name", cell: (node) => <Name thing={node} /> },
                ]}
              />
            </Card>
          </>
        );
      }}
    </Await>
  );
}

function Name({ thing }: { thing: LineageThing }) {
  const page =
    thing.kind === "job"
      ? `/jobs/${thing.id}`
      : thing.kind === "version"
        ? `/assets/${thing.id.split("/")[0] ?? ""}`
        : `/lineage?${nameOf[thing.kind]}=${encodeURIComponent(thing.id)}`;
  return <Link to={page}>{thing.id}</Link>;
}

/** Only one thing is named in the address. */
function show({ kind, id }: LineageThing): void {
  const none = Object.fromEntries(Object.keys(names).map((name) => [name, undefined]));
  setSearchParams({ ...none, [nameOf[kind]]: id });
}
