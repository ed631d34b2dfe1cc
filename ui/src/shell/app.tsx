import { Suspense, useCallback, useEffect, useState } from "react";
import { connection, loadSession, session } from "../shared/api.ts";
import { useKeyboard } from "./keyboard.ts";
import { useStore } from "../shared/store.ts";
import { toggleTheme } from "../shared/theme.ts";
import { Boundary } from "./boundary.tsx";
import { KeyHelp } from "./key-help.tsx";
import { Sidebar } from "./sidebar.tsx";
import { Loading } from "../shared/states.tsx";
import { Toasts } from "../shared/toast.tsx";
import { TopBar } from "./top-bar.tsx";
import { usePlace } from "../shared/navigation.tsx";
import { findPage } from "../routes.tsx";
import { SignIn } from "./sign-in.tsx";

/** How often a server that is gone is asked whether it is back. */
const retryMs = 2000;

export function App() {
  const who = useStore(session);
  const state = useStore(connection);
  const { path } = usePlace();
  const [help, setHelp] = useState(false);
  const openHelp = useCallback(() => {
    setHelp(true);
  }, []);
  useKeyboard({ help: openHelp, theme: toggleTheme });
  useConnection(state === "down" || who === undefined);

  if (who?.name === null) {
    return (
      <>
        <SignIn />
        <Toasts />
      </>
    );
  }
  const page = findPage(path);
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
            The server does not answer. What you see may be old; this page goes on by itself when it
            is back.
          </div>
        ) : null}
        <main id="main" tabIndex={-1}>
          <Boundary key={path}>
            <Suspense fallback={<Loading what="the page" />}>
              {who === undefined ? <Loading what="your session" /> : page}
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

function useConnection(asking: boolean): void {
  useEffect(() => {
    if (!asking) return;
    const ask = () => void loadSession().catch(() => undefined);
    ask();
    const timer = window.setInterval(ask, retryMs);
    return () => {
      window.clearInterval(timer);
    };
  }, [asking]);
}
