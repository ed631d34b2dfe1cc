import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useStore } from "../shared/store.ts";
import { theme } from "../shared/theme.ts";
import { clockTime } from "../shared/time.tsx";

export interface Step {
  readonly bucket_at: string;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** Finished jobs as stacked bars; the label of the image has the totals for screen readers. */
export default function ThroughputChart({ steps }: { steps: readonly Step[] }) {
  const box = useRef<HTMLDivElement>(null);
  const currentTheme = useStore(theme);

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const colour = (name: string) => getComputedStyle(element).getPropertyValue(name).trim();
    const times = steps.map(({ bucket_at }) => Date.parse(bucket_at) / 1000);
    const failed = steps.map((step) => step.failed);
    const stopped = steps.map((step, at) => (failed[at] ?? 0) + step.cancelled);
    const all = steps.map((step, at) => (stopped[at] ?? 0) + step.completed);
    const bars = uPlot.paths.bars?.({ size: [0.8, 40] });
    const series = (label: string, fill: string): uPlot.Series => ({
      label,
      fill: colour(fill),
      stroke: colour(fill),
      width: 0,
      points: { show: false },
      ...(bars === undefined ? {} : { paths: bars }),
    });
    const axis: uPlot.Axis = {
      stroke: colour("--ink-3"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui",
    };
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: 170,
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_plot, _low, high) => [0, Math.max(high, 4)] } },
        axes: [
          {
            ...axis,
            values: (_plot, times) => times.map((at) => clockTime(new Date(at * 1000)).slice(0, 5)),
          },
          { ...axis, size: 38, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000] },
        ],
        series: [
          {},
          series("completed", "--good-fill"),
          series("cancelled", "--stop-fill"),
          series("failed", "--bad-fill"),
        ],
      },
      [times, all, stopped, failed],
      element,
    );
    const watcher = new ResizeObserver(() => {
      chart.setSize({ width: element.clientWidth, height: 170 });
    });
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      chart.destroy();
    };
  }, [steps, currentTheme]);

  const total = steps.reduce((sum, step) => sum + step.completed, 0);
  const bad = steps.reduce((sum, step) => sum + step.failed, 0);
  return (
    <div
      ref={box}
      className="chart"
      role="img"
      aria-label={`${total} jobs completed and ${bad} failed in the last 24 hours`}
    />
  );
}
