/** What items cover, as one row: how many, and where and when, as collections keep it. */
export function coverageText(condition: string): string {
  return `WITH covered AS (
  SELECT box, box_beyond, starts_at, ends_at FROM dagapp.stac_items AS items WHERE ${condition}
), pieces AS (
  SELECT (box[1])[0] AS west, (box[1])[1] AS south, (box[0])[0] AS east, (box[0])[1] AS north
  FROM covered
  UNION ALL
  SELECT (box_beyond[1])[0], (box_beyond[1])[1], (box_beyond[0])[0], (box_beyond[0])[1]
  FROM covered WHERE box_beyond IS NOT NULL
), measured AS (
  SELECT min(west) FILTER (WHERE west < 0) AS western_west,
    max(least(east, 0)) FILTER (WHERE west < 0) AS western_east,
    min(greatest(west, 0)) FILTER (WHERE east >= 0) AS eastern_west,
    max(east) FILTER (WHERE east >= 0) AS eastern_east,
    min(south) AS south, max(north) AS north
  FROM pieces
), spanned AS (
  SELECT count(*) AS item_count, min(starts_at) AS starts_at, max(ends_at) AS ends_at FROM covered
)
SELECT item_count, CASE WHEN item_count > 0 THEN jsonb_build_object(
  'western', CASE WHEN western_west IS NOT NULL
    THEN jsonb_build_array(western_west, western_east) END,
  'eastern', CASE WHEN eastern_west IS NOT NULL
    THEN jsonb_build_array(eastern_west, eastern_east) END,
  'south', south, 'north', north,
  'start', to_char(starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'end', to_char(ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) END AS coverage
FROM measured, spanned`;
}
