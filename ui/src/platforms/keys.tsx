import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiKey } from "../../../src/core/api/keys.ts";
import { Action } from "../shared/action.tsx";
import { api, useAccess } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { Card } from "../shared/page.tsx";
import { invalidate } from "../shared/query-client.ts";
import { Await } from "../shared/states.tsx";
import { Badge, Chip } from "../shared/status.tsx";
import type { Column } from "../shared/table.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import type { NewKey } from "./create-key.tsx";
import { CreateKey, ShowKey } from "./create-key.tsx";

const columns: readonly Column<ApiKey>[] = [
  {
    name: "Key",
    cell: ({ name, key_id }) => (
      <>
        {name} <code className="dim">{key_id}</code>
      </>
    ),
  },
  { name: "Platform", cell: ({ platform_id }) => platform_id },
  {
    name: "Scopes",
    cell: ({ scopes }) => (
      <span className="row">
        {scopes.map((scope) => (
          <Badge key={scope}>{scope}</Badge>
        ))}
      </span>
    ),
  },
  {
    name: "Created",
    cell: ({ created_by, created_at }) => (
      <>
        {created_by}, <Time at={created_at} relative />
      </>
    ),
  },
  {
    name: "Expires",
    cell: ({ revoked_at, expires_at }) =>
      revoked_at === null ? <Time at={expires_at} /> : <Chip status="cancelled" text="revoked" />,
  },
];

/** The API keys of platforms for the gateway. The text of a key is shown only when it is created. */
export function Keys() {
  const allowed = useAccess("operate");
  const [created, setCreated] = useState<NewKey>();
  const keys = useQuery({
    queryKey: ["keys"],
    queryFn: ({ signal }) => api.listKeys({ signal }),
    enabled: allowed,
  });
  if (!allowed) return null;
  const show = (key: NewKey) => {
    setCreated(key);
    invalidate("keys");
  };
  return (
    <Card title="Keys of platforms" flush aside={<CreateKey onCreated={show} />}>
      <Await query={keys} what="the keys">
        {({ items }) =>
          items.length === 0 ? (
            <p className="dim card-body">No platform has a key yet.</p>
          ) : (
            <Table
              rows={items}
              keyOf={({ key_id }) => key_id}
              columns={[
                ...columns,
                {
                  name: "Actions",
                  unnamed: true,
                  cell: (key) =>
                    key.revoked_at === null ? (
                      <div className="row">
                        <Rotate apiKey={key} onCreated={show} />
                        <Revoke apiKey={key} />
                      </div>
                    ) : null,
                },
              ]}
            />
          )
        }
      </Await>
      {created === undefined ? null : (
        <ShowKey
          created={created}
          onClose={() => {
            setCreated(undefined);
          }}
        />
      )}
    </Card>
  );
}

const day = 86_400;

function Rotate({ apiKey, onCreated }: { apiKey: ApiKey; onCreated: (key: NewKey) => void }) {
  const [grace, setGrace] = useState(day);
  const { key_id, name } = apiKey;
  const body = { grace_seconds: grace };
  return (
    <Action
      icon="retry"
      label="Rotate"
      title={`Create the successor of the key ${name}?`}
      copy={() => ({
        command: commands.rotateKey(key_id, grace),
        request: curl("POST", `/api/v1/keys/${key_id}/rotate`, body),
      })}
      run={async () => {
        onCreated(await api.rotateKey({ params: { key_id }, body }));
        return undefined;
      }}
    >
      <label className="field">
        The old key stays valid for
        <select
          value={grace}
          onChange={(event) => {
            setGrace(Number(event.target.value));
          }}
        >
          <option value={0}>no longer</option>
          <option value={3600}>an hour</option>
          <option value={day}>a day</option>
          <option value={7 * day}>a week</option>
        </select>
      </label>
    </Action>
  );
}

function Revoke({ apiKey: { key_id, name } }: { apiKey: ApiKey }) {
  return (
    <Action
      icon="ban"
      label="Revoke"
      title={`Revoke the key ${name}?`}
      danger
      copy={() => ({
        command: commands.revokeKey(key_id),
        request: curl("POST", `/api/v1/keys/${key_id}/revoke`, {}),
      })}
      run={async () => {
        await api.revokeKey({ params: { key_id }, body: {} });
        invalidate("keys");
        return "The key is revoked";
      }}
    >
      <p>Requests with this key are refused from now on.</p>
    </Action>
  );
}
