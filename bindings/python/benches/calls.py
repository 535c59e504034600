"""Benchmark of calls: of one item, and of 2^20 halves compared with the Rust library and NumPy.

    python bindings/python/benches/calls.py

The documented figures are of a release build; a build without optimisation is reported.
"""

import time

import numpy as np

import halfbyte as hb

ADD = """kernel @add(%x: in f16x2, %y: in f16x2, %z: out f16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = fadd.f16x2 %a, %b
  store %c, %z[%i]
  ret
}
"""


def least(call, repeat):
    """Returns the minimum time of many calls, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def short(call):
    """Returns the time of a call that is too short to be timed alone, in seconds."""

    def many():
        for _ in range(200):
            call()

    return least(many, 500) / 200


def main():
    program = hb.parse(ADD)["add"].compile("halu").load(engine="jit")
    x, y, z = (np.ones(2, np.float16) for _ in range(3))
    program(x, y, z, items=1)
    one = short(lambda: program(x, y, z, items=1))
    named = short(lambda: program(items=1, x=x, y=y, z=z))
    library = program._library_seconds(x, y, z, items=1, repeat=20_000)
    numpy_one = short(lambda: np.add(x, y, out=z))
    print("one item, microseconds a call")
    print(f"  halfbyte, arguments by position  {one * 1e6:8.2f}")
    print(f"  halfbyte, arguments by name      {named * 1e6:8.2f}")
    print(f"  the library in Rust              {library * 1e6:8.2f}")
    print(f"  numpy.add of float16             {numpy_one * 1e6:8.2f}")

    halves = 1 << 20
    rng = np.random.default_rng(1)
    x, y = (rng.random(halves).astype(np.float16) for _ in range(2))
    z, expected = np.zeros_like(x), x + y
    call = lambda: program(x, y, z, items=halves // 2)  # noqa: E731
    call()
    assert (z == expected).all()
    rows = []
    # The variants alternate, so that other load on the machine affects all of them alike.
    for _ in range(5):
        rows.append(
            (
                least(call, 40),
                program._library_seconds(x, y, z, items=halves // 2, repeat=40),
                least(lambda: np.add(x, y, out=z), 10),
            )
        )
    python, library, numpy = (min(row[column] for row in rows) for column in range(3))
    print("2^20 halves, milliseconds a call")
    print(f"  halfbyte                         {python * 1e3:8.3f}")
    print(f"  the library in Rust              {library * 1e3:8.3f}   halfbyte takes {python / library:.3f} of it")
    print(f"  numpy.add of float16             {numpy * 1e3:8.3f}   halfbyte takes {python / numpy:.3f} of it")


if __name__ == "__main__":
    main()
