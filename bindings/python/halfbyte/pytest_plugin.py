"""`pytest --halfbyte`: collects `*.hb` and `*.ptx` files with run lines or `; test:` headers, one test per line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

import pytest

#: The option `--halfbyte-gpu`, the marker and the fixture.
pytest_plugins = ["halfbyte._pytest_gpu"]

_TEST = re.compile(r"^\s*;\s*test:", re.MULTILINE)
_RUN = re.compile(r"(?:;|//)\s*(?:run|refuse):")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("halfbyte")
    group.addoption("--halfbyte", action="store_true", help="collect *.hb and *.ptx files with run lines or `; test:` headers")
    # `--halfbyte-races=strict` is a separate option, so that a path after `--halfbyte-races` is not taken for a value of the option.
    races = {"dest": "halfbyte_races", "action": "store_const", "default": False}
    group.addoption("--halfbyte-races", **races, const=True, help="detect races in kernels, with --halfbyte or --halfbyte-gpu")
    group.addoption("--halfbyte-races=strict", **races, const="strict", help="detect races, and report stores of the same value as errors")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Optional[pytest.Collector]:
    if not parent.config.getoption("--halfbyte") or file_path.suffix not in (".hb", ".ptx"):
        return None
    return KernelFile.from_parent(parent, path=file_path)


class KernelFile(pytest.File):
    """Kernel file. All its tests run together when the first one is requested."""

    _results: Optional[Dict[Any, Optional[str]]] = None

    def collect(self) -> Iterator[pytest.Item]:
        text = self.path.read_text(encoding="utf-8", errors="replace")
        if self.path.suffix == ".hb" and _TEST.search(text):
            for kernel, line in _kernels(text):
                yield KernelItem.from_parent(self, name=f"@{kernel}", key=kernel, line=line, is_test=True)
        elif _RUN.search(text):
            lines = _lines(self.path, text)
            for line, what in lines or [(1, "file")]:
                yield KernelItem.from_parent(self, name=f"{line}: {what}", key=line, line=line, is_test=False)

    def failure(self, key: Any, is_test: bool) -> Optional[str]:
        """Returns the report of a failed test, or `None` if it passed."""
        if self._results is None:
            text = self.path.read_text(encoding="utf-8", errors="replace")
            self._results = self._tested(text) if is_test else self._checked(text)
        return self._results.get(key, self._results.get(None))

    def _tested(self, text: str) -> Dict[Any, Optional[str]]:
        from . import ParseError
        from ._halfbyte import test_text

        try:
            return {kernel: display for kernel, _, display in test_text(str(self.path), text)}
        except ParseError as error:
            return {None: str(error)}

    def _checked(self, text: str) -> Dict[Any, Optional[str]]:
        from ._halfbyte import check_text

        races = self.config.getoption("--halfbyte-races")
        found = check_text(str(self.path), text, self.path.parent, races=races)
        results: Dict[Any, Optional[str]] = {}
        for result in found["results"]:
            before = results.get(result["line"])
            now = None if result["passed"] else result["display"] or "the launch failed"
            results[result["line"]] = "\n\n".join(filter(None, (before, now))) or None
        # A failure without a line, such as a syntax error, fails all tests of the file.
        results[None] = found["display"]
        return results


class KernelItem(pytest.Item):
    """Run line, expected refusal, or kernel with an expected output."""

    def __init__(self, *, key: Any, line: int, is_test: bool, **rest: Any) -> None:
        super().__init__(**rest)
        self.key, self.line, self.is_test = key, line, is_test

    def runtest(self) -> None:
        assert isinstance(self.parent, KernelFile)
        failure = self.parent.failure(self.key, self.is_test)
        if failure is not None:
            raise KernelFailure(failure)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, KernelFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> Tuple[Path, int, str]:
        return self.path, self.line - 1, self.name


class KernelFailure(Exception):
    """Failure of a test, with its report."""


def _lines(path: Path, text: str) -> List[Tuple[int, str]]:
    from ._halfbyte import run_lines

    return run_lines(str(path), text)


def _kernels(text: str) -> List[Tuple[str, int]]:
    """Returns the kernels of a text, with their lines."""
    found = re.finditer(r"^\s*kernel\s+@([\w.$]+)", text, re.MULTILINE)
    return [(match.group(1), text.count("\n", 0, match.start(1)) + 1) for match in found]
