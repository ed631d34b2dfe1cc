import { useQuery } from "@tanstack/react-query";
import { api } from "../shared/api.ts";
import { number, percent } from "../shared/format.ts";
import { Await, Notice } from "../shared/states.tsx";
import { TableBox } from "../shared/table.tsx";
import { duration } from "../shared/time.tsx";

export function NodeStatistics({ workflowId }: { workflowId: string }) {
  const metrics = useQuery({
    queryKey: ["workflow", workflowId, "node-metrics"],
    queryFn: ({ signal }) =>
      api.getNodeMetrics({ params: { workflow_id: workflowId }, query: { days: 30 }, signal }),
  });
  return (
    <Await query={metrics} what="the statistics">
      {({ items }) => {
        if (items.length === 0) {
          return (
            <Notice icon="clock" title="Nothing to count yet">
              <p>Durations and failures of the last 30 days appear here.</p>
            </Notice>
          );
        }
        const slowest = Math.max(...items.map(({ avg_duration }) => avg_duration ?? 0), 0.001);
        return (
          <TableBox>
            <thead>
              <tr>
                <th>Node</th>
                <th className="num">Ran</th>
                <th className="num">Failed</th>
                <th className="num">Success</th>
                <th className="num">Retries</th>
                <th className="num">Average</th>
                <th>
                  <span className="visually-hidden">Share of the slowest</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {items.map((node) => (
                <tr key={node.node_id}>
                  <td>{node.node_id}</td>
                  <td data-label="Ran" className="num">
                    {number(node.total_executions)}
                  </td>
                  <td data-label="Failed" className="num">
                    {node.failed === 0 ? "0" : <span className="error-text">{node.failed}</span>}
                  </td>
                  <td data-label="Success" className="num">
                    {percent(node.success_rate)}
                  </td>
                  <td data-label="Retries" className="num">
                    {number(node.total_retries)}
                  </td>
                  <td data-label="Average" className="num">
                    {node.avg_duration === null ? "–" : duration(node.avg_duration * 1000)}
                  </td>
                  <td>
                    <span className="progress" aria-hidden>
                      <span style={{ width: `${((node.avg_duration ?? 0) / slowest) * 100}%` }} />
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </TableBox>
        );
      }}
    </Await>
  );
}
