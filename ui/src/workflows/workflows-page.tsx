import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api } from "../shared/api.ts";
import { number, percent } from "../shared/format.ts";
import { Icon } from "../shared/icon.tsx";
import { Page } from "../shared/page.tsx";
import { Await, Notice } from "../shared/states.tsx";
import { TableBox } from "../shared/table.tsx";
import { duration, Time } from "../shared/time.tsx";

export default function WorkflowsPage() {
  const [text, setText] = useState("");
  const workflows = useQuery({
    queryKey: ["workflows"],
    queryFn: ({ signal }) => api.listWorkflows({ signal }),
    refetchInterval: 15_000,
  });
  const metrics = useQuery({
    queryKey: ["workflow-metrics"],
    queryFn: ({ signal }) => api.getWorkflowMetrics({ signal }),
    refetchInterval: 15_000,
  });
  const byId = new Map(metrics.data?.items.map((each) => [each.workflow_id, each]));
  const wanted = text.trim().toLowerCase();
  return (
    <Page
      title="Workflows"
      actions={
        <Link to="/validate" className="button">
          <Icon name="check" /> Check a definition
        </Link>
      }
    >
      <div className="filters">
        <label className="field">
          Filter
          <input
            value={text}
            onChange={(event) => {
              setText(event.target.value);
            }}
          />
        </label>
      </div>
      <section className="card" data-flush="">
        <div className="card-body">
          <Await query={workflows} what="the workflows">
            {({ items }) =>
              items.length === 0 ? (
                <Notice icon="workflow" title="No workflows">
                  <p>
                    Put a YAML file into the folder of workflows; a running orchestrator loads it by
                    itself.
                  </p>
                </Notice>
              ) : (
                <TableBox>
                  <thead>
                    <tr>
                      <th>Workflow</th>
                      <th>Description</th>
                      <th>Version</th>
                      <th className="num">Nodes</th>
                      <th className="num">Jobs, 7 days</th>
                      <th className="num">Success</th>
                      <th className="num">Median</th>
                      <th>Changed</th>
                      <th>
                        <span className="visually-hidden">Actions</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {items
                      .filter(({ workflow_id, name }) =>
                        `${workflow_id} ${name}`.toLowerCase().includes(wanted),
                      )
                      .map((workflow) => {
                        const id = encodeURIComponent(workflow.workflow_id);
                        const measured = byId.get(workflow.workflow_id);
                        return (
                          <tr key={workflow.workflow_id}>
                            <td>
                              <Link to={`/workflows/${id}`}>{workflow.workflow_id}</Link>
                            </td>
                            <td data-label="Description">
                              {workflow.name}
                              <div className="dim clamp">{workflow.description}</div>
                            </td>
                            <td data-label="Version">
                              <code>{workflow.version}</code>
                            </td>
                            <td data-label="Nodes" className="num">
                              {workflow.node_count}
                            </td>
                            <td data-label="Jobs, 7 days" className="num">
                              {number(measured?.total_jobs ?? 0)}
                            </td>
                            <td data-label="Success" className="num">
                              {percent(measured?.success_rate ?? null)}
                            </td>
                            <td data-label="Median" className="num">
                              {measured?.p50_duration == null
                                ? "–"
                                : duration(measured.p50_duration * 1000)}
                            </td>
                            <td data-label="Changed" className="nowrap">
                              <Time at={workflow.updated_at} relative />
                            </td>
                            <td>
                              <Link
                                to={`/workflows/${id}/submit`}
                                className="button"
                                aria-label={`Submit ${workflow.workflow_id}`}
                              >
                                <Icon name="play" /> Submit
                              </Link>
                            </td>
                          </tr>
                        );
                      })}
                  </tbody>
                </TableBox>
              )
            }
          </Await>
        </div>
      </section>
    </Page>
  );
}
