"""A worker against a real orchestrator, which RMHDAG_URL and RMHDAG_TOKEN name."""

from __future__ import annotations

import asyncio
import datetime
import json
import logging
import os
import sys
import threading
import time
import unittest
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from rmhdag import Client, Context, Handler, PermanentError, Worker  # noqa: E402
from rmhdag.client import JobFailed  # noqa: E402

queue = "python-tests"
seen: dict[str, Any] = {"resumed": None, "stopped": 0}


def resume(ctx: Context, n: int) -> dict[str, Any]:
    if ctx.checkpoint is None:
        ctx.save_checkpoint("first", {"n": n})
        raise OSError("try again")
    seen["resumed"] = ctx.checkpoint
    ctx.metrics["rows"] = n
    return {"n": ctx.checkpoint["n"] + 1}


def compute(ctx: Context, seconds: float) -> dict[str, Any]:
    """Keeps the interpreter busy for longer than a lease."""
    until = time.monotonic() + seconds
    count = 0
    while time.monotonic() < until:
        count += 1
    return {"count": count, "pid": os.getpid()}


def endless(ctx: Context) -> dict[str, Any]:
    try:
        while True:
            time.sleep(0.01)
    finally:
        seen["stopped"] += 1


def wrong(ctx: Context) -> dict[str, Any]:
    raise PermanentError("no such thing", "NO_THING")


class Scalar:
    """As numpy's numbers: JSON does not know them, and they know what they are."""

    def tolist(self) -> float:
        return 2.5


async def values(ctx: Context) -> dict[str, Any]:
    await asyncio.sleep(0)
    ctx.log("info", "logged with", when=datetime.date(2026, 1, 2), what=object())
    ctx.metrics["pixels"] = Scalar()
    return {"mean": Scalar(), "day": datetime.date(2026, 1, 2), "file": Path("a/b.tif"), "names": {"x"}}


def chatty(ctx: Context) -> dict[str, Any]:
    """Logs more than the orchestrator takes in one request."""
    logging.getLogger("some.library").warning("from a library")
    for n in range(700):
        ctx.log("info", f"{n} " + "é" * 4000)
    ctx.log("info", "large", data="x" * 5_000_000)
    return {}


def unjson(ctx: Context) -> dict[str, Any]:
    return {"mean": float("nan")}


def make(ctx: Context) -> dict[str, Any]:
    return {"tiles": [f"tile {n} of many" for n in range(20_000)]}


def read(ctx: Context, whole: list[str], streamed: Any) -> dict[str, Any]:
    """``streamed`` is not loaded, and read as a file."""
    with ctx.open("streamed") as file:
        head = file.read(10)
        size = len(head) + len(file.read())
    held = sorted(streamed["tiles"])
    facts = {"length": len(whole), "head": head.decode(), "size": size, "held": held}
    return {**facts, "folder": str(ctx.work_dir)}


handlers = [
    Handler(f"pytests.{each.__name__}", each, queue=queue, retry={"max_attempts": 2, "initial_delay_seconds": 0.1})
    for each in (resume, compute, endless, wrong, values, chatty, unjson, make)
]
handlers.append(Handler("pytests.read", read, queue=queue, streams=("streamed",)))


@unittest.skipUnless(os.environ.get("RMHDAG_URL"), "needs an orchestrator")
class Working(unittest.TestCase):
    worker: Worker
    thread: threading.Thread

    @classmethod
    def setUpClass(cls) -> None:
        mode = os.environ.get("RMHDAG_TEST_MODE", "threads")
        cls.worker = Worker(handlers, concurrency=3, mode=mode, worker_id=f"test-{mode}")
        cls.thread = threading.Thread(target=cls.worker.run)
        cls.thread.start()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.worker.stop()
        cls.thread.join(30)
        assert not cls.thread.is_alive()

    def submit(self, name: str, **inputs: Any) -> Any:
        client = Client(token=os.environ.get("RMHDAG_CLIENT_TOKEN"))
        until = time.monotonic() + 20
        while True:
            try:
                return client.submit(f"py_{name}", **inputs)
            except Exception:
                # The workflow is valid once the worker has registered.
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def test_resumes_from_a_checkpoint(self) -> None:
        self.assertEqual(self.submit("resume").wait(30)["a"], {"n": 6})

    def test_renews_while_a_handler_computes(self) -> None:
        self.assertGreater(self.submit("compute").wait(60)["a"]["count"], 0)

    def test_stops_a_handler_of_a_cancelled_job(self) -> None:
        job = self.submit("endless")
        until = time.monotonic() + 20
        while not any(n["status"] == "running" for n in job.state()["nodes"] if n["node_id"] == "a"):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)
        job.cancel()
        while self.worker._running and time.monotonic() < until + 20:
            time.sleep(0.1)
        self.assertEqual(self.worker._running, {})

    def test_returns_what_json_does_not_know(self) -> None:
        job = self.submit("values")
        expected = {"mean": 2.5, "day": "2026-01-02", "file": "a/b.tif", "names": ["x"]}
        self.assertEqual(job.wait(30)["a"], expected)
        client = Client(token=os.environ.get("RMHDAG_CLIENT_TOKEN"))
        node = client.call("GET", f"/api/v1/jobs/{job.job_id}/nodes/a")
        self.assertEqual([each["metrics"] for each in node["attempts"]], [{"pixels": 2.5}])

    def test_splits_log_lines_that_one_request_cannot_hold(self) -> None:
        job = self.submit("chatty")
        job.wait(60)
        client = Client(token=os.environ.get("RMHDAG_CLIENT_TOKEN"))
        path = f"/api/v1/jobs/{job.job_id}/logs?limit=500"
        lines: list[dict[str, Any]] = []
        cursor: str | None = ""
        while cursor is not None:
            page = client.call("GET", path + (f"&cursor={cursor}" if cursor else ""))
            lines += page["items"]
            cursor = page["next_cursor"]
        messages = [line["message"].split("é")[0].strip() for line in lines]
        self.assertEqual(messages, ["from a library", *map(str, range(700)), "large"])
        self.assertEqual(lines[0]["level"], "warn")
        self.assertEqual(lines[-1]["data"], {"left_out": "more than 16384 bytes"})

    def test_fails_at_once_with_what_json_cannot_hold(self) -> None:
        with self.assertRaises(JobFailed) as raised:
            self.submit("unjson").wait(30)
        self.assertIn("not JSON", str(raised.exception))

    def test_gets_a_large_value_whole_and_as_a_stream(self) -> None:
        whole = json.dumps(make(cast(Context, None)), separators=(",", ":"))
        expected = {
            "length": 20_000,
            "head": whole[:10],
            "size": len(whole),
            "held": ["$ref", "bytes", "sha256"],
        }
        output = self.submit("large").wait(60)["b"]
        folder = Path(output.pop("folder"))
        self.assertEqual(output, expected)
        until = time.monotonic() + 20
        while folder.exists():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)

    def test_fails_for_good(self) -> None:
        with self.assertRaises(JobFailed) as raised:
            self.submit("wrong").wait(30)
        self.assertIn("no such thing", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
