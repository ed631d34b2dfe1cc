import type { Status } from "./status.ts";
import { statusLook } from "./status.ts";
import { Icon } from "./icon.tsx";

/** A state: its shape, its word and its colour together. */
export function Chip({ status, text }: { status: Status; text?: string | undefined }) {
  const { icon, tone } = statusLook[status];
  return (
    <span className="chip" data-tone={tone} data-status={status}>
      <Icon name={icon} />
      {text ?? status.replaceAll("_", " ")}
    </span>
  );
}

export function Badge({ children, title }: { children: React.ReactNode; title?: string }) {
  return (
    <span className="badge" title={title}>
      {children}
    </span>
  );
}
