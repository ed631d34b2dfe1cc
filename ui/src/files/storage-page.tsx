import { setSearchParams, useSearchParams } from "../shared/navigation.ts";
import { Card, Page } from "../shared/page.tsx";
import { DropZone } from "./drop-zone.tsx";
import { FilePanel } from "./file-panel.tsx";
import { FolderList } from "./folder-list.tsx";

/** The zones of storage as folders; files are dropped here, and each shows what was made of it. */
export default function StoragePage() {
  const search = useSearchParams();
  const folder = search.get("folder") ?? "";
  const file = search.get("file");
  // Raw files go into bronze; the other zones are written by workflows.
  const target = folder.startsWith("bronze/") ? folder : "bronze/";
  return (
    <Page title="Storage">
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
    </Page>
  );
}
