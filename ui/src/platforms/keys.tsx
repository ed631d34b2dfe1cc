import { useState } from "react";
import type { ApiKey } from "../../../src/core/api/keys.ts";
import { api, session } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { useStore } from "../shared/store.ts";
import { useQuery } from "../shared/query-client.ts";
import { Action } from "../shared/action.tsx";
import { Badge, Chip } from "../shared/chip.tsx";
import { curl } from "../shared/copy.tsx";
import { Card } from "../shared/page.tsx";
import { Await } from "../shared/states.tsx";
import type { Column } from "../shared/table.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import type { NewKey } from "./create-key.tsx";
import { CreateKey, ShowKey } from "./create-key.tsx";

const facts: readonly Column<ApiKey>[] = [
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
    name: "May",
    cell: ({ scopes }) => (
      <span className="row">
        {scopes.map((scope) => (
          <Badge key={scope}>{scope}</Badge>
        ))}
      </span>
    ),
  },
  {
    name: "Made",
    wideOnly: true,
    cell: ({ created_by, created_at }) => (
      <>
        {created_by}, <Time at={created_at} relative />
      </>
    ),
  },
  {
    name: "Ends",
    cell: ({ revoked_at, expires_at }) =>
      revoked_at === null ? <Time at={expires_at} /> : <Chip status="cancelled" text="revoked" />,
  },
];

/** With what platforms reach the gateway. A key itself is shown nowhere but where it is made. */
export function Keys() {
  const may = useStore(session)?.access.includes("operate") ?? false;
  const [made, setMade] = useState<NewKey>();
  const loaded = useQuery(`keys ${may ? "" : "hidden"}`, async (signal) =>
    may ? (await api.listKeys({ signal })).items : [],
  );
  if (!may) return null;
  const show = (key: NewKey) => {
    setMade(key);
    loaded.reload();
  };
  return (
    <Card title="Keys of platforms" flush aside={<CreateKey onMade={show} />}>
      <Await loaded={loaded} what="the keys">
        {(items) =>
          items.length === 0 ? (
            <p className="dim card-body">No platform has a key yet.</p>
          ) : (
            <Table
              rows={items}
              keyOf={({ key_id }) => key_id}
              columns={[
                ...facts,
                {
                  name: "Do",
                  unnamed: true,
                  cell: (key) =>
                    key.revoked_at === null ? (
                      <div className="row">
                        <Rotate apiKey={key} onMade={show} />
                        <Revoke apiKey={key} done={loaded.reload} />
                      </div>
                    ) : null,
                },
              ]}
            />
          )
        }
      </Await>
      {made === undefined ? null : (
        <ShowKey
          made={made}
          onClose={() => {
            setMade(undefined);
          }}
        />
      )}
    </Card>
  );
}

const day = 86_400;

function Rotate({ apiKey, onMade }: { apiKey: ApiKey; onMade: (made: NewKey) => void }) {
  const [grace, setGrace] = useState(day);
  const { key_id, name } = apiKey;
  const body = { grace_seconds: grace };
  return (
    <Action
      icon="retry"
      label="Rotate"
      title={`Make the key that follows ${name}?`}
      copy={() => ({
        command: commands.rotateKey(key_id, grace),
        request: curl("POST", `/api/v1/keys/${key_id}/rotate`, body),
      })}
      run={async () => {
        onMade(await api.rotateKey({ params: { key_id }, body }));
        return undefined;
      }}
    >
      <label className="field">
        The old one stays good for
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

function Revoke({ apiKey, done }: { apiKey: ApiKey; done: () => void }) {
  const { key_id, name } = apiKey;
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
        done();
        return "The key is revoked";
      }}
    >
      <p>Whoever uses it is refused from this moment.</p>
    </Action>
  );
}
