import { useMemo, useState } from "react";
import type { H3Computation } from "../../../src/core/h3/columns.ts";
import { columnsOf } from "../../../src/core/h3/columns.ts";
import { chooseStat, statsOf } from "../../../src/core/serving/hexagons.ts";
import { ColourScale } from "../map/colour-scale.tsx";
import type { MapLayer } from "../map/layer.ts";
import { PickedValues } from "../map/picked-values.tsx";
import { SwipeMap } from "../map/swipe.tsx";
import { useTiles } from "../map/use-tiles.ts";
import { setSearchParams, useSearchParams } from "../shared/navigation.ts";
import { Card } from "../shared/page.tsx";
import type { Run } from "./datasets.ts";

type Shown = Run & { readonly collection_id: string; readonly item_id: string };

/** A data set, and the column that colours its cells. */
interface Side {
  readonly run: Shown;
  readonly stat: string;
}

/** Two data sets as hexagons beside each other, with the values of the cell that is clicked. */
export function CompareDatasets({ runs }: { runs: readonly Run[] }) {
  const query = useSearchParams();
  const shown = newestOf(runs);
  const [left, right] = (["left", "right"] as const).map((name) => {
    const run = shown.find((each) => keyOf(each) === query.get(name));
    const stat = run === undefined ? undefined : statOf(run, query.get(`${name}_stat`));
    return run === undefined || stat === undefined ? undefined : { run, stat };
  });
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
          <Compared key={`${keyOf(left.run)} ${keyOf(right.run)}`} left={left} right={right} />
        )}
      </div>
    </Card>
  );
}

function Compared({ left, right }: { left: Side; right: Side }) {
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
        before={{ name: nameOf(left.run), detail: left.stat, layers: before, onPick: pick }}
        after={{ name: nameOf(right.run), detail: right.stat, layers: after, onPick: pick }}
        bounds={upper.data?.bounds}
      />
      <div className="colour-scales">
        <Scale side={left} tilejson={lower.data} />
        <Scale side={right} tilejson={upper.data} />
      </div>
      <PickedValues values={picked} />
    </>
  );
}

type Tiles = ReturnType<typeof useTiles>["data"];

function Scale({ side, tilejson }: { side: Side; tilejson: Tiles }) {
  if (tilejson?.legend === undefined) return <span />;
  return <ColourScale name={nameOf(side.run)} legend={tilejson.legend} />;
}

function useLayers(id: string, tilejson: Tiles): MapLayer[] {
  return useMemo(() => (tilejson == null ? [] : [{ kind: "tiles", id, tilejson }]), [id, tilejson]);
}

/** One side: its data set, and the statistics that this data set has. */
function Choice(props: {
  name: "left" | "right";
  label: string;
  shown: readonly Shown[];
  chosen: Side | undefined;
}) {
  const { name, label, shown, chosen } = props;
  const asked = useSearchParams().get(`${name}_stat`);
  const choose = (key: string) => {
    const run = shown.find((each) => keyOf(each) === key);
    const stats = run === undefined ? [] : statsOf(columnsIn(run));
    // The statistic stays if the other data set has it too.
    const stat = stats.find((each) => each === asked);
    setSearchParams({ [name]: key, [`${name}_stat`]: stat });
  };
  return (
    <>
      <label className="field">
        <span>{label}</span>
        <select
          value={chosen === undefined ? "" : keyOf(chosen.run)}
          onChange={(event) => {
            choose(event.target.value);
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
      {chosen !== undefined && (
        <label className="field">
          <span>{label} statistic</span>
          <select
            value={chosen.stat}
            onChange={(event) => {
              setSearchParams({ [`${name}_stat`]: event.target.value });
            }}
          >
            {statsOf(columnsIn(chosen.run)).map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}

/** The newest finished run of each data set and period that the catalogue shows, if it has numbers to colour by. */
function newestOf(runs: readonly Run[]): Shown[] {
  const newest = new Map<string, Shown>();
  for (const run of runs) {
    const { collection_id, item_id, status } = run;
    if (collection_id === null || item_id === null || status !== "completed") continue;
    if (statsOf(columnsIn(run)).length === 0) continue;
    const each = { ...run, collection_id, item_id };
    if (!newest.has(keyOf(each))) newest.set(keyOf(each), each);
  }
  return [...newest.values()];
}

const keyOf = ({ raster, period }: Run) => `${raster}/${period}`;
const nameOf = ({ raster, period }: Run) => (period === "static" ? raster : `${raster} ${period}`);

const columnsIn = (run: Run) => columnsOf(run as unknown as H3Computation);

/** The statistic that the address names, or the usual one where the data set has no such statistic. */
function statOf(run: Run, wanted: string | null): string | undefined {
  const columns = columnsIn(run);
  return chooseStat(columns, wanted ?? undefined) ?? chooseStat(columns, undefined);
}

function tilesOf({ run: { collection_id, item_id }, stat }: Side): string {
  const [collection, item] = [collection_id, item_id].map(encodeURIComponent);
  return `/stac/collections/${collection ?? ""}/items/${item ?? ""}/WebMercatorQuad/tilejson.json?stat=${stat}`;
}
