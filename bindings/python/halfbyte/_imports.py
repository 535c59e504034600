"""Calls of functions after the import of a module."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
from types import ModuleType
from typing import Callable, Dict, Optional, Sequence


def after_import(name: str, function: Callable[[], object]) -> None:
    """Calls a function after the module `name` has been imported, or now if it has been imported."""
    if name in sys.modules:
        function()
        return
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    _finder.functions[name] = function


class _Finder(importlib.abc.MetaPathFinder):
    """Import finder that wraps the loaders of the modules for which there are functions to call."""

    def __init__(self) -> None:
        self.functions: Dict[str, Callable[[], object]] = {}
        self._searching = threading.local()

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if fullname not in self.functions or getattr(self._searching, "name", None) == fullname:
            return None
        self._searching.name = fullname
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._searching.name = None
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.functions, fullname)
        return spec


class _Loader(importlib.abc.Loader):
    """Loader that calls a function after the execution of its module."""

    def __init__(self, loader: importlib.abc.Loader, functions: Dict[str, Callable[[], object]], name: str) -> None:
        self._loader = loader
        self._functions = functions
        self._name = name

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Optional[ModuleType]:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # The module keeps its own loader, by which tools find its source.
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        function = self._functions.pop(self._name, None)
        if function is not None:
            function()


_finder = _Finder()
