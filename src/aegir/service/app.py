"""The routes of the service. Each receives a request, has one job done by a worker, and sends its reply.

GET  /  /page/…         the page          POST   /annotate       tables in, answers out
                                          POST   /feedback       what columns really are
GET  /types  /types/N   the vocabulary    POST   /types          teach a type from columns
GET  /runs  /runs/NAME  runs              DELETE /types/N        forget it
GET  /status /metrics /health /openapi.json

Jobs (jobs.py) are done by worker processes (worker.py) behind a queue (job_queue.py); nothing here reads a table.
"""

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Match, Route

from aegir.answers.html_page import STYLE
from aegir.service.job_queue import JobQueue
from aegir.service.jobs import (
    AnnotateJob,
    FeedbackJob,
    ForgetTypeJob,
    Job,
    ListRunsJob,
    ListTypesJob,
    Sent,
    ShowRunJob,
    ShowTypeJob,
    TeachJob,
    read_query,
)
from aegir.service.limits import Refused, RequestLimits, out_of_resources
from aegir.service.openapi import describe_api
from aegir.service.request_folders import RequestFolders
from aegir.service.responses import Reply, json_reply, refusal
from aegir.service.security import Access, Guard
from aegir.service.status import Status
from aegir.service.uploads import Upload, receive
from aegir.tables.formats import MAGIC_LENGTH, Format, recognise
from aegir_rl.base.errors import AegirError, UnreadableTable
from aegir_rl.base.safe_html import COLOURS
from aegir_rl.observe.prometheus import CONTENT_TYPE

PAGE = Path(__file__).parent / "page"
SHARED = {"colours.css": COLOURS, "answers.css": STYLE}
"""Styles of the page that `aegir annotate --format html` writes."""
PAGE_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
SMALL = 1 << 20
"""Bytes of text up to which a job is small."""
SECONDS_TO_TEACH = 300.0

Handler = Callable[[Request], Awaitable[Reply]]


