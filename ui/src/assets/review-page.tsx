import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { LayerPreview } from "../layers/layer-preview.tsx";
import type { StyleDraft } from "../layers/style-draft.ts";
import { draftOf } from "../layers/style-draft.ts";
import { StyleEditor, metadataQuery } from "../layers/style-editor.tsx";
import type { PageProps } from "../shared/page.tsx";
import { Page } from "../shared/page.tsx";
import { assetQuery } from "../shared/queries.ts";
import { Await, Notice } from "../shared/states.tsx";
import { Badge, Chip } from "../shared/status.tsx";
import { approvalStatus, processingStatus, titleOf } from "./asset-status.ts";
import type { OfVersion } from "./decide.tsx";
import { Decide } from "./decide.tsx";
import { VersionFacts } from "./version-facts.tsx";

/** What a curator needs to decide, on one screen: the layer, its style, the findings. */
export default function ReviewPage({ params }: PageProps) {
  const assetId = params["assetId"] ?? "";
  const ordinal = Number(params["ordinal"] ?? "0");
  const loaded = useQuery(assetQuery(assetId));
  const version = loaded.data?.versions.find((each) => each.version_ordinal === ordinal);
  return (
    <Page
      title={loaded.data === undefined ? "Review" : `Review ${titleOf(loaded.data)}`}
      heading={
        <>
          Review{" "}
          <Link to={`/assets/${assetId}`}>
            {loaded.data === undefined ? "" : titleOf(loaded.data)}
          </Link>
          {version === undefined ? null : (
            <>
              <Badge>
                {version.version_label} #{version.version_ordinal}
              </Badge>
              <Chip
                status={processingStatus[version.processing_state]}
                text={version.processing_state}
              />
              <Chip
                status={approvalStatus[version.approval_state]}
                text={version.approval_state.replace("_", " ")}
              />
            </>
          )}
        </>
      }
      actions={
        loaded.data === undefined || version === undefined ? null : (
          <Decide asset={loaded.data} version={version} />
        )
      }
    >
      <Await query={loaded} what="the asset">
        {(asset) =>
          version === undefined ? (
            <Notice icon="search" title="The asset has no such version">
              <p>Choose one of its versions on the page of the asset.</p>
            </Notice>
          ) : (
            <ReviewBody asset={asset} version={version} />
          )
        }
      </Await>
    </Page>
  );
}

function ReviewBody(props: OfVersion) {
  const { asset, version } = props;
  const metadata = useQuery(metadataQuery(asset.asset_id));
  const [edited, setEdited] = useState<StyleDraft>();
  return (
    <Await query={metadata} what="the metadata">
      {(stored) => {
        const draft = edited ?? draftOf(version.style ?? stored?.style);
        return (
          <div className="review">
            <LayerPreview
              asset={asset}
              version={version}
              draft={draft}
              served={draftOf(stored?.style)}
            />
            <div className="stack">
              <StyleEditor version={version} stored={stored} draft={draft} onChange={setEdited} />
              <VersionFacts {...props} />
            </div>
          </div>
        );
      }}
    </Await>
  );
}
