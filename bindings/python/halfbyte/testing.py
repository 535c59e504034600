"""Test helpers for other programs: checks of the selected instructions, and comparison of all targets bit for bit.

>>> import halfbyte as hb
>>> text = '''kernel @k(%a: i32, %x: in i32, %y: out i32) {
... ^entry:
...   %i = item_id
...   %v = load %x[%i]
...   %m = mul.i32 %v, %a
...   %r = add.i32 %m, %v
...   store %r, %y[%i]
...   ret
... }'''
>>> hb.testing.assert_selects(text, "halu", ["IMAD"], ["IADD3"])
>>> hb.testing.run_and_compare(text, "k", items=8, a=3, x="random(8, 1)")
['halu', 'vp1', 'ptx']
"""

from __future__ import annotations

from typing import Any, Iterable, List, Optional, Union

import numpy as np

from ._halfbyte import refuse_masked_array
from ._halfbyte import run_and_compare as _run_and_compare
from ._halfbyte import selects as _selects

__all__ = ["assert_selects", "run_and_compare"]

_Names = Union[str, Iterable[str]]


def assert_selects(text: str, target: str, wanted: _Names = (), unwanted: _Names = (), *, sm: Union[int, str, None] = None) -> None:
    """Asserts that the compilation of a text for a target uses all of `wanted` and none of `unwanted`.

    The names are rules (`"half_ffma"`, `"halu::half_ffma"`) or instructions, by a prefix of mnemonic and modifiers (`"HFMA2"`,
    `"HFMA2.RELU"`). The `AssertionError` lists the selected instructions, and near misses of rules. Raises `ParseError` for an invalid
    text, and `ValueError` for a name that is neither a rule nor an instruction.
    """
    __tracebackhide__ = True
    wrong = _selects(text, target, _listed(wanted), _listed(unwanted), sm)
    if wrong is not None:
        raise AssertionError(wrong)


def _listed(names: _Names) -> List[str]:
    return [names] if isinstance(names, str) else list(names)


def run_and_compare(text: str, kernel: str, items: int, **args: Any) -> List[str]:
    """Runs a kernel on the evaluator and on every supporting target and engine, and asserts that all results are the same bit for bit.

    Arguments are numbers, lists, arrays, or strings as in run lines: `"random(64, 1)"`, `"zeros(64)"`. Output buffers may be omitted.
    Returns the targets that were compared.
    """
    __tracebackhide__ = True
    for name, value in args.items():
        refuse_masked_array(value, f"`{name}` takes a number, a list, an array or a text")
    given = [(name, _as_text(value)) for name, value in args.items()]
    targets, wrong = _run_and_compare(text, kernel.lstrip("@"), items, given)
    if wrong is not None:
        raise AssertionError(wrong)
    return list(targets)


def _as_text(value: Any) -> str:
    """Formats a value as in run lines."""
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind not in "iufb":
        value = value.astype(np.float64)
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_as_text(one) for one in value) + "]"
    if isinstance(value, bool):
        return str(int(value))
    return repr(value)
