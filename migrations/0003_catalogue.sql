-- The STAC catalogue. An item is kept whole, as it was made; beside it stands what searches walk.

CREATE TABLE dagapp.stac_collections (
  collection_id text PRIMARY KEY,
  -- Without its extent, which follows from the items.
  collection    jsonb NOT NULL,
  -- What the items cover; absent as long as there are none.
  coverage      jsonb,
  item_count    integer NOT NULL DEFAULT 0 CHECK (item_count >= 0),
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE dagapp.stac_items (
  collection_id text NOT NULL REFERENCES dagapp.stac_collections,
  item_id       text NOT NULL,
  item          jsonb NOT NULL,
  -- What filters read: an item of some kilobytes would have to be unpacked for every condition.
  properties    jsonb NOT NULL GENERATED ALWAYS AS (item -> 'properties') STORED,
  -- Whose work it is, if a platform asked for it: who may see it follows from there.
  request_id    text GENERATED ALWAYS AS (item -> 'properties' ->> 'platform:request_id') STORED,
  -- Of the bounds; the second one where the antimeridian cuts them.
  box           box NOT NULL,
  box_beyond    box,
  starts_at     timestamptz NOT NULL,
  ends_at       timestamptz NOT NULL CHECK (ends_at >= starts_at),
  -- What the item stands on: files in storage, tables in schema geo.
  paths         text[] NOT NULL DEFAULT '{}',
  tables        text[] NOT NULL DEFAULT '{}',
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (collection_id, item_id)
);
-- The order of every search that asks for no other: the newest first.
CREATE INDEX stac_items_newest ON dagapp.stac_items (starts_at DESC, collection_id, item_id);
CREATE INDEX stac_items_newest_of_collection
  ON dagapp.stac_items (collection_id, starts_at DESC, item_id);
CREATE INDEX stac_items_by_request
  ON dagapp.stac_items (collection_id, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX stac_items_by_id ON dagapp.stac_items (item_id);
CREATE INDEX stac_items_by_box ON dagapp.stac_items USING gist (box);
CREATE INDEX stac_items_by_box_beyond
  ON dagapp.stac_items USING gist (box_beyond) WHERE box_beyond IS NOT NULL;
CREATE INDEX stac_items_by_path ON dagapp.stac_items USING gin (paths);
CREATE INDEX stac_items_by_table ON dagapp.stac_items USING gin (tables);

-- A property that should be a time may hold anything, and a search must not fail over one item.
CREATE FUNCTION dagapp.stac_moment(value jsonb) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE WHEN jsonb_typeof(value) = 'string' THEN (value #>> '{}')::timestamptz END;
EXCEPTION WHEN data_exception THEN
  RETURN NULL;
END $$;
