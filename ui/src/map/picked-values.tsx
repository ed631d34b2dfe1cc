import { isJsonObject } from "../../../src/core/model/json.ts";
import { Card } from "../shared/page.tsx";
import { attributesOf } from "./attributes.ts";

/** The values or attributes at the point that was clicked on a map, one row each. */
export function PickedValues({ values }: { values: unknown }) {
  return (
    <Card title="Values at a point">
      {values === undefined ? (
        <p className="dim">Click on the layer to read its values or attributes.</p>
      ) : isJsonObject(values) ? (
        <div className="table-box" tabIndex={0}>
          <table className="attributes" aria-label="Values">
            <tbody>
              {attributesOf(values).map(([name, value]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>{value}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <p role="status">{typeof values === "string" ? values : JSON.stringify(values)}</p>
      )}
    </Card>
  );
}
