import type { Delivery } from "../../../src/core/api/deliveries.ts";
import { api } from "../api.ts";
import { short } from "../lib/format.ts";
import type { Status } from "../lib/status.ts";
import { useQuery } from "../live/use-query.ts";
import { Action } from "../parts/action.tsx";
import { Chip } from "../parts/chip.tsx";
import { curl } from "../parts/copy.tsx";
import { Card } from "../parts/page.tsx";
import { Await } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";

const looks: Readonly<Record<Delivery["state"], Status>> = {
  pending: "retrying",
  delivered: "ok",
  exhausted: "failed",
};

/** Callbacks to platforms: what arrived, what is tried again, what was given up. */
export function Deliveries() {
  const loaded = useQuery(
    "deliveries",
    (signal) => api.listDeliveries({ query: { limit: 50 }, signal }),
    { everyMs: 5000 },
  );
  return (
    <Card title="Callbacks" flush>
      <Await loaded={loaded} what="the callbacks">
        {({ items }) =>
          items.length === 0 ? (
            <p className="dim card-body">No callback has been sent yet.</p>
          ) : (
            <table>
              <thead>
                <tr>
                  <th>State</th>
                  <th>Event</th>
                  <th>Platform</th>
                  <th className="wide-only">To</th>
                  <th className="num">Attempts</th>
                  <th>When</th>
                  <th>Last error</th>
                  <th>
                    <span className="visually-hidden">Do</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {items.map((delivery) => (
                  <tr key={delivery.event_id}>
                    <td>
                      <Chip status={looks[delivery.state]} text={delivery.state} />
                    </td>
                    <td>
                      {delivery.event_type}{" "}
                      <code className="dim">
                        {short(delivery.request_id ?? delivery.job_id ?? "")}
                      </code>
                    </td>
                    <td>{delivery.platform_id ?? "–"}</td>
                    <td className="wide-only">
                      <span className="clamp">{delivery.url}</span>
                    </td>
                    <td className="num">{delivery.attempts}</td>
                    <td className="nowrap">
                      <Time at={delivery.delivered_at ?? delivery.created_at} relative />
                    </td>
                    <td>
                      <span className="clamp error-text">{delivery.last_error}</span>
                    </td>
                    <td>
                      <Redeliver delivery={delivery} done={loaded.reload} />
                    </td>
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

function Redeliver({ delivery, done }: { delivery: Delivery; done: () => void }) {
  const { event_id } = delivery;
  const path = `/api/v1/deliveries/${encodeURIComponent(event_id)}/redeliver`;
  return (
    <Action
      icon="retry"
      label="Send again"
      title="Send this callback again?"
      copy={{ command: curl("POST", path), request: curl("POST", path) }}
      run={async () => {
        await api.redeliver({ params: { event_id } });
        done();
        return "It is sent again";
      }}
    >
      <p>It is the same event with the same id: whoever knows it already may ignore it.</p>
    </Action>
  );
}
