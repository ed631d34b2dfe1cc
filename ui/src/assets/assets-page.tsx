import type { AssetListed } from "../../../src/core/api/asset-schemas.ts";
import { clearanceState } from "../../../src/core/model/asset.ts";
import { approvalState, processingState } from "../../../src/core/model/version.ts";
import { api } from "../shared/api.ts";
import { approvalLook, processingLook, refsText, titleOf, waitsForReview } from "./asset-status.ts";
import { short } from "../shared/format.ts";
import { useQuery } from "../shared/query-client.ts";
import { Badge, Chip } from "../shared/chip.tsx";
import { Icon } from "../shared/icon.tsx";
import { Page } from "../shared/page.tsx";
import { Await, Notice } from "../shared/states.tsx";
import type { Column } from "../shared/table.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import { Link, setQuery, usePlace } from "../shared/navigation.tsx";

const names = ["approval_state", "processing_state", "clearance_state"] as const;
const options = {
  approval_state: approvalState.options,
  processing_state: processingState.options,
  clearance_state: clearanceState.options,
};
const labels = {
  approval_state: "Approval",
  processing_state: "Processing",
  clearance_state: "Clearance",
};

export default function Assets() {
  const { query } = usePlace();
  const filter = {
    approval_state: approvalState.safeParse(query.get("approval_state")).data,
    processing_state: processingState.safeParse(query.get("processing_state")).data,
    clearance_state: clearanceState.safeParse(query.get("clearance_state")).data,
    search: query.get("search") ?? undefined,
  };
  const loaded = useQuery(
    `assets ${JSON.stringify(filter)}`,
    (signal) => api.listAssets({ query: { ...filter, limit: 200 }, signal }),
    { everyMs: 5000 },
  );
  return (
    <Page title="Assets">
      <div className="filters">
        <div className="pills" role="group" aria-label="Shown">
          <button
            className="pill"
            aria-pressed={filter.approval_state === undefined}
            onClick={() => {
              setQuery({ approval_state: undefined });
            }}
          >
            all
          </button>
          <button
            className="pill"
            aria-pressed={filter.approval_state === "pending_review"}
            onClick={() => {
              setQuery({ approval_state: "pending_review" });
            }}
          >
            <Icon name="eye" /> waiting for review
          </button>
        </div>
        {names.map((name) => (
          <label key={name} className="field">
            {labels[name]}
            <select
              value={filter[name] ?? ""}
              onChange={(event) => {
                setQuery({ [name]: event.target.value });
              }}
            >
              <option value="">any</option>
              {options[name].map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        ))}
        <label className="field">
          Name, reference or id
          <input
            key={filter.search ?? ""}
            defaultValue={filter.search ?? ""}
            onKeyDown={(event) => {
              if (event.key === "Enter") setQuery({ search: event.currentTarget.value.trim() });
            }}
          />
        </label>
      </div>
      <section className="card" data-flush="">
        <div className="card-body">
          <Await loaded={loaded} what="the assets">
            {({ items }) =>
              items.length === 0 ? (
                <Notice icon="layers" title="No assets">
                  <p>
                    A platform submits data sets, and each becomes an asset that waits here for a
                    curator. Loosen the filter if you expected one.
                  </p>
                </Notice>
              ) : (
                <Table rows={items} keyOf={({ asset_id }) => asset_id} columns={columns} />
              )
            }
          </Await>
        </div>
      </section>
    </Page>
  );
}

const columns: readonly Column<AssetListed>[] = [
  {
    name: "Asset",
    cell: (asset) => (
      <>
        <Link to={`/assets/${asset.asset_id}`}>{titleOf(asset)}</Link>
        <div className="dim">
          <code>{short(asset.asset_id)}</code>{" "}
          {asset.display_name === null ? "" : refsText(asset.platform_refs)}
        </div>
      </>
    ),
  },
  { name: "Platform", wideOnly: true, cell: ({ platform_id }) => platform_id },
  {
    name: "Newest version",
    cell: ({ newest_version: version }) =>
      version === null ? (
        "–"
      ) : (
        <>
          {version.version_label} <Badge>#{version.version_ordinal}</Badge>
        </>
      ),
  },
  {
    name: "Processing",
    cell: ({ newest_version: version }) =>
      version === null ? null : (
        <Chip status={processingLook[version.processing_state]} text={version.processing_state} />
      ),
  },
  {
    name: "Approval",
    cell: ({ newest_version: version }) =>
      version === null ? null : (
        <Chip
          status={approvalLook[version.approval_state]}
          text={version.approval_state.replace("_", " ")}
        />
      ),
  },
  { name: "Clearance", cell: ({ clearance_state }) => clearance_state },
  {
    name: "Changed",
    wideOnly: true,
    oneLine: true,
    cell: ({ updated_at }) => <Time at={updated_at} relative />,
  },
  {
    name: "Do",
    unnamed: true,
    cell: (asset) =>
      asset.newest_version !== null && waitsForReview(asset.newest_version) ? (
        <Link
          className="button"
          aria-label={`Review ${titleOf(asset)}`}
          to={`/review/${asset.asset_id}/${asset.newest_version.version_ordinal}`}
        >
          <Icon name="eye" /> Review
        </Link>
      ) : null,
  },
];
