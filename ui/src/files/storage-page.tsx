import { useAccess } from "../shared/api.ts";
import { setSearchParams, useSearchParams } from "../shared/navigation.ts";
import { Card, Page } from "../shared/page.tsx";
import { Notice } from "../shared/states.tsx";
import { DropZone } from "./drop-zone.tsx";
import { FilePanel } from "./file-panel.tsx";
import { FolderList } from "./folder-list.tsx";

/** The zones of storage as folders; files are dropped here, and each shows what was made of it. */
export default function StoragePage() {
  const allowed = useAccess("operate");
  return (
    <Page title="Storage">
      {allowed ? (
        <Files />
      ) : (
        <Notice icon="key" title="For operators">
          <p>The files of storage are shown to callers with &quot;operate&quot; access.</p>
        </Notice>
      )}
    </Page>
  );
}

function Files() {
  const search = useSearchParams();
  const folder = search.get("folder") ?? "";
  const file = search.get("file");
  // Raw files go into bronze; the other zones are written by workflows.
  const target = folder.startsWith("bronze/") ? folder : "bronze/";
  return (
    <>
      <DropZone
        folder={target}
        onUploaded={(path) => {
          setSearchParams({ folder: target, file: path });
        }}
      />
      <div className="storage-page">
        <Card title="Files" flush>
          <FolderList
            folder={folder}
            chosen={file ?? undefined}
            onFolder={(next) => {
              setSearchParams({ folder: next, file: undefined });
            }}
            onFile={(path) => {
              setSearchParams({ file: path });
            }}
          />
        </Card>
        {file === null ? null : (
          <FilePanel
            key={file}
            path={file}
            onDeleted={() => {
              setSearchParams({ file: undefined });
            }}
          />
        )}
      </div>
    </>
  );
}
