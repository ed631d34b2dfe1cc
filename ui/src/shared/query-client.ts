/**
 * Reads something from the server and keeps it fresh. What was read last under a key is shown at
 * once when a page comes back, and is replaced when the answer is there.
 */
import { useCallback, useEffect, useRef, useState } from "react";

export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly loading: boolean;
  readonly reload: () => void;
}

interface State<T> {
  readonly key: string;
  readonly data: T | undefined;
  readonly error: unknown;
  readonly loading: boolean;
}

const remembered = new Map<string, unknown>();
const mostRemembered = 200;

const reloads = new Set<() => void>();

/** The `r` key: everything that is on the screen is read again. */
export function reloadAll(): void {
  for (const reload of [...reloads]) reload();
}

export function forgetAll(): void {
  remembered.clear();
}

export function useQuery<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  { everyMs }: { everyMs?: number | undefined } = {},
): Loaded<T> {
  const recall = (): State<T> => ({
    key,
    data: remembered.get(key) as T | undefined,
    error: undefined,
    loading: true,
  });
  const [stored, setState] = useState<State<T>>(recall);
  const state = stored.key === key ? stored : recall();
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;

  const reload = useCallback(() => {
    setTurn((before) => before + 1);
  }, []);

  useEffect(() => {
    reloads.add(reload);
    return () => {
      reloads.delete(reload);
    };
  }, [reload]);

  useEffect(() => {
    const aborter = new AbortController();
    let timer: number | undefined;
    async function read(): Promise<void> {
      try {
        const data = await latest.current(aborter.signal);
        if (aborter.signal.aborted) return;
        remember(key, data);
        setState({ key, data, error: undefined, loading: false });
      } catch (error) {
        if (aborter.signal.aborted) return;
        const data = remembered.get(key) as T | undefined;
        setState({ key, data, error, loading: false });
      }
      if (everyMs !== undefined) {
        timer = window.setTimeout(again, everyMs);
      }
    }
    // A page that nobody sees asks for nothing.
    function again(): void {
      if (document.hidden) timer = window.setTimeout(again, everyMs);
      else void read();
    }
    void read();
    return () => {
      aborter.abort();
      window.clearTimeout(timer);
    };
  }, [key, everyMs, turn]);

  return { data: state.data, error: state.error, loading: state.loading, reload };
}

function remember(key: string, data: unknown): void {
  remembered.delete(key);
  remembered.set(key, data);
  const oldest = remembered.keys().next().value;
  if (remembered.size > mostRemembered && oldest !== undefined) remembered.delete(oldest);
}
