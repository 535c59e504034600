"""Triton functions, in a file because Triton reads their source text."""

import pytest

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")


@triton.jit
def scaled(x, out, C: tl.constexpr):
    i = tl.program_id(0)
    tl.store(out + i, (tl.load(x + i) * C).to(tl.float32))
