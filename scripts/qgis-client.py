"""QGIS as a client of the layers of `rmhdag demo`; qgis-client.js starts it.

    python3 qgis-client.py http://127.0.0.1:8000 TOKEN FOLDER

Every way into QGIS that docs/clients.md names is tried, and its picture is written to FOLDER. A layer
that does not open or draws nothing is a finding, and the exit code is then 1.
"""

import json
import os
import sys
import urllib.request
from urllib.parse import quote

url, token, folder = sys.argv[1:]
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QGIS_CUSTOM_CONFIG_PATH"] = os.path.join(folder, "profile")

from osgeo import gdal  # noqa: E402
from qgis.core import (  # noqa: E402
    QgsApplication,
    QgsAuthMethodConfig,
    QgsCoordinateReferenceSystem,
    QgsMapRendererParallelJob,
    QgsMapSettings,
    QgsPointXY,
    QgsRasterLayer,
    QgsRectangle,
    QgsSettings,
    QgsVectorLayer,
    QgsVectorTileLayer,
)
from qgis.PyQt.QtCore import QEventLoop, QSize  # noqa: E402
from qgis.PyQt.QtGui import QColor  # noqa: E402

application = QgsApplication([], True)
application.initQgis()
findings = []
# Python would free these while QGIS still uses them.
kept = []
items = f"{url}/stac/collections/demo/items"
world = QgsRectangle(-2e7, -1.5e7, 2e7, 1.5e7)
around_terrain = QgsRectangle(782000, 5915000, 822500, 5948000)


def expect(what, found, wanted):
    print(f"  {'good ' if found == wanted else 'WRONG'} {what}: {found}")
    if found != wanted:
        findings.append(what)


def sign(item):
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    request = urllib.request.Request(f"{items}/{item}/signed-addresses", b"{}", headers)
    return json.load(urllib.request.urlopen(request))


def draw(name, layer, extent):
    """The number of colours in the picture of the layer, on white."""
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setOutputSize(QSize(700, 500))
    settings.setDestinationCrs(QgsCoordinateReferenceSystem("EPSG:3857"))
    settings.setExtent(extent)
    settings.setBackgroundColor(QColor(255, 255, 255))
    job = QgsMapRendererParallelJob(settings)
    loop = QEventLoop()
    job.finished.connect(loop.quit)
    job.start()
    loop.exec_()
    image = job.renderedImage()
    image.save(os.path.join(folder, f"{name}.png"))
    return len({image.pixel(x, y) for x in range(0, 700, 5) for y in range(0, 500, 5)})


def show(name, layer, extent):
    expect(f"{name} opens", layer.isValid(), True)
    if layer.isValid():
        expect(f"{name} is drawn", draw(name, layer, extent) > 2, True)


def basic_authentication():
    """A configuration with any user name and the token as the password, and its id."""
    manager = QgsApplication.authManager()
    manager.setMasterPassword("of this run", True)
    config = QgsAuthMethodConfig("Basic")
    config.setName("rmhdag")
    config.setConfig("username", "any")
    config.setConfig("password", token)
    manager.storeAuthenticationConfig(config)
    return config.id()


def listed_layers(name, address, authentication):
    """The layers that the browser of QGIS lists below a connection to an OGC API."""
    settings = QgsSettings()
    settings.setValue(f"qgis/connections-wfs/{name}/url", address)
    settings.setValue(f"qgis/connections-wfs/{name}/version", "OGC_API_FEATURES")
    settings.setValue(f"qgis/WFS/{name}/authcfg", authentication)
    providers = QgsApplication.dataItemProviderRegistry().providers()
    root = next(each for each in providers if each.name() == "WFS").createDataItem("", None)
    root.populate(True)
    connections = root.children()
    connection = next(each for each in connections if each.name() == name)
    connection.populate(True)
    layers = connection.children()
    kept.append((root, connections, layers))
    return [(each.name(), each.uri()) for each in layers]


def try_features(name, address, authentication):
    layers = listed_layers(name, address, authentication)
    expect(f"layers of {name}", [title for title, _ in layers], ["Countries of the world"])
    layer = QgsVectorLayer(layers[0][1], name, "OAPIF")
    show(name, layer, world)
    expect(f"features of {name}", len(list(layer.getFeatures())), 177)
    layer.setSubsetString("\"name\" = 'France'")
    expect(f"filtered features of {name}", len(list(layer.getFeatures())), 1)


authcfg = basic_authentication()
borders, terrain = sign("borders"), sign("terrain")
xyz = "tiles/WebMercatorQuad/{z}/{x}/{y}"

try_features("ogc_basic", f"{url}/ogc", authcfg)
try_features("ogc_signed", borders["ogc"], "")

for name, tiles, more in (
    ("vector_tiles_basic", f"{items}/borders/{xyz}", f"&authcfg={authcfg}"),
    ("vector_tiles_signed", borders["tiles"], f"&styleUrl={borders['style']}"),
):
    layer = QgsVectorTileLayer(f"type=xyz&url={tiles}&zmin=0&zmax=14{more}", name)
    if "styleUrl" in more:
        expect(f"{name} has its style", layer.loadDefaultStyle()[1], True)
    show(name, layer, world)

wmts = "crs=EPSG:3857&format=image/png&layers=default&styles=default&tileMatrixSet=WebMercatorQuad"
for name, source in {
    "xyz_basic": f"type=xyz&url={quote(f'{items}/terrain/{xyz}', '{}')}&zmin=0&zmax=14&authcfg={authcfg}",
    "xyz_signed": f"type=xyz&url={quote(terrain['tiles'], '{}')}&zmin=0&zmax=14",
    "wmts_basic": f"{wmts}&url={quote(f'{items}/terrain/WMTSCapabilities.xml')}&authcfg={authcfg}",
    "wmts_signed": f"{wmts}&url={quote(terrain['wmts'])}",
}.items():
    show(name, QgsRasterLayer(source, name, "wms"), around_terrain)

signed = terrain["tiles"].removesuffix(f"/{xyz}")
for name, address in {"cog_signed": signed, "cog_basic": f"{items}/terrain"}.items():
    if name == "cog_basic":
        gdal.SetConfigOption("GDAL_HTTP_AUTH", "BASIC")
        gdal.SetConfigOption("GDAL_HTTP_USERPWD", f"any:{token}")
    layer = QgsRasterLayer(f"/vsicurl/{address}/assets/data", name, "gdal")
    show(name, layer, around_terrain)
    value, is_there = layer.dataProvider().sample(QgsPointXY(365000, 5200000), 1)
    expect(f"{name} has the value of the file", (is_there, round(value, 3)), (True, 1964.354))

# Without Python's own end, which crashes in QGIS.
sys.stdout.flush()
os._exit(1 if findings else 0)
