import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import type { Job, JobEvent } from "../../../src/core/api/job-schemas.ts";
import type { EventStatus } from "../../../src/core/model/event.ts";
import { eventStatus, eventType } from "../../../src/core/model/event.ts";
import { api, errorText } from "../shared/api.ts";
import { Dialog } from "../shared/dialog.tsx";
import type { IconName } from "../shared/icon.tsx";
import { Icon } from "../shared/icon.tsx";
import { JsonView } from "../shared/json-view.tsx";
import { useNarrow } from "../shared/narrow.ts";
import type { Tone } from "../shared/status.tsx";
import { local } from "../shared/time.tsx";
import { VirtualList, useNextPage } from "../shared/virtual-list.tsx";

const looks: Readonly<Record<EventStatus, { tone: Tone; icon: IconName }>> = {
  info: { tone: "idle", icon: "dot" },
  success: { tone: "good", icon: "check" },
  warning: { tone: "wait", icon: "warning" },
  error: { tone: "bad", icon: "cross" },
};

const pageSize = 500;

interface Filter {
  readonly event_type: string;
  readonly event_status: string;
  readonly node_id: string;
}

/** All events of a job, the oldest first, read in pages while the user scrolls. */
export function JobEvents({
  job,
  nodeId,
  onChoose,
}: {
  job: Job;
  nodeId: string | undefined;
  onChoose: (nodeId: string) => void;
}) {
  const [filter, setFilter] = useState<Filter>({
    event_type: "",
    event_status: "",
    node_id: nodeId ?? "",
  });
  const [raw, setRaw] = useState<JobEvent>();
  const { items, error, more } = useEvents(job, filter);
  const isNarrow = useNarrow();
  return (
    <>
      <div className="gantt-tools">
        <label className="row">
          Type
          <select
            value={filter.event_type}
            onChange={(event) => {
              setFilter({ ...filter, event_type: event.target.value });
            }}
          >
            <option value="">all</option>
            {eventType.options.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <label className="row">
          Severity
          <select
            value={filter.event_status}
            onChange={(event) => {
              setFilter({ ...filter, event_status: event.target.value });
            }}
          >
            <option value="">all</option>
            {eventStatus.options.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <label className="row">
          Node
          <input
            value={filter.node_id}
            placeholder="all"
            onChange={(event) => {
              setFilter({ ...filter, node_id: event.target.value.trim() });
            }}
          />
        </label>
        {error === null ? null : <span className="error-text">{errorText(error)}</span>}
      </div>
      <VirtualList
        items={items}
        rowHeight={isNarrow ? 50 : 28}
        height={520}
        label="Events"
        keyOf={(event) => String(event.seq)}
        onNearEnd={more}
        row={(event) => (
          <button
            className="event-row"
            onClick={() => {
              setRaw(event);
            }}
          >
            <span className="num dim">{event.seq}</span>
            <time dateTime={event.created_at} title={`${event.created_at} UTC`}>
              {local(event.created_at)}
            </time>
            <span className="event-kind" data-tone={looks[event.event_status].tone}>
              <Icon name={looks[event.event_status].icon} label={event.event_status} />
              {event.event_type}
            </span>
            <span className="ellipsis event-node">{event.node_id ?? ""}</span>
            <span className="ellipsis dim event-data">
              {event.event_data === null ? "" : JSON.stringify(event.event_data)}
            </span>
          </button>
        )}
      />
      {raw === undefined ? null : (
        <Dialog
          title={`Event ${raw.seq}: ${raw.event_type}`}
          onClose={() => {
            setRaw(undefined);
          }}
        >
          <JsonView value={raw} label="event" />
          <div className="dialog-foot">
            {raw.node_id === null ? null : (
              <button
                className="button"
                onClick={() => {
                  onChoose(raw.node_id ?? "");
                  setRaw(undefined);
                }}
              >
                Open {raw.node_id}
              </button>
            )}
            <button
              className="button"
              onClick={() => {
                setRaw(undefined);
              }}
            >
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function useEvents({ job_id, event_seq }: Job, filter: Filter) {
  const { data, error, fetchNextPage } = useInfiniteQuery({
    queryKey: ["job", job_id, "events", filter],
    queryFn: async ({ pageParam, signal }) => {
      const { items, next_cursor } = await api.listJobEvents({
        params: { job_id },
        query: {
          after: pageParam,
          limit: pageSize,
          event_type: eventType.safeParse(filter.event_type).data,
          event_status: eventStatus.safeParse(filter.event_status).data,
          node_id: filter.node_id === "" ? undefined : filter.node_id,
        },
        signal,
      });
      return { items, isLast: next_cursor === null, readAtSeq: event_seq };
    },
    initialPageParam: 0,
    getNextPageParam: ({ items }, _pages, after) => items.at(-1)?.seq ?? after,
    // Events never change, so no page is read twice; the pages are dropped with the view.
    staleTime: Infinity,
    gcTime: 0,
  });
  const last = data?.pages.at(-1);
  // The last page may have successors once the job has newer events than when that page was read.
  const hasMore = last !== undefined && (!last.isLast || event_seq > last.readAtSeq);
  const more = useNextPage(fetchNextPage, hasMore);
  useEffect(() => {
    if (last?.isLast === true) more();
  }, [last, event_seq, more]);
  const items = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  return { items, error, more };
}
