import { useState } from "react";
import { api } from "../shared/api.ts";
import { ageText, number } from "../shared/format.ts";
import { useQuery } from "../shared/query-client.ts";
import { Card } from "../shared/page.tsx";
import { Await } from "../shared/states.tsx";
import { Table } from "../shared/table.tsx";
import { DeadLetters } from "./dead-letters.tsx";

export function Queues() {
  const loaded = useQuery("queues", (signal) => api.getQueues({ signal }), { everyMs: 3000 });
  const [open, setOpen] = useState<string>();
  return (
    <Card title="Queues" flush>
      <Await loaded={loaded} what="the queues">
        {({ items }) => (
          <Table
            rows={items}
            keyOf={({ queue }) => queue}
            columns={[
              { name: "Queue", cell: ({ queue }) => <code>{queue}</code> },
              { name: "Ready", numeric: true, cell: ({ ready }) => number(ready) },
              { name: "Delayed", numeric: true, cell: ({ delayed }) => number(delayed) },
              { name: "In flight", numeric: true, cell: ({ in_flight }) => number(in_flight) },
              { name: "Oldest", numeric: true, cell: ({ oldest_seconds: age }) => ageText(age) },
              { name: "Workers", numeric: true, cell: ({ workers }) => workers },
              { name: "Slots", numeric: true, cell: ({ busy, slots }) => `${busy} of ${slots}` },
              {
                name: "Dead",
                numeric: true,
                cell: ({ queue, dead }) =>
                  dead === 0 ? (
                    "0"
                  ) : (
                    <button
                      className="link error-text"
                      aria-expanded={open === queue}
                      onClick={() => {
                        setOpen(open === queue ? undefined : queue);
                      }}
                    >
                      {number(dead)} show
                      <span className="visually-hidden"> dead letters of {queue}</span>
                    </button>
                  ),
              },
            ]}
          />
        )}
      </Await>
      {open === undefined ? null : <DeadLetters queue={open} done={loaded.reload} />}
    </Card>
  );
}
