"""Handlers by themselves: schemas, parameters, contexts."""

from __future__ import annotations

import dataclasses
import enum
import logging
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from typing import Any, Literal, Optional

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from rmhdag import Cancelled, Context, PermanentError, Worker, handler, registered  # noqa: E402
from rmhdag.schema import convert, params_schema, result_schema, schema_of  # noqa: E402
from rmhdag.testing import run_handler  # noqa: E402

try:
    import pydantic
except ImportError:
    pydantic = None  # type: ignore[assignment]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Box:
    west: float
    east: float = 0.0


@handler("test.area", queue="q", timeout_seconds=7)
def area(
    ctx: Context,
    box: Box,
    colour: Colour = Colour.RED,
    names: Optional[list[str]] = None,
    mode: Literal["fast", "exact"] = "fast",
) -> dict[str, Any]:
    """Measures."""
    ctx.progress(10, "start")
    ctx.save_checkpoint("half", {"at": 1})
    logging.getLogger("mine").warning("not the task's, outside of a worker")
    ctx.log("info", "measured")
    return {"width": box.east - box.west, "colour": colour.value, "mode": mode, "n": len(names or [])}


@handler("test.later")
async def later(ctx: Context, n: int) -> dict[str, Any]:
    return {"n": n + 1}


class Handlers(unittest.TestCase):
    def test_contract(self) -> None:
        contract = registered()["test.area"].contract()
        self.assertEqual(contract["queue"], "q")
        self.assertEqual(contract["description"], "Measures.")
        self.assertEqual(contract["params"]["required"], ["box"])
        self.assertEqual(contract["params"]["properties"]["mode"], {"enum": ["fast", "exact"], "default": "fast"})
        box = contract["params"]["properties"]["box"]
        self.assertEqual(box["properties"]["west"], {"type": "number"})
        self.assertEqual(box["required"], ["west"])

    def test_schemas(self) -> None:
        self.assertEqual(schema_of(tuple[int, str])["maxItems"], 2)
        self.assertEqual(schema_of(dict[str, int]), {"type": "object", "additionalProperties": {"type": "integer"}})
        self.assertEqual(schema_of(int | None), {"anyOf": [{"type": "integer"}, {"type": "null"}]})

        def open_ended(ctx: Context, **more: Any) -> dict[str, Any]:
            return more

        self.assertNotIn("additionalProperties", params_schema(open_ended))
        self.assertEqual(run_handler(open_ended, a=1).output, {"a": 1})

    def test_values_are_what_their_hints_say(self) -> None:
        @dataclasses.dataclass
        class Grid:
            size: tuple[int, int]
            tags: set[str] = dataclasses.field(default_factory=set)
            weights: dict[str, float] = dataclasses.field(default_factory=dict)

        self.assertEqual(schema_of(Grid)["required"], ["size"])
        made = convert({"size": [2, 3], "tags": ["a", "a"], "weights": {"x": 1}}, Grid)
        self.assertEqual(made, Grid((2, 3), {"a"}, {"x": 1.0}))
        for wrong in ({"size": [2]}, {"size": ["2", 3]}, {"size": [2, 3], "weights": {"x": "1"}}, {}):
            with self.assertRaises((TypeError, ValueError)):
                convert(wrong, Grid)

    @unittest.skipIf(pydantic is None, "needs pydantic")
    def test_models_of_pydantic(self) -> None:
        Corner = pydantic.create_model("Corner", x=(float, ...), y=(float, 0.0))
        Area = pydantic.create_model("Area", low=(Corner, ...), high=(Corner, ...))
        Size = pydantic.create_model("Size", width=(float, ...))

        def size(ctx: Context, area: Any, more: Any = None) -> Any:
            return Size(width=area.high.x - area.low.x)

        size.__annotations__ = {"ctx": Context, "area": Area, "more": Optional[Area], "return": Size}
        schema = params_schema(size)
        # A reference is looked up from the root of the whole schema.
        reference = schema["properties"]["area"]["properties"]["low"]["$ref"]
        self.assertIn(reference.removeprefix("#/$defs/"), schema["$defs"])
        self.assertNotIn("$defs", schema["properties"]["area"])
        self.assertEqual(result_schema(size)["properties"]["width"]["type"], "number")
        ran = run_handler(size, area={"low": {"x": 1}, "high": {"x": 3}})
        self.assertEqual(ran.output.width, 2.0)
        with self.assertRaises(PermanentError):
            run_handler(size, area={"low": {"x": "west"}, "high": {"x": 3}})

    def test_progress_is_always_accepted(self) -> None:
        def talks(ctx: Context) -> dict[str, Any]:
            ctx.progress(float("nan"), "unknown")
            ctx.progress(140, "x" * 5000)
            return {}

        self.assertEqual(run_handler(talks).progress, [(100.0, "x" * 1024)])

    def test_runs(self) -> None:
        ran = run_handler(area, box={"west": 1, "east": 4}, colour="blue", names=["a"])
        self.assertEqual(ran.output, {"width": 3, "colour": "blue", "mode": "fast", "n": 1})
        self.assertEqual(ran.progress, [(10, "start")])
        self.assertEqual(ran.checkpoints, [("half", {"at": 1})])
        self.assertEqual(ran.lines, [("info", "measured")])
        self.assertEqual(run_handler(later, n=1).output, {"n": 2})

    def test_refuses(self) -> None:
        with self.assertRaisesRegex(PermanentError, "'mode' must be one of fast, exact"):
            run_handler(area, box={"west": 1}, mode="slow")
        with self.assertRaisesRegex(PermanentError, "'n' must be a whole number, not True"):
            run_handler(later, n=True)
        with self.assertRaisesRegex(PermanentError, "'m' is not known; 'n' is missing"):
            run_handler(later, m=1)

    def test_stops(self) -> None:
        def busy(ctx: Context) -> dict[str, Any]:
            ctx.stop("cancelled")
            while True:
                pass

        with self.assertRaises(Cancelled):
            run_handler(busy)

    def test_process_ends_with_its_worker(self) -> None:
        program = f"""
import os, sys, time
sys.path.insert(0, {str(Path(__file__).parents[1] / "src")!r})
from rmhdag import Context, Handler
from rmhdag.worker import run_function

def busy(ctx):
    print(os.getpid(), flush=True)
    while True:
        pass

task = {{"task_id": "t", "job_id": "j", "node_id": "n", "lease": "l"}}
run_function(Handler("test.busy", busy), Context(task, None), {{}}, "processes")
"""
        worker = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        assert worker.stdout is not None
        self.assertGreater(int(worker.stdout.readline()), 0)
        worker.kill()
        worker.wait()
        # Reads until the child, which holds the other end, is gone as well.
        self.assertEqual(worker.stdout.read(), "")
        worker.stdout.close()

    def test_files(self) -> None:
        def copy(ctx: Context, source: str) -> dict[str, Any]:
            with ctx.source(source) as path:
                return {"out": ctx.put("silver/copy.py", path)}

        ran = run_handler(copy, source="bronze/a.py", files={"bronze/a.py": __file__})
        self.assertEqual(ran.stored["silver/copy.py"], Path(__file__).read_bytes())

    def test_plain_text_stays_on_this_machine(self) -> None:
        for url in ("http://dag.example", "http://10.0.0.7:8000", "http://localhost.example"):
            with self.assertRaisesRegex(ValueError, "https"):
                Worker(url=url)
        Worker(url="https://dag.example")
        Worker(url="http://127.0.0.1:8000")


