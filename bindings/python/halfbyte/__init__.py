r"""Kernels on packed half and byte vectors, compiled and run bit for bit without a GPU, and direct execution of PTX.

>>> import numpy as np
>>> import halfbyte as hb
>>> m = hb.parse('''
... kernel @axpy(%a: f16x2, %x: in f16x2, %y: inout f16x2) {
... ^entry:
...   %i  = item_id
...   %xi = load %x[%i]
...   %yi = load %y[%i]
...   %r  = ffma.f16x2 %a, %xi, %yi
...   store %r, %y[%i]
...   ret
... }
... ''')
>>> x, y = np.arange(4, dtype=np.float16), np.ones(4, np.float16)
>>> m["axpy"](items=2, a=2.0, x=x, y=y)["y"]
array([1., 3., 5., 7.], dtype=float16)
>>> [line.strip() for line in m["axpy"].compile("halu").text.splitlines() if "HFMA2" in line]
['HFMA2 R1, R1, c[0x0][0x160], R2 ;']
"""

from __future__ import annotations

from . import testing
from ._compilers import MissingPackage
from ._cuda import cuda
from ._errors import Budget, Cancelled, Error, OutOfBounds, ParseError, Race, RaceWarning, Refused, RefusedItem, Trap
from ._files import load
from ._halfbyte import Compiled, Kernel, Module, Param, Program, __version__, parse, parse_ptx, run_ptx
from ._html import View
from ._numba_kernel import numba
from ._report import FileReport, Report, check
from ._triton_kernel import triton

# This import comes last, because module `np` parses kernels.
from . import np  # noqa: E402

__all__ = [
    "Budget",
    "Cancelled",
    "Compiled",
    "Error",
    "FileReport",
    "Kernel",
    "MissingPackage",
    "Module",
    "OutOfBounds",
    "Param",
    "ParseError",
    "Program",
    "Race",
    "RaceWarning",
    "Refused",
    "RefusedItem",
    "Report",
    "Trap",
    "View",
    "__version__",
    "check",
    "cuda",
    "load",
    "np",
    "numba",
    "parse",
    "parse_ptx",
    "run_ptx",
    "testing",
    "triton",
]
