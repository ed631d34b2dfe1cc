import { useMemo, useState } from "react";
import type { MapLayer } from "../map/layer.ts";
import { PickedValues } from "../map/picked-values.tsx";
import { SwipeMap } from "../map/swipe.tsx";
import { useTiles } from "../map/use-tiles.ts";
import { setSearchParams, useSearchParams } from "../shared/navigation.ts";
import { Card } from "../shared/page.tsx";
import type { Run } from "./datasets.ts";

type Shown = Run & { readonly collection_id: string; readonly item_id: string };

/** Two data sets as hexagons beside each other, with the values of the cell that is clicked. */
export function CompareDatasets({ runs }: { runs: readonly Run[] }) {
  const query = useSearchParams();
  const shown = newestOf(runs);
  const left = shown.find((each) => keyOf(each) === query.get("left"));
  const right = shown.find((each) => keyOf(each) === query.get("right"));
  if (shown.length === 0) return null;
  return (
    <Card title="Compare">
      <div className="stack">
        <div className="filters">
          <Choice name="left" label="Left" shown={shown} chosen={left} />
          <Choice name="right" label="Right" shown={shown} chosen={right} />
        </div>
        {left === undefined || right === undefined ? (
          <p className="dim">Choose two data sets, or one data set of two periods.</p>
        ) : (
          <Compared key={`${keyOf(left)} ${keyOf(right)}`} left={left} right={right} />
        )}
      </div>
    </Card>
  );
}

function Compared({ left, right }: { left: Shown; right: Shown }) {
  const [picked, setPicked] = useState<unknown>();
  const [lower, upper] = [useTiles(tilesOf(left)), useTiles(tilesOf(right))];
  const before = useLayers("left", lower.data);
  const after = useLayers("right", upper.data);
  const pick = ({ properties: [cell] }: { readonly properties: readonly object[] }) => {
    setPicked(cell ?? "There is no cell here.");
  };
  return (
    <>
      <SwipeMap
        before={{ name: nameOf(left), layers: before, onPick: pick }}
        after={{ name: nameOf(right), layers: after, onPick: pick }}
        bounds={upper.data?.bounds}
      />
      <PickedValues values={picked} />
    </>
  );
}

function useLayers(id: string, tilejson: ReturnType<typeof useTiles>["data"]): MapLayer[] {
  return useMemo(() => (tilejson == null ? [] : [{ kind: "tiles", id, tilejson }]), [id, tilejson]);
}

function Choice(props: {
  name: "left" | "right";
  label: string;
  shown: readonly Shown[];
  chosen: Shown | undefined;
}) {
  const { name, label, shown, chosen } = props;
  return (
    <label className="field">
      <span>{label}</span>
      <select
        value={chosen === undefined ? "" : keyOf(chosen)}
        onChange={(event) => {
          setSearchParams({ [name]: event.target.value === "" ? undefined : event.target.value });
        }}
      >
        <option value="">none</option>
        {shown.map((each) => (
          <option key={keyOf(each)} value={keyOf(each)}>
            {nameOf(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The newest finished run of each data set and period that the catalogue shows. */
function newestOf(runs: readonly Run[]): Shown[] {
  const newest = new Map<string, Shown>();
  for (const run of runs) {
    const { collection_id, item_id, status } = run;
    if (collection_id === null || item_id === null || status !== "completed") continue;
    const each = { ...run, collection_id, item_id };
    if (!newest.has(keyOf(each))) newest.set(keyOf(each), each);
  }
  return [...newest.values()];
}

const keyOf = ({ raster, period }: Run) => `${raster}/${period}`;
const nameOf = ({ raster, period }: Run) => (period === "static" ? raster : `${raster} ${period}`);

function tilesOf({ collection_id, item_id }: Shown): string {
  const [collection, item] = [collection_id, item_id].map(encodeURIComponent);
  return `/stac/collections/${collection ?? ""}/items/${item ?? ""}/WebMercatorQuad/tilejson.json`;
}
