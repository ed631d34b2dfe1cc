import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { AssetListed } from "../../../src/core/api/asset-schemas.ts";
import { clearanceState } from "../../../src/core/model/asset.ts";
import { approvalState, processingState } from "../../../src/core/model/version.ts";
import { api } from "../shared/api.ts";
import { short } from "../shared/format.ts";
import { Icon } from "../shared/icon.tsx";
import { setSearchParams, useSearchParams } from "../shared/navigation.ts";
import { Page } from "../shared/page.tsx";
import { Await, Notice } from "../shared/states.tsx";
import { Badge, Chip } from "../shared/status.tsx";
import type { Column } from "../shared/table.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import {
  approvalStatus,
  processingStatus,
  refsText,
  titleOf,
  waitsForReview,
} from "./asset-status.ts";

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

export default function AssetsPage() {
  const query = useSearchParams();
  const filter = {
    approval_state: approvalState.safeParse(query.get("approval_state")).data,
    processing_state: processingState.safeParse(query.get("processing_state")).data,
    clearance_state: clearanceState.safeParse(query.get("clearance_state")).data,
    search: query.get("search") ?? undefined,
  };
  const assets = useQuery({
    queryKey: ["assets", filter],
    queryFn: ({ signal }) => api.listAssets({ query: { ...filter, limit: 200 }, signal }),
    refetchInterval: 5000,
  });
  return (
    <Page title="Assets">
      <div className="filters">
        <div className="pills" role="group" aria-label="Shown">
          <button
            className="pill"
            aria-pressed={filter.approval_state === undefined}
            onClick={() => {
              setSearchParams({ approval_state: undefined });
            }}
          >
            all
          </button>
          <button
            className="pill"
            aria-pressed={filter.approval_state === "pending_review"}
            onClick={() => {
              setSearchParams({ approval_state: "pending_review" });
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
                setSearchParams({ [name]: event.target.value });
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
              if (event.key === "Enter")
                setSearchParams({ search: event.currentTarget.value.trim() });
            }}
          />
        </label>
      </div>
      <section className="card" data-flush="">
        <div className="card-body">
          <Await query={assets} what="the assets">
            {({ items }) =>
              items.length === 0 ? (
                <Notice icon="layers" title="No assets">
                  <p>
                    Each data set that a platform submits becomes an asset, which a curator reviews
                    here. Widen the filter if you expected one.
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
        <Chip status={processingStatus[version.processing_state]} text={version.processing_state} />
      ),
  },
  {
    name: "Approval",
    cell: ({ newest_version: version }) =>
      version === null ? null : (
        <Chip
          status={approvalStatus[version.approval_state]}
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
    name: "Actions",
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
