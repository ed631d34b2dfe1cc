"""Writes test/fixtures/vector/antimeridian/cases.json from the source package of the project antimeridian.

    pip download antimeridian==0.4.9 --no-binary :all: --no-deps -d /tmp/a && tar xzf /tmp/a/*.tar.gz -C /tmp/a
    python3 scripts/antimeridian-cases.py /tmp/a/antimeridian-0.4.9
"""

import json
import os
import sys

data = os.path.join(sys.argv[1], "tests", "data")
target = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "fixtures", "vector", "antimeridian", "cases.json")


def read(*parts):
    path = os.path.join(data, *parts)
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return json.load(file)


lines = []
for name in sorted(os.listdir(os.path.join(data, "input"))):
    case = {"name": name.removesuffix(".json"), "input": read("input", name), "expected": read("output", "flat", name)}
    lines.append(json.dumps(case, separators=(",", ":")))
with open(target, "w") as file:
    file.write("[\n" + ",\n".join(lines) + "\n]\n")
