import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { KeyScope } from "../../../src/core/model/platform.ts";
import { keyScope } from "../../../src/core/model/platform.ts";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { SecretDialog } from "../shared/dialog.tsx";
import { platformsQuery } from "../shared/queries.ts";
import { Await } from "../shared/states.tsx";

export type NewKey = Awaited<ReturnType<typeof api.createKey>>;

export function CreateKey({ onCreated }: { onCreated: (key: NewKey) => void }) {
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
      title="Create a key"
      incomplete={platform_id === "" || name.trim() === "" || scopes.length === 0}
      copy={() => ({
        command: commands.createKey({ ...body, expires_at }),
        request: curl("POST", "/api/v1/keys", sent),
      })}
      run={async () => {
        onCreated(await api.createKey({ body: sent }));
        setName("");
        return undefined;
      }}
    >
      <PlatformChoice value={platform_id} onChange={setPlatform} />
      <label className="field">
        Used by
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
        <legend>Scopes</legend>
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
        Expires on (optional)
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

export function PlatformChoice({
  value,
  onChange,
}: {
  value: string;
  onChange: (id: string) => void;
}) {
  const platforms = useQuery(platformsQuery);
  return (
    <Await query={platforms} what="the platforms">
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

export function ShowKey({ created, onClose }: { created: NewKey; onClose: () => void }) {
  return (
    <SecretDialog
      title={`The key ${created.name} of ${created.platform_id}`}
      value={created.key}
      onClose={onClose}
    >
      It is shown only once: store it where you store secrets.
    </SecretDialog>
  );
}
