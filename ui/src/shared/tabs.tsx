import type { KeyboardEvent, ReactNode } from "react";

export interface Tab<Id extends string> {
  readonly id: Id;
  readonly label: ReactNode;
}

/** Tabs after the ARIA pattern: the Tab key stops once, the arrow keys move between tabs. */
export function Tabs<Id extends string>({
  tabs,
  selected,
  onSelect,
  label,
  panel,
}: {
  tabs: readonly Tab<Id>[];
  selected: Id;
  onSelect: (id: Id) => void;
  label: string;
  /** The id of the `TabPanel`. */
  panel: string;
}) {
  function move(event: KeyboardEvent) {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = tabs.findIndex(({ id }) => id === selected);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    onSelect(next.id);
    document.getElementById(`${panel}-tab-${next.id}`)?.focus();
  }
  return (
    <div className="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(({ id, label: text }) => (
        <button
          key={id}
          id={`${panel}-tab-${id}`}
          type="button"
          role="tab"
          aria-selected={id === selected}
          aria-controls={panel}
          tabIndex={id === selected ? 0 : -1}
          onClick={() => {
            onSelect(id);
          }}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

export function TabPanel({
  id,
  selected,
  children,
}: {
  id: string;
  selected: string;
  children: ReactNode;
}) {
  return (
    <div id={id} role="tabpanel" aria-labelledby={`${id}-tab-${selected}`} className="tab-panel">
      {children}
    </div>
  );
}
