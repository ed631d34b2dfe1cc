import { shortcuts } from "./keyboard.ts";
import { Dialog } from "../shared/dialog.tsx";

export function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {shortcuts.map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div className="dialog-foot">
        <span />
        <button className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
