import { useRef, useState } from "react";
import { duration } from "../../shared/time.tsx";
import type { Range } from "./gantt.tsx";

/** Distances between two ticks, in milliseconds. */
const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 4, 8, 12, 24].map((hours) => hours * 3_600_000),
];

/** Time since the job was submitted; dragging along it zooms in. */
export function GanttAxis({
  range,
  origin,
  onZoom,
}: {
  range: Range;
  origin: number;
  onZoom: (range: Range) => void;
}) {
  const track = useRef<HTMLDivElement>(null);
  const [brush, setBrush] = useState<Range>();
  const width = range.to - range.from;
  const step = steps.find((each) => width / each <= 8) ?? width / 8;
  const first = Math.ceil((range.from - origin) / step);
  const ticks = Array.from({ length: 10 }, (_, at) => (first + at) * step).filter(
    (tick) => tick + origin <= range.to,
  );

  function timeAt(x: number): number {
    const box = track.current?.getBoundingClientRect();
    if (box === undefined || box.width === 0) return range.from;
    return range.from + (Math.min(Math.max(x - box.left, 0), box.width) / box.width) * width;
  }

  function finish(): void {
    if (brush === undefined) return;
    const from = Math.min(brush.from, brush.to);
    const to = Math.max(brush.from, brush.to);
    setBrush(undefined);
    // A click without a drag does not zoom.
    if (to - from > width / 200) onZoom({ from, to });
  }

  const at = (time: number) => ((time - range.from) / width) * 100;
  return (
    <div className="gantt-axis">
      <span />
      <div
        ref={track}
        className="gantt-track"
        title="Drag to zoom"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const time = timeAt(event.clientX);
          setBrush({ from: time, to: time });
        }}
        onPointerMove={(event) => {
          if (brush !== undefined) setBrush({ ...brush, to: timeAt(event.clientX) });
        }}
        onPointerUp={finish}
      >
        {ticks.map((tick) => (
          <span key={tick} className="gantt-tick" style={{ left: `${at(tick + origin)}%` }}>
            {tick === 0 ? "0" : duration(tick)}
          </span>
        ))}
        {brush === undefined ? null : (
          <span
            className="gantt-brush"
            style={{
              left: `${at(Math.min(brush.from, brush.to))}%`,
              width: `${Math.abs(at(brush.to) - at(brush.from))}%`,
            }}
          />
        )}
      </div>
    </div>
  );
}
