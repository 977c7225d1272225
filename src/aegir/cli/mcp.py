"""`aegir mcp FOLDER…`: tables for agents, over the Model Context Protocol on standard input and output."""

import secrets
from pathlib import Path
from typing import Any

import click

from aegir.cli.mask import read_key
from aegir.cli.options import PathName, settings_from, verb_options
from aegir.cli.terminal import tell
from aegir.masking.masking import check_key, read_policy


@click.command(epilog="Example: aegir mcp lake/ --write masked/")
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True, type=PathName())
@verb_options("mcp", "mask policy")
@verb_options("rows", "reading", "annotator", "effort", "routing", "tags")
@verb_options("custom", "memory", "no_memory")
def mcp(
    folders: tuple[Path, ...],
    write: Path | None,
    mask_policy: Path | None,
    key_file: Path | None,
    **options: Any,
) -> None:
    """Let agents ask about the tables in these folders, and see rows with personal columns masked.

    A server of the Model Context Protocol on standard input and output, started by an agent's program; docs/agents.md has the line for its
    settings. Nothing outside of FOLDER is read. Needs the extra `mcp`.
    """
    from aegir.agents.folders import ReadableFolders
    from aegir.agents.server import serve
    from aegir.agents.tools import AgentTools

    key = check_key(read_key(key_file)) or secrets.token_bytes(32)
    serve(
        AgentTools(
            ReadableFolders(folders),
            settings_from(options),
            read_policy(mask_policy),
            key,
            write=write,
            say=tell,
        )
    )
