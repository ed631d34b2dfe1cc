"""The worker in Python of the crash tests.

It kills itself at CRASH_AT, such as ``report.before:2``: before the second report is sent.
"""

import os
import signal
from typing import Any

from rmhdag import Context, TransientError, Worker, handler


class Dying(Worker):
    at, _, nth = os.environ.get("CRASH_AT", "").partition(":")
    left = int(nth or "1")

    def _post(self, route: str, body: dict[str, Any]) -> Any:
        self.reach(f"{route}.before")
        answer = super()._post(route, body)
        # An answer to a lease that brings nothing is not a task.
        if route != "lease" or answer["tasks"]:
            self.reach(f"{route}.after")
        return answer

    def reach(self, place: str) -> None:
        if place != self.at:
            return
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


@handler("crash.once", queue="crash-python", timeout_seconds=60)
def once(ctx: Context, value: int) -> dict:
    if ctx.attempt == 0:
        raise TransientError("fails once, as requested")
    ctx.metrics["value"] = value
    return {"value": value}


@handler("crash.phases", queue="crash-python", timeout_seconds=60)
def phases(ctx: Context, phases: int) -> dict:
    done = list((ctx.checkpoint or {}).get("done", []))
    for number in range(len(done) + 1, phases + 1):
        if number == 3 and ctx.attempt == 0:
            raise TransientError("fails once in its third phase, as requested")
        done.append(number)
        ctx.save_checkpoint(f"phase_{number}", {"done": done})
    return {"phases_completed": len(done)}


if __name__ == "__main__":
    import logging

    logging.basicConfig(level=logging.INFO)
    Dying(concurrency=4, shutdown_seconds=2).run()
