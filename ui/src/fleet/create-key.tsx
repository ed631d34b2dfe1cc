import { useState } from "react";
import type { KeyScope } from "../../../src/core/model/platform.ts";
import { keyScope } from "../../../src/core/model/platform.ts";
import { api } from "../api.ts";
import { commands } from "../lib/commands.ts";
import { useQuery } from "../live/use-query.ts";
import { Action } from "../parts/action.tsx";
import { curl } from "../parts/copy.tsx";
import { Secret } from "../parts/secret.tsx";
import { Await } from "../parts/states.tsx";

export type NewKey = Awaited<ReturnType<typeof api.createKey>>;

export function CreateKey({ onMade }: { onMade: (made: NewKey) => void }) {
  const [platform_id, setPlatform] = useState("");
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly KeyScope[]>(["submit", "read"]);
  const [expires, setExpires] = useState("");
  const expires_at = expires === "" ? null : `${expires}T00:00:00Z`;
  const body = { platform_id, name: name.trim(), scopes: [...scopes] };
  const sent = { ...body, ...(expires_at === null ? {} : { expires_at }) };
  return (
    <Action
      icon="plus"
      label="New key"
      title="Make a key"
      incomplete={platform_id === "" || name.trim() === "" || scopes.length === 0}
      copy={() => ({
        command: commands.createKey({ ...body, expires_at }),
        request: curl("POST", "/api/v1/keys", sent),
      })}
      run={async () => {
        onMade(await api.createKey({ body: sent }));
        setName("");
        return undefined;
      }}
    >
      <PlatformChoice value={platform_id} onChange={setPlatform} />
      <label className="field">
        Whose it is
        <input
          value={name}
          maxLength={100}
          required
          placeholder="portal"
          onChange={(event) => {
            setName(event.target.value);
          }}
        />
      </label>
      <fieldset className="checks">
        <legend>What it may do</legend>
        {keyScope.options.map((scope) => (
          <label key={scope} className="check">
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={(event) => {
                const others = scopes.filter((each) => each !== scope);
                setScopes(event.target.checked ? [...others, scope] : others);
              }}
            />
            {scope}
          </label>
        ))}
      </fieldset>
      <label className="field">
        Ends on (optional)
        <input
          type="date"
          value={expires}
          onChange={(event) => {
            setExpires(event.target.value);
          }}
        />
      </label>
    </Action>
  );
}

function PlatformChoice({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const loaded = useQuery("platforms", (signal) => api.listPlatforms({ signal }));
  return (
    <Await loaded={loaded} what="the platforms">
      {({ items }) => (
        <label className="field">
          Platform
          <select
            value={value}
            required
            onChange={(event) => {
              onChange(event.target.value);
            }}
          >
            <option value="">choose one</option>
            {items.map(({ platform_id, display_name }) => (
              <option key={platform_id} value={platform_id}>
                {display_name} ({platform_id})
              </option>
            ))}
          </select>
        </label>
      )}
    </Await>
  );
}

export function ShowKey({ made, onClose }: { made: NewKey; onClose: () => void }) {
  return (
    <Secret
      title={`The key ${made.name} of ${made.platform_id}`}
      value={made.key}
      onClose={onClose}
    >
      It is shown this once: keep it where secrets are kept.
    </Secret>
  );
}
