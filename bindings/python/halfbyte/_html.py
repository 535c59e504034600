"""HTML representations of kernels, compiled code and reports in notebooks."""

from __future__ import annotations

import html
import os
from typing import Any, Iterable, Optional, Sequence, Union

from ._halfbyte import whole_number

_STYLE = "border-collapse:collapse;font-family:monospace;font-size:90%"


class View:
    """HTML page that notebooks show in a frame. `html` is its text, and `save(path)` writes it to a file."""

    def __init__(self, page: str, height: int = 600) -> None:
        self.html = page
        self.height = whole_number(height, "height", 1, 2**16)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the page to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        source = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{source}" style="width:100%;height:{self.height}px;border:0" sandbox="allow-scripts"></iframe>'

    def __repr__(self) -> str:
        return f"<halfbyte view, {len(self.html)} characters of HTML>"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """Formats a table of texts."""
    cells = "".join(f"<th style='text-align:left'>{html.escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    shown = f"<caption style='text-align:left'>{html.escape(caption)}</caption>" if caption else ""
    return f"<table style='{_STYLE}'>{shown}<thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def pre(text: str) -> str:
    """Formats a preformatted text."""
    return f"<pre>{html.escape(text)}</pre>"


def _cell(value: Any) -> str:
    return "" if value is None else html.escape(str(value)).replace("\n", "<br>")


def of_kernel(kernel: Any) -> str:
    """Formats the parameters and the text of a kernel."""
    rows = [(param.name, param.direction or "scalar", param.type, param.dtype) for param in kernel.params]
    return table(("parameter", "", "type", "takes"), rows, f"@{kernel.name}") + pre(kernel.text)


def of_compiled(compiled: Any) -> str:
    """Formats the statistics and the listing of a compiled kernel."""
    stats = compiled.stats
    rows = [(name, stats[name]) for name in stats if name not in ("kernel", "rules")]
    return table(("", ""), rows, repr(compiled)[1:-1]) + pre(compiled.listing)


def of_module(module: Any) -> str:
    """Formats a module, one line per kernel."""
    rows = [(f"@{name}", ", ".join(f"{param.name}: {param.type}" for param in kernel.params)) for name, kernel in module.items()]
    return table(("kernel", "parameters"), rows, module.file)


def of_view(kernel: Any, target: Optional[str] = None, sm: Union[int, str, None] = None) -> View:
    """Returns the page of a kernel's compiler stages."""
    return View(kernel._page(target, sm))
