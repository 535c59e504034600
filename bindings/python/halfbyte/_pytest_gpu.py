"""`pytest --halfbyte-gpu`: runs the GPU code of a test suite on the CPU, and makes errors of kernels failures of their tests."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import importlib.util
import linecache
import os
import sys
from typing import Any, Generator, Iterator, List, Optional, Sequence, Tuple

import pytest

from . import _driver, _findings, _imports, _settings, _torch

_OPTION = "--halfbyte-gpu"
_MARKER = "halfbyte_gpu"

_DESCRIPTION = (
    "halfbyte_gpu(sm=None, races=None): runs GPU code of the test on the CPU, and makes errors of kernels failures; `sm` is the compute "
    'capability, and `races` is True or "strict"'
)


@dataclasses.dataclass
class _Suite:
    """State of a test run."""

    #: `True` if the option was given. Otherwise, only tests with the marker or the fixture use halfbyte.
    is_on: bool = False
    #: Names of the installed parts.
    parts: List[str] = dataclasses.field(default_factory=list)
    #: Context whose end undoes the installation.
    installation: contextlib.ExitStack = dataclasses.field(default_factory=contextlib.ExitStack)
    #: `True` if a test has used halfbyte.
    was_used: bool = False
    #: Reports of errors that occurred outside of tests.
    outside: List[str] = dataclasses.field(default_factory=list)
    #: Launches, errors and warnings in the worker processes of pytest-xdist.
    workers: Tuple[int, int, int] = (0, 0, 0)


_suite_key = pytest.StashKey[_Suite]()
_item_key = pytest.StashKey[contextlib.ExitStack]()


def _suite(config: pytest.Config) -> _Suite:
    return config.stash.setdefault(_suite_key, _Suite())


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("halfbyte")
    group.addoption(
        _OPTION,
        action="store_true",
        help="run Triton, Numba and other code for the CUDA driver on the CPU; errors of kernels are failures of their tests",
    )
    group.addoption("--halfbyte-sm", metavar="N", help="compute capability of the device, such as 90; the default is 80")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    options = early_config.known_args_namespace
    if not options.halfbyte_gpu:
        return
    suite = _suite(early_config)
    try:
        # Child processes of tests use halfbyte, too.
        _driver.load(sm=options.halfbyte_sm, races=options.halfbyte_races or None, keep_going=True)
        _driver.use_own_caches()
        _driver.use_search_paths()
        suite.parts = _install(suite.installation)
    except (ImportError, RuntimeError, ValueError) as error:
        raise pytest.UsageError(f"{_OPTION}: {error}") from error
    suite.is_on = suite.was_used = True


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _DESCRIPTION)


def pytest_unconfigure(config: pytest.Config) -> None:
    _suite(config).installation.close()


def pytest_report_header(config: pytest.Config) -> Optional[str]:
    suite = _suite(config)
    if not suite.is_on:
        has_no_effect = config.option.halfbyte_races and not config.option.halfbyte
        hint = f"halfbyte: without {_OPTION}, --halfbyte-races applies only to tests with the marker or the fixture {_MARKER}"
        return hint if has_no_effect else None
    races = os.environ.get("HALFBYTE_RACES", "off")
    checks = "" if races in ("", "0", "off") else ", races" if races != "strict" else ", races=strict"
    return f"halfbyte: GPU code runs on the CPU (sm_{os.environ.get('HALFBYTE_SM') or '80'}{checks}): {', '.join(suite.parts)}"


def _install(context: contextlib.ExitStack) -> List[str]:
    """Installs the plug-ins of the packages that are there, until the end of the context. Returns their names."""
    parts = ["CUDA driver"]
    if _is_importable("triton"):
        name = f"{__package__}.triton"
        was_imported = name in sys.modules
        triton: Any = importlib.import_module(name)
        if not was_imported:
            # The import installs the plug-in until the process ends.
            triton.uninstall()
        context.enter_context(triton.installed())
        parts.append("Triton")
    if _is_importable("torch"):
        # If Triton is installed, the Triton plug-in has activated the replacement, and this call has no effect.
        _torch.activate(_settings.from_environment)
        if len(parts) == 1:
            context.callback(_torch.deactivate)
        parts.append("torch.cuda")
    if _is_importable("numba") and _is_importable("numba_cuda"):
        _imports.after_import("numba.cuda", _install_numba)
        parts.append("Numba")
    return parts


def _install_numba() -> None:
    importlib.import_module(f"{__package__}.numba")


def _is_importable(name: str) -> bool:
    """Returns `True` if a package is installed. A module of `None` counts as missing."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


class Gpu:
    """Value of the fixture `halfbyte_gpu`."""

    def take_errors(self) -> List[_findings.Finding]:
        """Returns the errors of kernels since the previous call or the start of the test. These errors do not make the test fail."""
        return _findings.take_errors()


@pytest.fixture
def halfbyte_gpu() -> Gpu:
    """Runs GPU code of the test on the CPU. Errors of kernels make the test fail, unless `take_errors()` returns them before."""
    return Gpu()


