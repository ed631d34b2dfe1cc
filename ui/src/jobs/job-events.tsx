import { useCallback, useEffect, useRef, useState } from "react";
import type { Job, JobEvent } from "../../../src/core/api/job-schemas.ts";
import type { EventStatus } from "../../../src/core/model/event.ts";
import { eventStatus, eventType } from "../../../src/core/model/event.ts";
import { api, explain } from "../shared/api.ts";
import { local } from "../shared/format.ts";
import type { Tone } from "../shared/status.ts";
import { Dialog } from "../shared/dialog.tsx";
import type { IconName } from "../shared/icon.tsx";
import { Icon } from "../shared/icon.tsx";
import { JsonView } from "../shared/json-view.tsx";
import { VirtualList } from "../shared/virtual-list.tsx";

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

/** Everything that happened, the oldest first; read in pages as one scrolls. */
export function Events({
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
  return (
    <>
      <div className="gantt-tools">
        <label className="row">
          Kind
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
          Weight
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
        {error === undefined ? null : <span className="error-text">{explain(error)}</span>}
      </div>
      <VirtualList
        items={items}
        rowHeight={28}
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
            <span className="ellipsis">{event.node_id ?? ""}</span>
            <span className="ellipsis dim">
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

function useEvents(job: Job, filter: Filter) {
  const [items, setItems] = useState<readonly JobEvent[]>([]);
  const [error, setError] = useState<unknown>();
  const place = useRef({ after: 0, done: false, busy: false });
  const { job_id, event_seq } = job;

  const more = useCallback(() => {
    const at = place.current;
    if (at.busy || at.done) return;
    at.busy = true;
    const type = eventType.safeParse(filter.event_type);
    const status = eventStatus.safeParse(filter.event_status);
    const query = {
      after: at.after,
      limit: pageSize,
      event_type: type.data,
      event_status: status.data,
      node_id: filter.node_id === "" ? undefined : filter.node_id,
    };
    api.listJobEvents({ params: { job_id }, query }).then(
      (page) => {
        if (place.current !== at) return;
        at.busy = false;
        at.after = page.items.at(-1)?.seq ?? at.after;
        at.done = page.next_cursor === null;
        setItems((before) => [...before, ...page.items]);
        setError(undefined);
      },
      (problem: unknown) => {
        at.busy = false;
        setError(problem);
      },
    );
  }, [job_id, filter]);

  useEffect(() => {
    place.current = { after: 0, done: false, busy: false };
    setItems([]);
    more();
  }, [more]);
  // New events arrived: what was the end is not the end any more.
  useEffect(() => {
    if (!place.current.done || event_seq <= place.current.after) return;
    place.current.done = false;
    more();
  }, [event_seq, more]);

  return { items, error, more };
}
