import { useQuery } from "@tanstack/react-query";
import type { ConsoleSession } from "../../../src/core/api/sign-in.ts";
import { Action } from "../shared/action.tsx";
import { api, loadSession } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { Card } from "../shared/page.tsx";
import { invalidate } from "../shared/query-client.ts";
import { Await } from "../shared/states.tsx";
import { Badge, Chip } from "../shared/status.tsx";
import type { Column } from "../shared/table.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";

const columns: readonly Column<ConsoleSession>[] = [
  {
    name: "Session",
    cell: ({ name, session_id, current }) => (
      <>
        {name} <code className="dim">{session_id}</code> {current ? <Badge>this one</Badge> : null}
      </>
    ),
  },
  { name: "May", cell: ({ access }) => access.join(", ") },
  {
    name: "From",

    cell: ({ address, user_agent }) => (
      <span title={user_agent ?? undefined}>{address ?? "unknown"}</span>
    ),
  },
  { name: "Opened", cell: ({ created_at }) => <Time at={created_at} relative /> },
  { name: "Seen", cell: ({ last_seen_at }) => <Time at={last_seen_at} relative /> },
  {
    name: "State",
    cell: ({ active, ended_by }) => (
      <Chip
        status={active ? "ok" : "cancelled"}
        text={active ? "active" : ended_by === null ? "expired" : `ended by ${ended_by}`}
      />
    ),
  },
];

/** The browsers that are or were signed in. */
export function Sessions() {
  const sessions = useQuery({
    queryKey: ["sessions"],
    queryFn: ({ signal }) => api.listSessions({ signal }),
    refetchInterval: 15_000,
  });
  return (
    <Card title="Sessions" flush>
      <Await query={sessions} what="the sessions">
        {({ items }) =>
          items.length === 0 ? (
            <p className="dim card-body">
              No session: you are signed in by a proxy, or on the machine of the server.
            </p>
          ) : (
            <Table
              rows={items}
              keyOf={({ session_id }) => session_id}
              columns={[
                ...columns,
                {
                  name: "Actions",
                  unnamed: true,
                  cell: (session) => (session.active ? <End session={session} /> : null),
                },
              ]}
            />
          )
        }
      </Await>
    </Card>
  );
}

function End({ session: { session_id, name, current } }: { session: ConsoleSession }) {
  return (
    <Action
      icon="ban"
      label="End"
      title={`End the session ${session_id} of ${name}?`}
      danger
      copy={() => ({
        command: commands.revokeSession(session_id),
        request: curl("POST", `/api/v1/sessions/${session_id}/revoke`),
      })}
      run={async () => {
        await api.revokeSession({ params: { session_id } });
        if (current) await loadSession();
        else invalidate("sessions");
        return "The session is over";
      }}
    >
      <p>
        {current
          ? "This is your own session: you will be asked to sign in."
          : "Its browser is asked to sign in with its next request."}
      </p>
    </Action>
  );
}
