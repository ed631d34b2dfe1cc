import { useEffect, useState } from "react";
import { errorText, signIn } from "../shared/api.ts";

export function SignIn() {
  const [token, setToken] = useState("");
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    document.title = "Sign in · rmhdag";
  }, []);

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
    <main className="sign-in" id="main">
      <form
        className="card"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <h1>Sign in</h1>
        <label className="field">
          Token
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
          <code>rmhdag up</code> prints a link that signs you in. On other sites ask an operator for
          a token: each has a name and a list of what it may do.
        </p>
      </form>
    </main>
  );
}
