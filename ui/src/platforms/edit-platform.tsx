import { useState } from "react";
import { platformEdit, platformId } from "../../../src/core/model/platform.ts";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { invalidate } from "../shared/query-client.ts";

type Platform = Awaited<ReturnType<typeof api.getPlatform>>;

/** The fields as typed: lists are separated by commas. */
interface Draft {
  readonly id: string;
  readonly name: string;
  readonly required: string;
  readonly optional: string;
  readonly version: string;
  readonly url: string;
  readonly hosts: string;
  readonly sources: string;
  readonly collections: string;
  readonly active: boolean;
}

function draftOf(platform: Platform | undefined): Draft {
  return {
    id: platform?.platform_id ?? "",
    name: platform?.display_name ?? "",
    required: platform?.required_refs.join(", ") ?? "",
    optional: platform?.optional_refs.join(", ") ?? "",
    version: platform?.version_ref ?? "",
    url: platform?.callback_url ?? "",
    hosts: platform?.callback_hosts.join(", ") ?? "",
    sources: platform?.source_prefixes.join(", ") ?? "",
    collections: platform?.collections.join(", ") ?? "",
    active: platform?.is_active ?? true,
  };
}

/** Parses the draft with the schema of the server: the body of the request, or the first problem. */
function readDraft(draft: Draft) {
  const id = platformId.safeParse(draft.id.trim());
  const edit = platformEdit.safeParse({
    display_name: draft.name.trim(),
    required_refs: listOf(draft.required),
    optional_refs: listOf(draft.optional),
    version_ref: draft.version.trim() || null,
    callback_url: draft.url.trim() || null,
    callback_hosts: listOf(draft.hosts),
    source_prefixes: listOf(draft.sources),
    collections: listOf(draft.collections),
    is_active: draft.active,
  });
  if (id.success && edit.success) return { id: id.data, edit: edit.data };
  const [issue] = [...(id.error?.issues ?? []), ...(edit.error?.issues ?? [])];
  const where = id.success ? String(issue?.path[0] ?? "") : "id";
  return { problem: `${where.replaceAll("_", " ")}: ${issue?.message ?? ""}` };
}

function listOf(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** Registers a platform, or changes one. `if-match` refuses a change of an outdated row. */
export function EditPlatform({ platform }: { platform?: Platform }) {
  const [draft, setDraft] = useState<Draft>();
  const shown = draft ?? draftOf(platform);
  const read = readDraft(shown);
  return (
    <Action
      icon={platform === undefined ? "plus" : "save"}
      label={platform === undefined ? "New platform" : "Change"}
      title={platform === undefined ? "Register a platform" : `Change ${platform.platform_id}`}
      incomplete={read.problem !== undefined}
      {...(read.problem === undefined
        ? {
            copy: () => ({
              command: commands.setPlatform(read.id, read.edit),
              request: curl("PUT", `/api/v1/platforms/${read.id}`, read.edit),
            }),
          }
        : {})}
      run={async () => {
        if (read.problem !== undefined) return undefined;
        await api.putPlatform({
          params: { platform_id: read.id },
          body: read.edit,
          ...(platform === undefined
            ? {}
            : { headers: { "if-match": `"${platform.row_version}"` } }),
        });
        setDraft(undefined);
        invalidate("platforms");
        return `${read.id} is ${platform === undefined ? "registered" : "changed"}`;
      }}
    >
      <PlatformFields draft={shown} isNew={platform === undefined} onChange={setDraft} />
      <p role="status" className="dim">
        {draft === undefined ? "" : read.problem}
      </p>
    </Action>
  );
}

const texts = [
  ["name", "Name", "Data hub"],
  ["required", "References that identify a data set", "dataset_id, resource_id"],
  ["optional", "Optional references", ""],
  ["version", "Reference that holds the version", "version_id"],
  ["url", "Address for callbacks", "https://hooks.example.org/done"],
  ["hosts", "Hosts that callbacks may go to", "hooks.example.org, *.example.org"],
  ["sources", "Where its files may be, if not in bronze/ and its id", "bronze/ddh"],
  ["collections", "Collections of others that its items may join", ""],
] as const;

function PlatformFields({
  draft,
  isNew,
  onChange,
}: {
  draft: Draft;
  isNew: boolean;
  onChange: (draft: Draft) => void;
}) {
  return (
    <>
      {isNew ? (
        <label className="field">
          Id
          <input
            value={draft.id}
            placeholder="ddh"
            required
            onChange={(event) => {
              onChange({ ...draft, id: event.target.value });
            }}
          />
        </label>
      ) : null}
      {texts.map(([key, label, example]) => (
        <label key={key} className="field">
          {label}
          <input
            value={draft[key]}
            placeholder={example}
            onChange={(event) => {
              onChange({ ...draft, [key]: event.target.value });
            }}
          />
        </label>
      ))}
      <label className="check">
        <input
          type="checkbox"
          checked={draft.active}
          onChange={(event) => {
            onChange({ ...draft, active: event.target.checked });
          }}
        />
        Active: it may submit
      </label>
    </>
  );
}
