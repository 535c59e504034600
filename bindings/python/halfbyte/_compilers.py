"""Types and errors that the packages with kernel compilers share: Triton, Numba and NVRTC."""

from __future__ import annotations

from typing import Literal, Sequence, Union

from ._halfbyte import Kernel, Module

Grid = Union[int, Sequence[int]]
Sm = Union[int, str]
Races = Union[bool, Literal["strict"]]


class MissingPackage(ImportError):
    """Missing compiler; the message has the command that installs it."""


def missing(what: str, package: str, error: BaseException) -> MissingPackage:
    """Returns the error for a compiler that cannot be imported."""
    made = MissingPackage(f"{what} is not installed ({error}); `pip install {package}` installs it")
    made.name = what
    return made


def only_kernel(module: Module) -> Kernel:
    """Returns the kernel of a module that has one kernel."""
    return next(iter(module.values()))
