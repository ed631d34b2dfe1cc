import { useInfiniteQuery } from "@tanstack/react-query";
import type { Delivery } from "../../../src/core/api/deliveries.ts";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { short } from "../shared/format.ts";
import { MoreRows } from "../shared/more-rows.tsx";
import { Card } from "../shared/page.tsx";
import { invalidate } from "../shared/query-client.ts";
import { Await } from "../shared/states.tsx";
import type { Status } from "../shared/status.tsx";
import { Chip } from "../shared/status.tsx";
import type { Column } from "../shared/table.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";

const chips: Readonly<Record<Delivery["state"], Status>> = {
  pending: "retrying",
  delivered: "ok",
  exhausted: "failed",
};

const columns: readonly Column<Delivery>[] = [
  { name: "State", cell: ({ state }) => <Chip status={chips[state]} text={state} /> },
  {
    name: "Event",
    cell: ({ event_type, request_id, job_id }) => (
      <>
        {event_type} <code className="dim">{short(request_id ?? job_id ?? "")}</code>
      </>
    ),
  },
  { name: "Platform", cell: ({ platform_id }) => platform_id ?? "–" },
  { name: "To", cell: ({ url }) => <span className="clamp">{url}</span> },
  { name: "Attempts", numeric: true, cell: ({ attempts }) => attempts },
  {
    name: "When",
    oneLine: true,
    cell: ({ delivered_at, created_at }) => <Time at={delivered_at ?? created_at} relative />,
  },
  {
    name: "Last error",
    cell: ({ last_error }) => <span className="clamp error-text">{last_error}</span>,
  },
];

/** Deliveries of callbacks to platforms: delivered, still retried, or given up. */
export function Callbacks() {
  const deliveries = useInfiniteQuery({
    queryKey: ["deliveries"],
    queryFn: ({ pageParam: cursor, signal }) =>
      api.listDeliveries({ query: { limit: 50, cursor }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: 5000,
  });
  return (
    <Card title="Callbacks" flush>
      <Await query={deliveries} what="the callbacks">
        {({ pages }) =>
          pages[0]?.items.length === 0 ? (
            <p className="dim card-body">No callback has been sent yet.</p>
          ) : (
            <>
              <Table
                rows={pages.flatMap(({ items }) => items)}
                keyOf={({ event_id }) => event_id}
                columns={[
                  ...columns,
                  {
                    name: "Actions",
                    unnamed: true,
                    cell: (delivery) => <Redeliver delivery={delivery} />,
                  },
                ]}
              />
              <MoreRows
                query={deliveries}
                shown={pages.reduce((sum, { items }) => sum + items.length, 0)}
                what="callbacks"
              />
            </>
          )
        }
      </Await>
    </Card>
  );
}

function Redeliver({ delivery: { event_id } }: { delivery: Delivery }) {
  return (
    <Action
      icon="retry"
      label="Send again"
      title="Send this callback again?"
      copy={() => ({
        command: commands.redeliver(event_id),
        request: curl("POST", `/api/v1/deliveries/${encodeURIComponent(event_id)}/redeliver`),
      })}
      run={async () => {
        await api.redeliver({ params: { event_id } });
        invalidate("deliveries");
        return "The callback is sent again";
      }}
    >
      <p>The event keeps its id, so that the platform can ignore a duplicate.</p>
    </Action>
  );
}
