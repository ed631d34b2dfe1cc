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
      {addressesIn(value).map((address) => (
        <a key={address} className="button quiet" href={address.split("#")[0]} download>
          <Icon name="down" /> Download the whole value
        </a>
      ))}
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

/** Large values are given as the address of the route that has them whole; a few are linked. */
function addressesIn(value: unknown, found: string[] = []): readonly string[] {
  if (typeof value !== "object" || value === null || found.length >= 5) return found;
  const address = isJsonObject(value) ? value["$ref"] : undefined;
  if (typeof address === "string" && address.startsWith("/api/v1/jobs/")) found.push(address);
  else for (const member of Object.values(value)) addressesIn(member, found);
  return found;
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
