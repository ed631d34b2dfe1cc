import { useState } from "react";
import { api } from "../api.ts";
import { Deliveries } from "../fleet/deliveries.tsx";
import { Keys, Platforms } from "../fleet/platforms.tsx";
import { duration, number, short } from "../lib/format.ts";
import { useQuery } from "../live/use-query.ts";
import { Action } from "../parts/action.tsx";
import { Chip } from "../parts/chip.tsx";
import { curl } from "../parts/copy.tsx";
import { Card, Page } from "../parts/page.tsx";
import { Await, Notice } from "../parts/states.tsx";
import { Elapsed, Time } from "../parts/time.tsx";
import { Link } from "../router.tsx";

const everyMs = 3000;

export default function Fleet() {
  return (
    <Page title="Fleet">
      <Orchestrators />
      <Workers />
      <Queues />
      <CurrentTasks />
      <Deliveries />
      <Platforms />
      <Keys />
    </Page>
  );
}

function Alive({ alive }: { alive: boolean }) {
  return <Chip status={alive ? "ok" : "down"} text={alive ? "alive" : "silent"} />;
}

function Orchestrators() {
  const loaded = useQuery("fleet orchestrators", (signal) => api.listOrchestrators({ signal }), {
    everyMs,
  });
  return (
    <Card title="Orchestrators" flush>
      <Await loaded={loaded} what="the orchestrators">
        {({ items }) => (
          <table>
            <thead>
              <tr>
                <th>State</th>
                <th>Name</th>
                <th className="num">Jobs owned</th>
                <th>Heartbeat</th>
                <th className="wide-only">Up since</th>
                <th className="wide-only">Where</th>
                <th>Version</th>
              </tr>
            </thead>
            <tbody>
              {items.map((each) => (
                <tr key={each.owner_id}>
                  <td>
                    <Alive alive={each.alive} />
                  </td>
                  <td>
                    <code>{each.owner_id}</code>
                  </td>
                  <td className="num">{number(each.jobs)}</td>
                  <td>
                    <Time at={each.heartbeat_at} relative />
                  </td>
                  <td className="wide-only">
                    <Time at={each.started_at} />
                  </td>
                  <td className="wide-only">
                    {each.host} · {each.pid}
                  </td>
                  <td>{each.version}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Await>
    </Card>
  );
}

function Workers() {
  const loaded = useQuery("fleet workers", (signal) => api.listWorkers({ signal }), { everyMs });
  return (
    <Card title="Workers" flush>
      <Await loaded={loaded} what="the workers">
        {({ items }) =>
          items.length === 0 ? (
            <Notice icon="fleet" title="No workers">
              <p>
                Tasks wait until one comes: start it with <code>rmhdag worker</code>.
              </p>
            </Notice>
          ) : (
            <table>
              <thead>
                <tr>
                  <th>State</th>
                  <th>Name</th>
                  <th>Queues</th>
                  <th>Slots</th>
                  <th>Heartbeat</th>
                  <th className="wide-only">Where</th>
                  <th className="wide-only">Version</th>
                </tr>
              </thead>
              <tbody>
                {items.map((worker) => (
                  <tr key={worker.worker_id}>
                    <td>
                      <Alive alive={worker.alive} />
                    </td>
                    <td>
                      <code>{worker.worker_id}</code>
                    </td>
                    <td>{worker.queues.join(", ")}</td>
                    <td className="nowrap">
                      <span className="progress" aria-hidden>
                        <span
                          style={{ width: `${(worker.busy / Math.max(worker.slots, 1)) * 100}%` }}
                        />
                      </span>{" "}
                      {worker.busy} of {worker.slots}
                    </td>
                    <td>
                      <Time at={worker.heartbeat_at} relative />
                    </td>
                    <td className="wide-only">
                      {worker.host} · {worker.pid}
                    </td>
                    <td className="wide-only">{worker.version}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Await>
    </Card>
  );
}

function Queues() {
  const loaded = useQuery("queues", (signal) => api.getQueues({ signal }), { everyMs });
  const [open, setOpen] = useState<string>();
  return (
    <Card title="Queues" flush>
      <Await loaded={loaded} what="the queues">
        {({ items }) => (
          <table>
            <thead>
              <tr>
                <th>Queue</th>
                <th className="num">Ready</th>
                <th className="num">Delayed</th>
                <th className="num">In flight</th>
                <th className="num">Oldest</th>
                <th className="num">Workers</th>
                <th className="num">Slots</th>
                <th className="num">Dead</th>
              </tr>
            </thead>
            <tbody>
              {items.map((queue) => (
                <tr key={queue.queue}>
                  <td>
                    <code>{queue.queue}</code>
                  </td>
                  <td className="num">{number(queue.ready)}</td>
                  <td className="num">{number(queue.delayed)}</td>
                  <td className="num">{number(queue.in_flight)}</td>
                  <td className="num">
                    {queue.oldest_seconds === null ? "–" : duration(queue.oldest_seconds * 1000)}
                  </td>
                  <td className="num">{queue.workers}</td>
                  <td className="num">
                    {queue.busy} of {queue.slots}
                  </td>
                  <td className="num">
                    {queue.dead === 0 ? (
                      "0"
                    ) : (
                      <button
                        className="link error-text"
                        onClick={() => {
                          setOpen(open === queue.queue ? undefined : queue.queue);
                        }}
                      >
                        {number(queue.dead)} show
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Await>
      {open === undefined ? null : <DeadLetters queue={open} />}
    </Card>
  );
}

function DeadLetters({ queue }: { queue: string }) {
  const loaded = useQuery(`dead ${queue}`, (signal) =>
    api.listDeadLetters({ params: { queue }, query: { limit: 100 }, signal }),
  );
  return (
    <div className="card-body stack">
      <h3>Messages of {queue} that were given up</h3>
      <Await loaded={loaded} what="the dead letters">
        {({ items }) => {
          const ids = items.map(({ id }) => id);
          return (
            <>
              <table>
                <thead>
                  <tr>
                    <th>Reason</th>
                    <th className="num">Deliveries</th>
                    <th>When</th>
                    <th>Message</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((letter) => (
                    <tr key={letter.id}>
                      <td>
                        {letter.reason} <span className="dim">{letter.detail}</span>
                      </td>
                      <td className="num">{letter.delivery_count}</td>
                      <td>
                        <Time at={letter.died_at} relative />
                      </td>
                      <td>
                        <code className="clamp">{letter.body}</code>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <div>
                <Action
                  icon="retry"
                  label="Put back on the queue"
                  title={`Put ${number(ids.length)} messages back on ${queue}?`}
                  disabled={ids.length === 0}
                  copy={{
                    command: `rmhdag queues requeue ${queue}`,
                    request: curl(
                      "POST",
                      `/api/v1/queues/${encodeURIComponent(queue)}/dead-letters/requeue`,
                      { ids },
                    ),
                  }}
                  run={async () => {
                    const { requeued } = await api.requeueDeadLetters({
                      params: { queue },
                      body: { ids },
                    });
                    loaded.reload();
                    return `${number(requeued)} messages are back on ${queue}`;
                  }}
                >
                  <p>They get a fresh count of deliveries.</p>
                </Action>
              </div>
            </>
          );
        }}
      </Await>
    </div>
  );
}

function CurrentTasks() {
  const loaded = useQuery(
    "running nodes",
    (signal) => api.listNodes({ query: { status: "running", limit: 100 }, signal }),
    { everyMs },
  );
  return (
    <Card title="On workers now" flush>
      <Await loaded={loaded} what="the tasks">
        {({ items }) => {
          const held = items.filter(({ worker_id }) => worker_id !== null);
          if (held.length === 0) {
            return <p className="dim card-body">No task is running at the moment.</p>;
          }
          return (
            <table>
              <thead>
                <tr>
                  <th>Worker</th>
                  <th>Task</th>
                  <th>Job</th>
                  <th>Handler</th>
                  <th className="num">For</th>
                  <th>Progress</th>
                </tr>
              </thead>
              <tbody>
                {held.map((node) => (
                  <tr key={`${node.job_id} ${node.node_id}`}>
                    <td>
                      <code>{node.worker_id}</code>
                    </td>
                    <td>
                      <Link
                        to={`/jobs/${encodeURIComponent(node.job_id)}?node=${encodeURIComponent(node.node_id)}`}
                      >
                        {node.node_id}
                      </Link>
                    </td>
                    <td>
                      {node.workflow_id} <code className="dim">{short(node.job_id)}</code>
                    </td>
                    <td>
                      <code>{node.handler}</code>
                    </td>
                    <td className="num">
                      <Elapsed from={node.started_at} to={null} />
                    </td>
                    <td>
                      {node.progress === null
                        ? "–"
                        : `${Math.round(node.progress.percent)} % ${node.progress.message ?? ""}`}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          );
        }}
      </Await>
    </Card>
  );
}
