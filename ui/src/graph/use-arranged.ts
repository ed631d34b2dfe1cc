import type { RefObject } from "react";
import { useEffect, useRef, useState } from "react";
import type { WorkflowGraph } from "../../../src/core/api/workflows.ts";
import { connection } from "../shared/api.ts";
import { useStore } from "../shared/store.ts";
import type { Arranged } from "./arrange.ts";
import { arrange } from "./arrange.ts";
import type { Size } from "./choose-view.ts";
import type { FoldedGraph } from "./fold-graph.ts";

/** While a window is resized, its size changes with each frame. */
const settleMs = 80;

interface Wanted {
  readonly whole: WorkflowGraph;
  readonly folded: FoldedGraph;
}

/**
 * Arranges the graph for the size of its box, and again when that changes: the panel of a node takes a
 * third of the width. A view that the user has chosen (`moved`) stays. When the server is back, what
 * failed is tried once more.
 */
export function useArranged({ whole, folded }: Wanted, moved: RefObject<boolean>) {
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<Size>();
  const [result, setResult] = useState<{ readonly of: Wanted; readonly arranged: Arranged }>();
  const done = useRef<Wanted & { readonly size: Size }>(undefined);
  const server = useStore(connection);

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const watcher = new ResizeObserver(() => {
      setSize({ width: element.clientWidth, height: element.clientHeight });
    });
    watcher.observe(element);
    return () => {
      watcher.disconnect();
    };
  }, []);

  useEffect(() => {
    if (size === undefined || size.width === 0) return;
    const wanted = { whole, folded };
    const before = done.current;
    const isSame = before?.whole === whole && before.folded === folded;
    if (isSame && (before.size === size || moved.current)) return;
    let current = true;
    const timer = setTimeout(
      () => {
        arrange(whole, folded, size)
          .then((arranged) => {
            if (!current) return;
            done.current = { ...wanted, size };
            setResult({ of: wanted, arranged });
          })
          .catch(() => {
            connection.set("down");
          });
      },
      isSame ? settleMs : 0,
    );
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [whole, folded, size, server, moved]);

  // The drawing of the same workflow stays until it is arranged again.
  return { box, size, arranged: result?.of.whole === whole ? result.arranged : undefined };
}
