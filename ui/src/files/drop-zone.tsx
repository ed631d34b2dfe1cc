import type { ReactNode } from "react";
import { useId, useState } from "react";
import { errorText, useAccess } from "../shared/api.ts";
import { Icon } from "../shared/icon.tsx";
import { invalidate } from "../shared/query-client.ts";
import { showToast } from "../shared/toast.tsx";
import { uploadFile } from "./upload-file.ts";

/** Takes files that are dropped on it, or chosen with its button, and uploads them one by one. */
export function DropZone({
  folder,
  children,
  onUploaded,
}: {
  folder: string;
  children?: ReactNode;
  onUploaded: (path: string) => void;
}) {
  const id = useId();
  const allowed = useAccess("operate");
  const [isOver, setOver] = useState(false);
  const [sending, setSending] = useState<{ name: string; fraction: number }>();

  async function take(files: readonly File[]): Promise<void> {
    for (const file of files) {
      try {
        setSending({ name: file.name, fraction: 0 });
        const path = await uploadFile(file, folder, (fraction) => {
          setSending({ name: file.name, fraction });
        });
        invalidate("storage");
        onUploaded(path);
      } catch (error) {
        showToast(`${file.name}: ${errorText(error)}`, "bad");
      }
    }
    setSending(undefined);
  }

  return (
    <div
      className="drop-zone"
      data-over={isOver ? "" : undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => {
        setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (allowed) void take([...event.dataTransfer.files]);
      }}
    >
      <label className="button" htmlFor={id} aria-disabled={!allowed}>
        <Icon name="plus" /> Upload files
      </label>
      <input
        id={id}
        className="visually-hidden"
        type="file"
        multiple
        disabled={!allowed}
        onChange={(event) => {
          void take([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
      {sending === undefined ? (
        <span className="dim">{children ?? `or drop them here, into ${folder}`}</span>
      ) : (
        <span role="status">
          {sending.name}{" "}
          <progress value={sending.fraction} max={1} aria-label={`Upload of ${sending.name}`} />
        </span>
      )}
    </div>
  );
}