class Service:
    """The routes, with what they share."""

    def __init__(
        self, queue: JobQueue, status: Status, limits: RequestLimits, folder: Path
    ) -> None:
        self._queue, self._status, self._limits = queue, status, limits
        self._folders = RequestFolders(folder)
        files = {path.name: path for path in PAGE.iterdir() if path.suffix in PAGE_TYPES} | SHARED
        self._page = {name: path.read_bytes() for name, path in files.items()}

    def app(self, access: Access) -> Guard:
        """Return the application behind its guard, which is the outermost so that errors pass it, too."""
        routed = Starlette(
            routes=[
                Route("/", self._index),
                Route("/page/{name}", self._page_file),
                Route("/health", self._health),
                Route("/metrics", self._metrics),
                Route("/status", self._show_status),
                Route("/openapi.json", self._openapi),
                Route("/annotate", self._measured("annotate", self._annotate), methods=["POST"]),
                Route("/feedback", self._measured("feedback", self._feedback), methods=["POST"]),
                Route("/types", self._measured("teach", self._teach), methods=["POST"]),
                Route("/types", self._done("types", lambda _: ListTypesJob())),
                Route("/types/{name:path}", self._done("type", lambda r: ShowTypeJob(_name(r)))),
                Route(
                    "/types/{name:path}",
                    self._done("forget", lambda r: ForgetTypeJob(_name(r))),
                    methods=["DELETE"],
                ),
                Route("/tables/{run}", self._measured("tables", self._tables)),
                Route("/runs", self._done("runs", lambda _: ListRunsJob(self._status.runs()))),
                Route(
                    "/runs/{name}", self._done("run", lambda r: ShowRunJob(_name(r)), heavy=True)
                ),
            ],
            exception_handlers={HTTPException: _unknown_route, Exception: _unexpected},
        )
        return Guard(routed, access)

    def _measured(
        self, operation: str, handler: Handler
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler as a route: counted, and with errors as responses."""

        async def measured(request: Request) -> Response:
            started, reply = time.perf_counter(), None
            try:
                reply = await handler(request)
                return reply.response()
            except AegirError as error:
                return refusal(error)
            except OSError as error:
                refused = out_of_resources(error)
                if refused is None:
                    raise
                return refusal(refused)
            finally:
                self._status.note(operation, time.perf_counter() - started, reply)

        return measured

    async def _annotate(self, request: Request) -> Reply:
        with self._queue.admit(), self._folders.take() as folder:
            settings, format_ = read_query(request.query_params.multi_items())
            upload = await receive(request, folder, self._limits)
            job = AnnotateJob(_sent(folder, upload), settings, format_)
            return await self._queue.submit(job, heavy=is_heavy(folder, upload), key=job.key)

    async def _feedback(self, request: Request) -> Reply:
        with self._queue.admit(), self._folders.take() as folder:
            upload = await receive(request, folder, self._limits, fields=("corrections", "by"))
            job = FeedbackJob(_sent(folder, upload))
            return await self._queue.submit(job, heavy=is_heavy(folder, upload), again=False)

    async def _teach(self, request: Request) -> Reply:
        with self._queue.admit(), self._folders.take() as folder:
            upload = await receive(request, folder, self._limits, fields=("type",))
            job = TeachJob(_sent(folder, upload))
            return await self._queue.submit(job, heavy=True, seconds=SECONDS_TO_TEACH, again=False)

    async def _tables(self, request: Request) -> Reply:
        run = str(request.path_params["run"])
        return json_reply(self._status.answers.page(run, request.query_params.multi_items()))

    def _done(
        self, operation: str, make: Callable[[Request], Job], *, heavy: bool = False
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return the route of a job that needs nothing but the address of the request."""

        async def handler(request: Request) -> Reply:
            with self._queue.admit():
                return await self._queue.submit(make(request), heavy=heavy)

        return self._measured(operation, handler)

    async def _health(self, _request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _metrics(self, _request: Request) -> Response:
        return PlainTextResponse(self._status.metrics(), headers={"content-type": CONTENT_TYPE})

    async def _show_status(self, _request: Request) -> Response:
        return JSONResponse(self._status.as_dict())

    async def _openapi(self, _request: Request) -> Response:
        return JSONResponse(describe_api(self._status.about, self._limits))

    async def _index(self, _request: Request) -> Response:
        return Response(self._page["index.html"], media_type="text/html")

    async def _page_file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._page:
            raise HTTPException(404)
        return Response(self._page[name], media_type=PAGE_TYPES[Path(name).suffix])


def is_heavy(folder: Path, upload: Upload) -> bool:
    """Whether a request may take long: it is large, or holds anything but text."""
    if upload.size > SMALL:
        return True
    for name in upload.files:
        with (folder / name).open("rb") as file, _foreign_is_quick():
            if recognise(file.read(MAGIC_LENGTH), name) is not Format.TEXT:
                return True
    return False


@contextmanager
def _foreign_is_quick() -> Iterator[None]:
    """Formats that are refused by their first bytes take no time."""
    try:
        yield
    except UnreadableTable:
        return


def _name(request: Request) -> str:
    return str(request.path_params["name"])


def _sent(folder: Path, upload: Upload) -> Sent:
    return Sent(str(folder), tuple(upload.files), upload.fields, upload.body)


async def _unknown_route(request: Request, error: Exception) -> Response:
    """Say what can be asked for, in the form of all errors."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    path, allowed = request.url.path, ", ".join(_methods(request))
    sentences = {
        404: f"there is no {path}; GET /openapi.json lists what there is",
        405: f"{path} does not take {request.method}; it takes {allowed}",
    }
    response = refusal(
        Refused(status, sentences.get(status, f"the request failed with status {status}"))
    )
    if status == 405:
        response.headers["allow"] = allowed
    return response


def _methods(request: Request) -> list[str]:
    """Return the methods that a path takes, of all its routes."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    matching = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in matching for method in route.methods or ()})


async def _unexpected(_request: Request, _error: Exception) -> Response:
    """Tell the sender that it is not their fault; the server prints the traceback."""
    return refusal(Refused(500, "something went wrong inside the service; its log says what"))
