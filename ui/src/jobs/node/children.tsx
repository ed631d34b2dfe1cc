import { useCallback, useEffect, useRef, useState } from "react";
import type { Histogram, NodeSummary } from "../../../../src/core/api/job-schemas.ts";
import type { NodeStatus } from "../../../../src/core/model/node.ts";
import { api, explain } from "../../shared/api.ts";
import { between, duration, number } from "../../shared/format.ts";
import { Chip } from "../../shared/chip.tsx";
import { countsInOrder } from "../../shared/histogram.tsx";
import { VirtualList } from "../../shared/virtual-list.tsx";

const pageSize = 200;

/** The children of a fan-out, in pages and by state: never all of them. */
export function Children({
  jobId,
  parent,
  counts,
  onChoose,
}: {
  jobId: string;
  parent: string;
  counts: Histogram;
  onChoose: (nodeId: string) => void;
}) {
  const [status, setStatus] = useState<NodeStatus | undefined>(
    counts.failed > 0 ? "failed" : undefined,
  );
  const { items, error, more } = useChildren(jobId, parent, status);
  return (
    <div className="stack">
      <div className="pills" role="group" aria-label="Children by state">
        <button
          className="pill"
          aria-pressed={status === undefined}
          onClick={() => {
            setStatus(undefined);
          }}
        >
          all {number(counts.total)}
        </button>
        {countsInOrder(counts).map(([each, count]) => (
          <button
            key={each}
            className="pill"
            aria-pressed={status === each}
            onClick={() => {
              setStatus(each);
            }}
          >
            {each} {number(count)}
          </button>
        ))}
      </div>
      {error === undefined ? null : <p className="error-text">{explain(error)}</p>}
      <VirtualList
        items={items}
        rowHeight={28}
        height={340}
        label={`Children of ${parent}`}
        keyOf={(child) => child.node_id}
        onNearEnd={more}
        row={(child) => (
          <button
            className="child-row"
            onClick={() => {
              onChoose(child.node_id);
            }}
          >
            <span className="ellipsis">#{child.fan_out_index}</span>
            <Chip status={child.status} />
            <span className="num dim">{took(child)}</span>
          </button>
        )}
      />
    </div>
  );
}

function took({ started_at, completed_at }: NodeSummary): string {
  return started_at === null || completed_at === null
    ? ""
    : duration(between(started_at, completed_at));
}

function useChildren(jobId: string, parent: string, status: NodeStatus | undefined) {
  const [items, setItems] = useState<readonly NodeSummary[]>([]);
  const [error, setError] = useState<unknown>();
  const place = useRef<{ cursor: string | null | undefined; busy: boolean }>({
    cursor: undefined,
    busy: false,
  });

  const more = useCallback(() => {
    const at = place.current;
    if (at.busy || at.cursor === null) return;
    at.busy = true;
    const query = { parent, status, limit: pageSize, cursor: at.cursor };
    api.listJobNodes({ params: { job_id: jobId }, query }).then(
      (page) => {
        if (place.current !== at) return;
        at.busy = false;
        at.cursor = page.next_cursor;
        setItems((before) => [...before, ...page.items]);
      },
      (problem: unknown) => {
        at.busy = false;
        setError(problem);
      },
    );
  }, [jobId, parent, status]);

  useEffect(() => {
    place.current = { cursor: undefined, busy: false };
    setItems([]);
    setError(undefined);
    more();
  }, [more]);

  return { items, error, more };
}
