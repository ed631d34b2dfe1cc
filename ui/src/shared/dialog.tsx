import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import { copyText } from "./copy.tsx";
import { Icon } from "./icon.tsx";

/** The browser's own dialog: it traps the focus, restores it at the end, and closes on Escape. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    // No cleanup: close() fires the close event, which would call `onClose` without the user.
    if (element !== null && !element.open) element.showModal();
  }, []);
  return (
    <dialog ref={dialog} className="dialog" aria-label={title} onClose={onClose} onCancel={onClose}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** Shows a secret that the server does not show a second time. */
export function SecretDialog({
  title,
  value,
  children,
  onClose,
}: {
  title: string;
  value: string;
  children: ReactNode;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <pre className="secret" tabIndex={0} aria-label={title}>
        {value}
      </pre>
      <div className="dialog-foot">
        <span />
        <button type="button" className="button" onClick={() => void copyText(value, "The secret")}>
          <Icon name="copy" /> Copy
        </button>
        <button type="button" className="button solid" onClick={onClose}>
          I have stored it
        </button>
      </div>
    </Dialog>
  );
}