class Lines(unittest.TestCase):
    def test_a_flush_awaits_the_lines_that_another_thread_is_sending(self) -> None:
        worker = Worker([registered()["test.area"]], url="http://127.0.0.1:9")
        sent: list[str] = []
        began, may_end = threading.Event(), threading.Event()

        def post(name: str, body: dict[str, Any]) -> None:
            if not began.is_set():
                began.set()
                may_end.wait(10)
            sent.extend(line["message"] for line in body["lines"])

        worker._post = post  # type: ignore[method-assign, assignment]
        worker.log("a lease", "info", "first", None)
        renewing = threading.Thread(target=worker._flush_lines)
        renewing.start()
        self.assertTrue(began.wait(10))
        worker.log("a lease", "info", "last", None)
        reporting = threading.Thread(target=worker._flush_lines)
        reporting.start()
        reporting.join(0.2)
        self.assertTrue(reporting.is_alive())
        may_end.set()
        reporting.join(10)
        renewing.join(10)
        self.assertEqual(sent, ["first", "last"])

    def test_leases_are_renewed_while_lines_are_sent(self) -> None:
        worker = Worker([registered()["test.later"]], url="http://127.0.0.1:9")
        worker._lease_seconds = 0.3
        began, renewed, reported = threading.Event(), threading.Event(), threading.Event()

        def post(name: str, body: dict[str, Any]) -> dict[str, Any]:
            if name == "log":
                began.set()
                self.assertTrue(renewed.wait(10))
            elif name == "renew" and began.is_set() and body["leases"] == ["a lease"]:
                renewed.set()
            elif name == "report":
                reported.set()
            return {"cancelled": [], "lost": []}

        worker._post = post  # type: ignore[method-assign, assignment]
        task: dict[str, Any] = {"lease": "a lease", "task_id": "t", "job_id": "j", "node_id": "n", "handler": "test.later"}
        task |= {"attempt": 0, "timeout_seconds": 60, "params": {"n": 1}}
        context = Context(task, worker)
        worker._running["a lease"] = context
        worker.log("a lease", "info", "a line", None)
        services = [threading.Thread(target=each, daemon=True) for each in (worker._renew_forever, worker._send_lines_forever)]
        for service in services:
            service.start()
        worker._run_task(task, context, threading.Semaphore(0))
        self.assertTrue(reported.is_set())
        self.assertEqual(worker._running, {})
        worker.stop()


if __name__ == "__main__":
    unittest.main()
