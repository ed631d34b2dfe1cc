import type { ReactNode } from "react";
import { Component, Suspense, useCallback, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { Pages } from "../routes.tsx";
import { connection, loadSession, session } from "../shared/api.ts";
import { Loading, Notice } from "../shared/states.tsx";
import { useStore } from "../shared/store.ts";
import { Toasts } from "../shared/toast.tsx";
import { KeyHelp, useKeyboard } from "./keyboard.tsx";
import { Sidebar } from "./sidebar.tsx";
import { SignIn } from "./sign-in.tsx";
import { TopBar } from "./top-bar.tsx";

/** How often the session is read while the server does not answer. */
const retryMs = 2000;

export function App() {
  const user = useStore(session);
  const state = useStore(connection);
  const [path] = useLocation();
  const [help, setHelp] = useState(false);
  const openHelp = useCallback(() => {
    setHelp(true);
  }, []);
  useKeyboard({ onHelp: openHelp });
  usePolledSession(state === "down" || user === undefined);

  if (user?.name === null) {
    return (
      <>
        <SignIn />
        <Toasts />
      </>
    );
  }
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to the content
      </a>
      <Sidebar path={path} />
      <div className="shell-main">
        <TopBar onHelp={openHelp} />
        {state === "down" ? (
          <div className="banner" role="alert">
            The server does not answer. This page may be out of date; it continues by itself when
            the server is back.
          </div>
        ) : null}
        <main id="main" tabIndex={-1}>
          <Boundary key={path}>
            <Suspense fallback={<Loading what="the page" />}>
              {user === undefined ? <Loading what="your session" /> : <Pages />}
            </Suspense>
          </Boundary>
        </main>
      </div>
      {help ? (
        <KeyHelp
          onClose={() => {
            setHelp(false);
          }}
        />
      ) : null}
      <Toasts />
    </div>
  );
}

/** Reads the session at the start and again until the server answers. */
function usePolledSession(polling: boolean): void {
  useEffect(() => {
    if (!polling) return;
    const read = () => void loadSession().catch(() => undefined);
    read();
    const timer = window.setInterval(read, retryMs);
    return () => {
      window.clearInterval(timer);
    };
  }, [polling]);
}

/** An exception in one page leaves the others usable, and the user sees no stack. */
class Boundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <Notice
        icon="warning"
        title="This page broke"
        action={
          <button
            className="button"
            onClick={() => {
              window.location.reload();
            }}
          >
            Load it again
          </button>
        }
      >
        <p>
          This is a mistake in the page, not in your data. After an update of the server, loading
          the page again is enough.
        </p>
      </Notice>
    );
  }
}
