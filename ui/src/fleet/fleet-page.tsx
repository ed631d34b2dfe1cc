import { CurrentTasks } from "./current-tasks.tsx";
import { Deliveries } from "../platforms/callbacks.tsx";
import { Keys } from "../platforms/keys.tsx";
import { Orchestrators } from "./orchestrators.tsx";
import { Platforms } from "../platforms/platforms.tsx";
import { Queues } from "./queues.tsx";
import { Workers } from "./workers.tsx";
import { Page } from "../shared/page.tsx";

export default function Fleet() {
  return (
    <Page title="Fleet">
      <Orchestrators />
      <Workers />
      <Queues />
      <CurrentTasks />
      <Deliveries />
      <Platforms />
      <Keys />
    </Page>
  );
}
