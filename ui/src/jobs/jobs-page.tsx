import { useCallback, useMemo, useState } from "react";
import type { z } from "zod";
import { jobFilter } from "../../../src/core/api/job-schemas.ts";
import type { JobSummary } from "../../../src/core/api/job-schemas.ts";
import { jobStatus } from "../../../src/core/model/job.ts";
import { api } from "../shared/api.ts";
import { BulkActions } from "./bulk-actions.tsx";
import { SavedViews } from "./saved-views.tsx";
import { number } from "../shared/format.ts";
import { statusLook } from "../shared/status.ts";
import { useQuery } from "../shared/query-client.ts";
import { Icon } from "../shared/icon.tsx";
import { JobRows } from "./job-rows.tsx";
import { Page } from "../shared/page.tsx";
import { Await } from "../shared/states.tsx";
import { setQuery, usePlace } from "../shared/navigation.tsx";

export type Filter = z.input<typeof jobFilter>;

const pageSize = 50;

export default function Jobs() {
  const { query } = usePlace();
  const text = query.toString();
  const { filter, ignored } = useMemo(() => readFilter(new URLSearchParams(text)), [text]);
  const key = JSON.stringify(filter);
  const rest = { ...filter, status: undefined };
  const counts = useQuery(
    `counts ${JSON.stringify(rest)}`,
    (signal) => api.countJobs({ query: rest, signal }),
    { everyMs: 4000 },
  );
  const first = useQuery(
    `jobs ${key}`,
    (signal) => api.listJobs({ query: { ...filter, limit: pageSize }, signal }),
    { everyMs: 4000 },
  );
  const [older, setOlder] = useState<Older>({ key, jobs: [], cursor: undefined });
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const kept = older.key === key ? older : { key, jobs: [], cursor: undefined };
  const cursor = kept.cursor === undefined ? first.data?.next_cursor : kept.cursor;
  const toggle = useCallback((jobId: string) => {
    setMarked((before) => {
      const next = new Set(before);
      if (!next.delete(jobId)) next.add(jobId);
      return next;
    });
  }, []);

  async function more(): Promise<void> {
    if (cursor == null) return;
    const page = await api.listJobs({ query: { ...filter, limit: pageSize, cursor } });
    setOlder({ key, jobs: [...kept.jobs, ...page.items], cursor: page.next_cursor });
  }

  return (
    <Page
      title="Jobs"
      actions={<BulkActions filter={filter} marked={marked} done={first.reload} />}
    >
      <SavedViews query={text} />
      <div className="filters">
        <div className="pills" role="group" aria-label="State">
          <button
            className="pill"
            aria-pressed={filter.status === undefined}
            onClick={() => {
              setQuery({ status: undefined });
            }}
          >
            all {counts.data === undefined ? "" : number(counts.data.total)}
          </button>
          {jobStatus.options.map((status) => (
            <button
              key={status}
              className="pill"
              aria-pressed={filter.status === status}
              onClick={() => {
                setQuery({ status });
              }}
            >
              <Icon name={statusLook[status].icon} /> {status}{" "}
              {counts.data === undefined ? "" : number(counts.data[status])}
            </button>
          ))}
        </div>
        <TextFilter name="workflow_id" label="Workflow" value={filter.workflow_id} />
        <TextFilter name="correlation_id" label="Request" value={filter.correlation_id} />
        <TextFilter name="submitted_by" label="By" value={filter.submitted_by} />
        <TextFilter name="search" label="Any of them" value={filter.search} />
        {text === "" ? null : (
          <button
            className="button quiet"
            onClick={() => {
              setQuery(Object.fromEntries([...query.keys()].map((name) => [name, undefined])));
            }}
          >
            <Icon name="cross" /> Clear
          </button>
        )}
      </div>
      {ignored.length === 0 ? null : (
        <p className="error-text">
          The address has a filter that is not one: {ignored.join(", ")}.
        </p>
      )}
      <section className="card" data-flush="">
        <div className="card-body">
          <Await loaded={first} what="the jobs">
            {({ items }) => (
              <JobRows jobs={merge(items, kept.jobs)} selection={{ ids: marked, toggle }} />
            )}
          </Await>
        </div>
      </section>
      {cursor == null ? null : (
        <div>
          <button className="button" onClick={() => void more()}>
            <Icon name="down" /> Older jobs
          </button>
        </div>
      )}
    </Page>
  );
}

interface Older {
  readonly key: string;
  readonly jobs: readonly JobSummary[];
  readonly cursor: string | null | undefined;
}

/** New jobs push older ones from the first page into the next: each is shown once. */
function merge(first: readonly JobSummary[], older: readonly JobSummary[]): JobSummary[] {
  const seen = new Set(first.map(({ job_id }) => job_id));
  return [...first, ...older.filter(({ job_id }) => !seen.has(job_id))];
}

/** What the address says, as far as it is a filter. */
function readFilter(query: URLSearchParams): { filter: Filter; ignored: string[] } {
  const filter: Record<string, string> = {};
  const ignored: string[] = [];
  for (const [name, value] of query) {
    const known = Object.hasOwn(jobFilter.shape, name);
    if (known && jobFilter.safeParse({ [name]: value }).success) filter[name] = value;
    else ignored.push(name);
  }
  return { filter, ignored };
}

function TextFilter({
  name,
  label,
  value = "",
}: {
  name: string;
  label: string;
  value?: string | undefined;
}) {
  return (
    <label className="field">
      {label}
      <input
        key={value}
        defaultValue={value}
        size={14}
        onKeyDown={(event) => {
          if (event.key === "Enter") setQuery({ [name]: event.currentTarget.value.trim() });
        }}
        onBlur={(event) => {
          if (event.target.value.trim() !== value) setQuery({ [name]: event.target.value.trim() });
        }}
      />
    </label>
  );
}
