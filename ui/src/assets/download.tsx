import { useState } from "react";
import { fileFormats } from "../../../src/core/api/layer-files.ts";
import { isFinished } from "../../../src/core/model/job.ts";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import type { OfVersion } from "./decide.tsx";
import { addressOf } from "./decide.tsx";

type Format = (typeof fileFormats)[number];

const names: Readonly<Record<Format, string>> = {
  geoparquet: "GeoParquet",
  flatgeobuf: "FlatGeobuf",
  geopackage: "GeoPackage",
  pmtiles: "PMTiles",
  cog: "Cloud-optimised GeoTIFF",
};

/** Asks for a format, waits until a job has written the files, and has the browser download them. */
export function Download({ version }: OfVersion) {
  const possible = fileFormats.filter((each) => (each === "cog") === (version.table_name === null));
  const [format, setFormat] = useState<Format>(possible[0] ?? "cog");
  return (
    <Action
      icon="out"
      label="Download"
      title={`Download ${version.version_label}`}
      copy={() => ({
        command: commands.downloadVersion(version, format),
        request: curl("POST", `${addressOf(version)}/files`, { format }),
      })}
      run={async () => {
        const { asset_id, version_ordinal } = version;
        const params = { asset_id, version_ordinal };
        const { job_id } = await api.writeFiles({ params, body: { format } });
        const files = await finishedFiles({ ...params, job_id });
        for (const { url } of files) save(url);
        return files.length === 1 ? "The file is written" : `${files.length} files are written`;
      }}
    >
      <label className="field">
        Format
        <select
          value={format}
          onChange={(event) => {
            setFormat(event.target.value as Format);
          }}
        >
          {possible.map((each) => (
            <option key={each} value={each}>
              {names[each]}
            </option>
          ))}
        </select>
      </label>
    </Action>
  );
}

async function finishedFiles(params: {
  asset_id: string;
  version_ordinal: number;
  job_id: string;
}) {
  for (;;) {
    const { status, error, files } = await api.getFiles({ params });
    if (status === "completed") return files;
    if (isFinished(status)) throw new Error(error ?? `The job is ${status}.`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

function save(url: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = "";
  document.body.append(link);
  link.click();
  link.remove();
}
