"""The decorator that makes a function a handler."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, Callable, TypeVar

from .schema import params_schema, result_schema

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Handler:
    """A contract and its function."""

    name: str
    function: Callable[..., Any]
    description: str = ""
    queue: str = "dag-worker-tasks"
    timeout_seconds: float = 300.0
    retry: dict[str, Any] | None = None
    examples: list[dict[str, Any]] = field(default_factory=list)
    #: Parameters that are not loaded: the handler reads them with ``ctx.open``.
    streams: tuple[str, ...] = ()

    def contract(self) -> dict[str, Any]:
        """The contract as the orchestrator takes it."""
        contract: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "params": params_schema(self.function),
            "result": result_schema(self.function),
            "queue": self.queue,
            "timeout_seconds": self.timeout_seconds,
            "examples": self.examples,
        }
        if self.retry is not None:
            contract["retry"] = self.retry
        return contract

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.function)


_registered: dict[str, Handler] = {}


def handler(
    name: str,
    *,
    description: str | None = None,
    queue: str = "dag-worker-tasks",
    timeout_seconds: float = 300.0,
    retry: dict[str, Any] | None = None,
    examples: list[dict[str, Any]] | None = None,
    streams: tuple[str, ...] = (),
) -> Callable[[Function], Function]:
    """Makes a function a handler. Its first parameter is the context, the others are the task's."""

    def register(function: Function) -> Function:
        if name in _registered:
            raise ValueError(f"there are two handlers {name!r}")
        text = description if description is not None else inspect.getdoc(function) or ""
        _registered[name] = Handler(
            name, function, text, queue, timeout_seconds, retry, examples or [], streams
        )
        return function

    return register


def registered() -> dict[str, Handler]:
    """All handlers that were defined, by name."""
    return dict(_registered)
