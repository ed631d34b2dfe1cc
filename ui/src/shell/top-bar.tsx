import { useState } from "react";
import { session, signOut } from "../shared/api.ts";
import { useStore } from "../shared/store.ts";
import { theme, toggleTheme } from "../shared/theme.ts";
import { forgetAll } from "../shared/query-client.ts";
import { navigate } from "../shared/navigation.tsx";
import { Icon } from "../shared/icon.tsx";
import { say } from "../shared/toast.tsx";

export function TopBar({ onHelp }: { onHelp: () => void }) {
  const [text, setText] = useState("");
  const who = useStore(session);
  const look = useStore(theme);
  return (
    <div className="top-bar">
      <form
        role="search"
        className="search"
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = text.trim();
          if (wanted !== "") navigate(`/jobs?search=${encodeURIComponent(wanted)}`);
        }}
      >
        <Icon name="search" />
        <input
          id="search"
          type="search"
          placeholder="Job, request, workflow or error"
          aria-label="Search jobs"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
          }}
        />
        <kbd aria-hidden>/</kbd>
      </form>
      <div className="top-bar-end">
        <button
          type="button"
          className="button quiet"
          aria-label={look === "dark" ? "Use the light theme" : "Use the dark theme"}
          title="Light or dark (t)"
          onClick={toggleTheme}
        >
          <Icon name={look === "dark" ? "sun" : "moon"} />
        </button>
        <button
          type="button"
          className="button quiet"
          aria-label="Keys"
          title="Keys (?)"
          onClick={onHelp}
        >
          <Icon name="help" />
        </button>
        {typeof who?.name === "string" ? (
          <span className="who" title={`May: ${who.access.join(", ")}`}>
            {who.name}
            {who.name === "loopback" ? null : (
              <button
                type="button"
                className="button quiet"
                onClick={() => {
                  forgetAll();
                  void signOut().then(() => {
                    if (session.get()?.name !== null) {
                      say("A proxy in front of this server signs you in: sign out there.", "bad");
                    }
                  });
                }}
              >
                Sign out
              </button>
            )}
          </span>
        ) : null}
      </div>
    </div>
  );
}
