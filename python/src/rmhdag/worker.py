"""A worker over HTTP: registers, leases, runs handlers, renews, reports."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import multiprocessing
import os
import platform
import random
import signal
import socket
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Iterable, TypeVar

from ._errors import Cancelled, HandlerError, TransientError
from ._http import ApiError, Http, refuse_plain_text, transfer
from ._json import InvalidOutput, plain_object, split_by_size, to_json
from .context import Context, LogHandler
from .handlers import Handler, registered
from .schema import bind

T = TypeVar("T")
log = logging.getLogger("rmhdag")
version = "0.1.0"

# The orchestrator refuses a request with log lines of more than 4 MiB as a whole.
most_log_bytes = 2 * 1024 * 1024
most_data_bytes = 16 * 1024


class Worker:
    """Runs handlers until it is stopped. ``mode`` is ``threads`` or ``processes``."""

    def __init__(
        self,
        handlers: Iterable[Handler] | None = None,
        *,
        url: str | None = None,
        token: str | None = None,
        worker_id: str | None = None,
        queues: Iterable[str] | None = None,
        concurrency: int = 1,
        mode: str = "threads",
        shutdown_seconds: float = 30.0,
    ) -> None:
        offered = list(registered().values() if handlers is None else handlers)
        if not offered:
            raise ValueError("there are no handlers: decorate a function with @handler(...)")
        if mode not in ("threads", "processes"):
            raise ValueError('mode must be "threads" or "processes"')
        self.handlers = {each.name: each for each in offered}
        self.queues = sorted(set(queues or (each.queue for each in offered)))
        self.concurrency = concurrency
        self.mode = mode
        self.shutdown_seconds = shutdown_seconds
        host = socket.gethostname()
        self.worker_id = worker_id or f"py-{host[:30]}-{os.getpid()}-{random.randrange(1 << 24):06x}"
        address = url or os.environ.get("RMHDAG_URL") or "http://127.0.0.1:8000"
        refuse_plain_text(address)
        self.http = Http(address, token or os.environ.get("RMHDAG_TOKEN"))
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._running: dict[str, Context] = {}
        self._progress: dict[str, dict[str, Any]] = {}
        self._lines: list[dict[str, Any]] = []
        self._sending_lines = threading.Lock()
        self._has_lines = threading.Event()
        self._lease_seconds = 30.0
        self._wake_renewal = threading.Event()
        self.log_handler = LogHandler()

    def stop(self) -> None:
        """Leases nothing more, tells running handlers to stop, and gives back what they leave."""
        self._stopping.set()
        self._wake_renewal.set()

    def run(self) -> None:
        """Works until ``stop``, SIGTERM or SIGINT."""
        if threading.current_thread() is threading.main_thread():
            for each in (signal.SIGTERM, signal.SIGINT):
                signal.signal(each, lambda *_: self.stop())
        logging.getLogger().addHandler(self.log_handler)
        try:
            self._retry(self._register)
            log.info("worker %s offers %s", self.worker_id, ", ".join(sorted(self.handlers)))
            for service in (self._renew_forever, self._send_lines_forever):
                threading.Thread(target=service, daemon=True).start()
            with ThreadPoolExecutor(self.concurrency, "rmhdag-task") as pool:
                self._lease_forever(pool)
                self._wait_for_tasks()
            self._flush_lines()
            self._leave()
        finally:
            logging.getLogger().removeHandler(self.log_handler)

    def _register(self) -> None:
        answer = self._post(
            "register",
            {
                "queues": self.queues,
                "slots": self.concurrency,
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "version": f"python {version} ({platform.python_version()})",
                "handlers": [each.contract() for each in self.handlers.values()],
            },
        )
        self._lease_seconds = float(answer["lease_seconds"])

    def _lease_forever(self, pool: ThreadPoolExecutor) -> None:
        slots = threading.Semaphore(self.concurrency)
        while not self._stopping.is_set():
            if not slots.acquire(timeout=0.5):
                continue
            free = 1
            while free < self.concurrency and slots.acquire(blocking=False):
                free += 1
            tasks: list[dict[str, Any]] = []
            try:
                body = {"max": free, "wait_seconds": 5}
                tasks = self._retry(lambda: self._post("lease", body))["tasks"]
            except ApiError as error:
                if error.is_refusal and not self._stopping.is_set():
                    raise
                # The orchestrator is away for long: a worker waits for it.
                log.debug("not leased: %s", error)
            for _ in range(free - len(tasks)):
                slots.release()
            for task in tasks:
                context = Context(task, self)
                with self._lock:
                    self._running[task["lease"]] = context
                self._wake_renewal.set()
                pool.submit(self._run_task, task, context, slots)

    def _run_task(self, task: dict[str, Any], context: Context, slots: threading.Semaphore) -> None:
        lease = task["lease"]
        try:
            if self._stopping.is_set():
                self._release(lease)
                return
            started = time.monotonic()
            result = self._execute(task, context)
            with self._lock:
                self._progress.pop(lease, None)
            if result is None:
                self._release(lease)
                return
            result["lease"] = lease
            result["execution_duration_ms"] = round((time.monotonic() - started) * 1000, 3)
            if context.metrics:
                try:
                    result["metrics"] = plain_object(context.metrics, "metrics")
                except InvalidOutput as error:
                    context.log("warn", str(error))
            # Renewed until the report is answered: its last lines may take longer than a lease.
            self._flush_lines()
            answer = self._report(result)
            if lease in answer["lost"]:
                log.warning("the report of %s came too late", context.task_id)
        except Exception:
            log.exception("the task %s could not be settled; its lease will run out", context.task_id)
        finally:
            with self._lock:
                self._running.pop(lease, None)
            context.close()
            slots.release()

    def _report(self, result: dict[str, Any]) -> Any:
        """A result that is refused, because it is too large, is reported as a failure instead."""
        try:
            return self._retry(lambda: self._post("report", {"results": [result]}))
        except ApiError as error:
            if not error.is_refusal or result["status"] == "failed":
                raise
            refused = {**failed(error.code, error.detail, "permanent"), "lease": result["lease"]}
            return self._retry(lambda: self._post("report", {"results": [refused]}))

    def _execute(self, task: dict[str, Any], context: Context) -> dict[str, Any] | None:
        """The result of a task; None: it was stopped from outside and is given back."""
        handler = self.handlers[task["handler"]]
        timer = threading.Timer(context.timeout_seconds, context.stop, ["timeout"])
        timer.daemon = True
        timer.start()
        self.log_handler.enter(context)
        try:
            context.load_params(handler.streams)
            params = bind(handler.function, context.params)
            output = run_function(handler, context, params, self.mode)
            if output is None:
                output = {}
            return {"status": "completed", "output": plain_object(output, "output")}
        except Cancelled as stopped:
            if stopped.cause != "timeout":
                return None
            text = f"the task took longer than its {context.timeout_seconds:g} s"
            return failed("TIMEOUT", text, "transient")
        except InvalidOutput as error:
            return failed("OUTPUT_INVALID", str(error), "permanent")
        except HandlerError as error:
            return failed(error.code, str(error), error.category, error.details)
        except Exception as error:
            log.info("task %s failed: %s", context.task_id, traceback.format_exc())
            mistakes = (TypeError, ValueError, KeyError, AttributeError, AssertionError)
            category = "permanent" if isinstance(error, mistakes) else "transient"
            return failed(type(error).__name__, str(error) or type(error).__name__, category)
        finally:
            timer.cancel()
            self.log_handler.enter(None)

    def _renew_forever(self) -> None:
        """In a thread of its own; Python lets it run beside a handler that computes."""
        renewed = time.monotonic()
        while not self._stopping.is_set() or self._running:
            self._wake_renewal.wait(0.5 if self._running else 10.0)
            self._wake_renewal.clear()
            if self._stopping.is_set():
                time.sleep(0.1)
            with self._lock:
                leases = list(self._running)
                progress = [{"lease": k, **v} for k, v in self._progress.items()]
                self._progress.clear()
            is_due = time.monotonic() - renewed >= self._lease_seconds / 3
            if leases and not progress and not is_due:
                continue
            renewed = time.monotonic()
            try:
                body = {"leases": leases, "progress": progress, "busy": len(leases)}
                answer = self._post("renew", body)
            except ApiError as error:
                if error.code == "WORKER_NOT_REGISTERED":
                    self._retry(self._register)
                else:
                    log.warning("leases could not be renewed: %s", error)
                    time.sleep(1.0)
                continue
            for cause in ("cancelled", "lost"):
                for lease in answer[cause]:
                    with self._lock:
                        context = self._running.get(lease)
                    if context is not None:
                        context.stop(cause)

    def _wait_for_tasks(self) -> None:
        with self._lock:
            for context in self._running.values():
                context.stop("shutdown")
        until = time.monotonic() + self.shutdown_seconds
        while self._running and time.monotonic() < until:
            time.sleep(0.05)
        for lease in list(self._running):
            self._release(lease)

    def _release(self, lease: str) -> None:
        with self._lock:
            self._running.pop(lease, None)
        self._retry(lambda: self._post("release", {"leases": [lease]}), attempts=5)

    def _leave(self) -> None:
        try:
            self._post("release", {"leave": True})
        except ApiError as error:
            log.warning("the worker could not be taken off the list: %s", error)

    def _post(self, route: str, body: dict[str, Any]) -> Any:
        whole = {"worker_id": self.worker_id, **body}
        return self.http.call("POST", f"/api/v1/worker/{route}", whole)

    def _retry(self, call: Callable[[], T], attempts: int = 60) -> T:
        """Repeats a call while the orchestrator is away, and registers where it does not know us."""
        for attempt in range(attempts):
            try:
                return call()
            except ApiError as error:
                if error.code == "WORKER_NOT_REGISTERED":
                    self._register()
                elif error.is_refusal or attempt + 1 == attempts:
                    raise
                else:
                    log.warning("%s; trying again", error)
                    time.sleep(min(5.0, 0.1 * 2**attempt) * random.uniform(0.5, 1.0))
        return call()

    # What contexts use.

    def progress(self, lease: str, percent: float, message: str | None) -> None:
        with self._lock:
            self._progress[lease] = {"percent": percent, "message": message}

    def checkpoint(self, lease: str, phase: str, data: dict[str, Any]) -> None:
        body = {"lease": lease, "phase": phase, "data": data}
        try:
            self._retry(lambda: self._post("checkpoint", body))
        except ApiError as error:
            if error.code == "STALE_ATTEMPT":
                raise Cancelled("lost") from error
            raise

    def log(self, lease: str, level: str, message: str, data: dict[str, Any] | None) -> None:
        if data is not None and len(to_json(data)) > most_data_bytes:
            data = {"left_out": f"more than {most_data_bytes} bytes"}
        line = {"lease": lease, "level": level, "message": message[:8000], "data": data}
        with self._lock:
            if len(self._lines) < 1000:
                self._lines.append(line)
        self._has_lines.set()

    def _send_lines_forever(self) -> None:
        """In a thread of its own: megabytes of lines must not delay the renewal of leases."""
        while not self._stopping.is_set() or self._running:
            if not self._has_lines.wait(10.0):
                continue
            # The lines of half a second share a request.
            time.sleep(0.5)
            self._has_lines.clear()
            self._flush_lines()

    def _flush_lines(self) -> None:
        """Ends when all lines so far are stored, also those that another thread is sending."""
        with self._sending_lines:
            with self._lock:
                lines, self._lines = self._lines, []
            for part in split_by_size(lines, most_log_bytes):
                try:
                    self._post("log", {"lines": part})
                except ApiError as error:
                    log.warning("%d log lines were lost: %s", len(part), error)

    def fetch(self, lease: str, path: str, target: Path) -> None:
        address = self._address(lease, path, "GET")
        with open(target, "wb") as file:
            transfer("GET", address["url"], address["headers"], None, file)

    def put(self, lease: str, path: str, file: Path) -> None:
        address = self._address(lease, path, "PUT")
        with open(file, "rb") as body:
            transfer("PUT", address["url"], address["headers"], body, None)

    def _address(self, lease: str, path: str, method: str) -> dict[str, Any]:
        body = {"lease": lease, "path": path, "method": method}
        answer: dict[str, Any] = self._retry(lambda: self._post("storage", body))
        return answer


def failed(
    code: str, message: str, category: str, details: dict[str, Any] | None = None
) -> dict[str, Any]:
    error: dict[str, Any] = {"code": code[:64], "message": message[:8000], "category": category}
    if details:
        error["details"] = details
    return {"status": "failed", "error": error}


def run_function(handler: Handler, context: Context, params: dict[str, Any], mode: str) -> Any:
    """Runs a handler so that a cancel ends it: an exception in its thread, or the end of its process."""
    if handler.is_async:
        return asyncio.run(_run_async(handler, context, params))
    if mode == "processes":
        return _run_in_process(handler, context, params)
    return _run_in_thread(handler, context, params)


async def _run_async(handler: Handler, context: Context, params: dict[str, Any]) -> Any:
    task = asyncio.ensure_future(handler.function(context, **params))
    while not task.done():
        await asyncio.wait([task], timeout=0.1)
        if context.cancelled and not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=5)
            context.check()
    if task.cancelled():
        context.check()
    return task.result()


def _run_in_thread(handler: Handler, context: Context, params: dict[str, Any]) -> Any:
    """A watcher raises ``Cancelled`` in the handler's thread; code in C ends its call first."""
    thread_id = threading.get_ident()
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            if context._stopped.wait(0.1) and not done.wait(0.5):
                kind = ctypes.py_object(_cancelled_of(context._cause))
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread_id), kind)
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        return handler.function(context, **params)
    finally:
        done.set()
        watcher.join()


