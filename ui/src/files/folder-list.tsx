import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { bytesText } from "../../../src/core/model/bytes-text.ts";
import { api } from "../shared/api.ts";
import { Icon } from "../shared/icon.tsx";
import { Await } from "../shared/states.tsx";

/** The folders and files of one folder, with the way back to the zones. */
export function FolderList({
  folder,
  chosen,
  onFolder,
  onFile,
}: {
  folder: string;
  chosen?: string | undefined;
  onFolder: (folder: string) => void;
  onFile: (path: string) => void;
}) {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const loaded = useQuery({
    queryKey: ["storage", folder, cursors.at(-1)],
    queryFn: ({ signal }) =>
      api.browseStorage({ query: { folder, cursor: cursors.at(-1) }, signal }),
  });
  const parts = folder.split("/").filter((part) => part !== "");
  const open = (next: string) => {
    setCursors([]);
    onFolder(next);
  };
  return (
    <div className="folder-list">
      <nav className="crumbs" aria-label="Folders">
        <button
          type="button"
          className="link"
          onClick={() => {
            open("");
          }}
        >
          storage
        </button>
        {parts.map((part, index) => (
          <button
            key={parts.slice(0, index + 1).join("/")}
            type="button"
            className="link"
            aria-current={index === parts.length - 1 ? "page" : undefined}
            onClick={() => {
              open(`${parts.slice(0, index + 1).join("/")}/`);
            }}
          >
            {part}
          </button>
        ))}
      </nav>
      <Await query={loaded} what="the files">
        {({ folders, items, next_cursor }) => (
          <>
            <ul className="files">
              {folders.map((each) => (
                <li key={each}>
                  <button
                    type="button"
                    onClick={() => {
                      open(each);
                    }}
                  >
                    <Icon name="stack" /> <span>{nameOf(each)}</span>
                  </button>
                </li>
              ))}
              {items.map(({ path, bytes }) => (
                <li key={path}>
                  <button
                    type="button"
                    aria-current={path === chosen ? "true" : undefined}
                    onClick={() => {
                      onFile(path);
                    }}
                  >
                    <Icon name="save" /> <span>{nameOf(path)}</span>
                    <small className="dim">{bytesText(bytes)}</small>
                  </button>
                </li>
              ))}
            </ul>
            {folders.length + items.length === 0 ? (
              <p className="dim">This folder is empty.</p>
            ) : null}
            <div className="row">
              {cursors.length === 0 ? null : (
                <button
                  type="button"
                  className="button"
                  onClick={() => {
                    setCursors(cursors.slice(0, -1));
                  }}
                >
                  Previous
                </button>
              )}
              {next_cursor === null ? null : (
                <button
                  type="button"
                  className="button"
                  onClick={() => {
                    setCursors([...cursors, next_cursor]);
                  }}
                >
                  Next
                </button>
              )}
            </div>
          </>
        )}
      </Await>
    </div>
  );
}

function nameOf(path: string): string {
  return path.split("/").findLast((part) => part !== "") ?? path;
}
