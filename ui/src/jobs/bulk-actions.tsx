import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { z } from "zod";
import type { jobFilter } from "../../../src/core/api/job-schemas.ts";
import { Action } from "../shared/action.tsx";
import { api, errorText } from "../shared/api.ts";
import { number, plural } from "../shared/format.ts";
import { invalidate } from "../shared/query-client.ts";
import { showToast } from "../shared/toast.tsx";

export type Filter = z.input<typeof jobFilter>;

type Kind = "cancel" | "retry";

/** Larger sets are changed in several steps, so that an operator sees the outcome of each. */
const maxJobs = 1000;
const concurrency = 4;

/** Cancels or retries the marked jobs, or all that match the filter; the dialog shows how many. */
export function BulkActions(props: Selection) {
  return (
    <>
      <Bulk kind="retry" {...props} />
      <Bulk kind="cancel" {...props} />
    </>
  );
}

interface Selection {
  readonly filter: Filter;
  /** If it is empty, the action is for all jobs that match the filter. */
  readonly marked: ReadonlySet<string>;
}

function Bulk({ kind, filter, marked }: Selection & { readonly kind: Kind }) {
  const [progress, setProgress] = useState("");
  const which =
    marked.size > 0 ? plural(marked.size, "marked job") : "all jobs that match the filter";
  return (
    <Action
      icon={kind === "retry" ? "retry" : "ban"}
      label={marked.size > 0 ? `${word(kind)} ${number(marked.size)}` : `${word(kind)} all`}
      title={kind === "retry" ? "Retry failed jobs?" : "Cancel jobs?"}
      danger={kind === "cancel"}
      run={async () => {
        const ids = marked.size > 0 ? [...marked] : await findJobs(kind, filter);
        const failed = await changeJobs(ids, kind, setProgress);
        invalidate("job-list");
        invalidate("job-counts");
        setProgress("");
        if (failed.length > 0) {
          showToast(
            `${plural(failed.length, "job")} could not be changed: ${failed[0] ?? ""}`,
            "bad",
          );
        }
        return `${plural(ids.length - failed.length, "job")} ${kind === "retry" ? "run again" : "are being cancelled"}`;
      }}
    >
      <p>
        This is for {which}. <Preview kind={kind} filter={filter} marked={marked} />
      </p>
      {kind === "retry" ? (
        <p>Each becomes a new job that keeps the completed nodes and runs the rest again.</p>
      ) : (
        <p>No new task starts, and running tasks are asked to stop.</p>
      )}
      <p role="status">{progress}</p>
    </Action>
  );
}

function word(kind: Kind): string {
  return kind === "retry" ? "Retry" : "Cancel";
}

/** The states that an action can change. */
const states = { retry: ["failed"], cancel: ["pending", "running"] } as const;

function Preview({ kind, filter, marked }: Selection & { readonly kind: Kind }) {
  const { status, ...rest } = filter;
  const counts = useQuery({
    queryKey: ["job-counts", rest],
    queryFn: ({ signal }) => api.countJobs({ query: rest, signal }),
  });
  if (marked.size > 0 || counts.data === undefined) return null;
  const found = counts.data;
  const wanted = states[kind].filter((each) => status === undefined || status === each);
  const count = wanted.reduce((sum, each) => sum + found[each], 0);
  return (
    <strong>
      It changes {plural(Math.min(count, maxJobs), "job")}
      {count > maxJobs ? ` of ${number(count)}: the newest first, the rest in further steps` : ""}.
    </strong>
  );
}

async function findJobs(kind: Kind, { status, ...rest }: Filter): Promise<string[]> {
  const ids: string[] = [];
  for (const each of states[kind]) {
    if (status !== undefined && status !== each) continue;
    let cursor: string | undefined;
    do {
      const query = { ...rest, status: each, limit: 500, cursor };
      const page = await api.listJobs({ query });
      ids.push(...page.items.map(({ job_id }) => job_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && ids.length < maxJobs);
  }
  return ids.slice(0, maxJobs);
}

/** Changes a few jobs at a time; answers the error texts of those that could not be changed. */
async function changeJobs(
  ids: readonly string[],
  kind: Kind,
  report: (text: string) => void,
): Promise<string[]> {
  const queue = [...ids];
  const failed: string[] = [];
  let settled = 0;
  async function work(): Promise<void> {
    for (let job_id = queue.shift(); job_id !== undefined; job_id = queue.shift()) {
      try {
        if (kind === "retry") await api.retryJob({ params: { job_id } });
        else await api.cancelJob({ params: { job_id } });
      } catch (error) {
        failed.push(errorText(error));
      }
      settled += 1;
      report(`${number(settled)} of ${number(ids.length)}`);
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work));
  return failed;
}
