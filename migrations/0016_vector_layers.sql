-- Programs from 14 on can live with this schema.

-- For the list of vector layers, which are few among the items of rasters.
CREATE INDEX stac_items_of_features ON dagapp.stac_items (collection_id, item_id)
  WHERE tables <> '{}';
