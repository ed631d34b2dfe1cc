import type { ReactNode } from "react";
import { useCallback, useEffect, useRef, useState } from "react";

/**
 * Rows of equal height. Only those in view are rendered, so 50,000 rows cost as much as 50. The list
 * is rendered for its largest height: its real height is that of the rows which are there, and would
 * be too small once more rows arrive.
 */
export function VirtualList<T>({
  items,
  rowHeight,
  height,
  label,
  row,
  keyOf,
  onNearEnd,
}: {
  items: readonly T[];
  rowHeight: number;
  height: number;
  label: string;
  row: (item: T, index: number) => ReactNode;
  keyOf: (item: T) => string;
  onNearEnd?: (() => void) | undefined;
}) {
  const [top, setTop] = useState(0);
  const first = Math.max(0, Math.floor(top / rowHeight) - 6);
  const last = Math.min(items.length, Math.ceil((top + height) / rowHeight) + 6);
  const nearEnd = last >= items.length;

  useEffect(() => {
    if (nearEnd) onNearEnd?.();
  }, [nearEnd, items.length, onNearEnd]);

  return (
    <div
      className="virtual"
      style={{ maxHeight: height }}
      role="list"
      aria-label={label}
      tabIndex={0}
      onScroll={(event) => {
        setTop(event.currentTarget.scrollTop);
      }}
    >
      <div style={{ height: items.length * rowHeight, position: "relative" }} role="presentation">
        {items.slice(first, last).map((item, at) => (
          <div
            key={keyOf(item)}
            role="listitem"
            className="virtual-row"
            style={{ top: (first + at) * rowHeight, height: rowHeight }}
          >
            {row(item, first + at)}
          </div>
        ))}
      </div>
    </div>
  );
}

/** The `onNearEnd` of an infinite query: reads one page at a time, and keeps its identity. */
export function useNextPage(
  fetchNextPage: (options: { cancelRefetch: boolean }) => Promise<unknown>,
  hasMore: boolean,
): () => void {
  const latest = useRef(hasMore);
  latest.current = hasMore;
  return useCallback(() => {
    if (latest.current) void fetchNextPage({ cancelRefetch: false });
  }, [fetchNextPage]);
}
