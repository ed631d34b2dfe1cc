import { number } from "./format.ts";
import { Icon } from "./icon.tsx";
import { setSearchParams } from "./navigation.ts";
import { statusLook } from "./status.tsx";

/** Chooses one state, or all of them, as the parameter `status` of the address. */
export function StatusPills<Status extends keyof typeof statusLook>({
  states,
  chosen,
  counts,
}: {
  states: readonly Status[];
  chosen: Status | undefined;
  counts?: Readonly<Record<Status | "total", number>> | undefined;
}) {
  return (
    <div className="pills" role="group" aria-label="State">
      {[undefined, ...states].map((each) => (
        <button
          key={each ?? "all"}
          className="pill"
          aria-pressed={chosen === each}
          onClick={() => {
            setSearchParams({ status: each });
          }}
        >
          {each === undefined ? null : <Icon name={statusLook[each].icon} />} {each ?? "all"}{" "}
          {counts === undefined ? "" : number(counts[each ?? "total"])}
        </button>
      ))}
    </div>
  );
}
