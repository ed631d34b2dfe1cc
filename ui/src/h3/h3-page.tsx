import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api } from "../shared/api.ts";
import { number, short } from "../shared/format.ts";
import { useSearchParams } from "../shared/navigation.ts";
import { Card, Page } from "../shared/page.tsx";
import { Await, Notice } from "../shared/states.tsx";
import { StatusPills } from "../shared/status-pills.tsx";
import { Chip } from "../shared/status.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import { CompareDatasets } from "./compare-datasets.tsx";
import { Compute } from "./compute.tsx";
import type { Run, Source } from "./datasets.ts";

const states = ["never", "stale", "current", "unknown"] as const;

/** Data sets by H3 cell: what is asked for, what was never computed or is stale, and the computations. */
export default function H3Page() {
  const chosen = useSearchParams().get("status");
  const state = states.find((each) => each === chosen);
  const sources = useQuery({
    queryKey: ["h3", "sources"],
    queryFn: ({ signal }) => api.listH3Sources({ query: { limit: 500 }, signal }),
    refetchInterval: 10_000,
  });
  const runs = useQuery({
    queryKey: ["h3", "runs"],
    queryFn: ({ signal }) => api.listH3Runs({ query: { limit: 200 }, signal }),
    refetchInterval: 5000,
  });
  return (
    <Page title="H3">
      <Await query={sources} what="the data sets">
        {({ items }) => (
          <>
            <div className="filters">
              <StatusPills states={states} chosen={state} counts={countsOf(items)} />
            </div>
            <Card title="Data sets" flush>
              <Sources
                items={items.filter((each) => state === undefined || each.state === state)}
              />
            </Card>
          </>
        )}
      </Await>
      <Await query={runs} what="the computations">
        {({ items }) => (
          <>
            <CompareDatasets runs={items} />
            <Card title="Computations" flush>
              <Runs items={items} />
            </Card>
          </>
        )}
      </Await>
    </Page>
  );
}

function countsOf(items: readonly Source[]) {
  const of = (state: Source["state"]) => items.filter((each) => each.state === state).length;
  return {
    total: items.length,
    never: of("never"),
    stale: of("stale"),
    current: of("current"),
    unknown: of("unknown"),
  };
}

function Sources({ items }: { items: readonly Source[] }) {
  if (items.length === 0) {
    return (
      <Notice icon="search" title="No such data sets">
        <p>
          <code>rmhdag h3 sources add terrain --path silver/terrain.tif</code> asks for one.
        </p>
      </Notice>
    );
  }
  return (
    <Table
      rows={items}
      keyOf={({ raster }) => raster}
      columns={[
        { name: "State", cell: ({ state }) => <Chip status={state} /> },
        { name: "Data set", cell: ({ raster }) => raster },
        { name: "Kind", cell: ({ kind }) => kind },
        { name: "Source", cell: ({ source }) => <code>{describe(source)}</code> },
        {
          name: "Computed",
          oneLine: true,
          cell: ({ finished_at }) =>
            finished_at === null ? "–" : <Time at={finished_at} relative />,
        },
        { name: "", cell: (source) => <Compute source={source} /> },
      ]}
    />
  );
}

/** The values of a source, a collection before its item, without the names of those that it does not give. */
function describe(source: Source["source"]): string {
  return Object.entries(source)
    .filter(([, value]) => value !== null)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, value]) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join("/");
}

function Runs({ items }: { items: readonly Run[] }) {
  if (items.length === 0) {
    return (
      <Notice icon="search" title="Nothing was computed yet">
        <p>A computation is a job of a workflow such as h3_raster_aggregation.</p>
      </Notice>
    );
  }
  return (
    <Table
      rows={items}
      keyOf={({ run_id }) => run_id}
      columns={[
        { name: "State", cell: ({ status }) => <Chip status={status} /> },
        {
          name: "Data set",
          cell: ({ raster, collection_id, item_id }) =>
            collection_id === null || item_id === null ? (
              raster
            ) : (
              <Link
                to={`/catalogue?collection=${encodeURIComponent(collection_id)}&item=${encodeURIComponent(item_id)}`}
              >
                {raster}
              </Link>
            ),
        },
        { name: "Period", cell: ({ period }) => period },
        { name: "Of", cell: ({ origin }) => <code>{origin}</code> },
        { name: "Chunks", numeric: true, cell: ({ chunk_count }) => number(chunk_count) },
        {
          name: "Rows",
          numeric: true,
          cell: ({ row_count }) => (row_count === null ? "–" : number(row_count)),
        },
        {
          name: "Findings",
          cell: ({ findings }) => findings.map(({ message }) => message).join(" "),
        },
        {
          name: "Job",
          cell: ({ job_id }) => <Link to={`/jobs/${job_id}`}>{short(job_id)}</Link>,
        },
        {
          name: "Started",
          oneLine: true,
          cell: ({ started_at }) => <Time at={started_at} relative />,
        },
      ]}
    />
  );
}
