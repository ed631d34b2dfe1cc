import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { AssetListed } from "../../../src/core/api/asset-schemas.ts";
import { clearanceState } from "../../../src/core/model/asset.ts";
import { approvalState, processingState } from "../../../src/core/model/version.ts";
import { api } from "../shared/api.ts";
import { short } from "../shared/format.ts";
import { Icon } from "../shared/icon.tsx";
import { MoreRows } from "../shared/more-rows.tsx";
import { setSearchParams, useSearchParams } from "../shared/navigation.ts";
import { Page } from "../shared/page.tsx";
import { Await, Notice } from "../shared/states.tsx";
import { Badge, Chip } from "../shared/status.tsx";
import type { Column } from "../shared/table.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import { approvalStatus, processingStatus, refsText, titleOf } from "./asset-status.ts";

const pageSize = 100;
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
  const assets = useInfiniteQuery({
    queryKey: ["assets", filter],
    queryFn: ({ pageParam: cursor, signal }) =>
      api.listAssets({ query: { ...filter, limit: pageSize, cursor }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: 5000,
  });
  const waiting =
    filter.approval_state === "pending_review" && filter.processing_state === "completed";
  return (
    <Page title="Assets">
      <div className="filters">
        <div className="pills" role="group" aria-label="Shown">
          <button
            className="pill"
            aria-pressed={
              filter.approval_state === undefined && filter.processing_state === undefined
            }
            onClick={() => {
              setSearchParams({ approval_state: undefined, processing_state: undefined });
            }}
          >
            all
          </button>
          <button
            className="pill"
            aria-pressed={waiting}
            onClick={() => {
              setSearchParams({ approval_state: "pending_review", processing_state: "completed" });
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
            {({ pages }) =>
              pages[0]?.items.length === 0 ? (
                <Notice icon="layers" title="No assets">
                  <p>
                    Each data set that a platform submits becomes an asset, which a curator reviews
                    here. Widen the filter if you expected one.
                  </p>
                </Notice>
              ) : (
                <>
                  <Table
                    rows={pages.flatMap(({ items }) => items)}
                    keyOf={({ asset_id }) => asset_id}
                    columns={columns}
                  />
                  <MoreRows
                    query={assets}
                    shown={pages.reduce((sum, { items }) => sum + items.length, 0)}
                    what="assets"
                  />
                </>
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
  { name: "Platform", cell: ({ platform_id }) => platform_id },
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
    oneLine: true,
    cell: ({ updated_at }) => <Time at={updated_at} relative />,
  },
  {
    name: "Actions",
    unnamed: true,
    cell: (asset) =>
      asset.review_ordinal !== null ? (
        <Link
          className="button"
          aria-label={`Review ${titleOf(asset)}`}
          to={`/review/${asset.asset_id}/${asset.review_ordinal}`}
        >
          <Icon name="eye" /> Review
        </Link>
      ) : null,
  },
];
