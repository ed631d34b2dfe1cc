-- What the platform knows of files, and what was made of what. The catalogue and the versions write
-- these rows by triggers, in the transaction that makes an item or an export: no writer can forget it.

CREATE TABLE dagapp.dag_blob_assets (
  path     text PRIMARY KEY CHECK (path ~ '^[a-z]+/.'),
  zone     text NOT NULL GENERATED ALWAYS AS (split_part(path, '/', 1)) STORED,
  bytes    bigint CHECK (bytes >= 0),
  -- The task that wrote it, if a task of ours did.
  job_id   text,
  node_id  text,
  known_at timestamptz NOT NULL DEFAULT now(),
  -- When it was last written, or found in storage.
  seen_at  timestamptz NOT NULL DEFAULT now(),
  gone_at  timestamptz
);
CREATE INDEX dag_blob_assets_present ON dagapp.dag_blob_assets (zone, path) WHERE gone_at IS NULL;
CREATE INDEX dag_blob_assets_by_job ON dagapp.dag_blob_assets (job_id) WHERE job_id IS NOT NULL;

-- The target was made of the source, or belongs to it. Names by kind: the path of a file, the name of a
-- table, collection/item, asset/ordinal, the id of a job.
CREATE TABLE dagapp.dag_dataset_refs (
  source_kind text NOT NULL CHECK (source_kind IN ('file', 'table', 'item', 'version', 'job')),
  source_id   text NOT NULL,
  target_kind text NOT NULL CHECK (target_kind IN ('file', 'table', 'item', 'version', 'job')),
  target_id   text NOT NULL,
  relation    text NOT NULL CHECK (relation IN
    ('read_by', 'wrote', 'made_into', 'described_by', 'part_of', 'exported_as')),
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (source_kind, source_id, target_kind, target_id, relation),
  CONSTRAINT not_of_itself CHECK ((source_kind, source_id) <> (target_kind, target_id))
);
CREATE INDEX dag_dataset_refs_by_target ON dagapp.dag_dataset_refs (target_kind, target_id);

CREATE FUNCTION dagapp.add_dataset_ref(
  source_kind text, source_id text, target_kind text, target_id text, relation text
) RETURNS void LANGUAGE sql AS $$
  INSERT INTO dagapp.dag_dataset_refs (source_kind, source_id, target_kind, target_id, relation)
  SELECT $1, $2, $3, $4, $5
  WHERE $2 IS NOT NULL AND $4 IS NOT NULL AND ($1, $2) <> ($3, $4)
  ON CONFLICT DO NOTHING
$$;

