"""Runs a handler alone, for tests: ``run_handler(ndvi, red="a.tif", files={"bronze/a.tif": path})``."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Mapping

from .context import Context
from .handlers import Handler, registered
from .schema import bind
from .worker import run_function


@dataclass
class Ran:
    """What a handler did."""

    output: Any = None
    progress: list[tuple[float, str | None]] = field(default_factory=list)
    checkpoints: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)
    stored: dict[str, bytes] = field(default_factory=dict)


class _Recorder:
    def __init__(self, ran: Ran, files: Mapping[str, str | Path]) -> None:
        self._ran = ran
        self._files = files

    def progress(self, lease: str, percent: float, message: str | None) -> None:
        self._ran.progress.append((percent, message))

    def checkpoint(self, lease: str, phase: str, data: dict[str, Any]) -> None:
        self._ran.checkpoints.append((phase, data))

    def log(self, lease: str, level: str, message: str, data: dict[str, Any] | None) -> None:
        self._ran.lines.append((level, message))

    def fetch(self, lease: str, path: str, target: Path) -> None:
        if path in self._ran.stored:
            target.write_bytes(self._ran.stored[path])
        else:
            shutil.copyfile(self._files[path], target)

    def put(self, lease: str, path: str, file: Path) -> None:
        self._ran.stored[path] = file.read_bytes()


def run_handler(
    function: Callable[..., Any],
    *,
    files: Mapping[str, str | Path] | None = None,
    checkpoint: dict[str, Any] | None = None,
    attempt: int = 0,
    **params: Any,
) -> Ran:
    """Checks the parameters and runs the handler, as a worker does."""
    ran = Ran()
    found = [each for each in registered().values() if each.function is function]
    handler = found[0] if found else Handler("test.handler", function)
    task = {
        "task_id": "job_node_0",
        "job_id": "job",
        "node_id": "node",
        "attempt": attempt,
        "lease": "1.1",
        "params": params,
        "timeout_seconds": handler.timeout_seconds,
        "checkpoint": None if checkpoint is None else {"phase": "test", "data": checkpoint},
    }
    context = Context(task, _Recorder(ran, files or {}))
    try:
        context.load_params(handler.streams)
        ran.output = run_function(handler, context, bind(function, context.params), "threads")
        return ran
    finally:
        context.close()
