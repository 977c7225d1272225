"""`aegir mcp`: the tools over the Model Context Protocol, on standard input and output, by the official package (extra `mcp`).

    agent ──JSON lines──▶ stdin   MCPServer   stdout ──▶ agent          stderr: sentences for people

Standard output belongs to the protocol: while the server runs, what anything else prints goes to stderr. The annotator is
loaded while the client is still saying hello. A tool that refuses answers with its sentence, marked as an error.
"""

import json
from collections.abc import Callable
from functools import wraps
from importlib.metadata import version
from inspect import cleandoc
from threading import Thread
from typing import Any

from aegir.agents.tools import MOST_ROWS, AgentTools
from aegir_rl.base.errors import AegirError, UsageError

VOCABULARY = "aegir://vocabulary"
ENTRY = "aegir://vocabulary/{name}"
Tool = Callable[..., dict[str, Any]]


def serve(tools: AgentTools) -> None:
    """Answer until standard input ends; raise `UsageError` if the package is missing."""
    server = build_server(tools)
    Thread(target=tools.warm_up, daemon=True).start()
    server.run("stdio")


def build_server(tools: AgentTools) -> Any:
    """Return the server with its tools and resources."""
    try:
        from mcp.server import MCPServer
    except ImportError:
        raise UsageError(
            "aegir mcp needs version 2 of mcp; install it with: pip install 'aegir-tables[mcp]'"
        ) from None
    from mcp_types import ToolAnnotations

    server = MCPServer(
        "aegir",
        title="Aegir",
        version=version("aegir-tables"),
        instructions=(
            f"What the columns of tables are, and rows with personal columns masked. Tables are read below {tools.folders} only. "
            f"Begin with annotate; look at rows with sample (at most {MOST_ROWS}); the names in answers are defined by {VOCABULARY}."
        ),
        log_level="WARNING",
    )
    for tool in (tools.annotate, tools.explain, tools.types, tools.diff, tools.sample):
        hints = ToolAnnotations(read_only_hint=True, open_world_hint=False)
        _add(server, tool, hints)
    hints = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
    _add(server, tools.mask, hints)

    def entry(name: str) -> dict[str, Any]:
        return tools.types(name)

    json_type = "application/json"
    server.resource(
        VOCABULARY, mime_type=json_type, description="Every name that answers use, defined."
    )(tools.vocabulary)
    server.resource(ENTRY, mime_type=json_type, description="One of these names.")(
        _refusing(entry, resource=True)
    )
    return server


def _add(server: Any, tool: Tool, hints: Any) -> None:
    text = cleandoc(tool.__doc__ or "")
    server.add_tool(_refusing(tool), description=text, annotations=hints, structured_output=False)


def _refusing(tool: Tool, *, resource: bool = False) -> Callable[..., str]:
    """The tool with its answer as JSON on one line, a third of the tokens of an indented one; errors reach the agent as their sentence."""
    from mcp.server.mcpserver.exceptions import ResourceError, ToolError

    refused = ResourceError if resource else ToolError

    @wraps(tool)
    def call(*arguments: Any, **named: Any) -> str:
        try:
            return json.dumps(tool(*arguments, **named), ensure_ascii=False)
        except AegirError as error:
            raise refused(str(error)) from None

    return call
