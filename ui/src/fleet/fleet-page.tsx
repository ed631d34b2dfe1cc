import { CallbackAddresses } from "../platforms/callback-addresses.tsx";
import { Callbacks } from "../platforms/callbacks.tsx";
import { Keys } from "../platforms/keys.tsx";
import { Platforms } from "../platforms/platforms.tsx";
import { Page } from "../shared/page.tsx";
import { CurrentTasks } from "./current-tasks.tsx";
import { Orchestrators } from "./orchestrators.tsx";
import { Queues } from "./queues.tsx";
import { Workers } from "./workers.tsx";

export default function FleetPage() {
  return (
    <Page title="Fleet">
      <Orchestrators />
      <Workers />
      <Queues />
      <CurrentTasks />
      <Callbacks />
      <Platforms />
      <CallbackAddresses />
      <Keys />
    </Page>
  );
}
