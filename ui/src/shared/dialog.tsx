import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import { copyText } from "./copy.tsx";
import { Icon } from "./icon.tsx";
import { focusAgain } from "./navigation.ts";

/** The browser's own dialog: it traps the focus, gives it back at the end, and closes on Escape. */
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
  const before = useRef<Element>(null);
  useEffect(() => {
    const element = dialog.current;
    // The cleanup does not call close(), which fires the close event and so `onClose`.
    if (element !== null && !element.open) {
      before.current = document.activeElement;
      element.showModal();
    }
    return () => {
      focusAgain(before.current);
    };
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
