"""Errors and warnings of launches in this process: of the plug-ins in Python, and of the driver library if it is loaded.

The report has the form of the driver library's report, which `halfbyte exec` reads.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import dataclasses
import json
import os
import re
import threading
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _driver
from ._errors import Error, ParseError, Race, RaceWarning, Refused, Trap
from ._halfbyte import name_parts

#: Variable with the folder for the report file. Without the variable, no file is written.
FOLDER_VARIABLE = "HALFBYTE_REPORT_DIR"


@dataclasses.dataclass
class Finding:
    """Error or warning of a kernel, with the number of times that it occurred.

    `kind` is `"race"`, `"trap"`, `"uninitialised"` or `"unsupported"`. `message` is one line, and `display` quotes the text of the kernel.
    """

    kind: str
    kernel: str
    message: str
    display: str
    file: str
    line: int
    count: int = 1

    @property
    def name(self) -> str:
        """Name of the kernel's function."""
        return readable(self.kernel)


class Totals(NamedTuple):
    """Numbers of launches, errors and warnings of this process. Equal errors count once."""

    launches: int
    errors: int
    warnings: int


#: The properties in which equal findings agree: the kernel, the kind of the failure, the file, and the line.
_Key = Tuple[str, str, str, int]


class _Record:
    """Findings of the plug-ins in Python."""

    def __init__(self) -> None:
        self.launches = 0
        self.kernels: Dict[str, None] = {}
        self.errors: Dict[_Key, Finding] = {}
        self.warnings: Dict[_Key, Finding] = {}
        self.approximations: Dict[_Key, Finding] = {}
        #: The errors that no call of `take_errors` has returned.
        self.untaken: Dict[_Key, Finding] = {}

    def contents(self) -> Dict[str, Any]:
        lists = {"errors": self.errors, "warnings": self.warnings, "approximations": self.approximations}
        texts = {name: [dataclasses.asdict(finding) for finding in found.values()] for name, found in lists.items()}
        return {"launches": self.launches, "kernels": list(self.kernels), **texts}


_lock = threading.RLock()
_record = _Record()


def launched(kernel: str) -> None:
    """Records a launch."""
    with _lock:
        _record.launches += 1
        _record.kernels[kernel] = None


def approximates(kernel: str, instructions: Sequence[Tuple[str, str, int]]) -> None:
    """Records the instructions of a kernel that a GPU approximates, each with its file and line."""
    with _lock:
        for instruction, file, line in instructions:
            message = f"the result of `{instruction}` is rounded to nearest; a GPU approximates it"
            _record.approximations[kernel, instruction, file, line] = Finding("approximation", kernel, message, "", file, line)


def failed(kernel: str, error: Error) -> None:
    """Records an error of a launch."""
    kind = getattr(error, "kind", "")
    if isinstance(error, Race):
        name = "race"
    elif isinstance(error, (Refused, ParseError)):
        name = "unsupported"
    else:
        name = "uninitialised" if str(kind).startswith("uninit") else "trap"
    key, finding = _finding(name, kernel, error, str(kind))
    with _lock:
        _add(_record.errors, key, finding)
        _add(_record.untaken, key, finding)
        _write()


def warned(kernel: str, warning: RaceWarning) -> None:
    """Records a warning of a launch."""
    race = warning.race
    key, finding = _finding("race", kernel, race, "race", str(warning))
    with _lock:
        _add(_record.warnings, key, finding)


def take_errors() -> List[Finding]:
    """Returns the errors since the previous call."""
    with _lock:
        _collect()
        taken = list(_record.untaken.values())
        _record.untaken.clear()
        return taken


def latest() -> Optional[Finding]:
    """Returns the last error that no call of `take_errors` has returned, if any."""
    with _lock:
        with contextlib.suppress(_driver.DriverInUse):
            _collect()
        return next(reversed(_record.untaken.values()), None)


