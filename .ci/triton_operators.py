"""Runs operators of unchanged Triton packages, and compares their results with those of PyTorch.

    halfbyte exec -- python .ci/triton_operators.py [-v] [--require N] [NAME]...

Each line of the output names an operator, its package and the result. Without names, all operators run. The exit code is then 1 if fewer
than N operators pass, or if they belong to fewer than four packages; N is 60 by default. A package that is not installed is an error.
"""

import argparse
import math
import sys
import time
import traceback

import torch
import torch.nn.functional as F

#: Operators, by package and name. Each function returns pairs of found and expected tensors.
OPERATORS = {}


def operator(package, name=None):
    """Returns a decorator that adds a function to the operators of a package."""

    def add(function):
        OPERATORS[package, name or function.__name__] = function
        return function

    return add


def random(*shape, scale=1.0, dtype=torch.float32):
    return (torch.randn(*shape, generator=GENERATOR) * scale).to(dtype)


def integers(limit, *shape):
    return torch.randint(0, limit, shape, generator=GENERATOR)


GENERATOR = torch.Generator().manual_seed(1)


def difference(found, expected):
    """Returns the greatest difference, relative to the greatest expected value."""
    if isinstance(expected, torch.Tensor) and expected.shape != found.shape:
        return math.inf
    found, expected = torch.as_tensor(found), torch.as_tensor(expected)
    if not expected.is_floating_point():
        return 0.0 if torch.equal(found, expected.to(found.dtype)) else math.inf
    if not expected.numel():
        return 0.0
    found, expected = found.double(), expected.double()
    error = (found - expected).abs().max() / expected.abs().max().clamp(min=1)
    return math.inf if error.isnan() else error.item()


def tolerance(found):
    """Returns the greatest permitted difference of a result. Triton computes matrix products of f32 in tf32, with a mantissa of 10 bits."""
    return 3e-2 if torch.is_tensor(found) and found.dtype in (torch.bfloat16, torch.float16) else 5e-3


def with_gradients(function, reference, *inputs):
    """Yields the results and the gradients of a function and of its reference."""
    results = []
    for call in (function, reference):
        leaves = [value.clone().requires_grad_() if torch.is_tensor(value) and value.is_floating_point() else value for value in inputs]
        # Some functions write their results to their inputs, which must not be leaves.
        outputs = call(*(value * 1 if torch.is_tensor(value) and value.requires_grad else value for value in leaves))
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        sum((output * torch.linspace(0.5, 1.5, output.numel()).view_as(output)).sum() for output in outputs).backward()
        gradients = [value.grad for value in leaves if torch.is_tensor(value) and value.requires_grad]
        results.append([*(output.detach() for output in outputs), *gradients])
    return list(zip(*results))


# Liger-Kernel: forward and backward.


def liger():
    import liger_kernel.transformers.functional as functional

    return functional


