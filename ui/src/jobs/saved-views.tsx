import { useState } from "react";
import { readStored, writeStored } from "../shared/stored.ts";
import { Icon } from "../shared/icon.tsx";
import { Link } from "../shared/navigation.tsx";

interface View {
  readonly name: string;
  readonly query: string;
}

const given: readonly View[] = [
  { name: "Everything", query: "" },
  { name: "Failed", query: "status=failed" },
  { name: "Running", query: "status=running" },
];

/** Filters that this person keeps; each is an address and can be sent to somebody. */
export function SavedViews({ query }: { query: string }) {
  const [own, setOwn] = useState<readonly View[]>(() => readStored("views", []));
  const [name, setName] = useState("");
  const known = [...given, ...own].some((view) => view.query === query);

  function keep(next: readonly View[]): void {
    setOwn(next);
    writeStored("views", next);
  }

  return (
    <div className="row" role="group" aria-label="Saved views">
      {[...given, ...own].map((view) => (
        <span key={view.name} className="row">
          <Link
            className="pill"
            to={view.query === "" ? "/jobs" : `/jobs?${view.query}`}
            aria-current={view.query === query ? "true" : undefined}
          >
            <Icon name="star" /> {view.name}
          </Link>
          {own.includes(view) ? (
            <button
              className="button quiet"
              aria-label={`Forget the view ${view.name}`}
              onClick={() => {
                keep(own.filter((each) => each !== view));
              }}
            >
              <Icon name="cross" />
            </button>
          ) : null}
        </span>
      ))}
      {known ? null : (
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            keep([...own.filter((view) => view.name !== name), { name, query }]);
            setName("");
          }}
        >
          <input
            aria-label="Name of the view"
            placeholder="Save this view as"
            size={16}
            required
            maxLength={40}
            value={name}
            onChange={(event) => {
              setName(event.target.value);
            }}
          />
          <button className="button" type="submit">
            <Icon name="save" /> Save
          </button>
        </form>
      )}
    </div>
  );
}
