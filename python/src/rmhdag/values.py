"""Values that are too large for a message: parameters hold references to them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import IO, Any, Callable

from ._errors import PermanentError

Fetch = Callable[[str, Path], None]


def is_reference(value: Any) -> bool:
    """Whether a value stands for another one, which is kept in storage."""
    return (
        isinstance(value, dict)
        and set(value) == {"$ref", "bytes", "sha256"}
        and str(value["$ref"]).startswith("results/")
    )


def load(value: Any, fetch: Fetch, folder: Callable[[], Path]) -> Any:
    """Replaces the references in a value by what they stand for."""
    if is_reference(value):
        file = fetch_value(value, fetch, folder())
        try:
            with open(file, encoding="utf-8") as opened:
                return json.load(opened)
        finally:
            file.unlink()
    if isinstance(value, dict):
        return {key: load(member, fetch, folder) for key, member in value.items()}
    if isinstance(value, list):
        return [load(member, fetch, folder) for member in value]
    return value


def write_json(value: Any, target: IO[bytes], fetch: Fetch, folder: Callable[[], Path]) -> None:
    """Writes the JSON of a value, and copies what is kept in storage without reading it whole."""
    if is_reference(value):
        file = fetch_value(value, fetch, folder())
        with open(file, "rb") as opened:
            while piece := opened.read(1024 * 1024):
                target.write(piece)
        file.unlink()
    elif isinstance(value, dict):
        for index, (key, member) in enumerate(value.items()):
            target.write(f"{'{' if index == 0 else ','}{json.dumps(key)}:".encode())
            write_json(member, target, fetch, folder)
        target.write(b"}" if value else b"{}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            target.write(b"[" if index == 0 else b",")
            write_json(member, target, fetch, folder)
        target.write(b"]" if value else b"[]")
    else:
        target.write(json.dumps(value).encode())


def fetch_value(reference: dict[str, Any], fetch: Fetch, folder: Path) -> Path:
    """Fetches what a reference stands for into a file, and checks it."""
    file = folder / f"value-{reference['sha256']}.json"
    fetch(reference["$ref"], file)
    digest = hashlib.sha256()
    with open(file, "rb") as opened:
        while piece := opened.read(1024 * 1024):
            digest.update(piece)
    if digest.hexdigest() == reference["sha256"]:
        return file
    file.unlink()
    text = f"{reference['$ref']} in storage does not have the hash {reference['sha256']}"
    raise PermanentError(text, "VALUE_DAMAGED")
