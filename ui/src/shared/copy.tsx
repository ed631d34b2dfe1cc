import { Icon } from "./icon.tsx";
import { showToast } from "./toast.tsx";

export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast(`${what} copied`);
  } catch {
    showToast(`The browser refused to copy. The text is: ${text}`, "bad");
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

/** A request as a curl command; the token comes from the environment of the shell. */
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
