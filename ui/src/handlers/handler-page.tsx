import { useQuery } from "@tanstack/react-query";
import { describeFields, exampleNode } from "../../../src/core/handlers/describe-schema.ts";
import type { JsonObject } from "../../../src/core/model/json.ts";
import { api } from "../shared/api.ts";
import { JsonView } from "../shared/json-view.tsx";
import type { PageProps } from "../shared/page.tsx";
import { Card, Page } from "../shared/page.tsx";
import { Await } from "../shared/states.tsx";
import { Badge } from "../shared/status.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import { HandlerState } from "./handler-state.tsx";

type HandlerView = Awaited<ReturnType<typeof api.getHandler>>;
type Offered = HandlerView["contracts"][number];

export default function HandlerPage({ params }: PageProps) {
  const name = params["name"] ?? "";
  const handler = useQuery({
    queryKey: ["handlers", name],
    queryFn: ({ signal }) => api.getHandler({ params: { name }, signal }),
    refetchInterval: 5000,
  });
  return (
    <Page
      title={name}
      heading={
        <>
          {name}
          {handler.data === undefined ? null : <HandlerState {...handler.data} />}
          {handler.data?.ships === true ? <Badge>ships with rmhdag</Badge> : null}
        </>
      }
    >
      <Await query={handler} what="the handler">
        {({ description, conflict, contracts }) => (
          <>
            <p className="dim">{description || "It has no description."}</p>
            {conflict ? (
              <p role="status">
                Live workers offer {contracts.length} different contracts under this name. Workflows
                are checked against the first, and each task by the worker that runs it.
              </p>
            ) : null}
            {contracts.map((offered, index) => (
              <Contract
                key={offered.contract_hash ?? "shipped"}
                offered={offered}
                title={contracts.length > 1 ? `Contract ${index + 1}` : "Contract"}
              />
            ))}
          </>
        )}
      </Await>
    </Page>
  );
}

function Contract({ offered, title }: { offered: Offered; title: string }) {
  const { contract, offered_by, first_offered_at } = offered;
  return (
    <Card
      title={title}
      aside={
        <span className="dim">
          queue <code>{contract.queue}</code>, at most {contract.timeout_seconds} s an attempt
          {first_offered_at === null ? null : (
            <>
              , known since <Time at={first_offered_at} />
            </>
          )}
        </span>
      }
    >
      <div className="stack">
        <Fields title="Parameters" schema={contract.params} />
        <Fields title="Result" schema={contract.result} />
        <h3>A node in a workflow</h3>
        <JsonView value={exampleNode(contract)} label="Example of a node" />
        <h3>Offered by</h3>
        {offered_by.length === 0 ? (
          <p>
            No living worker offers it on queue <code>{contract.queue}</code>: its tasks wait.
          </p>
        ) : (
          <Table
            rows={offered_by}
            keyOf={({ worker_id }) => worker_id}
            columns={[
              { name: "Worker", cell: ({ worker_id }) => <code>{worker_id}</code> },
              { name: "Queues", cell: ({ queues }) => queues.join(", ") },
            ]}
          />
        )}
      </div>
    </Card>
  );
}

function Fields({ title, schema }: { title: string; schema: JsonObject }) {
  const fields = describeFields(schema);
  return (
    <>
      <h3>{title}</h3>
      {fields.length === 0 ? (
        <p className="dim">any</p>
      ) : (
        <Table
          rows={fields}
          keyOf={({ name }) => name}
          columns={[
            { name: "Name", cell: ({ name }) => <code>{name}</code> },
            { name: "What it is", cell: ({ text }) => text },
          ]}
        />
      )}
      <details>
        <summary>JSON Schema of {title.toLowerCase()}</summary>
        <JsonView value={schema} label={`JSON Schema of ${title.toLowerCase()}`} />
      </details>
    </>
  );
}
