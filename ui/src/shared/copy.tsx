import { Icon } from "./icon.tsx";
import { say } from "./toast.tsx";

export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    say(`The browser did not allow to copy. Here it is: ${text}`, "bad");
  }
}

/** An id that can be copied with one click. */
export function CopyId({ id, text, what }: { id: string; text?: string; what: string }) {
  return (
    <button
      type="button"
      className="copy-id"
      title={`Copy ${what} ${id}`}
      onClick={() => void copyText(id, what)}
    >
      <span className="visually-hidden">Copy {what} </span>
      <code>{text ?? id}</code>
      <Icon name="copy" />
    </button>
  );
}

/** The same as this button does, for a shell. The token is left for the reader to fill in. */
export function curl(method: string, path: string, body?: unknown): string {
  const parts = [`curl -X ${method} '${window.location.origin}${path}'`];
  parts.push(`-H "authorization: Bearer $RMHDAG_TOKEN"`);
  if (body !== undefined) {
    parts.push(`-H 'content-type: application/json'`);
    parts.push(`-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`);
  }
  return parts.join(" \\\n  ");
}

export function CopyAs({ command, request }: { command: string; request: string }) {
  return (
    <span className="copy-as">
      <button
        type="button"
        className="button quiet"
        title={request}
        onClick={() => void copyText(request, "curl")}
      >
        <Icon name="copy" /> curl
      </button>
      <button
        type="button"
        className="button quiet"
        title={command}
        onClick={() => void copyText(command, "Command")}
      >
        <Icon name="copy" /> CLI
      </button>
    </span>
  );
}
