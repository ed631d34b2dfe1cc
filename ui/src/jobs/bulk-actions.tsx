import { useState } from "react";
import { api, explain } from "../shared/api.ts";
import { number, plural } from "../shared/format.ts";
import { useQuery } from "../shared/query-client.ts";
import type { Filter } from "./jobs-page.tsx";
import { Action } from "../shared/action.tsx";
import { say } from "../shared/toast.tsx";

type Kind = "cancel" | "retry";

/** More at once is better done in steps that somebody looks at. */
const mostJobs = 1000;
const together = 4;

/** Cancel or retry what is marked, or everything that the filter finds: counted before it is done. */
export function BulkActions({
  filter,
  marked,
  done,
}: {
  filter: Filter;
  marked: ReadonlySet<string>;
  done: () => void;
}) {
  return (
    <>
      <Bulk kind="retry" filter={filter} marked={marked} done={done} />
      <Bulk kind="cancel" filter={filter} marked={marked} done={done} />
    </>
  );
}

function Bulk({
  kind,
  filter,
  marked,
  done,
}: {
  kind: Kind;
  filter: Filter;
  marked: ReadonlySet<string>;
  done: () => void;
}) {
  const [progress, setProgress] = useState("");
  const which = marked.size > 0 ? plural(marked.size, "marked job") : "all that the filter finds";
  return (
    <Action
      icon={kind === "retry" ? "retry" : "ban"}
      label={marked.size > 0 ? `${word(kind)} ${number(marked.size)}` : `${word(kind)} all`}
      title={kind === "retry" ? "Retry failed jobs?" : "Cancel jobs?"}
      danger={kind === "cancel"}
      run={async () => {
        const ids = marked.size > 0 ? [...marked] : await find(kind, filter);
        const failed = await each(ids, kind, setProgress);
        done();
        setProgress("");
        if (failed.length > 0) {
          say(`${plural(failed.length, "job")} could not be changed: ${failed[0] ?? ""}`, "bad");
        }
        return `${plural(ids.length - failed.length, "job")} ${kind === "retry" ? "run again" : "are being cancelled"}`;
      }}
    >
      <p>
        This is for {which}. <Preview kind={kind} filter={filter} marked={marked} />
      </p>
      {kind === "retry" ? (
        <p>Each becomes a new job that keeps what succeeded and runs the rest again.</p>
      ) : (
        <p>Nothing new starts and running tasks are told to stop.</p>
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

function Preview({
  kind,
  filter,
  marked,
}: {
  kind: Kind;
  filter: Filter;
  marked: ReadonlySet<string>;
}) {
  const { status, ...rest } = filter;
  const counts = useQuery(`preview ${JSON.stringify(rest)}`, (signal) =>
    api.countJobs({ query: rest, signal }),
  );
  if (marked.size > 0 || counts.data === undefined) return null;
  const found = counts.data;
  const wanted = states[kind].filter((each) => status === undefined || status === each);
  const count = wanted.reduce((sum, each) => sum + found[each], 0);
  return (
    <strong>
      It changes {plural(Math.min(count, mostJobs), "job")}
      {count > mostJobs ? ` of ${number(count)}: the newest first, the rest in further steps` : ""}.
    </strong>
  );
}

async function find(kind: Kind, { status, ...rest }: Filter): Promise<string[]> {
  const ids: string[] = [];
  for (const each of states[kind]) {
    if (status !== undefined && status !== each) continue;
    let cursor: string | undefined;
    do {
      const query = { ...rest, status: each, limit: 500, cursor };
      const page = await api.listJobs({ query });
      ids.push(...page.items.map(({ job_id }) => job_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && ids.length < mostJobs);
  }
  return ids.slice(0, mostJobs);
}

/** A few at a time; answers why those failed that did. */
async function each(
  ids: readonly string[],
  kind: Kind,
  report: (text: string) => void,
): Promise<string[]> {
  const waiting = [...ids];
  const failed: string[] = [];
  let settled = 0;
  async function work(): Promise<void> {
    for (let job_id = waiting.shift(); job_id !== undefined; job_id = waiting.shift()) {
      try {
        if (kind === "retry") await api.retryJob({ params: { job_id } });
        else await api.cancelJob({ params: { job_id } });
      } catch (error) {
        failed.push(explain(error));
      }
      settled += 1;
      report(`${number(settled)} of ${number(ids.length)}`);
    }
  }
  await Promise.all(Array.from({ length: together }, work));
  return failed;
}
