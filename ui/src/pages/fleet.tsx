import { CurrentTasks } from "../fleet/current-tasks.tsx";
import { Deliveries } from "../fleet/deliveries.tsx";
import { Keys } from "../fleet/keys.tsx";
import { Orchestrators } from "../fleet/orchestrators.tsx";
import { Platforms } from "../fleet/platforms.tsx";
import { Queues } from "../fleet/queues.tsx";
import { Workers } from "../fleet/workers.tsx";
import { Page } from "../parts/page.tsx";

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
