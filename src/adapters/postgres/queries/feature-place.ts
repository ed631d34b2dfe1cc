import type { Bbox } from "../../../core/geometry/geometry.ts";
import type { Conditions } from "./conditions.ts";
import type { GeoTable } from "./geo-tables.ts";

/**
 * Features in a box; west is greater than east across the antimeridian. With PostGIS a feature must
 * really touch the box, and otherwise its own box must.
 */
export function boundsCondition(
  { form }: Pick<GeoTable, "form">,
  [west, south, east, north]: Bbox,
  conditions: Conditions,
): string {
  if (west > east) {
    const parts = (
      [
        [west, south, 180, north],
        [-180, south, east, north],
      ] as const
    ).map((part) => boundsCondition({ form }, part, conditions));
    return `(${parts.join(" OR ")})`;
  }
  const number = (value: number) => `${conditions.value(value)}::double precision`;
  if (form === "postgis") {
    const corners = [west, south, east, north].map(number).join(", ");
    return `ST_Intersects(geom, ST_MakeEnvelope(${corners}, 4326))`;
  }
  const corner = (x: number, y: number) => `point(${number(x)}, ${number(y)})`;
  return `bounds && box(${corner(east, north)}, ${corner(west, south)})`;
}
