import { useState } from "react";
import { Link } from "wouter";
import { Icon } from "../shared/icon.tsx";
import { readSetting, writeSetting } from "../shared/store.ts";

interface View {
  readonly name: string;
  readonly query: string;
}

const builtIn: readonly View[] = [
  { name: "Everything", query: "" },
  { name: "Failed", query: "status=failed" },
  { name: "Running", query: "status=running" },
];

/** Filters that the user saved. A view is the query of an address, so it can be sent as a link. */
export function SavedViews({ query }: { query: string }) {
  const [own, setOwn] = useState<readonly View[]>(() => readSetting("views", []));
  const [name, setName] = useState("");
  const known = [...builtIn, ...own].some((view) => view.query === query);

  function save(next: readonly View[]): void {
    setOwn(next);
    writeSetting("views", next);
  }

  return (
    <div className="row" role="group" aria-label="Saved views">
      {[...builtIn, ...own].map((view) => (
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
              aria-label={`Delete the view ${view.name}`}
              onClick={() => {
                save(own.filter((each) => each !== view));
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
            save([...own.filter((view) => view.name !== name), { name, query }]);
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
