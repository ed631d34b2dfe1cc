"""Errors that handlers raise, and what each means for the retry of a task."""

from __future__ import annotations

from typing import Any


class HandlerError(Exception):
    """An error whose category the handler knows. Other exceptions are transient."""

    category = "transient"

    def __init__(self, message: str, code: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.code = code or self.category.upper()
        self.details = details


class PermanentError(HandlerError):
    """A retry cannot help: the input is wrong."""

    category = "permanent"


class TransientError(HandlerError):
    """A retry may help, and counts as one of the node's retries."""


class ThrottlingError(HandlerError):
    """A service asks to be called later; this has a budget of its own."""

    category = "throttling"


class Cancelled(BaseException):
    """Raised inside a handler whose task was cancelled, timed out or was lost.

    Not an ``Exception``, so that ``except Exception`` in a handler does not swallow it.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(f"the task was stopped: {cause}")
        self.cause = cause
