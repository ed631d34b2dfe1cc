/** `silver/job/node/Terrain 1.tif` → `job-node-Terrain_1`: unique as the path is, and short enough. */
export function itemIdFor(path: string): string {
  const withoutZone = path.slice(path.indexOf("/") + 1);
  const stem = withoutZone.replace(/\.[A-Za-z0-9]{1,5}$/, "");
  const safe = stem.replaceAll("/", "-").replaceAll(/[^A-Za-z0-9_.-]/g, "_");
  return (
    safe
      .replace(/^[^A-Za-z0-9]+/, "")
      .slice(-200)
      .replace(/^[^A-Za-z0-9]+/, "") || "item"
  );
}
