"""A client: ``Client().submit("workflow", name="x").wait()``."""

from __future__ import annotations

import os
import time
import uuid
from typing import Any, Iterator
from urllib.parse import quote, urlencode

from ._http import ApiError, Http

__all__ = ["ApiError", "Client", "Job", "JobFailed"]

_finished = ("completed", "failed", "cancelled")


class JobFailed(Exception):
    """A job that did not complete, with its last state."""

    def __init__(self, job: dict[str, Any]) -> None:
        error = job.get("error") or {}
        super().__init__(f"job {job['job_id']} {job['status']}: {error.get('message', '')}")
        self.job = job


class Client:
    def __init__(self, url: str | None = None, token: str | None = None) -> None:
        address = url or os.environ.get("RMHDAG_URL") or "http://127.0.0.1:8000"
        self._http = Http(address, token or os.environ.get("RMHDAG_TOKEN"))

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Any route of the API, such as ``call("GET", "/api/v1/workflows")``."""
        return self._http.call(method, path + (f"?{urlencode(query)}" if query else ""), body)

    def submit(self, workflow: str, inputs: dict[str, Any] | None = None, **more: Any) -> Job:
        """Submits a job once, also when the request is sent again because its answer was lost."""
        key = f"python-{uuid.uuid4()}"
        body = {"workflow_id": workflow, "inputs": {**(inputs or {}), **more}, "idempotency_key": key}
        return Job(self, self.call("POST", "/api/v1/jobs", body)["job_id"])

    def job(self, job_id: str) -> Job:
        return Job(self, job_id)

    def handlers(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.call("GET", "/api/v1/handlers")["items"]
        return items

    def workflows(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.call("GET", "/api/v1/workflows")["items"]
        return items


class Job:
    def __init__(self, client: Client, job_id: str) -> None:
        self._client = client
        self.job_id = job_id

    def _path(self, rest: str = "") -> str:
        return f"/api/v1/jobs/{quote(self.job_id, safe='')}{rest}"

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = self._client.call("GET", self._path())
        return state

    def watch(self, every: float = 0.5) -> Iterator[dict[str, Any]]:
        """The job's state, whenever it has changed, up to its end."""
        seen = None
        while True:
            state = self.state()
            if state.get("event_seq") != seen:
                seen = state.get("event_seq")
                yield state
            if state["status"] in _finished:
                return
            time.sleep(every)

    def wait(self, timeout: float | None = None, every: float = 0.25) -> dict[str, Any]:
        """The result of the job. Raises ``JobFailed`` or ``TimeoutError``."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            state = self.state()
            if state["status"] == "completed":
                result: dict[str, Any] = state.get("result_data") or {}
                return result
            if state["status"] in _finished:
                raise JobFailed(state)
            if until is not None and time.monotonic() > until:
                raise TimeoutError(f"job {self.job_id} is {state['status']} after {timeout} s")
            time.sleep(every)

    def cancel(self) -> None:
        self._client.call("POST", self._path("/cancel"), {})
