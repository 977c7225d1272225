"""`frame.aegir.annotate()` for frames of pandas and polars, once this module is imported.

    import aegir.accessors
    frame.aegir.annotate(name="customers", effort="high")["email"].label

Importing it registers the accessor with those of the two libraries that are installed, and so imports them.
"""

from importlib.util import find_spec
from typing import Any

from aegir.answers.annotation import TableAnnotation
from aegir.pipeline.run import annotate
from aegir_rl.base.errors import UsageError


class FrameAccessor:
    """What `frame.aegir` offers."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def annotate(self, name: str = "table", **how: Any) -> TableAnnotation:
        """Return the answer to the frame, as a table of this name; `how` are the keywords of `aegir.annotate`.

        Lists of objects in cells are tables of their own, which `aegir.annotate` gives too.
        """
        return annotate({name: self._frame}, **how)[0]


def register() -> tuple[str, ...]:
    """Register the accessor, and return with which libraries; raise if neither is installed."""
    registered = []
    if find_spec("pandas"):
        import pandas

        if not hasattr(pandas.DataFrame, "aegir"):
            pandas.api.extensions.register_dataframe_accessor("aegir")(FrameAccessor)
        registered.append("pandas")
    if find_spec("polars"):
        import polars

        if not hasattr(polars.DataFrame, "aegir"):
            polars.api.register_dataframe_namespace("aegir")(FrameAccessor)
            polars.api.register_lazyframe_namespace("aegir")(FrameAccessor)
        registered.append("polars")
    if not registered:
        raise UsageError("aegir.accessors needs pandas or polars; pip install pandas")
    return tuple(registered)


register()
