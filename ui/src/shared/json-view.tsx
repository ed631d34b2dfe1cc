import { useState } from "react";
import { copyText } from "./copy.tsx";
import { Icon } from "./icon.tsx";

const mostLines = 400;

/** JSON as text: long values are cut on the screen and never in the copy. */
export function JsonView({ value, label }: { value: unknown; label: string }) {
  const [all, setAll] = useState(false);
  if (value === null || value === undefined) return <p className="dim">none</p>;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const lines = text.split("\n");
  const cut = !all && lines.length > mostLines;
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
        {cut ? lines.slice(0, mostLines).join("\n") : text}
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
