"""JSON over HTTP with the standard library; one connection for each thread."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
from typing import IO, Any
from urllib.parse import urlsplit

from ._json import to_json


class ApiError(Exception):
    """The orchestrator refused a request. ``code`` is stable; ``UNREACHABLE``: no answer came."""

    def __init__(self, code: str, status: int, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.status = status
        self.detail = detail

    @property
    def is_refusal(self) -> bool:
        return 400 <= self.status < 500 and self.status != 429


def refuse_plain_text(url: str) -> None:
    """Tasks, results and the token cross a network in TLS only; plain text stays on this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    is_here = host in ("localhost", "::1") or host.startswith("127.")
    if parts.scheme == "http" and not is_here:
        raise ValueError(f"{url!r} must begin with https: it is not on this machine")


class Http:
    def __init__(self, url: str, token: str | None, timeout: float = 60.0) -> None:
        parts = urlsplit(url.rstrip("/"))
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError(f"{url!r} is not a URL such as http://127.0.0.1:8000")
        self._parts = parts
        self._token = token
        self._timeout = timeout
        self._local = threading.local()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Sends a request and answers its JSON. Raises ``ApiError``."""
        headers = {"Accept": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        data: bytes | None = None
        if body is not None:
            data = to_json(body)
            headers["Content-Type"] = "application/json"
        status, content = self._send(method, self._parts.path + path, data, headers)
        answer = _parse(content)
        if 200 <= status < 300:
            return answer
        problem = answer if isinstance(answer, dict) else {}
        code = str(problem.get("code", "UNREACHABLE"))
        raise ApiError(code, status, str(problem.get("detail", f"it answered {status}")))

    def _send(
        self, method: str, path: str, data: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        for attempt in range(2):
            connection: http.client.HTTPConnection | None = getattr(self._local, "c", None)
            is_new = connection is None
            if connection is None:
                connection = connect(self._parts.scheme, self._parts.netloc, self._timeout)
                self._local.c = connection
            try:
                connection.request(method, path, body=data, headers=headers)
                response = connection.getresponse()
                return response.status, response.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                self._local.c = None
                # A server closes connections that were idle: a second, new one decides.
                if is_new or attempt == 1:
                    raise ApiError("UNREACHABLE", 0, f"{type(error).__name__}: {error}") from error
        raise AssertionError("not reached")


def connect(scheme: str, netloc: str, timeout: float) -> http.client.HTTPConnection:
    if scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(netloc, timeout=timeout, context=context)
    return http.client.HTTPConnection(netloc, timeout=timeout)


def transfer(
    method: str, url: str, headers: dict[str, str], body: IO[bytes] | None, target: IO[bytes] | None
) -> None:
    """Sends or fetches the bytes of one object at a signed address."""
    parts = urlsplit(url)
    connection = connect(parts.scheme, parts.netloc, 300.0)
    try:
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        sent = dict(headers)
        if body is not None:
            body.seek(0, 2)
            sent["Content-Length"] = str(body.tell())
            body.seek(0)
        connection.request(method, path, body=body, headers=sent)
        response = connection.getresponse()
        if response.status >= 300:
            response.read()
            raise ApiError("STORAGE_REFUSED", response.status, f"storage answered {response.status}")
        while target is not None and (chunk := response.read(1024 * 1024)):
            target.write(chunk)
        response.read()
    except (OSError, http.client.HTTPException) as error:
        raise ApiError("UNREACHABLE", 0, f"{type(error).__name__}: {error}") from error
    finally:
        connection.close()


def _parse(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError:
        return None
