import { copyText } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import { Icon } from "./icon.tsx";

/** Something that is shown once: whoever closes this without keeping it has to make another. */
export function Secret({
  title,
  value,
  children,
  onClose,
}: {
  title: string;
  value: string;
  children: React.ReactNode;
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
          I have kept it
        </button>
      </div>
    </Dialog>
  );
}
