"""Tests of calls: arguments by name and position, shapes, targets, engines, aliasing, and results."""

from pathlib import Path

import numpy as np
import pytest
from conftest import AXPY, copy_text

import halfbyte as hb

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def arguments(items=8):
    x = np.arange(2 * items, dtype=np.float16)
    return {"a": 2.0, "x": x, "y": np.ones(2 * items, np.float16)}


@pytest.mark.parametrize("target, engine", [(None, None), ("ir", None), ("halu", None), ("halu", "jit"), ("halu", "interp"), ("ptx", None), ("ptx", "interp"), (None, "jit"), (None, "interp")])
def test_every_target_gives_the_same(axpy, target, engine):
    args = arguments()
    expected = args["x"] * np.float16(2) + args["y"]
    results = axpy(items=8, target=target, engine=engine, **args)
    assert list(results) == ["y"] and results["y"] is args["y"]
    assert (args["y"] == expected).all()


@pytest.mark.parametrize("by_position", range(4))
def test_arguments_by_position_and_by_name(axpy, by_position):
    args = arguments()
    values = list(args.values())
    rest = {name: args[name] for name in list(args)[by_position:]}
    expected = args["x"] * np.float16(2) + 1
    axpy(*values[:by_position], items=8, **rest)
    assert (args["y"] == expected).all()


def test_wrong_calls_are_type_errors(axpy):
    args = arguments()
    calls = [
        (lambda: axpy(**args), "give items=N, or grid= and block="),
        (lambda: axpy(items=8, grid=1, block=8, **args), "items cannot be combined with grid and block"),
        (lambda: axpy(grid=1, **args), "give items=N, or grid= and block="),
        (lambda: axpy(block=8, **args), "give items=N, or grid= and block="),
        (lambda: axpy(items=8, z=1, **args), "no parameter `z`; there are a, x, y"),
        (lambda: axpy(2.0, items=8, **args), "`a` .* is given by position and by keyword"),
        (lambda: axpy(1, 2, 3, 4, items=8), "takes 3 arguments; 4 were given"),
        (lambda: axpy(items=8, a=2.0, x=args["x"]), "`y` .* is not given"),
        (lambda: axpy(items=8, x=args["x"], y=args["y"]), "`a` .* is not given"),
        (lambda: axpy(items=8.0, **args), "items takes an integer"),
        (lambda: axpy(items="8", **args), "items takes an integer"),
        (lambda: axpy(items=8, target=3, **args), "target"),
    ]
    for call, message in calls:
        with pytest.raises(TypeError, match=message):
            call()


def test_what_is_not_there_is_a_value_error(axpy):
    args = arguments()
    calls = [
        ({"items": -1}, "items is -1"),
        ({"items": 2**32}, "items is 4294967296"),
        ({"grid": (1, 2, 3, 4), "block": 1}, "grid has 4 numbers"),
        ({"grid": (), "block": 1}, "grid has 0 numbers"),
        ({"grid": 1, "block": 0}, "at least one item"),
        ({"grid": 2**31, "block": 4}, "more work items than 32 bits"),
        ({"items": 8, "target": "cuda"}, 'unknown target "cuda"; expected one of ir, halu, vp1'),
        ({"items": 8, "engine": "fast"}, 'unknown engine "fast"'),
        ({"items": 8, "target": "ir", "engine": "jit"}, "evaluator"),
        ({"items": 8, "target": "halu", "engine": "cuda"}, "engine `cuda` does not support"),
        ({"items": 8, "threads": 0}, "threads is 0"),
        ({"items": 8, "timeout": -1.0}, "timeout is -1"),
        ({"items": 8, "timeout": float("nan")}, "timeout is nan"),
        ({"items": 8, "target": "halu", "sm": 90}, "sm is only valid for PTX"),
        ({"items": 8, "target": "ptx", "sm": 7}, "sm 7 is not supported"),
        ({"items": 8, "shared": 64, "target": "halu"}, "shared memory"),
    ]
    for keywords, message in calls:
        with pytest.raises(ValueError, match=message):
            axpy(**keywords, **args)


