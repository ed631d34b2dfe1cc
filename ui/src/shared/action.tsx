/** A button that changes something: it asks first, reports the outcome, and offers a shell command. */
import type { ReactNode } from "react";
import { useLayoutEffect, useRef, useState } from "react";
import { errorText, useAccess } from "./api.ts";
import type { Access } from "../../../src/core/api/contract.ts";
import { CopyAs } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import type { IconName } from "./icon.tsx";
import { Icon } from "./icon.tsx";
import { focusAgain } from "./navigation.ts";
import { showToast } from "./toast.tsx";

export interface ActionProps {
  readonly icon: IconName;
  readonly label: string;
  readonly title: string;
  readonly children?: ReactNode;
  readonly danger?: boolean;
  /** Drawn as the main button of the page. */
  readonly primary?: boolean;
  readonly disabled?: boolean;
  readonly needs?: Access;
  /** The dialog asks for a reason; `required` disables the button until there is one. */
  readonly reason?: "optional" | "required";
  /** The same action as a command and as a request, with the reason as typed so far. */
  readonly copy?: (reason: string) => { readonly command: string; readonly request: string };
  /** Disables the confirming button while fields of the dialog are missing. */
  readonly incomplete?: boolean;
  /** Answers the text of the toast, if any. */
  readonly run: (reason: string) => Promise<string | undefined>;
}

export function Action(props: ActionProps) {
  const { icon, label, title, danger = false, needs = "operate", reason } = props;
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [text, setText] = useState("");
  const allowed = useAccess(needs);
  const button = useRef<HTMLButtonElement>(null);

  // The outcome of an action may remove its button: then the page gets the focus.
  useLayoutEffect(() => {
    const element = button.current;
    return () => {
      if (element !== null && document.activeElement === element) focusAgain(null);
    };
  }, []);

  async function confirm(): Promise<void> {
    setBusy(true);
    try {
      const message = await props.run(text.trim());
      setAsking(false);
      setText("");
      if (message !== undefined) showToast(message);
    } catch (error) {
      showToast(errorText(error), "bad");
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        className={danger ? "button danger" : props.primary === true ? "button solid" : "button"}
        disabled={props.disabled === true || !allowed}
        title={allowed ? undefined : `This needs a token with "${needs}" access.`}
        onClick={() => {
          setAsking(true);
        }}
      >
        <Icon name={icon} /> {label}
      </button>
      {asking ? (
        <Dialog
          title={title}
          onClose={() => {
            setAsking(false);
          }}
        >
          <form
            method="dialog"
            onSubmit={(event) => {
              event.preventDefault();
              void confirm();
            }}
          >
            {props.children}
            {reason === undefined ? null : (
              <label className="field">
                Reason{reason === "optional" ? " (optional)" : ""}
                <textarea
                  rows={3}
                  maxLength={1000}
                  value={text}
                  required={reason === "required"}
                  onChange={(event) => {
                    setText(event.target.value);
                  }}
                />
              </label>
            )}
            <div className="dialog-foot">
              {props.copy === undefined ? <span /> : <CopyAs {...props.copy(text.trim())} />}
              <button
                type="button"
                className="button"
                onClick={() => {
                  setAsking(false);
                }}
              >
                Keep as it is
              </button>
              <button
                type="submit"
                className={danger ? "button danger solid" : "button solid"}
                disabled={
                  busy || props.incomplete === true || (reason === "required" && text.trim() === "")
                }
              >
                <Icon name={icon} /> {label}
              </button>
            </div>
          </form>
        </Dialog>
      ) : null}
    </>
  );
}
