-- Programs from 18 on can live with this schema.
-- Each written item looks its references up by index. The plan of a join was made while the table was
-- empty and kept: it read all references of the catalogue once for every item.

CREATE OR REPLACE FUNCTION dagapp.trace_written_items() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  DELETE FROM dagapp.dag_dataset_refs WHERE ctid = ANY (ARRAY(
    SELECT known.ctid FROM written CROSS JOIN LATERAL (
      SELECT ref.ctid FROM dagapp.dag_dataset_refs ref
      WHERE ref.target_kind = 'item' AND ref.relation = 'described_by'
        AND ref.target_id = written.collection_id || '/' || written.item_id
      -- Keeps the order: for each item, its references.
      OFFSET 0
    ) AS known
  ));
  INSERT INTO dagapp.dag_blob_assets (path, job_id)
  SELECT path, dagapp.job_of_path(path)
  FROM (SELECT DISTINCT unnest(paths) AS path FROM written ORDER BY path) AS files
  ON CONFLICT (path) DO UPDATE SET gone_at = NULL WHERE dag_blob_assets.gone_at IS NOT NULL;
  INSERT INTO dagapp.dag_dataset_refs (source_kind, source_id, target_kind, target_id, relation)
  WITH item AS (
    SELECT collection_id || '/' || item_id AS name, paths, tables,
      item #>> '{properties,rmhdag:derived_from}' AS made_of,
      asset_id || '/' || version_ordinal AS version
    FROM written
  ), file AS (
    SELECT name, made_of, path, dagapp.job_of_path(path) AS made_by
    FROM item CROSS JOIN LATERAL unnest(paths) AS path
  ), layer AS (
    SELECT name, made_of, layer FROM item CROSS JOIN LATERAL unnest(tables) AS layer
  )
  SELECT * FROM (
    SELECT 'file', path, 'item', name, 'described_by' FROM file
    UNION ALL SELECT 'file', made_of, 'file', path, 'made_into' FROM file
    UNION ALL SELECT 'job', made_by, 'file', path, 'wrote' FROM file
    UNION ALL SELECT 'file', made_of, 'job', made_by, 'read_by' FROM file
    UNION ALL SELECT 'table', layer, 'item', name, 'described_by' FROM layer
    UNION ALL SELECT 'file', made_of, 'table', layer, 'made_into' FROM layer
    UNION ALL SELECT 'item', name, 'version', version, 'part_of' FROM item
  ) AS ref (source_kind, source_id, target_kind, target_id, relation)
  WHERE source_id IS NOT NULL AND target_id IS NOT NULL
    AND (source_kind, source_id) <> (target_kind, target_id)
  ORDER BY source_kind, source_id, target_kind, target_id
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

-- Every write searches these indexes for the owners of its files, and a search reads the list of entries
-- that are not sorted in yet, up to 4 MB. Entries are sorted in at once instead.
ALTER INDEX dagapp.stac_items_by_path SET (fastupdate = off);
ALTER INDEX dagapp.stac_items_by_table SET (fastupdate = off);
ALTER INDEX dagapp.stac_revision_items_by_path SET (fastupdate = off);
ALTER INDEX dagapp.stac_revision_items_by_table SET (fastupdate = off);
SELECT gin_clean_pending_list('dagapp.stac_items_by_path'),
  gin_clean_pending_list('dagapp.stac_items_by_table'),
  gin_clean_pending_list('dagapp.stac_revision_items_by_path'),
  gin_clean_pending_list('dagapp.stac_revision_items_by_table');