def test_numbers_of_numpy_are_counts(axpy):
    args = arguments()
    axpy(items=np.int64(8), **args)
    axpy(grid=np.int32(2), block=np.array([4]), **args)
    axpy(grid=(np.uint8(2), 1), block=[4, 1, 1], **args)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_give_the_same(axpy, threads):
    count = 1 << 16
    rng = np.random.default_rng(1)
    x, y = (rng.random((count, 2)).astype(np.float16) for _ in range(2))
    expected = y.copy()
    axpy(items=count, a=0.5, x=x, y=expected, engine="interp")
    axpy(items=count, a=0.5, x=x, y=y, engine="jit", threads=threads)
    assert (y == expected).all()


PLACES = """kernel @places(%y: out i32) {
^entry:
  %i = item_id
  %gx = group_id.x
  %gy = group_id.y
  %gz = group_id.z
  %lx = local_id.x
  %ly = local_id.y
  %lz = local_id.z
  %c10 = const.i32 10
  %a = mul.i32 %gz, %c10
  %b = add.i32 %a, %gy
  %c = mul.i32 %b, %c10
  %d = add.i32 %c, %gx
  %e = mul.i32 %d, %c10
  %f = add.i32 %e, %lz
  %g = mul.i32 %f, %c10
  %h = add.i32 %g, %ly
  %j = mul.i32 %h, %c10
  %k = add.i32 %j, %lx
  store %k, %y[%i]
  ret
}
"""


