import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../shared/api.ts";
import { Await } from "../../shared/states.tsx";
import type { Tone } from "../../shared/status.tsx";
import { local } from "../../shared/time.tsx";

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
  const logs = useQuery({
    // `running` is a part of the key so that the log is read once more after the node has settled.
    queryKey: ["job", jobId, "nodes", nodeId, "logs", level, running],
    queryFn: ({ signal }) =>
      api.listJobLogs({
        params: { job_id: jobId },
        query: { node_id: nodeId, level, limit: 500 },
        signal,
      }),
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
        {({ items }) =>
          items.length === 0 ? (
            <p className="dim">The handler logged nothing.</p>
          ) : (
            <div>
              {items.map((line) => (
                <div key={line.log_id} className="log-line">
                  <time className="dim" dateTime={line.logged_at} title={line.logged_at}>
                    {local(line.logged_at).split(", ").at(-1)}
                  </time>
                  <span data-tone={tones[line.level]}>{line.level}</span>
                  <span>
                    {line.message} {line.data === null ? "" : JSON.stringify(line.data)}
                  </span>
                </div>
              ))}
            </div>
          )
        }
      </Await>
    </div>
  );
}
