import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { SecretDialog } from "../shared/dialog.tsx";
import { Card } from "../shared/page.tsx";
import { platformsQuery } from "../shared/queries.ts";
import { Await } from "../shared/states.tsx";
import { Chip } from "../shared/status.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import { EditPlatform } from "./edit-platform.tsx";

/** The registered platforms, and the references that identify a data set of each. */
export function Platforms() {
  const platforms = useQuery({ ...platformsQuery, refetchInterval: 15_000 });
  return (
    <Card title="Platforms" flush aside={<EditPlatform />}>
      <Await query={platforms} what="the platforms">
        {({ items }) => (
          <Table
            rows={items}
            keyOf={({ platform_id }) => platform_id}
            columns={[
              { name: "Platform", cell: ({ platform_id }) => <code>{platform_id}</code> },
              { name: "Name", cell: ({ display_name }) => display_name },
              {
                name: "Identified by",
                cell: ({ required_refs }) => required_refs.join(", "),
              },
              {
                name: "State",
                cell: ({ is_active }) => (
                  <Chip
                    status={is_active ? "ok" : "paused"}
                    text={is_active ? "active" : "not active"}
                  />
                ),
              },
              {
                name: "Changed",
                oneLine: true,
                cell: ({ updated_at }) => <Time at={updated_at} relative />,
              },
              {
                name: "Actions",
                unnamed: true,
                cell: (platform) => (
                  <div className="row">
                    <EditPlatform platform={platform} />
                    <CallbackSecret platformId={platform.platform_id} />
                  </div>
                ),
              },
            ]}
          />
        )}
      </Await>
    </Card>
  );
}

function CallbackSecret({ platformId }: { platformId: string }) {
  const [shown, setShown] = useState<string>();
  const [rotate, setRotate] = useState(false);
  return (
    <>
      <Action
        icon="eye"
        label="Secret"
        title={`Show the callback secret of ${platformId}?`}
        copy={() => ({
          command: commands.callbackSecret(platformId, rotate),
          request: curl("POST", `/api/v1/platforms/${platformId}/callback-secret`, { rotate }),
        })}
        run={async () => {
          const params = { platform_id: platformId };
          setShown((await api.callbackSecret({ params, body: { rotate } })).secret);
          return undefined;
        }}
      >
        <p>A system that has it can verify our callbacks, and could forge them.</p>
        <label className="check">
          <input
            type="checkbox"
            checked={rotate}
            onChange={(event) => {
              setRotate(event.target.checked);
            }}
          />
          Create a new secret; callbacks are signed with both for one day
        </label>
      </Action>
      {shown === undefined ? null : (
        <SecretDialog
          title={`The callback secret of ${platformId}`}
          value={shown}
          onClose={() => {
            setShown(undefined);
          }}
        >
          Callbacks to this platform are signed with it.
        </SecretDialog>
      )}
    </>
  );
}
