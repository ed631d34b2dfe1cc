import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api } from "../shared/api.ts";
import { Page } from "../shared/page.tsx";
import { Await, Notice } from "../shared/states.tsx";
import { Table } from "../shared/table.tsx";
import { HandlerState } from "./handler-state.tsx";

/** The handlers that workflows may name, those that ship and those that workers have registered. */
export default function HandlersPage() {
  const [text, setText] = useState("");
  const handlers = useQuery({
    queryKey: ["handlers"],
    queryFn: ({ signal }) => api.listHandlers({ signal }),
    refetchInterval: 5000,
  });
  const wanted = text.trim().toLowerCase();
  return (
    <Page title="Handlers">
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
          <Await query={handlers} what="the handlers">
            {({ items }) => {
              const shown = items.filter(({ name, description, queue }) =>
                `${name} ${description} ${queue}`.toLowerCase().includes(wanted),
              );
              if (shown.length === 0) {
                return (
                  <Notice icon="plug" title="No such handlers">
                    <p>
                      Handlers of your own join the list when a worker offers them:{" "}
                      <code>rmhdag worker --handlers ./handlers</code>.
                    </p>
                  </Notice>
                );
              }
              return (
                <Table
                  rows={shown}
                  keyOf={({ name }) => name}
                  columns={[
                    {
                      name: "Handler",
                      cell: ({ name }) => (
                        <Link to={`/handlers/${encodeURIComponent(name)}`}>{name}</Link>
                      ),
                    },
                    { name: "State", cell: (handler) => <HandlerState {...handler} /> },
                    { name: "Queue", cell: ({ queue }) => <code>{queue}</code> },
                    {
                      name: "Workers",
                      numeric: true,
                      cell: ({ contracts }) =>
                        contracts.reduce((sum, { offered_by }) => sum + offered_by.length, 0),
                    },
                    { name: "From", cell: ({ ships }) => (ships ? "rmhdag" : "your workers") },
                    {
                      name: "Description",
                      cell: ({ description }) => <div className="clamp">{description}</div>,
                    },
                  ]}
                />
              );
            }}
          </Await>
        </div>
      </section>
    </Page>
  );
}
