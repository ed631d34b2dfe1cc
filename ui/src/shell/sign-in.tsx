import { useEffect, useRef, useState } from "react";
import { errorText, signIn } from "../shared/api.ts";
import { focusAgain } from "../shared/navigation.ts";

export function SignIn({ refusal }: { refusal: string | undefined }) {
  useEffect(() => {
    document.title = "Sign in · rmhdag";
  }, []);
  return (
    <main className="sign-in" id="main">
      <SignInForm refusal={refusal} />
    </main>
  );
}

/** Covers the page of a session that has ended: the page stays as it is, with all that was typed. */
export function SignInAgain() {
  const dialog = useRef<HTMLDialogElement>(null);
  const before = useRef<Element>(null);
  useEffect(() => {
    const element = dialog.current;
    if (element !== null && !element.open) {
      before.current = document.activeElement;
      element.showModal();
    }
    return () => {
      focusAgain(before.current);
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className="sign-in sign-in-again"
      aria-label="Sign in"
      onCancel={(event) => {
        event.preventDefault();
      }}
    >
      <SignInForm refusal="Your session has ended. Nothing that you typed is lost." />
    </dialog>
  );
}

function SignInForm({ refusal }: { refusal: string | undefined }) {
  const [token, setToken] = useState("");
  const [error, setError] = useState(refusal ?? "");
  const [busy, setBusy] = useState(false);

  async function submit(): Promise<void> {
    setBusy(true);
    setError("");
    try {
      await signIn(token.trim());
    } catch (problem) {
      setError(errorText(problem));
    } finally {
      setBusy(false);
    }
  }

  return (
    <form
      className="card"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <h1>Sign in</h1>
      <label className="field">
        Code or token
        <input
          type="password"
          autoComplete="current-password"
          autoFocus
          required
          value={token}
          aria-invalid={error !== ""}
          aria-describedby="sign-in-error"
          onChange={(event) => {
            setToken(event.target.value);
          }}
        />
      </label>
      <p id="sign-in-error" role="alert" className="error-text">
        {error}
      </p>
      <button className="button solid" type="submit" disabled={busy}>
        Sign in
      </button>
      <p className="dim">
        <code>rmhdag up</code> and <code>rmhdag login-code</code> print a link that signs you in
        once. On other sites ask an operator for a link or a token.
      </p>
    </form>
  );
}