def _cancelled_of(cause: str) -> type[Cancelled]:
    """A class, since Python raises classes in other threads."""

    class Stopped(Cancelled):
        def __init__(self) -> None:
            super().__init__(cause)

    return Stopped


def _run_in_process(handler: Handler, context: Context, params: dict[str, Any]) -> Any:
    """A process of its own, forked: computation does not share the interpreter lock."""
    fork = multiprocessing.get_context("fork")
    _ = context.work_dir  # Made here: this process removes it, however the child ends.
    ours, theirs = fork.Pipe()
    arguments = (os.getpid(), theirs, handler, context, params)
    child = fork.Process(target=_child, args=arguments, daemon=True)
    child.start()
    theirs.close()
    try:
        while True:
            if context.cancelled:
                child.terminate()
                child.join(10)
                if child.is_alive():
                    child.kill()
                context.check()
            if not ours.poll(0.1):
                if child.is_alive():
                    continue
                if not ours.poll(0):
                    raise TransientError(f"the process ended with status {child.exitcode}")
            try:
                kind, value = ours.recv()
            except EOFError as error:
                raise TransientError(f"the process ended with status {child.exitcode}") from error
            if kind == "call":
                name, arguments = value
                getattr(context._port, name)(*arguments)
                ours.send(None)
            elif kind == "metrics":
                context.metrics.update(value)
            elif kind == "result":
                child.join()
                return value
            else:
                raise value
    finally:
        ours.close()


class _Pipe:
    """The port of a context in a child: the parent makes the calls."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Callable[..., None]:
        def call(*arguments: Any) -> None:
            self._connection.send(("call", (name, arguments)))
            self._connection.recv()

        return call


def _end_with(parent: int) -> None:
    """A worker that is killed cannot end its children, so each one looks whether it is still there."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)


def _child(parent: int, connection: Any, handler: Handler, context: Context, params: dict[str, Any]) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    context._port = _Pipe(connection)
    try:
        result = handler.function(context, **params)
        connection.send(("metrics", context.metrics))
        connection.send(("result", result))
    except BaseException as error:  # noqa: BLE001 - the parent decides
        try:
            connection.send(("error", error))
        except Exception:
            connection.send(("error", RuntimeError(f"{type(error).__name__}: {error}")))


def run(**options: Any) -> None:
    """Runs a worker with all handlers of this program. RMHDAG_URL and RMHDAG_TOKEN name the rest."""
    if not logging.getLogger().handlers:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    Worker(**options).run()
