"""Call an OpenAI-compatible chat endpoint: within limits of time and size, with bounded retries, and account for it.

    client = ChatClient(LlmSettings("http://127.0.0.1:8000/v1", "my-model"))
    client.complete("system text", "user text")        # the answer's text, or LlmError in one sentence
    client.usage                                        # calls, retries, tokens, cost

Promises
  - a connection is made to the host of the endpoint only: redirects are refused, no proxy is used;
  - a call ends within `seconds`, however slowly the server answers, and with its retries within (retries + 1) times that
    plus the waits between them, each at most `LONGEST_WAIT`;
  - answers longer than `most_bytes` are not read; nothing in an answer is executed or followed;
  - the key is sent to the endpoint and appears in no message.

Tried again: no connection, a closed one, a cut answer, time-outs, the statuses 408, 429 and 5xx, an answer that is no
chat completion. Not tried again: other statuses, answers that are too long.
"""

import http.client
import json
import math
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.base.text import escape_controls

AGAIN = frozenset((408, 429, *range(500, 600)))
FIRST_WAIT, LONGEST_WAIT = 0.5, 8.0
SHOWN = 120
"""Characters of a server's words that a sentence quotes."""
LONGEST_QUOTE = 8_000
"""Characters of an answer that cannot be used, when the model is asked again."""
CHARACTERS_PER_TOKEN = 4
"""For servers that do not count: an estimate for English text."""


class LlmError(AegirError):
    """The language model gave no answer that can be used."""


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """Where the model is, and what it may take."""

    endpoint: str
    """Such as http://127.0.0.1:8000/v1; `/chat/completions` is added."""
    model: str
    key: str | None = field(default=None, repr=False)
    seconds: float = 30.0
    """Of one call, from connecting to the last byte."""
    retries: int = 2
    most_bytes: int = 1 << 20
    most_tokens: int = 2_000
    """Of one answer."""
    price_in: float = 0.0
    """Cost of a million tokens that are sent."""
    price_out: float = 0.0

    def __post_init__(self) -> None:
        parts = self.parts
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(
                f"the endpoint is {self.endpoint!r}; expected a URL such as http://127.0.0.1:8000/v1"
            )
        if not self.model:
            raise UsageError(f"no model of {self.endpoint} is named")
        for name in ("seconds", "retries", "most_bytes", "most_tokens", "price_in", "price_out"):
            value = getattr(self, name)
            if not (0 <= value < math.inf) or (name == "seconds" and value == 0):
                raise UsageError(f"{name} of the language model is {value}; expected 0 or more")

    @property
    def parts(self) -> SplitResult:
        """The endpoint, taken apart."""
        try:
            parts = urlsplit(self.endpoint)
            _ = parts.port
        except ValueError as error:
            raise UsageError(f"the endpoint {self.endpoint!r} is no URL ({error})") from None
        return parts