-- The job in whose folder a file lies, if there is such a job: silver/{job}/{node}/….
CREATE FUNCTION dagapp.job_of_path(path text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT job_id::text FROM dagapp.dag_jobs WHERE job_id = split_part(path, '/', 2)
$$;

-- An item as one thing of lineage: its files, its tables, their source, the job, and the version.
CREATE FUNCTION dagapp.trace_item(
  collection_id text, item_id text, item jsonb, paths text[], tables text[],
  asset_id text, version_ordinal integer
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  name     text := collection_id || '/' || item_id;
  made_of  text := item #>> '{properties,rmhdag:derived_from}';
  each     text;
  made_by  text;
BEGIN
  DELETE FROM dagapp.dag_dataset_refs ref
  WHERE ref.target_kind = 'item' AND ref.target_id = name AND ref.relation = 'described_by';
  FOREACH each IN ARRAY paths LOOP
    made_by := dagapp.job_of_path(each);
    INSERT INTO dagapp.dag_blob_assets (path, job_id) VALUES (each, made_by)
    ON CONFLICT (path) DO UPDATE SET gone_at = NULL
    WHERE dag_blob_assets.gone_at IS NOT NULL;
    PERFORM dagapp.add_dataset_ref('file', each, 'item', name, 'described_by');
    PERFORM dagapp.add_dataset_ref('file', made_of, 'file', each, 'made_into');
    PERFORM dagapp.add_dataset_ref('job', made_by, 'file', each, 'wrote');
    PERFORM dagapp.add_dataset_ref('file', made_of, 'job', made_by, 'read_by');
  END LOOP;
  FOREACH each IN ARRAY tables LOOP
    PERFORM dagapp.add_dataset_ref('table', each, 'item', name, 'described_by');
    PERFORM dagapp.add_dataset_ref('file', made_of, 'table', each, 'made_into');
  END LOOP;
  IF asset_id IS NOT NULL THEN
    PERFORM dagapp.add_dataset_ref(
      'item', name, 'version', asset_id || '/' || version_ordinal, 'part_of');
  END IF;
END $$;

CREATE FUNCTION dagapp.trace_written_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM dagapp.trace_item(NEW.collection_id, NEW.item_id, NEW.item, NEW.paths, NEW.tables,
    NEW.asset_id, NEW.version_ordinal);
  RETURN NULL;
END $$;
CREATE TRIGGER trace_written_item
  AFTER INSERT OR UPDATE OF item, paths, tables, asset_id, version_ordinal ON dagapp.stac_items
  FOR EACH ROW EXECUTE FUNCTION dagapp.trace_written_item();
CREATE TRIGGER trace_written_item
  AFTER INSERT OR UPDATE OF item, paths, tables ON dagapp.stac_revision_items
  FOR EACH ROW EXECUTE FUNCTION dagapp.trace_written_item();

-- A deleted item is forgotten as an item; that its files were made of their source stays true.
CREATE FUNCTION dagapp.forget_item() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  name text := OLD.collection_id || '/' || OLD.item_id;
BEGIN
  IF EXISTS (SELECT FROM dagapp.stac_items i
             WHERE (i.collection_id, i.item_id) = (OLD.collection_id, OLD.item_id))
    OR EXISTS (SELECT FROM dagapp.stac_revision_items i
               WHERE (i.collection_id, i.item_id) = (OLD.collection_id, OLD.item_id)) THEN
    RETURN NULL;
  END IF;
  DELETE FROM dagapp.dag_dataset_refs
  WHERE (source_kind, source_id) = ('item', name) OR (target_kind, target_id) = ('item', name);
  RETURN NULL;
END $$;
CREATE TRIGGER forget_item AFTER DELETE ON dagapp.stac_items
  FOR EACH ROW EXECUTE FUNCTION dagapp.forget_item();
CREATE TRIGGER forget_item AFTER DELETE ON dagapp.stac_revision_items
  FOR EACH ROW EXECUTE FUNCTION dagapp.forget_item();

CREATE FUNCTION dagapp.trace_export() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.external_blob_path IS NOT NULL THEN
    DELETE FROM dagapp.dag_dataset_refs
    WHERE target_kind = 'file' AND target_id = OLD.external_blob_path AND relation = 'exported_as';
    UPDATE dagapp.dag_blob_assets SET gone_at = now() WHERE path = OLD.external_blob_path;
  END IF;
  IF NEW.external_blob_path IS NOT NULL THEN
    INSERT INTO dagapp.dag_blob_assets (path, job_id)
    VALUES (NEW.external_blob_path, NEW.export_job_id)
    ON CONFLICT (path) DO UPDATE SET gone_at = NULL;
    PERFORM dagapp.add_dataset_ref(
      'file', NEW.blob_path, 'file', NEW.external_blob_path, 'exported_as');
    PERFORM dagapp.add_dataset_ref('version', NEW.asset_id || '/' || NEW.version_ordinal,
      'file', NEW.external_blob_path, 'exported_as');
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER trace_export AFTER UPDATE OF external_blob_path ON dagapp.asset_versions
  FOR EACH ROW WHEN (OLD.external_blob_path IS DISTINCT FROM NEW.external_blob_path)
  EXECUTE FUNCTION dagapp.trace_export();

-- What is published outside, over all assets.
CREATE VIEW dagapp.dag_promoted AS
SELECT v.asset_id, a.platform_id, v.version_ordinal, v.version_label, v.exported_revision AS revision,
  v.external_blob_path, v.adf_run_id, v.export_job_id, v.updated_at
FROM dagapp.asset_versions v JOIN dagapp.geospatial_assets a USING (asset_id)
WHERE v.export_state = 'completed' AND v.deleted_at IS NULL;

-- Items and exports that are there already.
SELECT dagapp.trace_item(collection_id, item_id, item, paths, tables, asset_id, version_ordinal)
FROM dagapp.stac_items;
SELECT dagapp.trace_item(collection_id, item_id, item, paths, tables, asset_id, version_ordinal)
FROM dagapp.stac_revision_items;
INSERT INTO dagapp.dag_blob_assets (path, job_id)
SELECT external_blob_path, export_job_id FROM dagapp.asset_versions
WHERE external_blob_path IS NOT NULL ON CONFLICT DO NOTHING;
SELECT dagapp.add_dataset_ref('version', asset_id || '/' || version_ordinal,
  'file', external_blob_path, 'exported_as')
FROM dagapp.asset_versions WHERE external_blob_path IS NOT NULL;
