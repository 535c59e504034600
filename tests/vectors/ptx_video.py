"""Writes ptx-video.jsonl.gz, launches of scalar video instructions with their expected memory.

The model follows the pseudocode of the PTX manual, with integers of unlimited width. Every
combination of types, `.sat`, second operation and merge occurs with every selector of each source.

    python3 tests/vectors/ptx_video.py
"""

import gzip
import io
import itertools
import json
import pathlib
import random
import struct

SELECTORS = {"": (0, 32), ".b0": (0, 8), ".b1": (8, 8), ".b2": (16, 8), ".b3": (24, 8), ".h0": (0, 16), ".h1": (16, 16)}
TYPES = ["u32", "s32"]
WORD = 0xFFFFFFFF
EDGES = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001,
         0xFFFFFF80, 0xFFFFFFFE, 0xFFFFFFFF, 0x807F0180, 0x7F80FF00]
COUNTS = [0, 1, 7, 8, 15, 16, 24, 31, 32, 33, 63, 64, 255, 0x01020304, 0x201F1008, 0x21000020, WORD]
ITEMS = 6


def extend(value, bits, signed):
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def part_select_sign_extend(value, ty, selector):
    start, bits = SELECTORS[selector]
    return extend(value >> start, bits, ty == "s32")


def clamp(value, bits, signed):
    least, greatest = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return max(least, min(value, greatest))


def finish(tmp, sat, dtype, second, dsel, c):
    """Saturates tmp, and applies the second operation or the merge."""
    start, bits = SELECTORS[dsel]
    if sat:
        tmp = clamp(tmp, bits, dtype == "s32")
    addend = extend(c, 32, dtype == "s32")
    if second == ".add":
        return tmp + addend & WORD
    if second == ".min":
        return min(tmp, addend) & WORD
    if second == ".max":
        return max(tmp, addend) & WORD
    if dsel:
        mask = ((1 << bits) - 1) << start
        return tmp << start & mask | c & ~mask & WORD
    return tmp & WORD


def primary(name, mode, ta, tb):
    if mode == ".clamp":
        tb = min(tb, 32)
    elif mode == ".wrap":
        tb &= 31
    return {
        "vadd": lambda: ta + tb,
        "vsub": lambda: ta - tb,
        "vabsdiff": lambda: abs(ta - tb),
        "vmin": lambda: min(ta, tb),
        "vmax": lambda: max(ta, tb),
        "vshl": lambda: ta << tb,
        "vshr": lambda: ta >> tb,
        "vset.eq": lambda: int(ta == tb),
        "vset.ne": lambda: int(ta != tb),
        "vset.lt": lambda: int(ta < tb),
        "vset.le": lambda: int(ta <= tb),
        "vset.gt": lambda: int(ta > tb),
        "vset.ge": lambda: int(ta >= tb),
    }[name]()


def vmad(atype, btype, plus_one, sat, scale, negated, ta, tb, c):
    """negated says for each of a, b and c whether it is negated."""
    product_negated = negated[0] != negated[1]
    signed = "s32" in (atype, btype) or product_negated or negated[2]
    tmp, lsb = ta * tb, 0
    if plus_one:
        lsb = 1
    elif product_negated:
        tmp, lsb = ~tmp, 1
    elif negated[2]:
        c, lsb = ~c & WORD, 1
    tmp += extend(c, 32, signed) + lsb
    result = tmp >> {"": 0, ".shr7": 7, ".shr15": 15}[scale]
    return (clamp(result, 32, signed) if sat else result) & WORD


class Kernel:
    """A kernel that executes instructions with the same types and modifiers on one a, b and c per item."""

    def __init__(self, name, counts=False):
        self.name, self.lines, self.models = name, [], []
        draw = random.Random(name)
        of = lambda edges: [draw.choice(edges) if draw.random() < 0.7 else draw.getrandbits(32) for _ in range(ITEMS)]
        self.a, self.b, self.c = of(EDGES), of(COUNTS if counts else EDGES), of(EDGES)
        self.turn = draw.randrange(49)

    def selectors(self):
        """Returns seven pairs in which every selector occurs once on each side; other calls return other pairs."""
        self.turn += 1
        names = list(SELECTORS)
        return [(names[i], names[(i * (1 + self.turn % 6) + self.turn) % 7]) for i in range(7)]

    def add(self, line, model):
        self.lines.append(line)
        self.models.append(model)

    def launch(self):
        count = len(self.lines)
        body = "".join(f"  {line}\n  st.global.u32 [%rd4+{4 * i}], %d;\n" for i, line in enumerate(self.lines))
        params = ",\n".join(f"  .param .u64 p_{name}" for name in "abcd")
        loads = "".join(
            f"  ld.param.u64 %rd{i}, [p_{name}];\n  add.s64 %rd{i}, %rd{i}, %rd0;\n  ld.global.u32 %{name}, [%rd{i}];\n"
            for i, name in enumerate("abc", 1)
        )
        ptx = (
            f".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(\n{params}\n)\n{{\n"
            "  .reg .b32 %a, %b, %c, %d, %t;\n  .reg .b64 %rd<6>;\n"
            f"  mov.u32 %t, %tid.x;\n  mul.wide.u32 %rd0, %t, 4;\n{loads}"
            f"  ld.param.u64 %rd4, [p_d];\n  mul.wide.u32 %rd5, %t, {4 * count};\n  add.s64 %rd4, %rd4, %rd5;\n"
            f"{body}  ret;\n}}\n"
        )
        results = [model(*words) for words in zip(self.a, self.b, self.c) for model in self.models]
        data = lambda words: struct.pack(f"<{len(words)}I", *words).hex()
        sources = [data(words) for words in (self.a, self.b, self.c)]
        args = [{"buffer": buffer} for buffer in sources] + [{"buffer": "cd" * (4 * count * ITEMS)}]
        return {"name": self.name, "ptx": ptx, "entry": "k", "grid": [1, 1, 1], "block": [ITEMS, 1, 1], "shared": 0,
                "args": args, "expect": sources + [data(results)], "sm": 80}


