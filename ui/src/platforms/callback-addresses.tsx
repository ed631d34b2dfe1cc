import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { SecretDialog } from "../shared/dialog.tsx";
import { Card } from "../shared/page.tsx";
import { invalidate } from "../shared/query-client.ts";
import { Await } from "../shared/states.tsx";
import { Chip } from "../shared/status.tsx";
import { Table } from "../shared/table.tsx";
import { PlatformChoice } from "./create-key.tsx";

interface Place {
  readonly platform_id: string;
  readonly name: string;
}

/** Further addresses that callbacks of platforms go to, each with its own secret. */
export function CallbackAddresses() {
  const addresses = useQuery({
    queryKey: ["callback-addresses"],
    queryFn: ({ signal }) => api.listCallbackAddresses({ query: {}, signal }),
    refetchInterval: 15_000,
  });
  return (
    <Card title="Callback addresses" flush aside={<AddAddress />}>
      <Await query={addresses} what="the addresses">
        {({ items }) =>
          items.length === 0 ? (
            <p className="dim card-body">
              Callbacks go to the address of their request or platform only.
            </p>
          ) : (
            <Table
              rows={items}
              keyOf={({ platform_id, name }) => `${platform_id} ${name}`}
              columns={[
                { name: "Platform", cell: ({ platform_id }) => <code>{platform_id}</code> },
                { name: "Name", cell: ({ name }) => name },
                { name: "To", cell: ({ url }) => <span className="clamp">{url}</span> },
                {
                  name: "Events",
                  cell: ({ event_types }) =>
                    event_types.length === 0 ? "all" : event_types.join(", "),
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
                  name: "Actions",
                  unnamed: true,
                  cell: ({ platform_id, name }) => (
                    <div className="row">
                      <AddressSecret of={{ platform_id, name }} />
                      <RemoveAddress of={{ platform_id, name }} />
                    </div>
                  ),
                },
              ]}
            />
          )
        }
      </Await>
    </Card>
  );
}

function pathOf({ platform_id, name }: Place): string {
  return `/api/v1/platforms/${platform_id}/callbacks/${name}`;
}

function AddAddress() {
  const [platform_id, setPlatform] = useState("");
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const place = { platform_id, name: name.trim() };
  const body = { url: url.trim(), event_types: [], is_active: true };
  return (
    <Action
      icon="plus"
      label="New address"
      title="Send callbacks to one more address"
      incomplete={platform_id === "" || place.name === "" || body.url === ""}
      copy={() => ({
        command: commands.setCallback(platform_id, place.name, body.url),
        request: curl("PUT", pathOf(place), body),
      })}
      run={async () => {
        await api.putCallbackAddress({ params: place, body });
        invalidate("callback-addresses");
        setName("");
        setUrl("");
        return "Callbacks go to this address too";
      }}
    >
      <PlatformChoice value={platform_id} onChange={setPlatform} />
      <label className="field">
        Name
        <input
          value={name}
          maxLength={63}
          required
          placeholder="audit"
          onChange={(event) => {
            setName(event.target.value);
          }}
        />
      </label>
      <label className="field">
        Address, on a host of the platform's list
        <input
          type="url"
          value={url}
          maxLength={512}
          required
          placeholder="https://audit.example.org/hook"
          onChange={(event) => {
            setUrl(event.target.value);
          }}
        />
      </label>
    </Action>
  );
}

function RemoveAddress({ of }: { of: Place }) {
  return (
    <Action
      icon="cross"
      label="Remove"
      title={`Send no more callbacks to ${of.name}?`}
      copy={() => ({
        command: commands.removeCallback(of.platform_id, of.name),
        request: curl("DELETE", pathOf(of)),
      })}
      run={async () => {
        await api.deleteCallbackAddress({ params: of });
        invalidate("callback-addresses");
        return "The address is removed";
      }}
    >
      <p>Callbacks that still wait for it fail.</p>
    </Action>
  );
}

function AddressSecret({ of }: { of: Place }) {
  const [shown, setShown] = useState<string>();
  return (
    <>
      <Action
        icon="eye"
        label="Secret"
        title={`Show the secret of ${of.name}?`}
        copy={() => ({
          command: commands.addressSecret(of.platform_id, of.name),
          request: curl("POST", `${pathOf(of)}/secret`, {}),
        })}
        run={async () => {
          setShown((await api.callbackAddressSecret({ params: of, body: {} })).secret);
          return undefined;
        }}
      >
        <p>A system that has it can verify our callbacks, and could forge them.</p>
      </Action>
      {shown === undefined ? null : (
        <SecretDialog
          title={`The secret of ${of.name}`}
          value={shown}
          onClose={() => {
            setShown(undefined);
          }}
        >
          Callbacks to this address are signed with it.
        </SecretDialog>
      )}
    </>
  );
}
