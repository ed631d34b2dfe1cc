import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../shared/api.ts";
import { MoreRows } from "../../shared/more-rows.tsx";
import { Await } from "../../shared/states.tsx";
import type { Tone } from "../../shared/status.tsx";
import { clockTime } from "../../shared/time.tsx";

const levels = ["debug", "info", "warn", "error"] as const;
type Level = (typeof levels)[number];

const tones: Readonly<Record<Level, Tone>> = {
  debug: "idle",
  info: "busy",
  warn: "wait",
  error: "bad",
};

export function Logs({
  jobId,
  nodeId,
  running,
}: {
  jobId: string;
  nodeId: string;
  running: boolean;
}) {
  const [level, setLevel] = useState<Level>("debug");
  const logs = useInfiniteQuery({
    // `running` is a part of the key so that the log is read once more after the node has settled.
    queryKey: ["job", jobId, "nodes", nodeId, "logs", level, running],
    queryFn: ({ pageParam: cursor, signal }) =>
      api.listJobLogs({
        params: { job_id: jobId },
        query: { node_id: nodeId, level, limit: 500, cursor },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: running ? 2000 : false,
    placeholderData: keepPreviousData,
  });
  return (
    <div className="stack">
      <label className="row">
        Lowest level
        <select
          value={level}
          onChange={(event) => {
            setLevel(levels.find((each) => each === event.target.value) ?? "debug");
          }}
        >
          {levels.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <Await query={logs} what="the log">
        {({ pages }) =>
          pages[0]?.items.length === 0 ? (
            <p className="dim">The handler logged nothing.</p>
          ) : (
            <div>
              {pages
                .flatMap(({ items }) => items)
                .map((line) => (
                  <div key={line.log_id} className="log-line">
                    <time className="dim" dateTime={line.logged_at} title={line.logged_at}>
                      {clockTime(new Date(line.logged_at))}
                    </time>
                    <span data-tone={tones[line.level]}>{line.level}</span>
                    <span>
                      {line.message} {line.data === null ? "" : JSON.stringify(line.data)}
                    </span>
                  </div>
                ))}
              <MoreRows
                query={logs}
                shown={pages.reduce((sum, { items }) => sum + items.length, 0)}
                what="lines"
              />
            </div>
          )
        }
      </Await>
    </div>
  );
}
