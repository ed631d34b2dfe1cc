import { useState } from "react";
import type { JsonObject } from "../../../src/core/model/json.ts";
import { isJsonObject } from "../../../src/core/model/json.ts";
import { copyText } from "./copy.tsx";
import { Icon } from "./icon.tsx";

const maxLines = 400;

/** JSON as text. Long values are cut on the screen; the copy is always complete. */
export function JsonView({ value, label }: { value: unknown; label: string }) {
  const [all, setAll] = useState(false);
  if (value === null || value === undefined) return <p className="dim">none</p>;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const lines = text.split("\n");
  const cut = !all && lines.length > maxLines;
  return (
    <div className="code">
      <button
        type="button"
        className="button quiet code-copy"
        aria-label={`Copy ${label}`}
        onClick={() => void copyText(text, label)}
      >
        <Icon name="copy" />
      </button>
      <pre tabIndex={0} aria-label={label}>
        {cut ? lines.slice(0, maxLines).join("\n") : text}
      </pre>
      {cut ? (
        <button
          type="button"
          className="button quiet"
          onClick={() => {
            setAll(true);
          }}
        >
          Show all {lines.length} lines
        </button>
      ) : null}
    </div>
  );
}

/** Parses the text of an editor; undefined while it is not a JSON object. */
export function readObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
