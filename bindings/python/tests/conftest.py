"""Kernels that are shared by several tests."""

import faulthandler

import numpy as np
import pytest

import halfbyte as hb

faulthandler.enable()

AXPY = """kernel @axpy(%a: f16x2, %x: in f16x2, %y: inout f16x2) {
^entry:
  %i  = item_id
  %xi = load %x[%i]
  %yi = load %y[%i]
  %r  = ffma.f16x2 %a, %xi, %yi
  store %r, %y[%i]
  ret
}
"""


def copy_text(ty, name="copy"):
    """Returns a kernel that copies elements of a type."""
    return f"""kernel @{name}(%x: in {ty}, %y: out {ty}) {{
^entry:
  %i = item_id
  %v = load %x[%i]
  store %v, %y[%i]
  ret
}}
"""


def fill_text(ty):
    """Returns a kernel that stores a scalar."""
    return f"""kernel @fill(%a: {ty}, %y: out {ty}) {{
^entry:
  %i = item_id
  store %a, %y[%i]
  ret
}}
"""


@pytest.fixture
def nvrtc():
    """Skips a test without NVRTC, except in CI."""
    from test_frontends import not_installed

    try:
        hb.cuda('extern "C" __global__ void k() {}', compiler="nvrtc")
    except hb.MissingPackage as missing:
        not_installed(str(missing))


def pytest_addoption(parser):
    parser.addoption("--calls", type=int, default=2000, help="random calls of the fuzz test (100000 in full)")
    parser.addoption("--leak-calls", type=int, default=100_000, help="calls of the test of memory (1000000 in full)")


@pytest.fixture(scope="session")
def axpy():
    return hb.parse(AXPY)["axpy"]


@pytest.fixture(scope="session")
def loop():
    """Returns a kernel whose work items each loop `n` times."""
    return hb.parse("""kernel @loop(%n: i32, %y: out i32) {
^entry:
  %i = item_id
  %z = const.i32 0
  br ^again(%z)
^again(%k: i32):
  %one = const.i32 1
  %next = add.i32 %k, %one
  %more = icmp.lt_u.i32 %next, %n
  br_if %more, ^again(%next), ^done
^done:
  store %next, %y[%i]
  ret
}
""")["loop"]


@pytest.fixture
def halves():
    """Returns random halves, including infinities and NaN."""
    return np.random.default_rng(1).integers(0, 1 << 16, 1024, dtype=np.uint16).view(np.float16)
