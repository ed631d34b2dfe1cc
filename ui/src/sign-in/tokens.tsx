import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AccessToken } from "../../../src/core/api/sign-in.ts";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { SecretDialog } from "../shared/dialog.tsx";
import { Card } from "../shared/page.tsx";
import { invalidate } from "../shared/query-client.ts";
import { Await } from "../shared/states.tsx";
import { Badge, Chip } from "../shared/status.tsx";
import type { Column } from "../shared/table.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import type { NewToken } from "./create-token.tsx";
import { CreateToken } from "./create-token.tsx";

const columns: readonly Column<AccessToken>[] = [
  {
    name: "Token",
    cell: ({ name, token_id }) => (
      <>
        {name}{" "}
        {token_id === null ? <Badge>configuration</Badge> : <code className="dim">{token_id}</code>}
      </>
    ),
  },
  { name: "May", cell: ({ access }) => access.join(", ") },
  {
    name: "Created",

    cell: ({ created_by, created_at }) =>
      created_at === null ? null : (
        <>
          {created_by}, <Time at={created_at} relative />
        </>
      ),
  },
  { name: "Used", cell: ({ last_used_at }) => <Time at={last_used_at} relative /> },
  {
    name: "Expires",
    cell: ({ expires_at }) => (expires_at === null ? "never" : <Time at={expires_at} />),
  },
  {
    name: "State",
    cell: ({ usable, revoked_at }) => (
      <Chip
        status={usable ? "ok" : "cancelled"}
        text={usable ? "valid" : revoked_at === null ? "expired" : "revoked"}
      />
    ),
  },
];

/** Tokens of programs for the API. The text of a token is shown only when it is created. */
export function Tokens() {
  const [created, setCreated] = useState<NewToken>();
  const tokens = useQuery({
    queryKey: ["tokens"],
    queryFn: ({ signal }) => api.listTokens({ signal }),
  });
  const show = (token: NewToken) => {
    setCreated(token);
    invalidate("tokens");
  };
  return (
    <Card title="Tokens" flush aside={<CreateToken onCreated={show} />}>
      <Await query={tokens} what="the tokens">
        {({ items }) => (
          <Table
            rows={items}
            keyOf={({ token_id, name }) => token_id ?? `configured ${name}`}
            columns={[
              ...columns,
              {
                name: "Actions",
                unnamed: true,
                cell: ({ token_id, name, usable }) =>
                  token_id !== null && usable ? <Revoke tokenId={token_id} name={name} /> : null,
              },
            ]}
          />
        )}
      </Await>
      {created === undefined ? null : (
        <SecretDialog
          title={`The token ${created.name}`}
          value={created.token}
          onClose={() => {
            setCreated(undefined);
          }}
        >
          It is shown only once: store it where you store secrets.
        </SecretDialog>
      )}
    </Card>
  );
}

function Revoke({ tokenId, name }: { tokenId: string; name: string }) {
  return (
    <Action
      icon="ban"
      label="Revoke"
      title={`Revoke the token ${name}?`}
      danger
      copy={() => ({
        command: commands.revokeToken(tokenId),
        request: curl("POST", `/api/v1/tokens/${tokenId}/revoke`),
      })}
      run={async () => {
        await api.revokeToken({ params: { token_id: tokenId } });
        invalidate("tokens");
        return "The token is revoked";
      }}
    >
      <p>Requests with it are refused from now on, and sessions that it opened end.</p>
    </Action>
  );
}
