"""Tests with random and malicious arguments: no call crashes the process, raises an unexpected exception, or leaks memory.

    pytest bindings/python/tests/test_fuzz.py --calls 100000 --leak-calls 1000000
"""

import random
import resource
import sys

import numpy as np
import pytest
from conftest import AXPY, copy_text
from test_ptx import NEIGHBOUR, SAXPY, STRUCT

import halfbyte as hb

#: Exceptions that a call may raise. Any other exception is a bug.
EXPECTED = (TypeError, ValueError, OverflowError, hb.Error, MemoryError, BufferError)

DTYPES = [np.float16, np.float32, np.float64, np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.complex64, bool, object, ">f2", "S3", "M8[s]", [("a", "f2")]]


class Liar:
    """Object with inconsistent protocols."""

    def __init__(self, name, value):
        setattr(type(self), name, value)


def liars():
    """Creates objects with a separate class each, because Python looks up protocols in the class."""
    made = []
    for name, value in [
        ("__array_struct__", 3),
        ("__array_struct__", None),
        ("__array_interface__", {"version": 3, "shape": (1,), "typestr": "<f2", "data": "x"}),
        ("__array_interface__", {}),
        ("__dlpack__", lambda self: 3),
        ("__dlpack__", None),
        ("__index__", lambda self: "1"),
        ("__float__", lambda self: "1"),
        ("__len__", lambda self: -1),
        ("__iter__", lambda self: 3),
        ("__cuda_array_interface__", {}),
        ("__getattr__", lambda self, name: 1 / 0),
    ]:
        made.append(type("Liar", (), {name: value})())
    return made


def arrays(rng):
    base = np.zeros(64, np.float16)
    shape = rng.choice([(), (0,), (1,), (4,), (5,), (8, 2), (2, 3, 4), (0, 2), (1 << 12,)])
    try:
        of = np.zeros(shape, rng.choice(DTYPES))
    except (TypeError, ValueError):
        of = base
    views = [of, of.T, of[::2] if of.ndim else of, of.view(np.uint8) if of.dtype == np.float32 and of.ndim else of, base, base[:8], base[4:], base[::-1]]
    view = rng.choice(views)
    if rng.random() < 0.1:
        view = view.copy()
        view.setflags(write=False)
    return view


def value(rng):
    return rng.choice(
        [
            lambda: arrays(rng),
            lambda: arrays(rng),
            lambda: arrays(rng),
            lambda: rng.choice([0, 1, -1, 2**31, 2**64, -(2**63), 10**40, True, 1.5, float("nan"), float("inf"), 1e300, 1j]),
            lambda: rng.choice([None, "x", "", b"", b"bytes", bytearray(8), object(), int, len, ..., NotImplemented]),
            lambda: rng.choice([[], [1], [1, 2], (1.0, 2.0), [[1]], {}, {"a": 1}, {1}, range(3), [None], iter([1])]),
            lambda: rng.choice([np.float16(1), np.int8(-1), np.bool_(True), np.datetime64(0, "s"), np.str_("x"), np.void(b"ab")]),
            lambda: rng.choice(liars()),
            lambda: memoryview(bytearray(16)),
        ]
    )()


def keywords(rng):
    count = lambda: rng.choice([0, 1, 2, 4, 5, 8, -1, 2**32, 2**70, 1.0, "1", None, [1], (2, 2), (1, 2, 3), (1, 2, 3, 4), [0], np.int8(2), np.zeros(2, int)])  # noqa: E731
    given = {}
    if rng.random() < 0.7:
        given["items"] = rng.choice([1, 2, 4, 8, count()])
    if rng.random() < 0.4:
        given["grid"], given["block"] = count(), count()
    for name, choices in [
        ("target", ["ir", "halu", "vp1", "ptx", "cuda", "", 3]),
        ("engine", ["jit", "interp", "cuda", "x", 3]),
        ("threads", [1, 2, 0, -1, "x", 1 << 20]),
        ("budget", [0, 1, 100, -1, 2**70, "x"]),
        ("shared", [0, 16, 256, -1, 2**40]),
        ("timeout", [0, 0.5, -1, float("nan"), float("inf"), "x", 1e300]),
        ("races", [True, False, "strict", 3, "x"]),
        ("cooperative", [True, False, 3]),
        ("sm", [80, 90, 7, "sm_80", "x", -1]),
        ("z", [1]),
    ]:
        if rng.random() < 0.08:
            given[name] = rng.choice(choices)
    return given


