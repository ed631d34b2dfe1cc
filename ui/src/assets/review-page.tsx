import { useState } from "react";
import { api } from "../shared/api.ts";
import type { OfVersion } from "./decide.tsx";
import { Decide } from "./decide.tsx";
import { Facts } from "./facts.tsx";
import type { LayerLook } from "../layers/style-draft.ts";
import { lookOf } from "../layers/style-draft.ts";
import { LayerPreview } from "../layers/layer-preview.tsx";
import { approvalLook, processingLook, refsText } from "./asset-status.ts";
import { StyleEditor } from "../layers/style-editor.tsx";
import { useMetadata } from "../layers/use-metadata.ts";
import { useQuery } from "../shared/query-client.ts";
import { Badge, Chip } from "../shared/chip.tsx";
import { Page } from "../shared/page.tsx";
import { Await, Notice } from "../shared/states.tsx";
import { Link } from "../shared/navigation.tsx";

/** Everything that a decision needs, on one screen: the layer, its look, the findings. */

export default function Review({ params }: { params: Readonly<Record<string, string>> }) {
  const assetId = params["assetId"] ?? "";
  const ordinal = Number(params["ordinal"] ?? "0");
  const loaded = useQuery(
    `asset ${assetId}`,
    (signal) => api.getAsset({ params: { asset_id: assetId }, signal }),
    { everyMs: 5000 },
  );
  const version = loaded.data?.versions.find((each) => each.version_ordinal === ordinal);
  return (
    <Page
      title="Review"
      heading={
        <>
          Review{" "}
          <Link to={`/assets/${assetId}`}>
            {loaded.data === undefined ? "" : refsText(loaded.data.platform_refs)}
          </Link>
          {version === undefined ? null : (
            <>
              <Badge>
                {version.version_label} #{version.version_ordinal}
              </Badge>
              <Chip
                status={processingLook[version.processing_state]}
                text={version.processing_state}
              />
              <Chip
                status={approvalLook[version.approval_state]}
                text={version.approval_state.replace("_", " ")}
              />
            </>
          )}
        </>
      }
      actions={
        loaded.data === undefined || version === undefined ? null : (
          <Decide asset={loaded.data} version={version} done={loaded.reload} />
        )
      }
    >
      <Await loaded={loaded} what="the asset">
        {(asset) =>
          version === undefined ? (
            <Notice icon="search" title="The asset has no such version">
              <p>Choose one of its versions on the page of the asset.</p>
            </Notice>
          ) : (
            <ReviewBody asset={asset} version={version} done={loaded.reload} />
          )
        }
      </Await>
    </Page>
  );
}

function ReviewBody(props: OfVersion) {
  const { asset, version } = props;
  const metadata = useMetadata(asset.asset_id);
  const [tried, setTried] = useState<LayerLook>();
  return (
    <Await loaded={metadata} what="the metadata">
      {({ stored }) => {
        const look = tried ?? lookOf(stored?.style);
        return (
          <div className="review">
            <LayerPreview asset={asset} version={version} look={look} />
            <div className="stack">
              <StyleEditor
                assetId={asset.asset_id}
                isVector={version.table_name !== null}
                stored={stored}
                look={look}
                onChange={setTried}
                done={() => {
                  metadata.reload();
                  // Its history grew: whoever decides now has to have seen that.
                  props.done();
                }}
              />
              <Facts {...props} />
            </div>
          </div>
        );
      }}
    </Await>
  );
}
