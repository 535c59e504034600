"""Tests of CUDA C++: compilers, headers, names of kernels, variables, and the cache."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import halfbyte as hb
from halfbyte import _cuda

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Gives each test an empty cache. Returns its folder."""
    monkeypatch.setenv("HALFBYTE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cuda"


def in_another_process(code, **variables):
    """Runs Python code in a process without wheels. Returns its output."""
    hidden = """
        import os, sys
        import numpy, halfbyte as hb
        sys.path = []
    """
    environment = {name: value for name, value in os.environ.items() if name not in ("CUDA_PATH", "CUDA_HOME", "HALFBYTE_MODULES")}
    environment.update(variables)
    text = textwrap.dedent(hidden) + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_missing_compiler_is_named():
    code = """
        for compiler in ("nvrtc", "nvcc", "clang", None):
            try:
                hb.cuda("__global__ void k() {}", compiler=compiler)
            except hb.MissingPackage as error:
                print(compiler, error.name, error)
            else:
                print(compiler, "is installed")
    """
    lines = in_another_process(code, PATH="/nosuch", LD_LIBRARY_PATH="").splitlines()
    assert [line.split()[0] for line in lines] == ["nvrtc", "nvcc", "clang", "None"]
    for line, package in zip(lines, ("nvidia-cuda-nvrtc", "nvidia-cuda-nvcc", "package clang", "nvidia-cuda-nvrtc")):
        # The loader of the system may find NVRTC, and a toolkit may be in its default folder.
        assert package in line or "is installed" in line
    with pytest.raises(ValueError, match='compiler is "gcc"; give nvrtc, nvcc or clang'):
        hb.cuda("__global__ void k() {}", compiler="gcc")


def fake_nvcc(folder, ptx):
    """Creates a program nvcc that gives a PTX text and counts its calls. Returns the file with the calls."""
    (folder / "bin").mkdir(parents=True)
    (folder / "k.ptx").write_text(ptx)
    nvcc, calls = folder / "bin" / "nvcc", folder / "calls"
    nvcc.write_text(
        f"""#!/bin/sh
PATH=/usr/bin:/bin
echo "$*" >> '{calls}'
while [ $# -gt 0 ]; do
    [ "$1" = -o ] && cp '{folder / "k.ptx"}' "$2"
    shift
done
"""
    )
    nvcc.chmod(0o755)
    return calls


PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z4fillPii(
    .param .u64 _Z4fillPii_param_0,
    .param .u32 _Z4fillPii_param_1
)
{
    .reg .b32 %r<2>;
    .reg .b64 %d<2>;
    ld.param.u64 %d0, [_Z4fillPii_param_0];
    ld.param.u32 %r0, [_Z4fillPii_param_1];
    cvta.to.global.u64 %d1, %d0;
    st.global.u32 [%d1], %r0;
    ret;
}
"""
FILL = "__global__ void fill(int *x, int n) { *x = n; }"


@pytest.mark.skipif(sys.platform == "win32", reason="the program nvcc of this test is a shell script")
def test_the_cache_saves_calls_of_the_compiler(tmp_path, own_cache):
    calls = fake_nvcc(tmp_path / "toolkit", PTX)
    source = f"#include \"own.h\"\n{FILL}"
    header = tmp_path / "include" / "own.h"
    header.parent.mkdir()
    header.write_text("")
    code = f"""
        def fill(**changed):
            given = dict(source={source!r}, include=[{str(header.parent)!r}], compiler="nvcc", **changed)
            kernel = hb.cuda(**given)
            x = numpy.zeros(1, numpy.int32)
            kernel(x=x, n=7, grid=1, block=1)
            assert x[0] == 7 and kernel.name == "_Z4fillPii"
        for changed in ({{}}, {{}}, {{"sm": 90}}, {{"sm": 90}}, {{"options": ["-DX"]}}, {{"file": "k.cu"}}):
            fill(**changed)
    """
    environment = {"CUDA_PATH": str(tmp_path / "toolkit"), "PATH": "/nosuch"}

    def count():
        in_another_process(code, **environment)
        return len(calls.read_text().splitlines())

    assert count() == 4
    assert len(list(own_cache.iterdir())) == 4
    # Another process uses the cache. A change of a header makes all entries stale.
    assert count() == 4
    header.write_text("// changed")
    assert count() == 8
    for entry in own_cache.iterdir():
        entry.write_bytes(b"damaged")
    assert count() == 12
    environment["HALFBYTE_CACHE"] = "off"
    assert count() == 18
    first = calls.read_text().splitlines()[0]
    assert "-ptx" in first and "-arch=compute_80" in first and f"-I{header.parent}" in first


def test_a_kernel_of_the_cache_has_the_same_text(nvrtc, own_cache):
    texts = [hb.cuda(FILL).text for _ in range(2)]
    assert texts[0] == texts[1]
    assert len(list(own_cache.iterdir())) == 2  # the entry of the fixture, and that of this test


#: Kernels that compute 3 from 2, by the header that they include.
HEADERS = {
    "cuda_fp16.h": "__global__ void k(float *x) { *x = __half2float(__float2half(*x) + __float2half(1)); }",
    "cuda_bf16.h": "__global__ void k(float *x) { *x = __bfloat162float(__float2bfloat16(*x) + __float2bfloat16(1)); }",
    "cuda_fp8.h": "__global__ void k(float *x) { *x = float(__nv_fp8_e4m3(*x)) + 1; }",
    "cooperative_groups.h": "__global__ void k(float *x) { *x += cooperative_groups::this_thread_block().size(); }",
    "cub/cub.cuh": """__global__ void k(float *x) {
        using Reduce = cub::BlockReduce<float, 32>;
        __shared__ Reduce::TempStorage storage;
        float sum = Reduce(storage).Sum(*x);
        if (threadIdx.x == 0) *x = sum - 61;
    }""",
    "cuda/std/limits": "__global__ void k(float *x) { *x += cuda::std::numeric_limits<bool>::max(); }",
    "cstdint": "__global__ void k(float *x) { *x += std::uint8_t(257); }",
    "cmath": "__global__ void k(float *x) { *x = std::sqrt(*x + 7); }",
    "type_traits": "__global__ void k(float *x) { *x += std::is_same<int, int>::value; }",
    "stdio.h": "__global__ void k(float *x) { if (*x < 0) printf(\"%f\", *x); *x += 1; }",
}


@pytest.mark.parametrize("header", HEADERS)
def test_headers_are_found(nvrtc, header):
    kernel = hb.cuda(f"#include <{header}>\n{HEADERS[header]}", sm=90)
    x = np.float32([2])
    kernel(x, grid=1, block=32 if "cub" in header else 1)
    assert x[0] == 3


MATRIX = """#include <mma.h>
using namespace nvcuda;
__global__ void product(const half *a, const half *b, float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.f);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
"""


def test_matrix_products(nvrtc):
    a, b = (np.random.default_rng(seed).integers(-4, 5, (16, 16)).astype(np.float16) for seed in (1, 2))
    c = np.zeros((16, 16), np.float32)
    try:
        product = hb.cuda(MATRIX)
    except hb.ParseError as error:
        # The wheel with the header is not among the dependencies of NVRTC.
        assert "help: `pip install nvidia-cuda-crt` installs crt/mma.h" in str(error)
        return
    product(a, b, c, grid=1, block=32)
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()


@pytest.mark.parametrize(
    "header, help",
    [
        ("cublas_v2.h", "pip install nvidia-cublas"),
        ("curand_kernel.h", "pip install nvidia-curand"),
        ("unordered_map", "include a header in <cuda/std/..>"),
    ],
)
def test_a_missing_header_is_explained(nvrtc, header, help):
    with pytest.raises(hb.ParseError, match=re.escape(help)) as raised:
        hb.cuda(f"#include <{header}>\n__global__ void k() {{}}", file="k.cu")
    assert (raised.value.file, raised.value.line) == ("k.cu", 1) and header in raised.value.message


def test_host_code_is_explained(nvrtc):
    with pytest.raises(hb.ParseError, match="help: NVRTC compiles only device code"):
        hb.cuda("__global__ void k() {}\nint main() {}")


def test_errors_have_the_line_of_the_python_file(nvrtc):
    source = """
__global__ void k(int *x) {
    *x = nosuch;
    *x = 1 +;
}
"""
    with pytest.raises(hb.ParseError, match="nosuch") as raised:
        hb.cuda(source)
    lines = Path(__file__).read_text().splitlines()
    assert [lines[error.line - 1].strip() for error in raised.value.all] == ["*x = nosuch;", "*x = 1 +;"]
    assert raised.value.file == __file__ and raised.value.column == 10
    fixed = source.replace("nosuch", "3").replace("1 +", "1")
    with pytest.raises(hb.ParseError) as raised:
        hb.cuda(fixed + "error")
    assert raised.value.file == "<cuda>"


def test_traps_have_the_line_of_the_python_file(nvrtc):
    kernel = hb.cuda(
        """
__global__ void store(int *x) {
    x[threadIdx.x] = 1; // out of bounds
}
"""
    )
    with pytest.raises(hb.OutOfBounds) as raised:
        kernel(np.zeros(3, np.int32), grid=1, block=4)
    file, line = raised.value.source
    assert Path(file) == Path(__file__) and "// out of bounds" in Path(file).read_text().splitlines()[line - 1]


def test_quoted_includes_are_beside_the_file(nvrtc, tmp_path):
    (tmp_path / "own.h").write_text("#define VALUE 5\n")
    source = '#include "own.h"\n__global__ void k(int *x) { *x = VALUE; }'
    x = np.zeros(1, np.int32)
    for given in ({"file": str(tmp_path / "k.cu")}, {"include": [tmp_path]}, {"options": [f"-I{tmp_path}"]}):
        hb.cuda(source, **given)(x, grid=1, block=1)
        assert x[0] == 5
    (tmp_path / "own.h").write_text("#define VALUE 6\n")
    hb.cuda(source, include=[tmp_path])(x, grid=1, block=1)
    assert x[0] == 6


NAMES = """
template <class T> __global__ void put(T *x) { *x = T(-1); }
__global__ void over(int *x) { *x = 1; }
__global__ void over(unsigned char *x) { *x = 2; }
namespace of {
__global__ void inner(int *x) { *x = 3; }
template <int N> __global__ void constant(int *x) { *x = N; }
}
extern "C" __global__ void plain(int *x) { *x = 5; }
"""


@pytest.mark.parametrize(
    "entry, dtype, expected",
    [
        ("put<float>", np.float32, -1),
        ("put<unsigned short>", np.uint16, 65535),
        ("put<float>(float *)", np.float32, -1),
        ("over(int*)", np.int32, 1),
        ("over(unsigned char *)", np.uint8, 2),
        ("_Z4overPh", np.uint8, 2),
        ("of::inner", np.int32, 3),
        ("of::inner(int *)", np.int32, 3),
        ("of::constant<4>", np.int32, 4),
        ("plain", np.int32, 5),
        ("plain(int *)", np.int32, 5),
        ("&of::inner", np.int32, 3),
    ],
)
def test_names_of_kernels(nvrtc, entry, dtype, expected):
    kernel = hb.cuda(NAMES, entry)
    by_position, by_name = np.zeros(1, dtype), np.zeros(1, dtype)
    kernel(by_position, grid=1, block=1)
    kernel(x=by_name, grid=1, block=1)
    assert by_position[0] == by_name[0] == expected


def test_names_of_no_kernel(nvrtc):
    for entry, kind, message in [
        ("over", ValueError, r"several kernels over; .*'over\(float \*\)'.*_Z4overPi, _Z4overPh"),
        ("put", KeyError, "put is a template; .*entry='put<float>'"),
        ("nosuch", KeyError, "nosuch"),
        ("put<nosuch>", KeyError, "`put<nosuch>` is not the name of a kernel: .*nosuch"),
        ("over(float *)", KeyError, "is not the name of a kernel"),
    ]:
        with pytest.raises(kind, match=message):
            hb.cuda(NAMES, entry)
    with pytest.raises(ValueError, match="no kernel; give the template arguments in entry"):
        hb.cuda("template <class T> __global__ void put(T *x) { *x = T(1); }")


def test_constant_memory(nvrtc):
    source = """
__constant__ float coefficients[4];
__device__ int calls;
__global__ void polynomial(const float *x, float *y) {
    int i = threadIdx.x;
    float sum = 0;
    for (int k = 3; k >= 0; k--) sum = sum * x[i] + coefficients[k];
    y[i] = sum;
    if (i == 0) calls++;
}
"""
    kernel = hb.cuda(source)
    assert sorted(kernel.variables) == ["calls", "coefficients"]
    x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    for coefficients in ([1, 2, 3, 4], [0, 1, 0, 0]):
        kernel.variables["coefficients"] = np.float32(coefficients)
        kernel(x, y, grid=1, block=8)
        assert (y == np.polyval(coefficients[::-1], x)).all()
    assert kernel.variables["calls"].view(np.int32)[0] == 2
    with pytest.raises(ValueError, match="has 16 bytes"):
        kernel.variables["coefficients"] = np.float64([1, 2, 3, 4])


def test_options_are_checked(nvrtc):
    x = np.zeros(1, np.int32)
    hb.cuda("__global__ void k(int *x) { *x = N; }", options=["-DN=4"])(x, grid=1, block=1)
    assert x[0] == 4
    with pytest.raises(hb.ParseError, match="unrecognized option --nosuch"):
        hb.cuda(FILL, options=["--nosuch"])
    with pytest.raises(ValueError, match="the source text contains a NUL byte"):
        hb.cuda(FILL + "\0")


def test_the_place_of_a_literal():
    frame = sys._getframe()
    literal = "__global__ void a_literal() {}"
    file, line = _cuda._place(literal, frame)
    assert file == __file__ and "a_literal" in Path(file).read_text().splitlines()[line - 1]
    assert _cuda._place("__global__ void " + "b() {}", frame) == ("<cuda>", 1)
    assert _cuda._place("", frame) == _cuda._place(literal, None) == ("<cuda>", 1)


def test_the_examples_of_the_page(nvrtc):
    text = (ROOT / "docs" / "cuda-cpp.md").read_text()
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/cuda-cpp.md", "exec"), names)
    file = re.search(r"^```cpp\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    x = np.float32([1, 2, 3, 4])
    hb.cuda(file, "scale<float>")(2.0, x, grid=1, block=4)
    assert f"x={x.tolist()}" in text


def test_the_program_runs_a_file(nvrtc, tmp_path):
    (tmp_path / "own.h").write_text("#define FACTOR 2\n")
    file = tmp_path / "scale.cu"
    kernel = "template <class T> __global__ void scale(T *x) { x[threadIdx.x] *= FACTOR; }"
    file.write_text(f'#include <cuda_fp16.h>\n#include "own.h"\n{kernel}\n')

    def run(*more):
        words = [sys.executable, "-m", "halfbyte", "run", str(file), "--target", "ptx", "--grid", "1", "--block", "4", *more]
        environment = {**os.environ, "HALFBYTE_MODULES": os.pathsep.join(path for path in sys.path if path)}
        return subprocess.run(words, env=environment, capture_output=True, text=True)

    done = run("--entry", "scale<int>", "--arg", "x=[1, 2, 3, 4]")
    assert done.stdout == "x=[2, 4, 6, 8]\n", done.stderr
    assert run("--entry", "scale<short>", "--arg", "x=[1, 2, 3, 4]").returncode == 0
    failed = run("--entry", "scale<nosuch>", "--arg", "x=[1, 2, 3, 4]")
    assert failed.returncode == 2 and "`scale<nosuch>` is not the name of a kernel" in failed.stderr
    failed = run("--entry", "scale<int>", "--arg", "x=[1, 2, 3]")
    assert failed.returncode == 1 and f"{file}:3" in failed.stderr
    file.write_text("__global__ void k(int *x) {\n    *x = nosuch;\n}\n")
    failed = run("--arg", "x=[1]")
    assert failed.returncode == 1 and f"{file}:2:10" in failed.stderr and "*x = nosuch;" in failed.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs the program clang of other systems")
def test_kernels_of_clang():
    source = """
template <class T> __global__ void scale(T *x, T a) {
    __shared__ T tile[32];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = a * tile[31 - threadIdx.x] + __shfl_xor_sync(~0u, tile[threadIdx.x], 1);
}
__global__ void count(int *x) { atomicAdd(x, 1); }
"""
    try:
        kernel = hb.cuda(source, "scale<float>", compiler="clang")
    except hb.MissingPackage:
        pytest.skip("clang is not installed")
    except hb.Error as error:
        if "clang" in str(error) or "unknown" in str(error):
            pytest.skip(f"this clang does not compile for GPUs: {error}")
        raise
    x = np.arange(32, dtype=np.float32)
    expected = 2 * x[::-1] + x[np.arange(32) ^ 1]
    kernel(x, 2.0, grid=1, block=32)
    assert (x == expected).all()
    y = np.zeros(1, np.int32)
    hb.cuda(source, "count", sm=90, compiler="clang")(y, grid=2, block=64)
    assert y[0] == 128


def test_a_barrier_of_the_grid_makes_launches_cooperative(nvrtc):
    source = """#include <cooperative_groups.h>
extern "C" __global__ void turn(int *x) {
    auto grid = cooperative_groups::this_grid();
    int i = grid.thread_rank();
    x[i] = i + 1;
    grid.sync();
    x[64 + i] = x[63 - i];
}"""
    kernel = hb.cuda(source, compiler="nvrtc")
    x = np.zeros(128, np.int32)
    kernel(x, grid=2, block=32)
    assert x[64:].tolist() == list(range(64, 0, -1))
    with pytest.raises(hb.Trap, match="--cooperative"):
        kernel(x, grid=2, block=32, cooperative=False)


def test_kernels_allocate_memory(nvrtc):
    source = """struct Node { int value; Node *next; };
struct alignas(128) Aligned { int values[32]; };
__device__ Node *list;
extern "C" __global__ void push_and_pop(int count, int *y) {
    for (int i = 0; i < count; i++) list = new Node{i, list};
    int *powers = (int *)malloc(4 * sizeof(int));
    Aligned *aligned = new Aligned;
    powers[0] = 1;
    for (int i = 1; i < 4; i++) powers[i] = 3 * powers[i - 1];
    aligned->values[31] = powers[3];
    y[0] = aligned->values[31] + ((size_t)aligned % 128 != 0) + (malloc(8 << 20) != nullptr);
    delete aligned;
    free(powers);
    if (count) return;
    for (y[1] = 0; Node *first = list; delete first) {
        y[1] = 10 * y[1] + first->value;
        list = first->next;
    }
}
"""
    kernel = hb.cuda(source, compiler="nvrtc")
    y = np.zeros(2, np.int32)
    for count in (3, 2, 0):
        kernel(count, y, grid=1, block=1)
    assert y.tolist() == [27, 10210]
    source = """extern "C" __global__ void misuse(int count, int is_freed, int *y) {
    int *block = new int[count];
    for (int i = 0; i < count; i++) block[i] = i;
    if (is_freed) delete[] block;
    for (int i = 0; i <= count; i++) y[i] = block[i];
}"""
    kernel = hb.cuda(source, compiler="nvrtc")
    with pytest.raises(hb.OutOfBounds, match="byte 20 of buffer .*, which has 20 bytes"):
        kernel(5, 0, np.zeros(6, np.int32), grid=1, block=1)
    with pytest.raises(hb.OutOfBounds, match="byte 0 of buffer .*, which was freed"):
        kernel(5, 1, np.zeros(6, np.int32), grid=1, block=1)
