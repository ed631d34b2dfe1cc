-- To whom the items and collections of the catalogue belong. An item belongs to the version of an asset
-- whose job made it, or is the operator's own. An item without an owner is shown to curators only.

ALTER TABLE dagapp.stac_collections
  -- The platform whose items may join; operators may add items to every collection.
  ADD COLUMN platform_id  text REFERENCES dagapp.platforms,
  ADD COLUMN is_operators boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT collection_of_one_owner CHECK (NOT is_operators OR platform_id IS NULL);

ALTER TABLE dagapp.stac_items
  ADD COLUMN asset_id        text,
  ADD COLUMN version_ordinal integer,
  ADD COLUMN is_operators    boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT item_of_one_owner CHECK (NOT is_operators OR asset_id IS NULL),
  ADD CONSTRAINT item_of_a_version CHECK ((asset_id IS NULL) = (version_ordinal IS NULL)),
  ADD CONSTRAINT stac_items_version
    FOREIGN KEY (asset_id, version_ordinal) REFERENCES dagapp.asset_versions;
CREATE INDEX stac_items_by_version
  ON dagapp.stac_items (asset_id, version_ordinal) WHERE asset_id IS NOT NULL;
CREATE INDEX stac_items_governed ON dagapp.stac_items (collection_id) WHERE NOT is_operators;

-- The items that each revision of a version made. The transaction that ends the revision's job copies
-- them to stac_items; a rollback copies those of an earlier revision again.
CREATE TABLE dagapp.stac_revision_items (
  asset_id        text NOT NULL,
  version_ordinal integer NOT NULL,
  revision        integer NOT NULL,
  collection_id   text NOT NULL REFERENCES dagapp.stac_collections,
  item_id         text NOT NULL,
  item            jsonb NOT NULL,
  box             box NOT NULL,
  box_beyond      box,
  starts_at       timestamptz NOT NULL,
  ends_at         timestamptz NOT NULL,
  paths           text[] NOT NULL DEFAULT '{}',
  tables          text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (asset_id, version_ordinal, revision, collection_id, item_id),
  FOREIGN KEY (asset_id, version_ordinal, revision) REFERENCES dagapp.asset_revisions
);
CREATE INDEX stac_revision_items_by_path ON dagapp.stac_revision_items USING gin (paths);
CREATE INDEX stac_revision_items_by_table ON dagapp.stac_revision_items USING gin (tables);

-- Collections of operators, or of other platforms, that the items of this platform may join.
ALTER TABLE dagapp.platforms ADD COLUMN collections text[] NOT NULL DEFAULT '{}';

-- Owners of the items that are there. Each source that names a version counts; where two sources name
-- two versions, the item keeps no owner.
WITH RECURSIVE version_jobs AS (
  SELECT job_id, asset_id, version_ordinal FROM dagapp.asset_jobs
  UNION
  SELECT job.job_id, made.asset_id, made.version_ordinal
  FROM version_jobs made JOIN dagapp.dag_jobs job ON job.rerun_of = made.job_id
), item_jobs AS MATERIALIZED (
  -- Files lie in the folder of the job that wrote them.
  SELECT i.collection_id, i.item_id, split_part(path, '/', 2) AS job_id
  FROM dagapp.stac_items i, unnest(i.paths) AS path
  WHERE EXISTS (SELECT FROM dagapp.dag_jobs j WHERE j.job_id = split_part(path, '/', 2))
     OR EXISTS (SELECT FROM dagapp.asset_jobs j WHERE j.job_id = split_part(path, '/', 2))
  UNION
  SELECT i.collection_id, i.item_id, t.job_id
  FROM dagapp.stac_items i, unnest(i.tables) AS name
  JOIN dagapp.geo_tables t ON t.table_name = name
  WHERE t.job_id IS NOT NULL
  UNION
  -- The nodes that registered items have answered with their ids.
  SELECT i.collection_id, i.item_id, n.job_id
  FROM dagapp.dag_node_states n
  CROSS JOIN LATERAL jsonb_array_elements_text(
    CASE WHEN jsonb_typeof(n.output -> 'item_ids') = 'array' THEN n.output -> 'item_ids'
      ELSE jsonb_build_array(n.output -> 'item_id') END) AS made
  JOIN dagapp.stac_items i
    ON i.collection_id = n.output ->> 'collection_id' AND i.item_id = made
  WHERE n.handler IN
    ('raster.stac_register_item', 'raster.stac_register_items', 'vector_create_stac')
), told AS (
  SELECT collection_id, item_id, asset_id, version_ordinal
  FROM item_jobs JOIN version_jobs USING (job_id)
  UNION
  SELECT i.collection_id, i.item_id, r.asset_id, r.version_ordinal
  FROM dagapp.stac_items i JOIN dagapp.requests r ON r.request_id = i.request_id
  UNION
  SELECT i.collection_id, i.item_id, r.asset_id, r.version_ordinal
  FROM dagapp.stac_items i JOIN dagapp.asset_revisions r
    ON r.stac_collection_id = i.collection_id AND r.stac_item_id = i.item_id
), owned AS (
  SELECT collection_id, item_id, min(asset_id) AS asset_id, min(version_ordinal) AS version_ordinal
  FROM told GROUP BY collection_id, item_id HAVING count(*) = 1
  UNION ALL
  -- The operator's own: jobs without a request made it, and it names no request.
  SELECT i.collection_id, i.item_id, NULL, NULL FROM dagapp.stac_items i
  WHERE i.request_id IS NULL
    AND EXISTS (SELECT FROM item_jobs j
      WHERE j.collection_id = i.collection_id AND j.item_id = i.item_id)
    AND NOT EXISTS (SELECT FROM told t
      WHERE t.collection_id = i.collection_id AND t.item_id = i.item_id)
)
UPDATE dagapp.stac_items i SET
  asset_id = owned.asset_id, version_ordinal = owned.version_ordinal,
  is_operators = owned.asset_id IS NULL
FROM owned WHERE owned.collection_id = i.collection_id AND owned.item_id = i.item_id;

INSERT INTO dagapp.stac_revision_items
SELECT i.asset_id, i.version_ordinal, r.revision, i.collection_id, i.item_id, i.item, i.box,
  i.box_beyond, i.starts_at, i.ends_at, i.paths, i.tables
FROM dagapp.stac_items i
JOIN dagapp.asset_versions v USING (asset_id, version_ordinal)
-- The current revision too: its job may have registered its item and not have ended.
JOIN dagapp.asset_revisions r ON r.asset_id = v.asset_id AND r.version_ordinal = v.version_ordinal
  AND r.revision IN (v.served_revision, v.revision);

WITH owned AS (
  SELECT i.collection_id, min(a.platform_id) AS platform_id,
    count(DISTINCT a.platform_id) AS platforms,
    bool_and(i.asset_id IS NOT NULL) AS all_governed, bool_and(i.is_operators) AS all_operators
  FROM dagapp.stac_items i LEFT JOIN dagapp.geospatial_assets a USING (asset_id)
  GROUP BY i.collection_id
)
UPDATE dagapp.stac_collections c SET
  platform_id = CASE WHEN owned.platforms = 1 AND owned.all_governed
    THEN owned.platform_id END,
  is_operators = owned.all_operators
FROM owned WHERE owned.collection_id = c.collection_id;
