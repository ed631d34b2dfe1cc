import { useEffect, useState } from "react";

/** The only place that reads the clock. */
export function now(): number {
  return Date.now();
}

/** The time, renewed every `everyMs` while `running` and while the page is visible. */
export function useNow(everyMs: number, running = true): number {
  const [time, setTime] = useState(now);
  useEffect(() => {
    if (!running) return;
    setTime(now());
    const timer = window.setInterval(() => {
      if (!document.hidden) setTime(now());
    }, everyMs);
    return () => {
      window.clearInterval(timer);
    };
  }, [everyMs, running]);
  return time;
}
