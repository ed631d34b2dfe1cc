import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { isFinished } from "../../../src/core/model/job.ts";
import { Action } from "../shared/action.tsx";
import { api, errorText, useAccess } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { Icon } from "../shared/icon.tsx";
import { Card } from "../shared/page.tsx";
import { invalidate } from "../shared/query-client.ts";
import { Await } from "../shared/states.tsx";
import { showToast } from "../shared/toast.tsx";
import { Inspection } from "./inspection.tsx";
import type { Recognised } from "./inspection.tsx";

const pollMs = 1500;

/** The panel shows one file: what it is, a picture of it, the workflow that fits, and what was made of it. */
export function FilePanel({ path, onDeleted }: { path: string; onDeleted: () => void }) {
  const found = useQuery({
    queryKey: ["recognised", path],
    queryFn: ({ signal }) => api.recogniseFile({ query: { path }, signal }),
  });
  const [started, setStarted] = useState<readonly string[]>([]);
  const address = `/api/v1/storage/${path.split("/").map(encodeURIComponent).join("/")}`;
  return (
    <Card
      title={path}
      aside={
        <div className="row">
          <a className="button" href={address}>
            <Icon name="down" /> Download
          </a>
          <Action
            icon="cross"
            label="Delete"
            title={`Delete ${path}?`}
            danger
            copy={() => ({
              command: commands.deleteFile(path),
              request: curl("DELETE", address),
            })}
            run={async () => {
              await api.deleteFile({ params: { path } });
              invalidate("storage");
              onDeleted();
              return `${path} was deleted.`;
            }}
          />
        </div>
      }
    >
      <Await query={found} what="the file">
        {(file) => (
          <>
            <Inspection file={file} />
            <Suggestion
              file={file}
              onStarted={(jobId) => {
                setStarted([...started, jobId]);
              }}
            />
          </>
        )}
      </Await>
      <Made path={path} started={started} />
    </Card>
  );
}

function Suggestion({ file, onStarted }: { file: Recognised; onStarted: (jobId: string) => void }) {
  const [busy, setBusy] = useState(false);
  const allowed = useAccess("operate");
  const { workflow_id, inputs, path } = file;
  if (workflow_id === null) {
    return <p className="dim">No workflow is known for this content.</p>;
  }
  const form = `/workflows/${encodeURIComponent(workflow_id)}/submit?file=${encodeURIComponent(path)}`;
  return (
    <div className="row">
      <button
        type="button"
        className="button solid"
        disabled={busy || !allowed}
        onClick={() => {
          setBusy(true);
          api
            .submitJob({ body: { workflow_id, inputs } })
            .then(({ job_id }) => {
              onStarted(job_id);
            })
            .catch((error: unknown) => {
              showToast(errorText(error), "bad");
            })
            .finally(() => {
              setBusy(false);
            });
        }}
      >
        <Icon name="map" /> Make a map
      </button>
      <Link to={form} className="button">
        <Icon name="workflow" /> {workflow_id} with other inputs
      </Link>
    </div>
  );
}

/** The jobs that read the file, and the items that came of it, with their maps. */
function Made({ path, started }: { path: string; started: readonly string[] }) {
  const loaded = useQuery({
    queryKey: ["made", path, ...started],
    queryFn: async ({ signal }) => {
      const { nodes } = await api.getLineage({ query: { path, direction: "down" }, signal });
      const known = nodes.filter(({ kind }) => kind === "job").map(({ id }) => id);
      // A job is in the lineage when it has ended.
      const ids = new Set([...started, ...known]);
      const read = [...ids]
        .slice(0, 10)
        .map((job_id) => api.getJob({ params: { job_id }, signal }));
      return { nodes, jobs: await Promise.all(read) };
    },
    refetchInterval: pollMs,
  });
  return (
    <Await query={loaded} what="what was made of it">
      {({ nodes, jobs }) => {
        const items = nodes.filter(({ kind }) => kind === "item");
        if (items.length + jobs.length === 0) {
          return <p className="dim">Nothing was made of it yet.</p>;
        }
        return (
          <section aria-label="Made of it">
            <h3>Made of it</h3>
            <ul className="made">
              {items.map(({ id }) => (
                <li key={id}>
                  <a className="button solid" href={mapOf(id)}>
                    <Icon name="map" /> Map of {id}
                  </a>
                </li>
              ))}
              {jobs.map(({ job_id, workflow_id, status }) => (
                <li key={job_id}>
                  <Link to={`/jobs/${encodeURIComponent(job_id)}`}>{workflow_id}</Link>{" "}
                  {isFinished(status) ? status : `${status} …`}
                </li>
              ))}
            </ul>
          </section>
        );
      }}
    </Await>
  );
}

function mapOf(item: string): string {
  const at = item.indexOf("/");
  const [collection, name] = [item.slice(0, at), item.slice(at + 1)];
  return `/stac/collections/${encodeURIComponent(collection)}/items/${encodeURIComponent(name)}/map`;
}
