import { useState } from "react";
import { Action } from "../shared/action.tsx";
import { api, session } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { useStore } from "../shared/store.ts";

export type NewToken = Awaited<ReturnType<typeof api.createToken>>;

/** What a role gives, as on the command line. */
const roles = {
  read: ["read"],
  operate: ["read", "operate"],
  curate: ["read", "curate"],
} as const;
type Role = keyof typeof roles;

export function CreateToken({ onCreated }: { onCreated: (token: NewToken) => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("read");
  const [expires, setExpires] = useState("");
  const user = useStore(session);
  const mine = user?.access ?? [];
  const expires_at = expires === "" ? undefined : `${expires}T00:00:00Z`;
  const body = { name: name.trim(), access: [...roles[role]], ...(expires_at && { expires_at }) };
  return (
    <Action
      icon="plus"
      label="New token"
      title="Create a token"
      incomplete={!/^[A-Za-z0-9_.-]{1,64}$/.test(name.trim())}
      copy={() => ({
        command: commands.createToken(name.trim(), role, expires_at ?? null),
        request: curl("POST", "/api/v1/tokens", body),
      })}
      run={async () => {
        onCreated(await api.createToken({ body }));
        setName("");
        return undefined;
      }}
    >
      <label className="field">
        Used by
        <input
          value={name}
          maxLength={64}
          required
          placeholder="ci"
          onChange={(event) => {
            setName(event.target.value);
          }}
        />
      </label>
      <label className="field">
        Role
        <select
          value={role}
          onChange={(event) => {
            setRole(event.target.value as Role);
          }}
        >
          {(Object.keys(roles) as Role[])
            .filter((each) => roles[each].every((right) => mine.includes(right)))
            .map((each) => (
              <option key={each}>{each}</option>
            ))}
        </select>
      </label>
      <label className="field">
        Expires on (in 90 days by default)
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
