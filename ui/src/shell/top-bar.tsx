import { useState } from "react";
import { session, signOut } from "../shared/api.ts";
import { useStore } from "../shared/store.ts";
import { theme, toggleTheme } from "../shared/theme.ts";
import { navigate } from "../shared/navigation.ts";
import { Icon } from "../shared/icon.tsx";
import { showToast } from "../shared/toast.tsx";

export function TopBar({ onHelp }: { onHelp: () => void }) {
  const [text, setText] = useState("");
  const user = useStore(session);
  const look = useStore(theme);
  return (
    <div className="top-bar">
      <form
        role="search"
        className="search"
        onSubmit={(event) => {
          event.preventDefault();
          const search = text.trim();
          if (search !== "") navigate(`/jobs?search=${encodeURIComponent(search)}`);
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
        {typeof user?.name === "string" ? (
          <span className="who" title={`Access: ${user.access.join(", ")}`}>
            {user.name}
            {user.name === "loopback" ? null : (
              <button
                type="button"
                className="button quiet"
                onClick={() => {
                  void signOut().then(() => {
                    if (session.get()?.name !== null) {
                      showToast(
                        "A proxy in front of this server signs you in: sign out there.",
                        "bad",
                      );
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