def right(of):
    """Returns valid arguments."""
    dtypes = {"i8": np.uint8, "i32": np.int32, "f16": np.float16, "bf16": np.uint16, "i1": bool, "f64": np.float64, "f32": np.float32}
    memory = lambda param: np.zeros((64, param.lanes), dtypes.get(param.type.partition("x")[0], np.uint8))  # noqa: E731
    scalar = lambda param: bytes(16) if param.type.startswith("b8") else 1  # noqa: E731
    return {param.name: memory(param) if param.direction else scalar(param) for param in of.params}


def shape(of):
    return {"grid": 2, "block": 4} if getattr(of, "language", "") == "ptx" else {"items": 4}


@pytest.fixture(scope="module")
def callables():
    kernels = [hb.parse(AXPY)["axpy"]]
    kernels += [hb.parse(copy_text(ty))["copy"] for ty in ("i8x4", "i32", "f16", "bf16x2", "i1x4", "f64")]
    kernels += [next(iter(hb.parse_ptx(text).values())) for text in (SAXPY, STRUCT, NEIGHBOUR.replace("BARRIER", "bar.sync 0;"))]
    programs = [kernel.compile("halu").load() for kernel in kernels[:4]]
    return kernels + programs


def test_random_calls(request, callables):
    calls = request.config.getoption("--calls")
    rng = random.Random(1)
    done = 0
    for number in range(calls):
        of = rng.choice(callables)
        names = [param.name for param in of.params]
        by_position = [value(rng) for _ in range(rng.choice([0, 0, 0, 1, 2, len(names), len(names) + 1]))]
        by_name = {name: value(rng) for name in names[len(by_position) :] if rng.random() < 0.95}
        if rng.random() < 0.3:
            # A call with these arguments may succeed.
            by_position, by_name = [], right(of)
        how = keywords(rng) if rng.random() < 0.8 else shape(of)
        how.setdefault("timeout", 5.0)
        try:
            of(*by_position, **{**by_name, **how})
            done += 1
        except EXPECTED:
            pass
        except ZeroDivisionError:
            # An exception that the code of an argument raises is passed on to the caller.
            pass
    assert done > calls // 20


def test_random_texts():
    rng = random.Random(2)
    for text, parse in [(AXPY, hb.parse), (SAXPY, hb.parse_ptx)]:
        for _ in range(300):
            at = rng.randrange(len(text))
            changed = text[:at] + rng.choice(["", "%", "é", "\0", "@", "{", "x" * 50, "\ud7ff"]) + text[at + rng.randrange(4) :]
            try:
                parse(changed)
            except hb.ParseError as error:
                assert error.line >= 1 and error.column >= 1 and str(error)


def test_random_objects(axpy):
    rng = random.Random(3)
    whole = bytearray(axpy.compile("halu").object)
    for _ in range(300):
        changed = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        try:
            module = hb._halfbyte.load_object(bytes(changed[: rng.choice([len(changed), rng.randrange(len(changed))])]), "k.o")
            for kernel in module.values():
                kernel(items=1, timeout=1.0, budget=1000, **{param.name: 1 if param.direction is None else np.zeros(4, np.float16) for param in kernel.params})
        except EXPECTED:
            pass


def resident():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_does_not_grow(request, axpy):
    calls = request.config.getoption("--leak-calls")
    program = axpy.compile("halu").load()
    x, y = np.ones(8, np.float16), np.zeros(8, np.float16)
    copy = hb.parse(copy_text("i32"))["copy"]
    numbers = np.arange(4, dtype=np.int32)

    def some(count):
        for _ in range(count):
            program(1.0, x, y, items=4)
            copy(items=4, x=numbers)
            try:
                program(1.0, x, x, items=4)
            except ValueError:
                pass
            try:
                program([1.0, 1e9], x, y, items=4)
            except ValueError:
                pass

    def rare(count):
        for _ in range(count):
            try:
                program(1.0, x, y, items=5)
            except hb.Trap:
                pass
            try:
                hb.parse("kernel @k( {")
            except hb.ParseError:
                pass
            hb.run_ptx(SAXPY, 1, 1, [0, 1.0, x, y])
            hb.parse(AXPY)

    some(2000)
    rare(200)
    before = resident()
    some(calls // 4)
    rare(max(calls // 1000, 100))
    grown = resident() - before
    assert grown < 4096, f"{grown} KiB more after {calls} calls; at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss} KiB"


def test_references_are_given_back(axpy):
    program = axpy.compile("halu").load()
    x, y, a = np.ones(8, np.float16), np.zeros(8, np.float16), [1.0, 2.0]
    before = [sys.getrefcount(of) for of in (x, y, a)]
    for _ in range(100):
        program(a, x, y, items=4)
        for wrong in ((a, x, x), (a, x, None), (a, a, y), (x, x, y)):
            with pytest.raises((TypeError, ValueError)):
                program(*wrong, items=4)
        del wrong
    assert [sys.getrefcount(of) for of in (x, y, a)] == before
