import { api, session } from "../api.ts";
import { useStore } from "../lib/store.ts";
import { useQuery } from "../live/use-query.ts";
import { Action } from "../parts/action.tsx";
import { Badge, Chip } from "../parts/chip.tsx";
import { Card } from "../parts/page.tsx";
import { Await } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";

/** Who may submit, and with which keys. A key itself is shown nowhere but where it is made. */
export function Platforms() {
  const loaded = useQuery("platforms", (signal) => api.listPlatforms({ signal }), {
    everyMs: 15_000,
  });
  return (
    <Card title="Platforms" flush>
      <Await loaded={loaded} what="the platforms">
        {({ items }) => (
          <table>
            <thead>
              <tr>
                <th>Platform</th>
                <th>Name</th>
                <th>State</th>
                <th>Changed</th>
              </tr>
            </thead>
            <tbody>
              {items.map((platform) => (
                <tr key={platform.platform_id}>
                  <td>
                    <code>{platform.platform_id}</code>
                  </td>
                  <td>{platform.display_name}</td>
                  <td>
                    <Chip
                      status={platform.is_active ? "ok" : "paused"}
                      text={platform.is_active ? "active" : "not active"}
                    />
                  </td>
                  <td>
                    <Time at={platform.updated_at} relative />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Await>
    </Card>
  );
}

export function Keys() {
  const may = useStore(session)?.access.includes("operate") ?? false;
  const loaded = useQuery(`keys ${may ? "" : "hidden"}`, async (signal) =>
    may ? (await api.listKeys({ signal })).items : [],
  );
  if (!may) return null;
  return (
    <Card title="Keys of platforms" flush>
      <Await loaded={loaded} what="the keys">
        {(items) =>
          items.length === 0 ? (
            <p className="dim card-body">No platform has a key yet.</p>
          ) : (
            <table>
              <thead>
                <tr>
                  <th>Key</th>
                  <th>Platform</th>
                  <th>May</th>
                  <th>Made</th>
                  <th>Ends</th>
                  <th>
                    <span className="visually-hidden">Do</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {items.map((key) => (
                  <tr key={key.key_id}>
                    <td>
                      {key.name} <code className="dim">{key.key_id}</code>
                    </td>
                    <td>{key.platform_id}</td>
                    <td>
                      {key.scopes.map((scope) => (
                        <Badge key={scope}>{scope}</Badge>
                      ))}
                    </td>
                    <td>
                      {key.created_by}, <Time at={key.created_at} relative />
                    </td>
                    <td>
                      {key.revoked_at === null ? (
                        <Time at={key.expires_at} />
                      ) : (
                        <Chip status="cancelled" text="revoked" />
                      )}
                    </td>
                    <td>
                      {key.revoked_at === null ? (
                        <Action
                          icon="ban"
                          label="Revoke"
                          title={`Revoke the key ${key.name}?`}
                          danger
                          run={async () => {
                            await api.revokeKey({ params: { key_id: key.key_id }, body: {} });
                            loaded.reload();
                            return "The key is revoked";
                          }}
                        >
                          <p>Whoever uses it is refused from this moment.</p>
                        </Action>
                      ) : null}
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
