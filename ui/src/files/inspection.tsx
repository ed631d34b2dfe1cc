import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { inspectedFile } from "../../../src/core/handlers/files.ts";
import type { InspectedFile } from "../../../src/core/handlers/files.ts";
import { bytesText } from "../../../src/core/model/bytes-text.ts";
import { isFinished } from "../../../src/core/model/job.ts";
import { api, errorText } from "../shared/api.ts";
import { splitPlace } from "./split-place.ts";

export type Recognised = Awaited<ReturnType<typeof api.recogniseFile>>;

const waitSeconds = 20;
const pollMs = 500;

/**
 * Shows what a file is: at once what its first bytes say, and then what a worker finds in it, with a
 * picture. The version of the file is the key of the job, so that each content is inspected once.
 */
export function Inspection({ file }: { file: Recognised }) {
  const { path, version, kind } = file;
  const { data, error } = useQuery({
    queryKey: ["inspected", version],
    queryFn: ({ signal }) =>
      api.submitJob({
        query: { wait: waitSeconds },
        body: {
          workflow_id: "inspect_file",
          inputs: { ...splitPlace(path), kind },
          idempotency_key: `inspect ${version}`,
        },
        signal,
      }),
    enabled: kind !== "unknown",
    // A job that waits for a worker is asked for again.
    refetchInterval: ({ state }) =>
      state.data !== undefined && isFinished(state.data.status) ? false : pollMs,
    staleTime: Infinity,
    retry: false,
  });
  const facts = Object.entries(file.details).map(
    ([name, value]) => [name.replaceAll("_", " "), value] as const,
  );
  if (kind === "unknown" || error !== null) {
    const text = error === null ? undefined : `No preview: ${errorText(error)}`;
    return <Shown file={file} facts={facts} note={text} />;
  }
  if (data === undefined || !isFinished(data.status)) {
    return <Shown file={file} facts={facts} note="A worker looks into the file …" />;
  }
  const read = inspectedFile.safeParse(data.result?.["file"]);
  if (!read.success) {
    const job = `/jobs/${encodeURIComponent(data.job_id)}`;
    const reason = data.error?.message ?? `The job ${data.status}.`;
    return <Shown file={file} facts={facts} note={<Link to={job}>{reason}</Link>} />;
  }
  const { thumbnail } = read.data;
  const more = facts.filter(([name]) => !rasterDetails.has(name));
  return (
    <Shown
      file={file}
      facts={[...describe(read.data), ...more]}
      picture={
        thumbnail === null ? null : (
          <img
            src={`data:${thumbnail.media_type};base64,${thumbnail.base64}`}
            width={thumbnail.width}
            height={thumbnail.height}
            alt={`Preview of ${path}`}
          />
        )
      }
    />
  );
}

/** What the first bytes of a GeoTIFF say, and a worker says in full. */
const rasterDetails: ReadonlySet<string> = new Set(["width", "height", "bands", "bits", "crs"]);

function describe({ crs, raster, layers, layer_count }: InspectedFile): [string, string][] {
  const more = layer_count - layers.length;
  return [
    ["CRS", crs ?? "none: the workflow needs source_crs"],
    ...(raster === null ? [] : describeRaster(raster)),
    ...layers.map(({ name, geometry_type, features, columns }): [string, string] => [
      `Layer ${name}`,
      `${features ?? "unknown"} features of ${geometry_type}, ${columns} columns`,
    ]),
    ...(more > 0 ? [["Further layers", String(more)] as [string, string]] : []),
  ];
}

function describeRaster(raster: NonNullable<InspectedFile["raster"]>): [string, string][] {
  const nodata = raster.nodata === null ? "" : `, nodata ${raster.nodata}`;
  return [
    ["Pixels", `${raster.width} × ${raster.height}`],
    ["Bands", `${raster.band_count} of ${raster.data_type}${nodata}`],
  ];
}

function Shown({
  file,
  facts,
  picture,
  note,
}: {
  file: Recognised;
  facts: readonly (readonly [string, unknown])[];
  picture?: ReactNode;
  note?: ReactNode;
}) {
  return (
    <div className="preview">
      {picture}
      <dl className="facts">
        <dt>Format</dt>
        <dd>{file.format}</dd>
        <dt>Size</dt>
        <dd>{bytesText(file.bytes)}</dd>
        {facts.map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
      </dl>
      {note === undefined ? null : (
        <p className="dim" role="status">
          {note}
        </p>
      )}
    </div>
  );
}

function Fact({ name, value }: { name: string; value: unknown }) {
  if (value === null) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{textOf(value)}</dd>
    </>
  );
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