def totals() -> Totals:
    """Returns the numbers of launches, errors and warnings."""
    with _lock:
        of = _record.contents()
    library = _driver.loaded()
    driver = json.loads(_text(library, "halfbyte_report")) if library is not None else {}
    launches = of["launches"] + driver.get("launches", 0)
    errors, warnings = (len(of[name]) + len(driver.get(name, ())) for name in ("errors", "warnings"))
    return Totals(launches, errors, warnings)


def readable(kernel: str) -> str:
    """Returns the source name of a kernel's function, without module and class, for a mangled name of C++ or Numba."""
    parts = name_parts(kernel)
    if not parts:
        return kernel
    # Numba writes other characters than letters, digits and underscores as their codes, such as `_3clocals_3e`.
    return re.sub(r"_([0-9a-f]{2})", _unescaped, parts[-1]) or kernel


def _unescaped(match: "re.Match[str]") -> str:
    character = chr(int(match.group(1), 16))
    return character if character in "<>" else match.group()


def _finding(kind: str, kernel: str, error: Error, failure: str, display: str = "") -> Tuple[_Key, Finding]:
    display = display or str(error)
    message = display.partition("\n")[0].removeprefix("error: ").removeprefix("warning: ")
    # An error in a function of a library is at the line that calls it.
    source: Any = next(reversed(getattr(error, "inlined_at", ())), None) or getattr(error, "source", None)
    file, line = source if source else (getattr(error, "file", ""), getattr(error, "line", 0))
    finding = Finding(kind, kernel, message, display, str(file or ""), int(line or 0))
    text_line = error.line if isinstance(error, Trap) and error.line else finding.line
    return (kernel, failure or kind, finding.file, text_line), finding


def _add(found: Dict[_Key, Finding], key: _Key, finding: Finding) -> None:
    if key in found:
        found[key].count += finding.count
    else:
        found[key] = dataclasses.replace(finding)


def _collect() -> None:
    """Moves the errors of the driver library to the errors that `take_errors` returns next."""
    library = _driver.loaded()
    if library is None:
        return
    names = [field.name for field in dataclasses.fields(Finding)]
    for error in json.loads(_text(library, "halfbyte_take_findings")):
        finding = Finding(**{name: error.get(name, "") for name in names})
        # The message distinguishes errors of one source line.
        _add(_record.untaken, (finding.kernel, f"driver: {finding.message}", finding.file, finding.line), finding)


def _text(library: ctypes.CDLL, name: str) -> bytes:
    """Returns the text that a function of the driver library copies to a buffer."""
    try:
        function = getattr(library, name)
    except AttributeError:
        raise _driver.DriverInUse(
            f"the driver library has no function {name}, so that it is older than this package; build the library with "
            f"`bindings/cuda/build`, and set {_driver.FOLDER_VARIABLE} to the folder that it prints"
        ) from None
    function.restype, function.argtypes = ctypes.c_size_t, (ctypes.c_void_p, ctypes.c_size_t)
    size = 4096
    while True:
        buffer = ctypes.create_string_buffer(size)
        length = int(function(buffer, size))
        if length <= size:
            return buffer.raw[:length]
        # Other threads may add errors before the next call.
        size = 2 * length


def _write() -> None:
    """Writes the report file, if the variable with its folder is set. An error is ignored, because the program cannot handle it."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder or not (_record.launches or _record.errors or _record.warnings):
        return
    file = Path(folder) / f"report-{os.getpid()}-python.json"
    unfinished = file.with_suffix(".json-unfinished")
    with contextlib.suppress(OSError):
        unfinished.write_text(json.dumps(_record.contents()), encoding="utf-8")
        unfinished.replace(file)


def _write_at_exit() -> None:
    with _lock:
        _write()


def _forget() -> None:
    """Empties the record in a child process, which would otherwise report its parent's launches."""
    global _lock, _record
    _lock, _record = threading.RLock(), _Record()


atexit.register(_write_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
