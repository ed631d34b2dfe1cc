import { PickedValues } from "../map/picked-values.tsx";
import { CopyId } from "../shared/copy.tsx";
import { Icon } from "../shared/icon.tsx";
import { JsonView } from "../shared/json-view.tsx";
import { Card } from "../shared/page.tsx";
import type { Item } from "./items.tsx";

export function ItemDetail({ item, base, picked }: { item: Item; base: string; picked: unknown }) {
  return (
    <div className="grid-2">
      <Card title={<CopyId id={item.id} what="Item id" />}>
        <div className="stack">
          <div className="row">
            {Object.entries(item.assets).map(([name, asset]) => (
              <a key={name} className="button" href={asset.href}>
                <Icon name="save" /> {asset.title ?? name}
              </a>
            ))}
            <a className="button" href={base}>
              <Icon name="out" /> STAC
            </a>
            <a className="button" href={`${base}/map`}>
              <Icon name="map" /> Map
            </a>
          </div>
          <JsonView value={item.properties} label="properties" />
        </div>
      </Card>
      <PickedValues values={picked} />
    </div>
  );
}
