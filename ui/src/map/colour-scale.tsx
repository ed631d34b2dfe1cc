import type { HexagonLegend } from "../../../src/core/serving/hexagons.ts";
import { coloursOf } from "../../../src/core/serving/hexagons.ts";

const round = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

/** Which colour means which value: values beyond the range have the colours of its ends. */
export function ColourScale({ name, legend }: { name: string; legend: HexagonLegend }) {
  const [low, high] = legend.range.map((value) => round.format(value));
  const label = `${name}: ${legend.stat} from ${low ?? ""} to ${high ?? ""}`;
  return (
    <div className="colour-scale" role="img" aria-label={label}>
      <span>{legend.stat}</span>
      <span>{low}</span>
      <span
        className="colour-bar"
        style={{ background: `linear-gradient(to right, ${coloursOf(legend).join(", ")})` }}
      />
      <span>{high}</span>
    </div>
  );
}
