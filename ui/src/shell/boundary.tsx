import type { ReactNode } from "react";
import { Component } from "react";
import { Notice } from "../shared/states.tsx";

/** A mistake in one page leaves the others usable, and shows no stack to anybody. */
export class Boundary extends Component<{ children: ReactNode }, { failed: boolean }> {
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
          That is a mistake in the page, not in your data. After an update of the server, loading
          again is enough.
        </p>
      </Notice>
    );
  }
}
