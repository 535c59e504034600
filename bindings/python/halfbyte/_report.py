"""`check`: the run lines of kernel files, on every target and engine that they name."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

from . import _html
from ._halfbyte import check_text

_Path = Union[str, "os.PathLike[str]"]


@dataclass
class FileReport:
    """What came of a file.

    `passed` is whether all that it asks for came out. `runs` counts the launches that its lines ask for, `refusals` the refusals found as expected;
    `compared` names what results were computed on beside the evaluator. `display` shows what is wrong, with the text; `None` where nothing is.
    `results` has a dict for each launch on each target and engine, `kernels` each kernel with how far it came.
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

    @property
    def is_empty(self) -> bool:
        """Whether the file has no run lines, so that nothing but that it is well formed could fail."""
        return self.passed and self.runs == 0 and self.refusals == 0

    @property
    def verdict(self) -> str:
        """`"ok"`, `"FAILED"`, or `"no run lines"`."""
        return "FAILED" if not self.passed else "no run lines" if self.is_empty else "ok"


class Report:
    """What came of files: `passed` and `failed` count them, those without run lines apart; `files` has each.

    It is true where nothing failed, `repr` is the table.
    """

    def __init__(self, files: Iterable[FileReport]) -> None:
        self.files: List[FileReport] = list(files)

    @property
    def passed(self) -> int:
        """Files all of whose lines came out."""
        return sum(file.passed and not file.is_empty for file in self.files)

    @property
    def failed(self) -> int:
        """Files of which something did not, or that cannot be read."""
        return sum(not file.passed for file in self.files)

    @property
    def without_run_lines(self) -> int:
        """Files that ask for nothing."""
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
    """What a file asks for: `4 launches, 1 refusal`."""
    launches = f"{file.runs} launch{'' if file.runs == 1 else 'es'}" if file.runs else ""
    refusals = f"{file.refusals} refusal{'' if file.refusals == 1 else 's'}" if file.refusals else ""
    return ", ".join(filter(None, (launches, refusals)))


def check(
    paths: Union[_Path, Iterable[_Path]],
    *,
    engine: Optional[str] = None,
    sm: Union[int, str, None] = None,
    races: bool = False,
    alias: bool = False,
    allow: Sequence[_Path] = (),
) -> Report:
    """Makes the launches that the run lines of files ask for, on the evaluator and on every target and engine named, and compares bit for bit.

    `paths` is a file, or a folder of which every `*.hb` below is checked, or several. Nothing is raised for what a file says or for one that
    cannot be read: it has then failed. `races` looks for races in PTX too, `alias` lets its pointers be into one memory; `allow` names folders
    in which files may lie that run lines name.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    options = {"engine": engine, "sm": sm, "races": races, "alias": alias, "allow": [Path(folder) for folder in allow]}
    return Report(_check_file(file, options) for path in given for file in _files(Path(path)))


def _files(path: Path) -> List[Path]:
    """The file itself, or the kernel files below a folder, in order."""
    return sorted(path.rglob("*.hb")) if path.is_dir() else [path]


def _check_file(path: Path, options: Dict[str, Any]) -> FileReport:
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return FileReport(str(path), False, display=f"error: {path}: {error}")
    found = check_text(str(path), text, path.parent, **options)
    fields = ("runs", "refusals", "compared", "display", "results", "kernels", "order_dependent")
    return FileReport(str(path), found["display"] is None, **{name: found[name] for name in fields})
