import type { ReactNode } from "react";
import { Component, Suspense, useCallback, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { Pages } from "../routes.tsx";
import { ApiError, connection, loadSession, session } from "../shared/api.ts";
import { Failed, Loading, Notice } from "../shared/states.tsx";
import { useStore } from "../shared/store.ts";
import { Toasts } from "../shared/toast.tsx";
import { KeyHelp, useKeyboard } from "./keyboard.tsx";
import { Sidebar } from "./sidebar.tsx";
import { SignIn, SignInAgain } from "./sign-in.tsx";
import { TopBar } from "./top-bar.tsx";

/** How often the session is read while the server does not answer. */
const retryMs = 2000;

/** `refusal`: why the code of a login link did not work. */
export function App({ refusal }: { refusal: string | undefined }) {
  const user = useStore(session);
  const state = useStore(connection);
  const [path] = useLocation();
  const [help, setHelp] = useState(false);
  const openHelp = useCallback(() => {
    setHelp(true);
  }, []);
  useKeyboard({ onHelp: openHelp });
  usePolledSession(state === "down" || user === undefined);

  // Another user gets a page of their own.
  const reader = useRef<string>(undefined);
  if (typeof user?.name === "string") reader.current = user.name;

  if (user?.name === null && user.hasEnded !== true) {
    return (
      <>
        <SignIn refusal={refusal} />
        <Toasts />
      </>
    );
  }
  return (
    <div className="shell" key={reader.current}>
      {user?.hasEnded === true ? <SignInAgain /> : null}
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
class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    if (isMissingFile(error)) reloadWhenBack();
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children;
    if (isMissingFile(this.state.error)) {
      return <Failed error={new ApiError("UNREACHABLE", 0, "The page could not be loaded.")} />;
    }
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

/** A page is a file of its own, which cannot be loaded while the server is away. */
function isMissingFile(error: unknown): boolean {
  return (
    error instanceof Error &&
    /dynamically imported module|module script|preload CSS/i.test(error.message)
  );
}

/** A browser does not load a file again that it failed to load: only a new page does. */
function reloadWhenBack(): void {
  connection.set("down");
  const unwatch = connection.watch(() => {
    if (connection.get() === "down") return;
    unwatch();
    window.location.reload();
  });
}
