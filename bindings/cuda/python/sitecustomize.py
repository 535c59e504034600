"""Plug-ins of halfbyte for the frameworks of a Python program under `halfbyte exec`.

Python imports this module when it starts, because `halfbyte exec` puts its folder in front of `PYTHONPATH`. The module waits until
the program imports a framework, and then loads the plug-in from the package `halfbyte`. A failure of a plug-in is a warning, not an
error of the program.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import threading
import types
from typing import Any, Callable, Dict, Optional, Sequence, Set

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _import_shadowed() -> None:
    """Runs the `sitecustomize` that Python would import without this one, if any."""
    folders = [folder for folder in sys.path if os.path.abspath(folder) != _FOLDER]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", folders)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "").strip() not in ("0", "off")


def _import_package() -> None:
    """Imports the package `halfbyte`, or else the package that contains this driver library, if the program has another environment."""
    try:
        importlib.import_module("halfbyte._halfbyte")
    except ModuleNotFoundError as error:
        # The numpy of this Python may be missing, too.
        if not (error.name or "").startswith("halfbyte"):
            raise
        package = os.path.dirname(os.path.dirname(_FOLDER))
        file = os.path.join(package, "__init__.py")
        spec = importlib.util.spec_from_file_location("halfbyte", file, submodule_search_locations=[package])
        if not os.path.isfile(file) or spec is None or spec.loader is None:
            raise
        module = importlib.util.module_from_spec(spec)
        sys.modules["halfbyte"] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules["halfbyte"]
            raise


def _warn(text: str) -> None:
    # A program may have closed standard error.
    if sys.stderr is not None:
        print(f"halfbyte: warning: {text}", file=sys.stderr)


def _is_being_imported(name: str) -> bool:
    return bool(getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False))


def _load_triton() -> None:
    """Lets Triton launch its kernels with halfbyte, after torch if torch imports Triton."""
    if not _is_being_imported("torch"):
        _load_triton_now()


def _load_after_torch() -> None:
    """Loads the Triton plug-in if torch has imported Triton. Else replaces `torch.cuda`, which packages may read before Triton is there."""
    if "triton" in sys.modules:
        if not _is_being_imported("triton"):
            _load_triton_now()
    elif importlib.util.find_spec("triton") is not None:
        _answer_for_torch()


def _load_triton_now() -> None:
    try:
        _import_package()
        importlib.import_module("halfbyte.triton")
    except ModuleNotFoundError as error:
        missing = (error.name or str(error)).partition(".")[0]
        install = f"{sys.executable} -m pip install"
        advice = f"`{install} ./bindings/python` in the repository of halfbyte" if missing == "halfbyte" else f"`{install} {missing}`"
        _warn(f"Triton has no plug-in, because this Python has no package `{missing}`; install it with {advice}")
    except Exception as error:
        _warn(f"the plug-in for Triton failed: {type(error).__name__}: {error}")


def _answer_for_torch() -> None:
    """Makes `torch.cuda` act as if there were a GPU. If the package is missing, `_load_triton_now` prints the message later."""
    try:
        _import_package()
        settings = importlib.import_module("halfbyte._settings")
        importlib.import_module("halfbyte._torch").activate(settings.from_environment)
    except ModuleNotFoundError:
        pass
    except Exception as error:
        _warn(f"torch has no device `cuda`: {type(error).__name__}: {error}")


def _load_numba() -> None:
    """Lets Numba compile kernels with source lines. Without the package, errors have no lines of Python functions."""
    try:
        _import_package()
        importlib.import_module("halfbyte._numba_lines").with_lines()
    except ModuleNotFoundError:
        pass
    except Exception as error:
        _warn(f"errors in kernels of Numba have no source lines: {type(error).__name__}: {error}")


class _Loader(importlib.abc.Loader):
    """Loader of a framework that calls a function after the import of the framework."""

    def __init__(self, loader: Any, then: Callable[[], None]) -> None:
        self._loader = loader
        self._then = then

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Optional[types.ModuleType]:
        created: Optional[types.ModuleType] = self._loader.create_module(spec)
        return created

    def exec_module(self, module: types.ModuleType) -> None:
        # The framework sees its own loader.
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._then()


class _Finder(importlib.abc.MetaPathFinder):
    """Finder of frameworks that have a plug-in. Another finder finds the framework, and this finder replaces the loader."""

    def __init__(self, functions: Dict[str, Callable[[], None]]) -> None:
        self._functions = functions
        self._local = threading.local()

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]] = None, target: Optional[types.ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        then = self._functions.get(fullname)
        if then is None:
            return None
        # Another finder may call all finders, this one as well, which must not recurse.
        searched: Set[str] = self._local.__dict__.setdefault("searched", set())
        if fullname in searched:
            return None
        searched.add(fullname)
        try:
            spec = self._find_by_others(fullname, path, target)
        finally:
            searched.discard(fullname)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, then)
        return spec

    def _find_by_others(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[types.ModuleType]
    ) -> Optional[importlib.machinery.ModuleSpec]:
        for finder in list(sys.meta_path):
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(fullname, path, target)
                if spec is not None:
                    return spec
        return None


def _install() -> None:
    functions = {"numba.cuda": _load_numba}
    if _is_on("HALFBYTE_TRITON"):
        functions.update({"triton": _load_triton, "torch": _load_after_torch})
    sys.meta_path.insert(0, _Finder(functions))


try:
    # Python reports an exception of this module, and goes on.
    _import_shadowed()
finally:
    _install()
