import { useEffect, useState } from "react";
import { now } from "./clock.ts";

/** The time, for clocks that run while something runs. */
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