@dataclass(slots=True)
class LlmUsage:
    """What calls have taken so far."""

    calls: int = 0
    retries: int = 0
    timeouts: int = 0
    failures: int = 0
    """Questions without an answer that can be used, after all retries."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


class _TryAgain(Exception):
    """A call failed in a way that may pass."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class ChatClient:
    """Calls one model."""

    def __init__(self, settings: LlmSettings, sleep: Callable[[float], None] = time.sleep) -> None:
        self.settings, self.usage = settings, LlmUsage()
        self._sleep = sleep

    def complete(self, system: str, user: str, check: Callable[[str], Any] = str) -> Any:
        """Return `check` of the answer's text; a ValueError of it counts as an answer that cannot be used.

        The next try then has that answer and the reason too: the same request would get the same answer again.
        """
        asked = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        body = self._body(asked)
        reason, wait = "", FIRST_WAIT
        for attempt in range(self.settings.retries + 1):
            if attempt:
                self.usage.retries += 1
            text = ""
            try:
                text = self._account(self._post(body), body)
                return check(text)
            except _TryAgain as failed:
                reason = str(failed)
                pause = wait if failed.wait is None else failed.wait
            except ValueError as unusable:
                reason, pause = f"its answer cannot be used: {unusable}", 0.0
                said = {"role": "assistant", "content": text[:LONGEST_QUOTE]}
                again = f"That answer cannot be used: {str(unusable)[:SHOWN]}. Answer the question again."
                body = self._body([*asked, said, {"role": "user", "content": again}])
            except LlmError:
                self.usage.failures += 1
                raise
            if attempt < self.settings.retries and pause:
                self._sleep(min(pause, LONGEST_WAIT))
            wait *= 2
        self.usage.failures += 1
        tries = self.settings.retries + 1
        raise LlmError(f"{self._name} gave no answer in {tries} tries: {reason}")

    def _body(self, messages: list[dict[str, str]]) -> bytes:
        order = {
            "model": self.settings.model,
            "messages": messages,
            "temperature": 0,
            "max_tokens": self.settings.most_tokens,
        }
        return json.dumps(order).encode()

    @property
    def _name(self) -> str:
        return f"the model {self.settings.model} at {self.settings.parts.hostname}"

    def _post(self, body: bytes) -> bytes:
        """Return the body of a successful response."""
        self.usage.calls += 1
        deadline = time.monotonic() + self.settings.seconds
        connection = self._connection()
        timer: threading.Timer | None = None
        try:
            connection.connect()
            # A server may send a byte now and then for ever: no time-out of a single read ends that.
            timer = threading.Timer(deadline - time.monotonic(), _cut, [connection.sock])
            timer.daemon = True
            timer.start()
            connection.request("POST", self._path, body, self._headers())
            with connection.getresponse() as response:
                content = self._read(response)
            if time.monotonic() >= deadline:
                raise TimeoutError
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, TimeoutError) or time.monotonic() >= deadline:
                self.usage.timeouts += 1
                limit = f"{self.settings.seconds:g} seconds"
                raise _TryAgain(f"no whole answer within {limit}", 0.0) from None
            reason = str(error) or type(error).__name__
            raise _TryAgain(f"the connection failed ({escape_controls(reason[:SHOWN])})") from None
        finally:
            if timer is not None:
                timer.cancel()
            connection.close()
        if response.status == http.HTTPStatus.OK:
            return content
        said = escape_controls(content[:SHOWN].decode("utf-8", "replace")).strip()
        sentence = f"it answered with status {response.status}" + (f" ({said})" if said else "")
        if response.status in AGAIN:
            raise _TryAgain(sentence, _retry_after(response))
        hint = "; redirects are not followed" if 300 <= response.status < 400 else ""
        raise LlmError(f"{self._name} gave no answer: {sentence}{hint}")

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        """Read the body piece by piece, up to the size that is allowed."""
        content = bytearray()
        while piece := response.read1(1 << 16):
            content += piece
            if len(content) > self.settings.most_bytes:
                raise LlmError(
                    f"{self._name} gave an answer of more than {self.settings.most_bytes:,} bytes"
                )
        if response.length:
            raise http.client.IncompleteRead(bytes(content), response.length)
        return bytes(content)

    def _connection(self) -> http.client.HTTPConnection:
        parts, seconds = self.settings.parts, self.settings.seconds
        host = parts.hostname or ""
        if parts.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(host, parts.port, timeout=seconds, context=context)
        return http.client.HTTPConnection(host, parts.port, timeout=seconds)

    @property
    def _path(self) -> str:
        parts = self.settings.parts
        query = f"?{parts.query}" if parts.query else ""
        return f"{parts.path.rstrip('/')}/chat/completions{query}"

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.settings.key:
            headers["Authorization"] = f"Bearer {self.settings.key}"
        return headers

    def _account(self, content: bytes, body: bytes) -> str:
        """Return the text of a chat completion, and count its tokens."""
        try:
            answer = json.loads(content)
            text = answer["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise _TryAgain("it answered something that is no chat completion", 0.0) from None
        if not isinstance(text, str):
            raise _TryAgain("it answered a chat completion without a text", 0.0)
        counted = answer.get("usage")
        sent = _count(counted, "prompt_tokens", len(body))
        received = _count(counted, "completion_tokens", len(text))
        self.usage.tokens_in += sent
        self.usage.tokens_out += received
        self.usage.cost += (
            sent * self.settings.price_in + received * self.settings.price_out
        ) / 1_000_000
        return text


def _cut(connected: socket.socket) -> None:
    """End all reading and writing of a socket, from another thread."""
    with suppress(OSError):  # it has just ended by itself
        connected.shutdown(socket.SHUT_RDWR)


def _retry_after(response: http.client.HTTPResponse) -> float | None:
    """Return the seconds a server asks to wait, if it says so in seconds."""
    try:
        seconds = float(response.headers.get("Retry-After", ""))
    except ValueError:
        return None
    return seconds if seconds >= 0 else None


def _count(usage: object, key: str, characters: int) -> int:
    """Return the tokens that a server counted, or an estimate."""
    value = usage.get(key) if isinstance(usage, dict) else None
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return math.ceil(characters / CHARACTERS_PER_TOKEN)
