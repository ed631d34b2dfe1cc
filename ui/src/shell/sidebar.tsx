import { Link } from "wouter";
import type { IconName } from "../shared/icon.tsx";
import { Icon } from "../shared/icon.tsx";

const entries: readonly { to: string; icon: IconName; label: string; also?: readonly string[] }[] =
  [
    { to: "/", icon: "home", label: "Dashboard" },
    { to: "/jobs", icon: "jobs", label: "Jobs" },
    { to: "/nodes", icon: "stack", label: "Nodes" },
    { to: "/tasks", icon: "play", label: "Tasks" },
    { to: "/workflows", icon: "workflow", label: "Workflows", also: ["/validate"] },
    { to: "/handlers", icon: "plug", label: "Handlers" },
    { to: "/assets", icon: "layers", label: "Assets", also: ["/review"] },
    { to: "/catalogue", icon: "map", label: "Catalogue" },
    { to: "/h3", icon: "hexagon", label: "H3" },
    { to: "/lineage", icon: "fork", label: "Lineage" },
    { to: "/storage", icon: "stack", label: "Storage" },
    { to: "/fleet", icon: "fleet", label: "Fleet" },
    { to: "/access", icon: "key", label: "Access" },
  ];

export function Sidebar({ path }: { path: string }) {
  return (
    <nav className="sidebar" aria-label="Main">
      <Link to="/" className="brand" aria-label="rmhdag, dashboard">
        <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden>
          <rect width="32" height="32" rx="7" className="brand-ground" />
          <path d="M8 9h5m0 0 6 7m-6-7 6 14M19 16h5M19 23h5" className="brand-lines" />
          <circle cx="8" cy="9" r="3" className="brand-dot" />
          <circle cx="24" cy="16" r="3" className="brand-dot" />
          <circle cx="24" cy="23" r="3" className="brand-end" />
        </svg>
        <span>rmhdag</span>
      </Link>
      <ul>
        {entries.map(({ to, icon, label, also = [] }) => {
          const isHere =
            to === "/"
              ? path === "/"
              : [to, ...also].some((start) => path === start || path.startsWith(`${start}/`));
          return (
            <li key={to}>
              <Link to={to} aria-current={isHere ? "page" : undefined}>
                <Icon name={icon} />
                <span>{label}</span>
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
