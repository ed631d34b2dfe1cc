import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Histogram, NodeSummary } from "../../../../src/core/api/job-schemas.ts";
import type { NodeStatus } from "../../../../src/core/model/node.ts";
import { api, errorText } from "../../shared/api.ts";
import { number } from "../../shared/format.ts";
import { Chip, countsInOrder } from "../../shared/status.tsx";
import { between, duration } from "../../shared/time.tsx";
import { VirtualList, useNextPage } from "../../shared/virtual-list.tsx";

const pageSize = 200;

/** The children of a fan-out by state, read in pages while the user scrolls. */
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
      {error === null ? null : <p className="error-text">{errorText(error)}</p>}
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
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ["job", jobId, "children", parent, status],
    queryFn: ({ pageParam: cursor, signal }) =>
      api.listJobNodes({
        params: { job_id: jobId },
        query: { parent, status, limit: pageSize, cursor },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    gcTime: 0,
  });
  const more = useNextPage(fetchNextPage, hasNextPage);
  const items = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  return { items, error, more };
}
