import { useState } from "react";
import { useAccess } from "../shared/api.ts";
import { Dialog } from "../shared/dialog.tsx";
import { Icon } from "../shared/icon.tsx";
import { FolderList } from "./folder-list.tsx";

/** A button beside a field that takes a path: it opens the files of storage. */
export function ChooseFile({ name, onChoose }: { name: string; onChoose: (path: string) => void }) {
  const allowed = useAccess("operate");
  const [isOpen, setOpen] = useState(false);
  const [folder, setFolder] = useState("bronze/");
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={!allowed}
        onClick={() => {
          setOpen(true);
        }}
      >
        <Icon name="search" /> Choose {name} from storage
      </button>
      {isOpen ? (
        <Dialog
          title={`Choose ${name}`}
          onClose={() => {
            setOpen(false);
          }}
        >
          <FolderList
            folder={folder}
            onFolder={setFolder}
            onFile={(path) => {
              onChoose(path);
              setOpen(false);
            }}
          />
        </Dialog>
      ) : null}
    </>
  );
}
