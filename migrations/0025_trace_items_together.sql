-- Programs from 18 on can live with this schema.
-- The lineage of items is written once for a statement, and not once for each of its items: that took
-- three quarters of the time in which a thousand items are written.

DROP TRIGGER trace_written_item ON dagapp.stac_items;
DROP TRIGGER trace_written_item ON dagapp.stac_revision_items;
DROP FUNCTION dagapp.trace_written_item();
DROP FUNCTION dagapp.trace_item(text, text, jsonb, text[], text[], text, integer);

-- Each written item as one thing of lineage: its files, its tables, their source, the job, the version.
-- The plans are kept for as long as a connection lives, so they must not be those of small tables.
CREATE FUNCTION dagapp.trace_written_items() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  DELETE FROM dagapp.dag_dataset_refs ref USING written
  WHERE ref.target_kind = 'item' AND ref.target_id = written.collection_id || '/' || written.item_id
    AND ref.relation = 'described_by';
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

CREATE TRIGGER trace_inserted_items AFTER INSERT ON dagapp.stac_items
  REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION dagapp.trace_written_items();
CREATE TRIGGER trace_updated_items AFTER UPDATE ON dagapp.stac_items
  REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION dagapp.trace_written_items();
CREATE TRIGGER trace_inserted_items AFTER INSERT ON dagapp.stac_revision_items
  REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION dagapp.trace_written_items();
CREATE TRIGGER trace_updated_items AFTER UPDATE ON dagapp.stac_revision_items
  REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION dagapp.trace_written_items();
