"""pystac-client against a catalogue: `stac-clients.js` starts it and fills it."""

import sys

from pystac_client import Client

url, token = sys.argv[1:]
client = Client.open(f"{url}/stac", headers={"authorization": f"Bearer {token}"})


def equal(name, found, expected):
    if found != expected:
        sys.exit(f"{name}: {found!r}, expected {expected!r}")
    print(f"  {name}: {found!r}")


equal("collections", sorted(each.id for each in client.get_collections()), ["alps", "written"])
found = client.collection_search(bbox=[7, 46, 8, 47], datetime="2024-05", q="alps", limit=5)
equal("collection search", [each.id for each in found.collections()], ["alps"])
search = client.search(collections=["alps"], limit=7)
equal("matched", search.matched(), 30)
equal("all pages", len(list(search.items())), 30)
clear = client.search(filter="eo:cloud_cover < 3", filter_lang="cql2-text", sortby="+id")
equal("filter", [each.id for each in clear.items()], ["scene-0", "scene-1", "scene-2"])
query = client.search(query={"platform": {"eq": "sentinel-2b"}}, datetime="2024-05-02/2024-05-05")
equal("query and time", sorted(each.id for each in query.items()), ["scene-1", "scene-3"])
point = {"type": "Point", "coordinates": [7.505, 46.5]}
equal("intersects", client.search(intersects=point).matched(), None)
equal("items that intersect", len(list(client.search(intersects=point).items())), 29)
fields = list(client.search(ids=["scene-4"], fields={"exclude": ["assets"]}).items_as_dicts())
equal("fields", "assets" in fields[0], False)
item = client.get_collection("alps").get_item("scene-3")
equal("one item", item.properties["eo:cloud_cover"], 3)