def places(grid, block):
    """Returns the expected output of `PLACES`: items are numbered along x first, over the whole grid."""
    size = [g * b for g, b in zip(grid, block)]
    out = np.zeros(int(np.prod(size)), np.int32)
    for z in range(size[2]):
        for y in range(size[1]):
            for x in range(size[0]):
                digits = [z // block[2], y // block[1], x // block[0], z % block[2], y % block[1], x % block[0]]
                out[x + size[0] * (y + size[1] * z)] = int("".join(map(str, digits)))
    return out


@pytest.mark.parametrize("target", [None, "ir", "halu", "ptx"])
@pytest.mark.parametrize("grid, block", [((2, 1, 1), (3, 1, 1)), ((2, 3, 1), (4, 2, 1)), ((2, 2, 2), (2, 2, 2)), ((1, 1, 3), (1, 5, 2))])
def test_launches_of_three_axes(grid, block, target):
    kernel = hb.parse(PLACES)["places"]
    assert kernel(grid=grid, block=block, target=target)["y"].tolist() == places(grid, block).tolist()
    loaded = kernel.compile("halu").load()
    assert loaded(grid=grid, block=block)["y"].tolist() == places(grid, block).tolist()


def test_item_id_along_several_axes_in_a_loaded_program(axpy):
    args = arguments()
    program = axpy.compile("halu").load()
    program(grid=(2, 2), block=(1, 2), **args)
    assert (args["y"] == args["x"] * 2 + 1).all()


def test_groups_that_meet():
    module = hb.load(EXAMPLES / "groups" / "block_sum_tree.hb")
    kernel = next(iter(module.values()))
    assert kernel.params
    report = hb.check(EXAMPLES / "groups" / "block_sum_tree.hb")
    assert report.passed == 1, report


def overlapping(direction, may_alias):
    may_alias = " may_alias" if may_alias else ""
    return hb.parse(f"""kernel @shift(%x: in i32, %y: {direction}{may_alias} i32) {{
^entry:
  %i = item_id
  %v = load %x[%i]
  store %v, %y[%i]
  ret
}}""")["shift"]


@pytest.mark.parametrize("target", [None, "ir", "halu", "ptx"])
def test_overlap_is_an_error_that_names_both(target):
    kernel, memory = overlapping("inout", False), np.arange(12, dtype=np.int32)
    for x, y in [(memory[:8], memory[:8]), (memory[:8], memory[4:]), (memory[4:], memory[:8]), (memory, memory[3:5])]:
        with pytest.raises(ValueError, match="`x` and `y` of @shift overlap"):
            kernel(items=2, x=x, y=y, target=target)
    assert memory.tolist() == list(range(12))


def test_memory_side_by_side_does_not_overlap():
    kernel, memory = overlapping("inout", False), np.arange(8, dtype=np.int32)
    kernel(items=4, x=memory[:4], y=memory[4:])
    assert memory.tolist() == [0, 1, 2, 3] * 2


def test_what_is_only_read_overlaps_what_it_likes():
    kernel = hb.parse("""kernel @add(%a: in i32, %b: in i32, %y: out i32) {
^entry:
  %i = item_id
  %v = load %a[%i]
  %w = load %b[%i]
  %r = add.i32 %v, %w
  store %r, %y[%i]
  ret
}""")["add"]
    memory = np.arange(9, dtype=np.int32)
    for target in ("ir", "halu", "ptx"):
        assert kernel(items=8, a=memory[:8], b=memory[1:], target=target)["y"].tolist() == list(range(1, 17, 2))
        assert kernel(items=8, a=memory, b=memory, target=target)["y"].tolist() == list(range(0, 16, 2))


@pytest.mark.parametrize("target", [None, "ir", "halu", "ptx"])
def test_arguments_overlap_where_the_parameter_says_so(target):
    kernel, memory = overlapping("inout", True), np.arange(10, dtype=np.int32)
    kernel(items=4, x=memory[:4], y=memory[:4], target=target)
    assert memory.tolist() == list(range(10))
    # The two arrays overlap, but no item reads an element that another item writes.
    kernel(items=2, x=memory[4:8], y=memory[6:], target=target)
    assert memory.tolist() == [0, 1, 2, 3, 4, 5, 4, 5, 8, 9]
    kernel(items=2, x=memory[2:], y=memory[:3], target=target)
    assert memory.tolist() == [2, 3, 2, 3, 4, 5, 4, 5, 8, 9]


def test_programs_are_launched_again_and_again(axpy):
    program = axpy.compile("halu").load(engine="jit")
    args = arguments()
    for count in range(1, 100):
        results = program(items=8, **args)
        assert results["y"] is args["y"]
    assert args["y"][1] == np.float16(1 + 2 * 99)
    assert program.name == "axpy" and [param.name for param in program.params] == ["a", "x", "y"]
    assert program(args["a"], args["x"], args["y"], items=1)["y"] is args["y"]


@pytest.mark.parametrize("target", ["halu", "ptx"])
@pytest.mark.parametrize("engine", [None, "interp"])
def test_programs_of_targets(axpy, target, engine):
    args = arguments()
    axpy.compile(target).load(engine=engine)(items=8, **args)
    assert (args["y"] == args["x"] * 2 + 1).all()


def test_programs_of_vp1():
    program = hb.parse(copy_text("i8x4"))["copy"].compile("vp1").load()
    x = np.arange(64, dtype=np.uint8)
    assert (program(items=16, x=x)["y"].reshape(-1) == x).all()


def test_compiled_kernels(axpy):
    for target, sm in [("halu", None), ("ptx", 80), ("ptx", 90), ("ptx", "sm_75")]:
        compiled = axpy.compile(target, sm=sm)
        assert compiled.name == "axpy" and compiled.target == target
        assert isinstance(compiled.text, str) and isinstance(compiled.listing, str)
        assert isinstance(compiled.words, bytes) and isinstance(compiled.object, bytes)
        assert compiled.object.startswith(b"\x7fELF")
        assert compiled.stats["ops"] == 6 and compiled.stats["words"] > 0
        assert axpy.compile(target, sm=sm).object == compiled.object
    assert ".target sm_75" in compiled.text and compiled.sm == 75
    assert len(axpy.compile("halu").words) % 16 == 0
    assert "HFMA2" in axpy.compile().text and "HFMA2" in axpy.compile().listing
    assert "ffma.f16x2" in axpy.compile().listing


def test_passes_are_named(axpy):
    text = AXPY.replace("ffma.f16x2 %a, %xi, %yi", "fadd.f16x2 %yi, %yi\n  %dead = fadd.f16x2 %xi, %xi")
    kernel = hb.parse(text)["axpy"]
    assert kernel.compile("halu", passes=[]).stats["words"] >= kernel.compile("halu").stats["words"]
    assert kernel.compile("halu", passes="canon, legalise").text
    with pytest.raises(ValueError, match="cannon"):
        kernel.compile("halu", passes=["cannon"])


def test_objects_are_loaded(tmp_path, axpy):
    path = tmp_path / "k.o"
    path.write_bytes(axpy.compile("halu").object)
    module = hb.load(path)
    args = arguments()
    kernel = module["axpy"]
    assert [param.name for param in kernel.params] == ["a", "x", "y"] and kernel.params[1].type == "f16x2"
    kernel(items=8, **args)
    kernel(items=8, target="halu", **args)
    assert (args["y"] == args["x"] * 4 + 1).all()
    with pytest.raises(ValueError, match="was compiled for halu"):
        kernel(items=8, target="ptx", **args)
    with pytest.raises(TypeError, match="has no source text"):
        kernel.compile("ptx")
    (tmp_path / "bad.o").write_bytes(b"\x7fELF nothing")
    with pytest.raises(hb.Error):
        hb.load(tmp_path / "bad.o")


def test_modules_are_mappings_in_order():
    text = "".join(copy_text("i32", name) for name in ("second", "first", "third"))
    module = hb.parse(text, file="k.hb")
    names = ["second", "first", "third"]
    assert list(module) == list(module.kernels) == list(module.keys()) == names
    assert len(module) == len(module.kernels) == 3
    assert [kernel.name for kernel in module.values()] == names
    assert [name for name, _ in module.items()] == names
    assert "first" in module and "fourth" not in module and 3 not in module
    assert module["first"] is module.kernels["first"] and module["@first"] is module["first"]
    assert module.get("fourth") is None and module.get("fourth", 3) == 3
    with pytest.raises(KeyError, match="second, first, third"):
        module["fourth"]
    with pytest.raises(TypeError):
        module.kernels["first"] = 1
    assert module.file == "k.hb" and module.text == text
    assert repr(module) == "<halfbyte module k.hb: @second, @first, @third>"


def test_parameters(axpy):
    a, x, y = axpy.params
    assert (a.name, a.type, a.direction, a.lanes) == ("a", "f16x2", None, 2)
    assert (x.name, x.type, x.direction, x.may_alias) == ("x", "f16x2", "in", False)
    assert (y.name, y.type, y.direction, y.align) == ("y", "f16x2", "inout", 4)
    assert repr(axpy) == "<halfbyte kernel @axpy(a: f16x2, x: in f16x2, y: inout f16x2)>"
    assert "float16" in x.dtype


def test_explain_and_view(axpy):
    text = axpy.explain("%r")
    assert "HFMA2" in text and "half_ffma" in text
    assert "fma.rn.f16x2" in axpy.explain("%r", target="ptx", sm=90)
    assert "half_ffma" in axpy.explain("6") or axpy.explain("6")
    with pytest.raises(ValueError, match="%nothing"):
        axpy.explain("%nothing")
    view = axpy.view()
    assert view.html.startswith("<!doctype html>") and "HFMA2" in view.html
    assert "<iframe" in view._repr_html_()
    assert len(axpy.view(target="halu").html) < len(view.html)
    for shown in (axpy, axpy.compile(), hb.parse(AXPY)):
        assert "<table" in shown._repr_html_()


def test_view_is_saved(tmp_path, axpy):
    axpy.view("halu").save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
