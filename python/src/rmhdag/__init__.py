"""Handlers and a client for rmhdag: ``from rmhdag import handler, Context, run``."""

from ._errors import Cancelled, HandlerError, PermanentError, ThrottlingError, TransientError
from .client import ApiError, Client, Job
from .context import Context, LogHandler
from .handlers import Handler, handler, registered
from .worker import Worker, run

__all__ = [
    "ApiError",
    "Cancelled",
    "Client",
    "Context",
    "Handler",
    "HandlerError",
    "Job",
    "LogHandler",
    "PermanentError",
    "ThrottlingError",
    "TransientError",
    "Worker",
    "handler",
    "registered",
    "run",
]
