/** Paths of 16 × 16 icons, drawn in the colour of the text. */
const paths = {
  clock: "M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2ZM8 5v3.2l2.2 1.4",
  dot: "M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7Z",
  queue: "M3 4.5h10M3 8h10M3 11.5h6",
  play: "M5 3.5v9l7.5-4.5Z",
  check: "M3 8.5 6.5 12 13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  skip: "M3.5 4v8L8 8Zm5 0v8L13 8Z",
  ban: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM4.2 4.2l7.6 7.6",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  retry: "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3",
  warning: "M8 2.5 14 13H2ZM8 6.5v3M8 11.2v.3",
  eye: "M1.8 8S4 3.8 8 3.8 14.2 8 14.2 8 12 12.2 8 12.2 1.8 8 1.8 8ZM8 6.4a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2Z",
  home: "M2.5 7.5 8 3l5.5 4.5M4 6.5V13h8V6.5",
  jobs: "M2.5 4h11M2.5 8h11M2.5 12h7M12 10.5l2 1.5-2 1.5",
  hexagon: "M8 1.8l5.4 3.1v6.2L8 14.2l-5.4-3.1V4.9Z",
  workflow: "M2.5 3h4v3h-4ZM9.5 10h4v3h-4ZM9.5 3h4v3h-4ZM6.5 4.5h3M4.5 6v5.5h5",
  layers: "M8 2.5 14 6 8 9.5 2 6ZM2.5 9 8 12.2 13.5 9",
  map: "M2.5 4 6 2.5l4 1.5 3.5-1.5v9.5L10 13.5 6 12l-3.5 1.5ZM6 2.5V12M10 4v9.5",
  fleet: "M2.5 3h11v4h-11ZM2.5 9h11v4h-11ZM5 5h.1M5 11h.1",
  search: "M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4ZM10.2 10.2l3.3 3.3",
  copy: "M5.5 5.5h7.5v7.5H5.5ZM3 10.5V3h7.5",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M12.6 3.4l-1.1 1.1M4.5 11.5l-1.1 1.1",
  moon: "M13 9.8A5.5 5.5 0 0 1 6.2 3a5.5 5.5 0 1 0 6.8 6.8Z",
  help: "M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2ZM6.3 6.4a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.9.6-.9 1.2M8 11.3v.2",
  down: "M4 6.5 8 10.5 12 6.5",
  right: "M6.5 4 10.5 8 6.5 12",
  stack: "M3 6h10v6H3ZM4.5 4h7M6 2h4",
  fork: "M4 3v10M4 8c5 0 5-1 8-4M4 8c5 0 5 1 8 4",
  join: "M12 3v10M12 8C7 8 7 7 4 4M12 8c-5 0-5 1-8 4",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  out: "M6.5 3H3v10h10V9.5M9 3h4v4M13 3 7.5 8.5",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  star: "M8 2.5l1.7 3.5 3.8.5-2.8 2.7.7 3.8L8 11.2 4.6 13l.7-3.8L2.5 6.5 6.3 6Z",
  key: "M10.5 2.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM8.4 7.6 3 13M4.6 11.4l2 2",
  plug: "M6 2.5V6M10 2.5V6M4 6h8v2a4 4 0 0 1-8 0ZM8 12v2",
  save: "M3 3h8l2 2v8H3ZM5.5 3v3.5h5V3M5.5 13V9.5h5V13",
} as const;

export type IconName = keyof typeof paths;

const filled = new Set<IconName>(["play", "skip", "dot"]);

export function Icon({ name, label }: { name: IconName; label?: string | undefined }) {
  return (
    <svg
      className="icon"
      viewBox="0 0 16 16"
      width="16"
      height="16"
      data-filled={filled.has(name) ? "" : undefined}
      {...(label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label })}
    >
      <path d={paths[name]} />
    </svg>
  );
}
