import { Notice } from "../shared/states.tsx";
import { Link } from "../shared/navigation.tsx";

export function NotFound({ path }: { path: string }) {
  return (
    <Notice
      icon="search"
      title="There is no such page"
      action={
        <Link to="/" className="button">
          Go to the dashboard
        </Link>
      }
    >
      <p>
        Nothing is at <code>{path}</code>. Press <kbd>?</kbd> for the keys that lead to every page.
      </p>
    </Notice>
  );
}
