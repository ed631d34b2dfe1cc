"""What a handler gets: its task, progress, checkpoints, logs and files."""

from __future__ import annotations

import logging
import math
import os
import shutil
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Iterator, Protocol

from . import values
from ._errors import Cancelled
from ._json import InvalidOutput, plain_object

log = logging.getLogger("rmhdag")


class Port(Protocol):
    """How a context reaches the orchestrator; tests have one of their own."""

    def progress(self, lease: str, percent: float, message: str | None) -> None: ...
    def checkpoint(self, lease: str, phase: str, data: dict[str, Any]) -> None: ...
    def log(self, lease: str, level: str, message: str, data: dict[str, Any] | None) -> None: ...
    def fetch(self, lease: str, path: str, target: Path) -> None: ...
    def put(self, lease: str, path: str, file: Path) -> None: ...


class Context:
    """Everything that a handler may use."""

    def __init__(self, task: dict[str, Any], port: Port) -> None:
        self.task_id: str = task["task_id"]
        self.job_id: str = task["job_id"]
        self.node_id: str = task["node_id"]
        self.attempt: int = task.get("attempt", 0)
        self.params: dict[str, Any] = task.get("params", {})
        self.timeout_seconds: float = task.get("timeout_seconds", 300)
        #: For the header ``traceparent`` of requests that the handler makes; None: not traced.
        self.trace_parent: str | None = task.get("trace_parent")
        self.metrics: dict[str, Any] = {}
        self.logger = logging.getLogger(f"rmhdag.task.{self.node_id}")
        self._lease: str = task["lease"]
        self._port = port
        self._saved: dict[str, Any] | None = task.get("checkpoint")
        self._stopped = threading.Event()
        self._cause = ""
        self._folder: Path | None = None

    @property
    def cancelled(self) -> bool:
        """True: stop soon. The task was cancelled, timed out or is another worker's by now."""
        return self._stopped.is_set()

    def check(self) -> None:
        """Raises ``Cancelled`` if the task is to stop; call it in long loops."""
        if self._stopped.is_set():
            raise Cancelled(self._cause)

    def stop(self, cause: str) -> None:
        """Called by the worker."""
        self._cause = self._cause or cause
        self._stopped.set()

    def sleep(self, seconds: float) -> None:
        """Waits, and raises ``Cancelled`` at once when the task is to stop."""
        self._stopped.wait(seconds)
        self.check()

    def progress(self, percent: float, message: str | None = None) -> None:
        """Shows how far the task is. Cheap: only the newest value is sent, with the next renewal."""
        self.check()
        # What the orchestrator would refuse would keep it from renewing the lease.
        if not math.isfinite(percent):
            return
        text = None if message is None else message[:1024]
        self._port.progress(self._lease, max(0.0, min(100.0, float(percent))), text)

    @property
    def checkpoint(self) -> dict[str, Any] | None:
        """The newest saved data of this node, also of an earlier attempt or another worker."""
        return None if self._saved is None else dict(self._saved.get("data", {}))

    @property
    def checkpoint_phase(self) -> str | None:
        return None if self._saved is None else str(self._saved.get("phase", ""))

    def save_checkpoint(self, phase: str, data: dict[str, Any]) -> None:
        """Saves data with which the next attempt starts."""
        self._port.checkpoint(self._lease, phase, data)
        self._saved = {"phase": phase, "data": data}
        self.check()

    def log(self, level: str, message: str, **data: Any) -> None:
        """Adds a line to the log of the task."""
        try:
            plain = plain_object(data, "data") if data else None
        except InvalidOutput as error:
            plain = {"not_json": str(error)}
        self._port.log(self._lease, level, message, plain)

    @property
    def work_dir(self) -> Path:
        """A folder of this task, removed after it."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="rmhdag-"))
        return self._folder

    @contextmanager
    def source(self, path: str) -> Iterator[Path]:
        """A local copy of an object in storage, such as ``bronze/a.tif``; removed afterwards."""
        local = Path(path)
        if local.is_absolute() and local.exists():
            yield local
            return
        file = self.work_dir / f"{time.monotonic_ns()}-{os.path.basename(path)}"
        self._port.fetch(self._lease, path, file)
        try:
            yield file
        finally:
            file.unlink(missing_ok=True)

    def load_params(self, streams: tuple[str, ...]) -> None:
        """Called by the worker: loads large parameters, except those that the handler streams."""
        for name, value in self.params.items():
            if name not in streams:
                self.params[name] = values.load(value, self._fetch, lambda: self.work_dir)

    @contextmanager
    def open(self, param: str) -> Iterator[IO[bytes]]:
        """The JSON of a parameter as a file. One named in ``streams`` is never whole in memory."""
        file = self.work_dir / f"{time.monotonic_ns()}-{param}.json"
        with open(file, "wb") as target:
            values.write_json(self.params[param], target, self._fetch, lambda: self.work_dir)
        try:
            with open(file, "rb") as opened:
                yield opened
        finally:
            file.unlink(missing_ok=True)

    def _fetch(self, path: str, target: Path) -> None:
        self._port.fetch(self._lease, path, target)

    def put(self, path: str, file: str | os.PathLike[str]) -> str:
        """Puts a local file into storage, such as ``silver/a.tif``, and answers its path."""
        self._port.put(self._lease, path, Path(file))
        return path

    def close(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


_levels = {10: "debug", 20: "info", 30: "warn", 40: "error", 50: "error"}


class LogHandler(logging.Handler):
    """Sends the lines of any logger to the log of the task that runs in this thread."""

    def __init__(self) -> None:
        super().__init__()
        self._current = threading.local()

    def enter(self, context: Context | None) -> None:
        self._current.context = context

    def emit(self, record: logging.LogRecord) -> None:
        context: Context | None = getattr(self._current, "context", None)
        if context is None or record.name == "rmhdag":
            return
        try:
            level = _levels.get(record.levelno // 10 * 10, "info")
            context.log(level, self.format(record))
        except Exception:  # noqa: BLE001 - a log line must not fail a task
            self.handleError(record)