def rms(x, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


@operator("liger-kernel")
def softmax():
    return with_gradients(liger().liger_softmax, lambda x: x.softmax(-1), random(6, 100))


def sparsemax_reference(x):
    ordered = x.sort(descending=True).values
    sums = ordered.cumsum(-1) - 1
    count = torch.arange(1, x.shape[-1] + 1)
    kept = (ordered * count > sums).sum(-1, keepdim=True)
    return (x - sums.gather(-1, kept - 1) / kept).clamp(min=0)


@operator("liger-kernel")
def sparsemax():
    return with_gradients(liger().liger_sparsemax, sparsemax_reference, random(5, 60))


@operator("liger-kernel")
def rms_norm():
    return with_gradients(lambda x, w: liger().liger_rms_norm(x, w, 1e-6), lambda x, w: rms(x) * w, random(2, 7, 64), random(64))


@operator("liger-kernel")
def fused_add_rms_norm():
    function = lambda x, r, w: liger().liger_fused_add_rms_norm(x, r, w, 1e-6)  # noqa: E731
    return with_gradients(function, lambda x, r, w: (rms(x + r) * w, x + r), random(2, 7, 64), random(2, 7, 64), random(64))


@operator("liger-kernel")
def layer_norm():
    function = lambda x, w, b: liger().liger_layer_norm(x, w, b, 1e-5)  # noqa: E731
    return with_gradients(function, lambda x, w, b: F.layer_norm(x, (64,), w, b), random(2, 7, 64), random(64), random(64))


@operator("liger-kernel")
def group_norm():
    function = lambda x, w, b: liger().liger_group_norm(x, w, b, 8, 4, 1e-5)  # noqa: E731
    return with_gradients(function, lambda x, w, b: F.group_norm(x, 4, w, b), random(3, 8, 32), random(8), random(8))


@operator("liger-kernel")
def poly_norm():
    def reference(x, w, b):
        return w[0] * rms(x**3) + w[1] * rms(x**2) + w[2] * rms(x) + b

    return with_gradients(lambda x, w, b: liger().liger_poly_norm(x, w, b), reference, random(6, 64), random(3), random(1)[0])


@operator("liger-kernel")
def geglu():
    return with_gradients(liger().liger_geglu, lambda a, b: F.gelu(a, approximate="tanh") * b, random(3, 4, 48), random(3, 4, 48))


@operator("liger-kernel")
def swiglu():
    return with_gradients(liger().liger_swiglu, lambda a, b: F.silu(a) * b, random(3, 4, 48), random(3, 4, 48))


@operator("liger-kernel")
def relu_squared():
    return with_gradients(liger().liger_relu_squared, lambda x: F.relu(x) ** 2, random(6, 50))


@operator("liger-kernel")
def dyt():
    reference = lambda x, a, g, b: g * torch.tanh(a * x) + b  # noqa: E731
    return with_gradients(liger().liger_dyt, reference, random(2, 5, 64), random(1), random(64), random(64))


@operator("liger-kernel")
def cross_entropy():
    return with_gradients(liger().liger_cross_entropy, F.cross_entropy, random(8, 100), integers(100, 8))


@operator("liger-kernel")
def cross_entropy_smoothed():
    target = integers(100, 8)
    target[2] = -100
    options = {"label_smoothing": 0.1, "reduction": "sum"}
    function = lambda x: liger().liger_cross_entropy(x, target, **options)  # noqa: E731
    return with_gradients(function, lambda x: F.cross_entropy(x, target, **options), random(8, 100))


@operator("liger-kernel")
def fused_linear_cross_entropy():
    function = liger().liger_fused_linear_cross_entropy
    return with_gradients(function, lambda x, w, t: F.cross_entropy(x @ w.T, t), random(8, 32), random(50, 32), integers(50, 8))


@operator("liger-kernel")
def kl_div():
    target = random(6, 50).softmax(-1)
    function = lambda x: liger().liger_kl_div(x.log_softmax(-1), target, reduction="batchmean")  # noqa: E731
    return with_gradients(function, lambda x: F.kl_div(x.log_softmax(-1), target, reduction="batchmean"), random(6, 50))


def jsd_reference(student, teacher):
    mean = ((student.exp() + teacher.exp()) / 2).log()
    parts = [F.kl_div(mean, part, reduction="batchmean", log_target=True) for part in (student, teacher)]
    return sum(parts) / 2


@operator("liger-kernel")
def jsd():
    teacher = random(6, 50).log_softmax(-1)
    function = lambda x: liger().liger_jsd(x.log_softmax(-1), teacher)  # noqa: E731
    return with_gradients(function, lambda x: jsd_reference(x.log_softmax(-1), teacher), random(6, 50))


@operator("liger-kernel")
def fused_linear_jsd():
    teacher, weight = random(6, 32), random(50, 32)
    reference = lambda x, w: jsd_reference((x @ w.T).log_softmax(-1), (teacher @ weight.T).log_softmax(-1))  # noqa: E731
    return with_gradients(lambda x, w: liger().liger_fused_linear_jsd(x, w, teacher, weight), reference, random(6, 32), random(50, 32))


@operator("liger-kernel")
def tvd():
    target = random(6, 50).softmax(-1)
    function = lambda x: liger().liger_tvd(x.softmax(-1), target, reduction="batchmean")  # noqa: E731
    return with_gradients(function, lambda x: (x.softmax(-1) - target).abs().sum() / 2 / len(x), random(6, 50))


def rotated(x, cos, sin):
    """Returns vectors after a rotary embedding of their halves."""
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


def angles(length, width):
    table = torch.arange(length)[:, None] / 10000 ** (torch.arange(width // 2) / (width // 2))
    return table.cos(), table.sin()


@operator("liger-kernel")
def rope():
    cos, sin = (torch.cat((half, half), -1)[None] for half in angles(6, 32))
    reference = lambda q, k: (rotated(q, cos, sin), rotated(k, cos, sin))  # noqa: E731
    return with_gradients(lambda q, k: liger().liger_rope(q, k, cos, sin), reference, random(1, 4, 6, 32), random(1, 2, 6, 32))


@operator("liger-kernel")
def embedding():
    from liger_kernel.ops import LigerEmbeddingFunction

    return with_gradients(LigerEmbeddingFunction.apply, lambda w, i: F.embedding(i, w), random(20, 32), integers(20, 3, 5))


@operator("liger-kernel")
def multi_token_attention():
    mask = torch.ones(8, 8, dtype=torch.bool).tril()

    def reference(scores, weight):
        probabilities = scores.masked_fill(~mask, -1e9).softmax(-1)
        return F.conv2d(probabilities, weight, padding=1).masked_fill(~mask, 0)

    function = lambda s, w: liger().liger_multi_token_attention(s, w, padding=1)  # noqa: E731
    return with_gradients(function, reference, random(2, 3, 8, 8), random(3, 3, 3, 3))


# flash-linear-attention: recurrences with a state, in the layout [batch, time, heads, width].


def recurrence(q, k, v, gate=None, beta=None, scale=None, bonus=None):
    """Returns the outputs of a recurrence with a matrix as its state, which most operators of linear attention define."""
    q, k, v = (x.double() for x in (q, k, v))
    batch, length, heads, width = q.shape
    state = q.new_zeros(batch, heads, width, v.shape[-1])
    scale = width**-0.5 if scale is None else scale
    outputs = []
    for t in range(length):
        if gate is not None and bonus is None:
            factor = gate[:, t].double().exp()
            state = state * (factor[..., None] if factor.dim() == 3 else factor[..., None, None])
        value = v[:, t]
        if beta is not None:
            value = (value - torch.einsum("bhk,bhkv->bhv", k[:, t], state)) * beta[:, t, :, None].double()
        added = k[:, t, :, :, None] * value[:, :, None]
        if bonus is None:
            state = state + added
            outputs.append(torch.einsum("bhk,bhkv->bhv", q[:, t] * scale, state))
        else:
            outputs.append(torch.einsum("bhk,bhkv->bhv", q[:, t] * scale, state + bonus.double()[..., None] * added))
            state = state * gate[:, t].double().exp()[..., None] + added
    return torch.stack(outputs, 1)


def heads(width=32, length=70, unit_keys=False):
    """Returns queries, keys and values."""
    q, k, v = (random(1, length, 2, width) for _ in range(3))
    return q, F.normalize(k, dim=-1) if unit_keys else k, v


def log_gate(*shape):
    return F.logsigmoid(random(*shape) + 2)


def fla_operator(name, inputs, options=None, **reference):
    """Adds an operator of `fla.ops` that is a recurrence. `inputs` returns the arguments, and `reference` names them for the reference."""

    def function():
        import fla.ops

        arguments = inputs()
        found = getattr(fla.ops, name)(**arguments, **(options or {}))
        found = found[0] if isinstance(found, tuple) else found
        named = {ours: arguments[theirs] if isinstance(theirs, str) else theirs for ours, theirs in reference.items()}
        expected = recurrence(arguments.get("q", arguments.get("r")), arguments["k"], arguments["v"], **named)
        return [(found, expected)]

    OPERATORS["flash-linear-attention", name] = function


def plain():
    return dict(zip("qkv", heads()))


def gated_by_head():
    return {**plain(), "g": log_gate(1, 70, 2)}


def gated_by_channel(name="g"):
    return {**plain(), name: log_gate(1, 70, 2, 32)}


def delta():
    return {**dict(zip("qkv", heads(unit_keys=True))), "beta": random(1, 70, 2).sigmoid()}


def rwkv6_inputs():
    q, k, v = heads()
    return {"r": q, "k": k, "v": v, "w": log_gate(1, 70, 2, 32), "u": random(2, 32)}


RETENTION = (1 - 2.0 ** (-5 - torch.arange(2))).log().expand(1, 70, 2)
LIGHTNING = (-(8 / 2) * (1 - 3 / 12) * torch.arange(2)).expand(1, 70, 2)

for kind in ("chunk", "fused_recurrent"):
    fla_operator(f"{kind}_linear_attn", plain, {"normalize": False})
    fla_operator(f"{kind}_retention", plain, gate=RETENTION)
    fla_operator(f"{kind}_simple_gla", gated_by_head, gate="g")
    fla_operator(f"{kind}_gla", lambda kind=kind: gated_by_channel("g" if kind == "chunk" else "gk"), gate="g" if kind == "chunk" else "gk")
    fla_operator(f"{kind}_lightning_attn", plain, {"layer_idx": 3, "num_layers": 12}, gate=LIGHTNING)
    fla_operator(f"{kind}_delta_rule", lambda: {name: value.bfloat16() for name, value in delta().items()}, beta="beta")
    fla_operator(f"{kind}_gated_delta_rule", lambda: {**delta(), "g": log_gate(1, 70, 2)}, beta="beta", gate="g")
    fla_operator(f"{kind}_kda", lambda: {**delta(), "g": log_gate(1, 70, 2, 32)}, beta="beta", gate="g")
    fla_operator(f"{kind}_rwkv6", rwkv6_inputs, gate="w", bonus="u")
fla_operator("parallel_retention", plain, gate=RETENTION)
fla_operator("parallel_simple_gla", gated_by_head, gate="g")


def attention(q, k, v, bias=None):
    """Returns causal attention in the layout [batch, time, heads, width]."""
    q, k, v = (x.transpose(1, 2).double() for x in (q, k, v))
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if bias is not None:
        scores = scores + bias
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    return (scores.masked_fill(~mask, -math.inf).softmax(-1) @ v).transpose(1, 2)


@operator("flash-linear-attention")
def parallel_attn():
    from fla.ops import parallel_attn

    return with_gradients(parallel_attn, lambda q, k, v: attention(q, k, v).float(), *heads())


@operator("flash-linear-attention")
def parallel_forgetting_attn():
    from fla.ops import parallel_forgetting_attn

    (q, k, v), g = heads(), log_gate(1, 70, 2)
    sums = g.double().cumsum(1).transpose(1, 2)
    return [(parallel_forgetting_attn(q, k, v, g), attention(q, k, v, sums[..., :, None] - sums[..., None, :]))]


@operator("flash-linear-attention")
def fused_recurrent_hgrn():
    from fla.ops import fused_recurrent_hgrn

    x, g = random(2, 40, 64), log_gate(2, 40, 64)
    state, expected = torch.zeros(2, 64), []
    for t in range(40):
        state = state * g[:, t].exp() + x[:, t]
        expected.append(state)
    return [(fused_recurrent_hgrn(x, g)[0], torch.stack(expected, 1))]


@operator("flash-linear-attention")
def parallel_based():
    from fla.ops import parallel_based

    q, k, v = heads(width=16)
    scores = torch.einsum("bthd,bshd->bhts", q, k).double() * 16**-0.5
    scores = (1 + scores + scores**2 / 2).tril()
    return [(parallel_based(q, k, v, use_norm=False), torch.einsum("bhts,bshd->bthd", scores, v.double()))]


@operator("flash-linear-attention")
def l2norm():
    from fla.modules.norm.l2norm import l2norm

    return with_gradients(l2norm, lambda x: x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1e-6), random(3, 5, 64))


@operator("flash-linear-attention", "layer_norm")
def fla_layer_norm():
    from fla.modules.norm.layernorm import layer_norm

    return with_gradients(layer_norm, lambda x, w, b: F.layer_norm(x, (64,), w, b), random(3, 5, 64), random(64), random(64))


@operator("flash-linear-attention")
def rms_norm_gated():
    from fla.modules.norm.fused_norm_gate import rms_norm_gated

    function = lambda x, g, w: rms_norm_gated(x, g, w, None)  # noqa: E731
    return with_gradients(function, lambda x, g, w: rms(x) * w * F.silu(g), random(3, 5, 64), random(3, 5, 64), random(64))


@operator("flash-linear-attention", "swiglu")
def fla_swiglu():
    from fla.modules.activations.ops import swiglu

    return with_gradients(swiglu, lambda x, y: F.silu(x) * y, random(3, 50), random(3, 50))


@operator("flash-linear-attention")
def logsigmoid():
    from fla.modules.activations.ops import logsigmoid

    return with_gradients(logsigmoid, F.logsigmoid, random(3, 50))


@operator("flash-linear-attention", "cross_entropy_loss")
def fla_cross_entropy():
    from fla.modules.fused_cross_entropy.ops import cross_entropy_loss

    function = lambda x, t: cross_entropy_loss(x, t)[0].sum()  # noqa: E731
    return with_gradients(function, lambda x, t: F.cross_entropy(x, t, reduction="sum"), random(8, 100), integers(100, 8))


@operator("flash-linear-attention")
def rotary_embedding():
    from fla.modules.rotary.ops import rotary_embedding

    x, (cos, sin) = random(2, 12, 3, 32), angles(12, 32)
    whole = [torch.cat((half, half), -1)[None, :, None] for half in (cos, sin)]
    return with_gradients(lambda x: rotary_embedding(x, cos, sin), lambda x: rotated(x, *whole), x)


@operator("flash-linear-attention")
def token_shift():
    from fla.modules.token_shift import token_shift

    return with_gradients(token_shift, lambda x: F.pad(x, (0, 0, 1, -1)) - x, random(2, 20, 64))


@operator("flash-linear-attention")
def causal_conv1d():
    from fla.modules.causal_conv1d.ops import causal_conv1d

    def reference(x, w):
        return F.conv1d(F.pad(x.transpose(1, 2), (3, 0)), w[:, None], groups=64).transpose(1, 2)

    return with_gradients(lambda x, w: causal_conv1d(x, w)[0], reference, random(2, 70, 64), random(64, 4))


@operator("flash-linear-attention")
def chunk_global_cumsum():
    from fla.ops.utils.cumsum import chunk_global_cumsum

    scalar, vector = random(2, 70, 3), random(2, 70, 3, 16)
    return [(chunk_global_cumsum(x), x.cumsum(1)) for x in (scalar, vector)]


@operator("flash-linear-attention")
def mean_pooling():
    from fla.ops.utils.pooling import mean_pooling

    return with_gradients(lambda x: mean_pooling(x, 16), lambda x: x.view(2, 4, 16, 3, 8).mean(2), random(2, 64, 3, 8))


# FlagGems: functions of PyTorch. Each entry gives the arguments for both.


def gems(name, arguments, reference=None, keywords=None):
    """Adds a function of `flag_gems` that computes what the function of PyTorch of the same name computes."""

    def function():
        import flag_gems

        given = arguments()
        found = getattr(flag_gems, name)(*given, **(keywords or {}))
        expected = (reference or getattr(torch, name))(*given, **(keywords or {}))
        if not isinstance(expected, tuple | list):
            found, expected = [found], [expected]
        return list(zip(found, expected))

    OPERATORS["flag-gems", name] = function


def spread(*shape):
    """Returns different numbers in a random order, for functions that return positions."""
    return torch.randperm(math.prod(shape), generator=GENERATOR).float().view(shape)


gems("softmax", lambda: (random(6, 100), -1))
gems("log_softmax", lambda: (random(6, 100), -1))
gems("sum", lambda: (random(30, 50),))
gems("sum_dim", lambda: (random(30, 50), [1]), torch.sum)
gems("mean", lambda: (random(30, 50),))
gems("mean_dim", lambda: (random(30, 50), [1]), torch.mean)
gems("prod", lambda: (random(20),))
gems("max", lambda: (random(30, 50),))
gems("max_dim", lambda: (spread(30, 50), 1), torch.max)
gems("min", lambda: (random(30, 50),))
gems("min_dim", lambda: (spread(30, 50), 1), torch.min)
gems("amax", lambda: (random(30, 50), [1]))
gems("argmax", lambda: (spread(30, 50), 1))
# The kernel loads without a mask beyond the last row and column.
gems("argmin", lambda: (spread(64, 512), 1))
gems("all", lambda: (random(30, 50) > -9,))
gems("any", lambda: (random(30, 50) > 9,))
gems("cumsum", lambda: (random(30, 50), 1))
gems("var_mean", lambda: (random(30, 50), [1]))
gems("vector_norm", lambda: (random(30, 50),), torch.linalg.vector_norm)
gems("mm", lambda: (random(40, 32), random(32, 48)))
gems("bmm", lambda: (random(2, 40, 32), random(2, 32, 48)))
gems("addmm", lambda: (random(48).half(), random(40, 32).half(), random(32, 48).half()))
gems("mv", lambda: (random(40, 32), random(32)))
gems("dot", lambda: (random(300), random(300)))
gems("layer_norm", lambda: (random(6, 64), (64,), random(64), random(64)), lambda *of: (F.layer_norm(*of),))
gems("rms_norm", lambda: (random(6, 64), (64,), random(64)), lambda x, shape, w: F.rms_norm(x, shape, w, 1e-5))
gems("topk", lambda: (spread(4, 60), 5))
gems("sort", lambda: (spread(4, 60),))
gems("index_select", lambda: (random(30, 20), 0, integers(30, 7)))
gems("gather", lambda: (random(30, 20), 1, integers(20, 30, 5)))
gems("nonzero", lambda: (random(20, 10) > 0,))
gems("triu", lambda: (random(20, 30),))
gems("embedding", lambda: (random(20, 32), integers(20, 3, 5)), lambda w, i: F.embedding(i, w))
gems("arange", lambda: (100,))
gems("cat", lambda: ([random(5, 8), random(3, 8)],))


# Conch.


@operator("conch-triton-kernels")
def silu_and_mul():
    from conch.ops.activation.silu_and_mul import silu_and_mul

    x = random(5, 128)
    return [(silu_and_mul(x), F.silu(x[:, :64]) * x[:, 64:])]


@operator("conch-triton-kernels")
def gelu_tanh_and_mul():
    from conch.ops.activation.gelu_tanh_and_mul import gelu_tanh_and_mul

    x = random(5, 128)
    return [(gelu_tanh_and_mul(x), F.gelu(x[:, :64], approximate="tanh") * x[:, 64:])]


@operator("conch-triton-kernels", "rms_norm")
def conch_rms_norm():
    from conch.ops.normalization.rms_norm import rms_norm

    x, w = random(5, 64), random(64)
    return [(rms_norm(x, w, 1e-6), rms(x) * w)]


@operator("conch-triton-kernels", "fused_add_rms_norm")
def conch_fused_add_rms_norm():
    from conch.ops.normalization.rms_norm import fused_add_rms_norm

    x, residual, w = random(5, 64), random(5, 64), random(64)
    expected = rms(x + residual) * w, x + residual
    return list(zip(fused_add_rms_norm(x.clone(), residual.clone(), w, 1e-6), expected))


@operator("conch-triton-kernels")
def gemma_rms_norm():
    from conch.ops.normalization.gemma_rms_norm import gemma_rms_norm

    x, w = random(5, 64), random(64)
    found = gemma_rms_norm(x.clone(), w, 1e-6)
    return [(found[0] if isinstance(found, tuple) else found, rms(x) * (1 + w))]


@operator("conch-triton-kernels", "rotary_embedding")
def conch_rotary_embedding():
    from conch.ops.embedding.rotary_embedding import rotary_embedding

    positions, (cos, sin) = integers(20, 6), angles(20, 32)
    q, k = random(6, 4 * 32), random(6, 2 * 32)
    whole = [torch.cat((half, half), -1)[positions][:, None] for half in (cos, sin)]
    expected = [rotated(x.view(6, -1, 32), *whole).reshape(6, -1) for x in (q, k)]
    return list(zip(rotary_embedding(positions, q.clone(), k.clone(), 32, torch.cat((cos, sin), -1)), expected))


@operator("conch-triton-kernels")
def scaled_int8_quant():
    from conch.ops.quantization.int8 import scaled_int8_quant

    x, scale = random(5, 64), torch.tensor([0.02])
    found = scaled_int8_quant(x, scale)[0]
    # The operator truncates.
    return [(found, (x * scale.reciprocal()).clamp(-128, 127).to(torch.int8))]


@operator("conch-triton-kernels")
def nms():
    from conch.ops.vision.nms import nms
    from conch.reference.vision.nms import nms as reference

    corners = random(40, 2).abs() * 10
    boxes = torch.cat((corners, corners + 1 + random(40, 2).abs() * 5), 1)
    scores = spread(40)
    return [(nms(boxes, scores, 0.3), reference(boxes, scores, 0.3))]


@operator("conch-triton-kernels")
def copy_blocks():
    from conch.ops.vllm.copy_blocks import copy_blocks

    caches = [random(8, 64) for _ in range(4)]
    mapping = torch.tensor([[0, 5], [2, 7]])
    expected = [cache.clone() for cache in caches]
    for cache in expected:
        cache[mapping[:, 1]] = cache[mapping[:, 0]]
    copy_blocks(caches[:2], caches[2:], mapping)
    return list(zip(caches, expected))


# Cut Cross-Entropy.


@operator("cut-cross-entropy")
def linear_cross_entropy():
    from cut_cross_entropy import linear_cross_entropy

    dtype = torch.bfloat16
    inputs = random(64, 128, scale=0.3, dtype=dtype), random(256, 128, scale=0.3, dtype=dtype), integers(256, 64)
    return with_gradients(linear_cross_entropy, lambda e, c, t: F.cross_entropy((e @ c.T).float(), t), *inputs)


def run(key):
    """Runs an operator, and returns the error, if any."""
    GENERATOR.manual_seed(1)
    try:
        pairs = OPERATORS[key]()
        errors = [difference(found, expected) for found, expected in pairs]
        is_close = all(error <= tolerance(found) for error, (found, _) in zip(errors, pairs))
        return None if pairs and is_close else f"differences {errors}"
    except ModuleNotFoundError:
        raise
    except Exception as error:
        if "-v" in sys.argv:
            traceback.print_exc()
        return f"{type(error).__name__}: {error}".splitlines()[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--require", type=int, default=60)
    parser.add_argument("-v", action="store_true", help="print the tracebacks of errors")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    chosen = [key for key in OPERATORS if not options.names or key[0] in options.names or key[1] in options.names]
    passed = []
    for key in chosen:
        began = time.monotonic()
        error = run(key)
        state, seconds = "ok" if error is None else "FAILED", time.monotonic() - began
        print(f"{state:6} {key[0]:24} {key[1]:32} {seconds:6.1f} s  {error or ''}", flush=True)
        if error is None:
            passed.append(key)
    packages = len({package for package, _ in passed})
    print(f"triton: {len(passed)} of {len(chosen)} operators of {packages} packages passed")
    return 0 if options.names or (len(passed) >= options.require and packages >= 4) else 1


if __name__ == "__main__":
    sys.exit(main())
