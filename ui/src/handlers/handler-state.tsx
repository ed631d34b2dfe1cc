import { Chip } from "../shared/status.tsx";

/** Whether tasks of a handler can run now. */
export function HandlerState({ alive, conflict }: { alive: boolean; conflict: boolean }) {
  if (conflict) return <Chip status="degraded" text="conflict" />;
  return alive ? <Chip status="ok" text="offered" /> : <Chip status="pending" text="no worker" />;
}