def with_selectors(kernel, name, types, sat, mode=""):
    """Adds every second operation and every merge, with every selector of the sources."""
    dtype, atype, btype = types

    def add(second, dsel, asel, bsel, number=None):
        def model(a, b, c):
            ta = part_select_sign_extend(a, atype, asel)
            tb = part_select_sign_extend(b if number is None else number, btype, bsel)
            return finish(primary(name, mode, ta, tb), sat, dtype, second, dsel, c)

        source = f"%b{bsel}" if number is None else f"{number:#x}"
        third = ", %c" if second or dsel else ""
        kernel.add(f"{kernel.name}{second} %d{dsel}, %a{asel}, {source}{third};", model)

    tails = [(second, "") for second in ["", ".add", ".min", ".max"]] + [("", dsel) for dsel in SELECTORS if dsel]
    for second, dsel in tails:
        for asel, bsel in kernel.selectors():
            add(second, dsel, asel, bsel)
        add(second, dsel, ".h0", "", random.Random(kernel.name + second + dsel).choice([5, 0xFF, 0x80000000, WORD]))


def kernels():
    for name in ["vadd", "vsub", "vabsdiff", "vmin", "vmax"]:
        for types in itertools.product(TYPES, repeat=3):
            for sat in ["", ".sat"]:
                kernel = Kernel(f"{name}.{'.'.join(types)}{sat}")
                with_selectors(kernel, name, types, sat)
                yield kernel
    for name in ["vshl", "vshr"]:
        for dtype, atype in itertools.product(TYPES, repeat=2):
            for sat, mode in itertools.product(["", ".sat"], [".clamp", ".wrap"]):
                kernel = Kernel(f"{name}.{dtype}.{atype}.u32{sat}{mode}", counts=True)
                with_selectors(kernel, name, (dtype, atype, "u32"), sat, mode)
                yield kernel
    for atype, btype in itertools.product(TYPES, repeat=2):
        for comparison in ["eq", "ne", "lt", "le", "gt", "ge"]:
            kernel = Kernel(f"vset.{atype}.{btype}.{comparison}")
            with_selectors(kernel, f"vset.{comparison}", ("u32", atype, btype), "")
            yield kernel
    for types in itertools.product(TYPES, repeat=3):
        for sat, scale in itertools.product(["", ".sat"], ["", ".shr7", ".shr15"]):
            kernel = Kernel(f"vmad.{'.'.join(types)}{sat}{scale}")
            with_signs(kernel, types, sat, scale)
            yield kernel


def with_signs(kernel, types, sat, scale):
    """Adds every permitted combination of negations and `.po`, with every selector of the sources."""
    for plus_one, negated in itertools.product([False, True], itertools.product([False, True], repeat=3)):
        product_negated = negated[0] != negated[1]
        if product_negated and negated[2] or plus_one and (product_negated or negated[2]):
            continue
        for asel, bsel in kernel.selectors():

            def model(a, b, c, plus_one=plus_one, negated=negated, asel=asel, bsel=bsel):
                ta, tb = part_select_sign_extend(a, types[1], asel), part_select_sign_extend(b, types[2], bsel)
                return vmad(*types[1:], plus_one, sat, scale, negated, ta, tb, c)

            signs = ["-" if sign else "" for sign in negated]
            modifiers = f"vmad.{'.'.join(types)}{'.po' if plus_one else ''}{sat}{scale}"
            kernel.add(f"{modifiers} %d, {signs[0]}%a{asel}, {signs[1]}%b{bsel}, {signs[2]}%c;", model)


def main():
    text = "".join(json.dumps(kernel.launch(), separators=(",", ":")) + "\n" for kernel in kernels())
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9, mtime=0) as file:
        file.write(text.encode())
    pathlib.Path(__file__).with_name("ptx-video.jsonl.gz").write_bytes(packed.getvalue())


main()
