"""Plug-in for Triton: `import halfbyte.triton` makes launches `fn[grid](...)` run on the CPU, in place of a GPU.

The import installs the plug-in. `uninstall` restores the previous state, and `install` installs the plug-in again or changes its settings.
The module is also the function `hb.triton(fn)`, which runs one function without an installation.

Tensors are those of torch on the CPU, or any objects with `data_ptr` and `dtype`. If the program imports torch, before the plug-in or
later, tensors with `device="cuda"` are on the CPU, and `torch.cuda` acts as if there were a GPU.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import types
import warnings
from typing import Any, Iterator, NamedTuple, Optional

from ._compilers import Races, Sm, missing
from ._settings import Settings, capability, from_environment
from ._triton_kernel import TritonKernel, triton as _wrap

try:
    import triton as _triton  # type: ignore[import-untyped, import-not-found, unused-ignore]  # noqa: F401
except ImportError as error:
    raise missing("triton", "triton", error) from error

# This module imports Triton.
from . import _torch, _triton_driver  # noqa: E402

__all__ = ["install", "installed", "uninstall"]


class _Installation(NamedTuple):
    settings: Settings
    has_torch: bool


_installation: Optional[_Installation] = None


def install(*, sm: Optional[Sm] = None, races: Optional[Races] = None, autotune: bool = False, torch: bool = True) -> None:
    """Installs the plug-in, or changes the settings of the installed plug-in.

    `sm` is the compute capability of the device, and `races` the detection of races; their defaults are those of the environment
    variables `HALFBYTE_SM` and `HALFBYTE_RACES`. Autotuned functions take their first configuration. With `autotune`, or with
    `HALFBYTE_TRITON_AUTOTUNE=1`, all configurations are measured on the CPU. With `torch=False`, torch stays as it is.
    """
    settings = from_environment()
    if os.environ.get("TRITON_INTERPRET", "0") not in ("", "0"):
        warnings.warn("Triton interprets its functions; unset TRITON_INTERPRET to run them by halfbyte", stacklevel=2)
    settings = dataclasses.replace(
        settings,
        sm=settings.sm if sm is None else capability(sm),
        races=settings.races if races is None else races,
        autotune=autotune or settings.autotune,
    )
    _replace(_Installation(settings, torch))


def uninstall() -> None:
    """Removes the plug-in, and restores everything that the plug-in has replaced."""
    _replace(None)


@contextlib.contextmanager
def installed(
    *, sm: Optional[Sm] = None, races: Optional[Races] = None, autotune: bool = False, torch: bool = True
) -> Iterator[None]:
    """Returns a context in which the plug-in is installed. The end of the context restores the previous state and settings."""
    before = _installation
    install(sm=sm, races=races, autotune=autotune, torch=torch)
    try:
        yield
    finally:
        _replace(before)


def _replace(new: Optional[_Installation]) -> None:
    """Replaces the installation."""
    global _installation
    _triton_driver.install_session(None if new is None else _triton_driver.Session(new.settings))
    had_torch = _installation is not None and _installation.has_torch
    has_torch = new is not None and new.has_torch
    if has_torch and not had_torch:
        _torch.activate(_triton_driver.default_settings)
    elif had_torch and not has_torch:
        _torch.deactivate()
    _installation = new


class _CallableModule(types.ModuleType):
    """Module that is also the function `hb.triton`."""

    def __call__(self, fn: Any, **options: Any) -> TritonKernel:
        return _wrap(fn, **options)


sys.modules[__name__].__class__ = _CallableModule
install()
