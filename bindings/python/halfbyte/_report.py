"""`check`: runs the run lines of kernel files on all targets and engines that they name."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Literal, Optional, Sequence, Tuple, Union

from . import _html
from ._halfbyte import check_text

_Path = Union[str, "os.PathLike[str]"]


@dataclass
class FileReport:
    """Result of a file.

    `passed` is `True` if nothing failed. `runs` is the number of launches in the file's run lines, and `refusals` the number of expected
    refusals. `compared` has the targets and engines that were compared with the evaluator. `display` shows the failures with the source
    text, or is `None`. `results` has a dict for each launch on each target and engine, and `kernels` the name and state of each kernel.
    `warnings` shows stores of the same value that race, and reads of uninitialised registers of PTX, or is `None`.
    """

    name: str
    passed: bool
    runs: int = 0
    refusals: int = 0
    compared: List[str] = field(default_factory=list)
    display: Optional[str] = None
    results: List[Dict[str, Any]] = field(default_factory=list, repr=False)
    kernels: List[Tuple[str, str]] = field(default_factory=list, repr=False)
    order_dependent: List[str] = field(default_factory=list, repr=False)
    warnings: Optional[str] = field(default=None, repr=False)

    @property
    def is_empty(self) -> bool:
        """`True` if the file has no run lines, so that only its syntax was checked."""
        return self.passed and self.runs == 0 and self.refusals == 0

    @property
    def verdict(self) -> str:
        """`"ok"`, `"FAILED"`, or `"no run lines"`."""
        return "FAILED" if not self.passed else "no run lines" if self.is_empty else "ok"


class Report:
    """Results of files. `passed` and `failed` are their numbers, without files that have no run lines; `files` has the results.

    A report is true if nothing failed. Its `repr` is a table.
    """

    def __init__(self, files: Iterable[FileReport]) -> None:
        self.files: List[FileReport] = list(files)

    @property
    def passed(self) -> int:
        """Number of files that passed."""
        return sum(file.passed and not file.is_empty for file in self.files)

    @property
    def failed(self) -> int:
        """Number of files that failed or cannot be read."""
        return sum(not file.passed for file in self.files)

    @property
    def without_run_lines(self) -> int:
        """Number of files without run lines."""
        return sum(file.is_empty for file in self.files)

    def __bool__(self) -> bool:
        return self.failed == 0

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[FileReport]:
        return iter(self.files)

    def _rows(self) -> List[Tuple[str, str, str, str]]:
        return [(file.verdict, file.name, _asked(file), ", ".join(file.compared)) for file in self.files]

    def __repr__(self) -> str:
        rows = self._rows()
        widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
        lines = ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[3]]).rstrip() for row in rows]
        lines += [file.display for file in self.files if file.display]
        without = f", {self.without_run_lines} without run lines" if self.without_run_lines else ""
        return "\n".join([*lines, f"{self.passed} passed, {self.failed} failed{without}"])

    def _repr_html_(self) -> str:
        head = ("", "file", "what it asks for", "compared on")
        shown = "".join(_html.pre(file.display) for file in self.files if file.display)
        caption = f"{self.passed} passed, {self.failed} failed"
        return _html.table(head, self._rows(), caption) + shown


def _asked(file: FileReport) -> str:
    """Formats the numbers of a file: `4 launches, 1 refusal`."""
    launches = f"{file.runs} launch{'' if file.runs == 1 else 'es'}" if file.runs else ""
    refusals = f"{file.refusals} refusal{'' if file.refusals == 1 else 's'}" if file.refusals else ""
    return ", ".join(filter(None, (launches, refusals)))


def check(
    paths: Union[_Path, Iterable[_Path]],
    *,
    engine: Optional[str] = None,
    sm: Union[int, str, None] = None,
    races: Union[bool, Literal["strict"]] = False,
    alias: bool = False,
    allow: Sequence[_Path] = (),
) -> Report:
    """Runs the launches of run lines on the evaluator and on all named targets and engines, and compares the results bit for bit.

    `paths` is a file, a folder that is searched for `*.hb` files, or several of these. A file with errors, or that cannot be read, counts
    as failed and raises nothing. `races` also checks PTX for races. With `"strict"`, two stores of the same value by the same instruction
    are an error, and otherwise a warning. `alias` permits pointers of PTX to overlap. `allow` lists folders whose files run lines may name.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    options = {"engine": engine, "sm": sm, "races": races, "alias": alias, "allow": [Path(folder) for folder in allow]}
    return Report(_check_file(file, options) for path in given for file in _files(Path(path)))


def _files(path: Path) -> List[Path]:
    """Returns the file itself, or the kernel files below a folder, sorted."""
    return sorted(path.rglob("*.hb")) if path.is_dir() else [path]


def _check_file(path: Path, options: Dict[str, Any]) -> FileReport:
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return FileReport(str(path), False, display=f"error: {path}: {error}")
    found = check_text(str(path), text, path.parent, **options)
    fields = ("runs", "refusals", "compared", "display", "results", "kernels", "order_dependent", "warnings")
    return FileReport(str(path), found["display"] is None, **{name: found[name] for name in fields})
