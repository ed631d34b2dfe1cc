import { useEffect } from "react";
import { useSearchParams } from "../shared/navigation.ts";
import { Loading, Notice } from "../shared/states.tsx";

/**
 * Goes on to an address outside of the console that needs a session. The server sends people here who
 * follow a link to a map without one: the console lets them sign in before it shows any page.
 */
export default function OpenPage() {
  const to = useSearchParams().get("to") ?? "";
  const isOurs = /^\/(?:tiles|stac)\/[^\\]*$/.test(to);
  useEffect(() => {
    if (isOurs) window.location.replace(to);
  }, [isOurs, to]);
  if (isOurs) return <Loading what="the map" />;
  return (
    <Notice icon="search" title="This link leads nowhere">
      <p>It must name a map of this server.</p>
    </Notice>
  );
}