@contextlib.contextmanager
def _installed_for(item: pytest.Item) -> Iterator[None]:
    """Installs halfbyte for a test with the marker or the fixture."""
    marker = item.get_closest_marker(_MARKER)
    options = dict(marker.kwargs) if marker else {}
    unknown = sorted(set(options) - {"sm", "races"})
    if unknown or (marker and marker.args):
        raise pytest.UsageError(f"@pytest.mark.{_MARKER} takes sm= and races=, not {', '.join(unknown) or 'positional arguments'}")
    suite = _suite(item.config)
    if suite.is_on:
        _driver.load(**options)
        yield
        return
    option = item.config.option
    options.setdefault("sm", option.halfbyte_sm)
    options.setdefault("races", option.halfbyte_races or None)
    _driver.load(**options, keep_going=True)
    suite.was_used = True
    with contextlib.ExitStack() as context:
        _install(context)
        yield


def _uses_halfbyte(item: pytest.Item) -> bool:
    return item.get_closest_marker(_MARKER) is not None or _MARKER in getattr(item, "fixturenames", ())


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, None]:
    problem: Optional[BaseException] = None
    if _uses_halfbyte(item):
        stack = item.stash[_item_key] = contextlib.ExitStack()
        try:
            stack.enter_context(_installed_for(item))
        except (pytest.UsageError, ImportError, RuntimeError, ValueError, TypeError) as error:
            problem = error
    outcome = yield
    if problem is not None:
        outcome.force_exception(pytest.fail.Exception(f"halfbyte_gpu: {problem}", pytrace=False))
    _check(item, "setup", outcome)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    outcome = yield
    _check(item, "call", outcome)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, None]:
    outcome = yield
    _check(item, "teardown", outcome)
    stack = item.stash.get(_item_key, None)
    if stack is not None:
        stack.close()


def _check(item: pytest.Item, when: str, outcome: Any) -> None:
    """Makes a phase of a test fail if kernels had errors. If the phase has failed, adds the errors to its report."""
    if not (_suite(item.config).is_on or item.stash.get(_item_key, None) is not None):
        return
    errors = _findings.take_errors()
    if not errors:
        return
    text = report(errors)
    failure = outcome.excinfo[1] if outcome.excinfo else None
    if failure is None or isinstance(failure, pytest.skip.Exception):
        outcome.force_exception(pytest.fail.Exception(text, pytrace=False))
    else:
        item.add_report_section(when, "halfbyte", text)


def report(findings: Sequence[_findings.Finding]) -> str:
    """Formats errors, each with its source line and its message."""
    return "\n\n".join(map(_text, findings))


def _text(finding: _findings.Finding) -> str:
    what = {"uninitialised": "uninitialised read"}.get(finding.kind, finding.kind)
    if "out of bounds" in finding.message:
        what = "access out of bounds"
    times = f", {finding.count} times" if finding.count > 1 else ""
    lines = [f"{what} in kernel {finding.name}{times}"]
    if finding.line:
        lines[0] = f"{_shortened(finding.file)}:{finding.line}: {lines[0]}"
        source = linecache.getline(finding.file, finding.line).rstrip()
        if source.strip():
            width = len(str(finding.line))
            indent = len(source) - len(source.lstrip())
            lines += [
                f"{' ' * width} |",
                f"{finding.line} | {source}",
                f"{' ' * width} | {' ' * indent}{'^' * len(source.strip())}",
            ]
    return "\n".join([*lines, "", finding.display.replace(finding.kernel, finding.name).strip()])


def _shortened(file: str) -> str:
    """Returns a path relative to the current folder, if the file is below it."""
    with contextlib.suppress(ValueError):
        relative = os.path.relpath(file)
        return file if relative.startswith(os.pardir) else relative
    return file


def pytest_collection_finish(session: pytest.Session) -> None:
    _take_outside(session.config)


def _take_outside(config: pytest.Config) -> None:
    """Keeps the errors that occurred outside of tests."""
    suite = _suite(config)
    if suite.is_on:
        suite.outside += map(_text, _findings.take_errors())


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    suite = _suite(config)
    _take_outside(config)
    if suite.outside and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    output = getattr(config, "workeroutput", None)
    if output is not None and suite.was_used:
        output["halfbyte"] = {"totals": list(_findings.totals()), "outside": suite.outside}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Adds the numbers of a worker process of pytest-xdist."""
    given = getattr(node, "workeroutput", {}).get("halfbyte")
    if given:
        suite = _suite(node.config)
        launches, errors, warnings = (before + more for before, more in zip(suite.workers, given["totals"]))
        suite.workers = (launches, errors, warnings)
        suite.outside += given["outside"]
        suite.was_used = True


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    suite = _suite(config)
    if not suite.was_used:
        return
    if suite.outside:
        terminalreporter.section("halfbyte: errors outside of tests")
        terminalreporter.write_line("\n\n".join(suite.outside))
    launches, errors, warnings = (one + more for one, more in zip(_findings.totals(), suite.workers))
    counted = (_counted(launches, "launch", "launches"), _counted(errors, "error", "errors"), _counted(warnings, "warning", "warnings"))
    terminalreporter.write_line(f"halfbyte: {', '.join(counted)}")


def _counted(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"
