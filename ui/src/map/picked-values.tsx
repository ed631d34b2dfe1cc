import { JsonView } from "../shared/json-view.tsx";
import { Card } from "../shared/page.tsx";

/** What lies under a click on the map. */
export function PickedValues({ values }: { values: unknown }) {
  return (
    <Card title="What lies there">
      {values === undefined ? (
        <p className="dim">Click on the layer to read its values or attributes.</p>
      ) : (
        <JsonView value={values} label="values" />
      )}
    </Card>
  );
}
