import { clearanceState } from "../../../src/core/model/asset.ts";
import { approvalState, processingState } from "../../../src/core/model/version.ts";
import { api } from "../api.ts";
import { approvalLook, processingLook, refsText, titleOf, waitsForReview } from "../assets/look.ts";
import { short } from "../lib/format.ts";
import { useQuery } from "../live/use-query.ts";
import { Badge, Chip } from "../parts/chip.tsx";
import { Icon } from "../parts/icon.tsx";
import { Page } from "../parts/page.tsx";
import { Await, Notice } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { Link, setQuery, usePlace } from "../router.tsx";

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
                <table>
                  <thead>
                    <tr>
                      <th>Asset</th>
                      <th className="wide-only">Platform</th>
                      <th>Newest version</th>
                      <th>Processing</th>
                      <th>Approval</th>
                      <th>Clearance</th>
                      <th className="wide-only">Changed</th>
                      <th>
                        <span className="visually-hidden">Do</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {items.map((asset) => {
                      const version = asset.newest_version;
                      return (
                        <tr key={asset.asset_id}>
                          <td>
                            <Link to={`/assets/${asset.asset_id}`}>{titleOf(asset)}</Link>
                            <div className="dim">
                              <code>{short(asset.asset_id)}</code>{" "}
                              {asset.display_name === null ? "" : refsText(asset.platform_refs)}
                            </div>
                          </td>
                          <td className="wide-only">{asset.platform_id}</td>
                          <td>
                            {version === null ? "–" : version.version_label}{" "}
                            {version === null ? null : <Badge>#{version.version_ordinal}</Badge>}
                          </td>
                          <td>
                            {version === null ? null : (
                              <Chip
                                status={processingLook[version.processing_state]}
                                text={version.processing_state}
                              />
                            )}
                          </td>
                          <td>
                            {version === null ? null : (
                              <Chip
                                status={approvalLook[version.approval_state]}
                                text={version.approval_state.replace("_", " ")}
                              />
                            )}
                          </td>
                          <td>{asset.clearance_state}</td>
                          <td className="nowrap wide-only">
                            <Time at={asset.updated_at} relative />
                          </td>
                          <td>
                            {version !== null && waitsForReview(version) ? (
                              <Link
                                className="button"
                                aria-label={`Review ${titleOf(asset)}`}
                                to={`/review/${asset.asset_id}/${version.version_ordinal}`}
                              >
                                <Icon name="eye" /> Review
                              </Link>
                            ) : null}
                          </td>
                        </tr>
                      );
                    })}
                  </tbody>
                </table>
              )
            }
          </Await>
        </div>
      </section>
    </Page>
  );
}
