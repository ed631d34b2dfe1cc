"""What handlers return, log and save as JSON: also values of numpy, dates, paths, sets, dataclasses."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import os
from typing import Any, Iterator


def to_json(value: Any) -> bytes:
    """Raises ``ValueError`` for what JSON cannot hold, such as NaN."""
    try:
        return json.dumps(value, allow_nan=False, default=_plain).encode()
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


class InvalidOutput(Exception):
    """A handler gave what JSON cannot hold."""


def plain_object(value: Any, what: str) -> dict[str, Any]:
    """A mapping as JSON has it; an error here can still be reported, one while sending cannot."""
    try:
        plain = json.loads(to_json(value))
    except ValueError as error:
        raise InvalidOutput(f"the {what} of the handler is not JSON: {error}") from error
    if not isinstance(plain, dict):
        raise InvalidOutput(f"the {what} of the handler must be a dict, not {type(value).__name__}")
    return plain


def split_by_size(items: list[dict[str, Any]], most_bytes: int) -> Iterator[list[dict[str, Any]]]:
    """Parts of a batch that each fit into one request; an item larger than a part is alone."""
    part: list[dict[str, Any]] = []
    room = most_bytes
    for item in items:
        size = len(to_json(item))
        if part and size > room:
            yield part
            part, room = [], most_bytes
        part.append(item)
        room -= size
    if part:
        yield part


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (set, frozenset)):
        return list(value)
    # A model of pydantic; a number or an array of numpy.
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} is of type {type(value).__name__}, which JSON does not have")
