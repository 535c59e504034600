"""Functions for Triton, of which it reads the text."""

import pytest

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")


@triton.jit
def scaled(x, out, C: tl.constexpr):
    i = tl.program_id(0)
    tl.store(out + i, (tl.load(x + i) * C).to(tl.float32))
