import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { number } from "../shared/format.ts";
import { Card } from "../shared/page.tsx";
import { queuesQuery } from "../shared/queries.ts";
import { Await } from "../shared/states.tsx";
import { Table } from "../shared/table.tsx";
import { ageText } from "../shared/time.tsx";
import { DeadLetters } from "./dead-letters.tsx";
import { WaitingTasks, WhyWaiting } from "./why-waiting.tsx";

export function Queues() {
  const queues = useQuery(queuesQuery);
  const [open, setOpen] = useState<string>();
  return (
    <Card title="Queues" flush>
      <Await query={queues} what="the queues">
        {({ items }) => (
          <Table
            rows={items}
            keyOf={({ queue }) => queue}
            columns={[
              { name: "Queue", cell: ({ queue }) => <code>{queue}</code> },
              { name: "Waiting", numeric: true, cell: (queue) => <WaitingTasks {...queue} /> },
              { name: "Why", cell: (queue) => <WhyWaiting {...queue} /> },
              { name: "Delayed", numeric: true, cell: ({ delayed }) => number(delayed) },
              {
                name: "Oldest waits",
                numeric: true,
                cell: ({ oldest_seconds: age }) => ageText(age),
              },
              { name: "Workers", numeric: true, cell: ({ workers }) => workers },
              {
                name: "Running",
                numeric: true,
                cell: ({ busy, slots }) => `${busy} of ${slots} slots`,
              },
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
      {open === undefined ? null : <DeadLetters queue={open} />}
    </Card>
  );
}
