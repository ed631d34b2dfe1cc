import { number } from "./format.ts";
import { Icon } from "./icon.tsx";

/** Below a list that is read in pages: how much of it is shown, and a button for the next page. */
export function MoreRows({
  query: { hasNextPage, isFetchingNextPage, fetchNextPage },
  shown,
  total,
  what,
}: {
  query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => Promise<unknown>;
  };
  shown: number;
  /** Undefined: the server does not count. */
  total?: number | undefined;
  what: string;
}) {
  if (!hasNextPage) return null;
  return (
    <p className="row card-body">
      <button
        type="button"
        className="button"
        disabled={isFetchingNextPage}
        onClick={() => void fetchNextPage()}
      >
        <Icon name="down" /> More {what}
      </button>
      <span className="dim" role="status">
        The first {number(shown)}
        {total === undefined ? "" : ` of ${number(total)}`}
      </span>
    </p>
  );
}
