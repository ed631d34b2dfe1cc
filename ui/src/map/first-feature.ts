import { errorText, getJson } from "../shared/api.ts";
import type { Picked } from "./map-view.tsx";

/** The attributes of a feature near a click, asked from the server: tiles leave out small features. */
export async function firstFeature(items: string, { near }: Picked): Promise<unknown> {
  const [west, south, east, north] = near;
  const box = [
    Math.max(west, -180),
    Math.max(south, -90),
    Math.min(east, 180),
    Math.min(north, 90),
  ].join(",");
  try {
    const found = (await getJson(
      `${items}${items.includes("?") ? "&" : "?"}limit=1&bbox=${box}`,
    )) as {
      readonly features?: readonly { readonly properties: unknown }[];
    };
    return found.features?.[0]?.properties ?? "There is no feature here.";
  } catch (error) {
    return errorText(error);
  }
}
