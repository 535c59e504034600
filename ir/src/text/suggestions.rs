//! Suggestions for users of CUDA, NumPy, LLVM and C: tables map the names of their ops, types,
//! conditions and modifiers to those of the IR text. Each foreign name is listed once. A test
//! checks this, and that every suggested op and type exists.

use halfbyte_abi::Type;

use crate::attr::{FloatCC, IntCC};
use crate::op::{AttrKind, Op, OpRow};

use super::closest;

/// A suggestion, and the foreign names to which it applies.
type Advice = (&'static str, &'static [&'static str]);

/// Suggestions for foreign names of ops.
const OPS: &[Advice] = &[
    // Users of `threadIdx` and similar names mostly need the position in the whole launch.
    (
        "`item_id` (of the whole launch) or `local_id` (within its group)",
        &["threadidx", "thread_id", "get_local_id", "tid_x", "tid", "thread"],
    ),
    ("`lane_id`", &["laneid", "get_sub_group_local_id", "subgroup_invocation_id"]),
    ("`subgroup_id`", &["warpid", "warp_id", "get_sub_group_id", "wave_id"]),
    ("`group_id`", &["blockidx", "ctaid", "block_id", "program_id", "get_group_id"]),
    ("`group_size`", &["blockdim", "ntid", "block_dim", "block_size", "get_local_size"]),
    ("`item_id`", &["global_id", "get_global_id", "gid", "global_tid", "index", "arange", "iota", "id"]),
    ("`item_count`", &["get_global_size", "global_size", "num_items"]),
    ("`group_count`", &["griddim", "nctaid", "grid_dim", "grid_size", "get_num_groups", "num_programs"]),
    ("`add` or `fadd`", &["plus", "sum", "adds"]),
    ("`add`, which is the same for signed and unsigned lanes", &["add_s", "add_u", "iadd", "iadd3"]),
    ("`sub`, which is the same for signed and unsigned lanes", &["sub_s", "sub_u", "isub"]),
    ("`sub` or `fsub`", &["minus", "subtract", "diff"]),
    ("`mul`", &["mul_lo", "mullo", "imul", "mul24", "mul_s", "mul_u"]),
    ("`mul` or `fmul`", &["times", "multiply", "mult", "prod"]),
    ("`mul_hi_s` or `mul_hi_u`", &["mul_hi", "mulhi", "__mulhi", "umulhi", "__umulhi"]),
    ("`mul_wide_s` or `mul_wide_u`", &["mul_wide", "vmul", "umull", "smull"]),
    ("`mul` and then `add`", &["mad", "mad_lo", "imad", "mla"]),
    ("`add_sat_s` or `add_sat_u`", &["add_sat", "adds_sat", "sat_add", "saturating_add", "qadd"]),
    ("`add_sat_u`", &["uadd_sat", "adds_u", "addus", "uqadd", "paddus"]),
    ("`add_sat_s`", &["sadd_sat", "adds_s", "addss", "sqadd", "padds"]),
    ("`sub_sat_s` or `sub_sat_u`", &["sub_sat", "sat_sub", "saturating_sub", "qsub"]),
    ("`sub_sat_u`", &["usub_sat", "subs_u", "subus", "uqsub", "psubus"]),
    ("`sub_sat_s`", &["ssub_sat", "subs_s", "subss", "sqsub", "psubs"]),
    ("`avg_s` or `avg_u`", &["avg", "average", "mean", "rhadd"]),
    ("`avg_u`", &["pavg", "urhadd"]),
    ("`absdiff_s` or `absdiff_u`", &["absdiff", "abs_diff"]),
    ("`min_s` or `min_u` (`fmin` of floats)", &["min", "minimum", "imin", "amin"]),
    ("`max_s` or `max_u` (`fmax` of floats)", &["max", "maximum", "imax", "amax"]),
    ("`min_s`", &["smin"]),
    ("`min_u`", &["umin"]),
    ("`max_s`", &["smax"]),
    ("`max_u`", &["umax"]),
    ("`max_s` and then `min_s` (`max_u` and `min_u`, `fmax` and `fmin`)", &["clip", "clamp", "saturate", "bound"]),
    ("`neg` or `fneg`", &["negate", "negative", "negation"]),
    ("`abs` or `fabs`", &["absolute", "iabs"]),
    ("`shl`", &["lsl", "sll", "shift_left", "left_shift", "lshift"]),
    ("`shr_u`", &["lshr", "srl", "lsr", "ushr", "shr_l"]),
    ("`shr_s`", &["ashr", "asr", "sra", "sar"]),
    ("`shr_s` (arithmetic) or `shr_u` (logical)", &["shr", "rshift", "right_shift", "shift_right"]),
    ("`and`", &["band", "bitand", "bitwise_and", "land", "lop"]),
    ("`or`", &["bor", "bitor", "bitwise_or", "lor"]),
    ("`xor`", &["eor", "bxor", "bitxor", "bitwise_xor"]),
    ("`not`", &["inv", "bnot", "lnot", "invert", "complement", "bitwise_not"]),
    ("`icmp` or `fcmp` and a condition: `icmp.lt_s`, `fcmp.lt`", &["cmp", "setp", "isetp", "compare", "test"]),
    ("`icmp.lt_s` or `icmp.lt_u` (`fcmp.lt` of floats)", &["lt", "less", "slt", "ult"]),
    ("`icmp.le_s` or `icmp.le_u` (`fcmp.le` of floats)", &["le", "less_equal", "sle", "ule"]),
    ("`icmp.gt_s` or `icmp.gt_u` (`fcmp.gt` of floats)", &["gt", "greater", "sgt", "ugt"]),
    ("`icmp.ge_s` or `icmp.ge_u` (`fcmp.ge` of floats)", &["ge", "greater_equal", "sge", "uge"]),
    ("`icmp.eq` or `fcmp.eq`", &["eq", "equal", "seteq"]),
    ("`icmp.ne` or `fcmp.ne`", &["ne", "not_equal", "setne"]),
    ("`select`", &["where", "selp", "sel", "csel", "ternary", "cond", "blend", "vsel", "ite", "choose", "cmov"]),
    ("`sad_s` or `sad_u`", &["sad", "psadbw"]),
    ("`reduce_add_s` or `reduce_add_u`", &["hsum", "reduce", "reduce_add", "reduce_sum", "addv", "hadd"]),
    ("`reduce_min_s` or `reduce_min_u`", &["reduce_min", "hmin"]),
    ("`reduce_max_s` or `reduce_max_u`", &["reduce_max", "hmax"]),
    ("`dot4_s`, `dot4_u` or `dot4_su`", &["dp4a", "__dp4a", "dot", "dot4", "vdot"]),
    ("`dot4_s`", &["sdot"]),
    ("`dot4_u`", &["udot"]),
    ("`dot4_su`, of signed by unsigned lanes", &["usdot", "dot4_us", "dpbusd"]),
    ("`dot2_s`, `dot2_u` or `dot2_su`", &["dp2a", "__dp2a", "dp2a_lo", "__dp2a_lo", "__dp2a_hi", "dot2"]),
    ("`rotl`", &["rol", "rotate_left", "rotateleft", "fshl", "__funnelshift_l", "rotate"]),
    ("`rotr`", &["ror", "rotate_right", "rotateright", "fshr", "__funnelshift_r"]),
    ("`popcount`", &["popc", "__popc", "__popcll", "popcnt", "ctpop", "bit_count", "bitcount"]),
    ("`clz`", &["__clz", "__clzll", "ctlz", "lzcnt", "leading_zeros"]),
    ("`clz`: the number of the highest set bit is width - 1 - `clz`", &["bfind", "flo", "find_leading_one"]),
    ("`ctz`", &["cttz", "tzcnt", "trailing_zeros"]),
    ("`ctz` plus 1", &["ffs", "__ffs", "__ffsll"]),
    ("`bit_reverse`", &["brev", "__brev", "__brevll", "bitreverse", "reverse_bits", "rbit", "bitrev"]),
    ("`any`", &["any_true"]),
    ("`all`", &["all_true"]),
    ("`sext`", &["sign_extend", "sxt", "sxtb"]),
    ("`zext`", &["zero_extend", "uxt", "uxtb"]),
    ("`trunc`", &["truncate", "wrap", "low"]),
    ("`narrow_sat_s` or `narrow_sat_u`", &["pack", "packus", "packs", "narrow", "narrow_sat", "cvt_pack", "qxtn"]),
    ("`ffma`", &["fma", "fmadd", "fmaf", "mac", "fmac", "muladd", "fmla"]),
    ("`fadd`", &["fadd2", "addf", "addps"]),
    ("`fsub`", &["subf", "subps"]),
    ("`fmul`", &["mulf", "mulps"]),
    ("`fneg`", &["negf", "chs"]),
    ("`fabs`", &["absf", "fabsf"]),
    ("`fmin`", &["minf", "fminf", "minnum", "fminimum"]),
    ("`fmax`", &["maxf", "fmaxf", "maxnum", "fmaximum"]),
    ("`div_s` or `div_u` of integers, `fdiv` of floats", &["div", "divide", "floor_divide"]),
    ("`div_s`", &["sdiv"]),
    ("`div_u`", &["udiv"]),
    ("`rem_s` or `rem_u`", &["rem", "mod", "remainder"]),
    ("`rem_s`", &["srem"]),
    ("`rem_u`", &["urem"]),
    ("`fsqrt`", &["sqrt", "sqrtf", "hsqrt"]),
    ("`fdiv.f32` of 1 by the operand", &["rcp", "recip", "reciprocal"]),
    ("`frsqrt`", &["rsqrt", "rsqrtf", "inversesqrt"]),
    ("`fexp2`", &["exp2", "exp2f", "ex2"]),
    ("`fexp2` of the product with 1.442695", &["exp", "expf"]),
    ("`flog2`", &["log2", "log2f", "lg2"]),
    ("the product of `flog2` with 0.6931472", &["log", "logf"]),
    ("`ftanh`", &["tanh", "tanhf"]),
    ("`fsin`", &["sin", "sinf"]),
    ("`fcos`", &["cos", "cosf"]),
    ("`fcvt`", &["fptrunc", "fpext"]),
    ("`fcvt.f32`", &["half2float", "__half2float", "bfloat162float", "__bfloat162float"]),
    ("`fcvt.f16`", &["float2half", "__float2half", "float2half_rn", "__float2half_rn"]),
    ("`fcvt.bf16`", &["float2bfloat16", "__float2bfloat16", "float2bfloat16_rn", "__float2bfloat16_rn"]),
    ("`fcvt_to_s`", &["fptosi", "f2i", "float2int", "ftoi"]),
    ("`fcvt_to_u`", &["fptoui", "f2u", "float2uint"]),
    ("`fcvt_from_s`", &["sitofp", "i2f", "int2float", "itof"]),
    ("`fcvt_from_u`", &["uitofp", "u2f", "uint2float"]),
    (
        "`fcvt` between floats, `fcvt_from_s`, `fcvt_from_u`, `fcvt_to_s` and `fcvt_to_u` to and from integers, `sext`, `zext` and `trunc` between integers",
        &["cvt", "convert", "cast", "astype"],
    ),
    (
        "`const` for a number; a value needs no copy: use it by its name",
        &["mov", "move", "copy", "set", "let", "assign"],
    ),
    ("`const`", &["constant", "imm", "literal", "iconst", "fconst", "zeros"]),
    ("`splat`", &["broadcast", "dup", "set1", "full", "fill", "repeat", "bcast"]),
    ("`shuffle`", &["permute", "prmt", "perm", "shufflevector", "vperm"]),
    ("`shuffle.i8x4` and a list of lanes", &["byte_perm", "__byte_perm"]),
    ("`swizzle`", &["pshufb", "tbl", "take"]),
    ("`extract`", &["extractelement", "extract_lane", "get_lane", "getlane", "lane", "unpack"]),
    ("`insert`", &["insertelement", "insert_lane", "set_lane", "replace_lane"]),
    ("`concat`", &["concatenate", "cat", "join", "stack"]),
    ("`split`", &["slice", "chunk", "part"]),
    ("`bitcast`", &["reinterpret", "reinterpret_cast", "as_type", "view", "bits"]),
    ("`load`", &["ld", "ldg", "ldr", "read", "lds", "fetch", "load_global", "ld_global"]),
    ("`store`", &["st", "stg", "str", "write", "save", "st_global"]),
    ("`ptr_add`", &["gep", "getelementptr", "lea", "offset"]),
    ("`br`", &["jmp", "jump", "goto", "b", "branch", "bra"]),
    ("`br_if`", &["brif", "cbr", "condbr", "br_cond", "cbranch", "jnz", "if", "cond_br"]),
    ("a block that branches to itself or back: `br_if %again, ^loop(%k1), ^done`", &["for", "while", "loop", "do"]),
    ("`switch`", &["brx", "match", "case"]),
    ("`ret`", &["return", "exit", "end", "halt", "done"]),
    ("a parameter of the block, `^loop(%k: i32):`, and a value where it is branched to, `br ^loop(%k1)`", &["phi"]),
    (
        "`barrier`",
        &["__syncthreads", "syncthreads", "bar", "group_barrier", "workgroup_barrier", "threadgroup_barrier"],
    ),
    ("`barrier_count`", &["__syncthreads_count"]),
    ("`barrier_all`", &["__syncthreads_and"]),
    ("`barrier_any`", &["__syncthreads_or"]),
    ("`subgroup_barrier`", &["__syncwarp", "syncwarp", "simdgroup_barrier"]),
    ("`fence.seq_cst.device`", &["__threadfence", "threadfence", "membar", "mem_fence"]),
    ("`atomic_add` or `atomic_fadd`", &["atomicadd", "atomic_fetch_add", "fetch_add", "atom", "red", "atomic"]),
    ("`atomic_sub`", &["atomicsub", "atomic_fetch_sub"]),
    ("`atomic_min_s` or `atomic_min_u`", &["atomicmin", "atomic_min", "atomic_fetch_min"]),
    ("`atomic_max_s` or `atomic_max_u`", &["atomicmax", "atomic_max", "atomic_fetch_max"]),
    ("`atomic_exchange`", &["atomicexch", "atomic_xchg", "swap"]),
    ("`atomic_compare_exchange`", &["atomiccas", "cmpxchg", "atomic_cmpxchg", "compare_exchange", "cas"]),
    ("`subgroup_shuffle`", &["__shfl_sync", "__shfl", "shfl", "simd_shuffle"]),
    ("`subgroup_shuffle_down`", &["__shfl_down_sync", "__shfl_down", "shfl_down"]),
    ("`subgroup_shuffle_up`", &["__shfl_up_sync", "__shfl_up", "shfl_up"]),
    ("`subgroup_shuffle_xor`", &["__shfl_xor_sync", "__shfl_xor", "shfl_xor"]),
    ("`ballot`", &["__ballot_sync", "__ballot", "vote_ballot"]),
    ("`vote_any`", &["__any_sync"]),
    ("`vote_all`", &["__all_sync"]),
    ("`vote_all`, `vote_any`, `vote_uniform` or `ballot`", &["vote"]),
    ("`match_any`", &["__match_any_sync"]),
    ("`match_all`", &["__match_all_sync"]),
    ("`active_mask`", &["__activemask", "activemask"]),
    ("`subgroup_reduce_add`", &["__reduce_add_sync", "redux"]),
    ("the ops of the called function: kernels have no calls", &["call", "invoke"]),
    ("a label: `^name:`", &["block", "label", "bb"]),
];

/// Reasons why foreign names have no equivalent op.
const NONE: &[Advice] = &[
    (
        "there are no asynchronous copies: `load` a value and `store` it",
        &["cp_async", "memcpy_async", "__pipeline_memcpy_async", "cp"],
    ),
    ("there are no textures: `load` from a buffer", &["tex", "tex2d", "tex1dfetch", "sample"]),
];

/// Ops for CUDA SIMD intrinsics on packed integers. The left text is the part of the intrinsic's name between `__v` and
/// the digit 4 or 2. For PTX instructions, the type suffix determines the signedness.
const PACKED: &[(&str, &str)] = &[
    ("add", "add"),
    ("addus", "add_sat_u"),
    ("addss", "add_sat_s"),
    ("sub", "sub"),
    ("subus", "sub_sat_u"),
    ("subss", "sub_sat_s"),
    ("maxu", "max_u"),
    ("maxs", "max_s"),
    ("minu", "min_u"),
    ("mins", "min_s"),
    ("absdiffu", "absdiff_u"),
    ("absdiffs", "absdiff_s"),
    ("avgu", "avg_u"),
    ("avgs", "avg_s"),
    ("sadu", "sad_u"),
    ("sads", "sad_s"),
    ("neg", "neg"),
    ("abs", "abs"),
];

/// Ops for CUDA intrinsics on pairs of halves. The left text is the part of the intrinsic's name
/// between `__h` and the digit 2.
const HALVES: &[(&str, &str)] = &[
    ("add", "fadd"),
    ("sub", "fsub"),
    ("mul", "fmul"),
    ("fma", "ffma"),
    ("max", "fmax"),
    ("min", "fmin"),
    ("neg", "fneg"),
    ("abs", "fabs"),
];

/// Suggestions for foreign names of types.
const TYPES: &[Advice] = &[
    ("`i1`", &["bool", "pred", "b1", "u1", "bit"]),
    ("`i8`", &["u8", "s8", "b8", "char", "uchar", "byte", "int8", "uint8", "int8_t", "uint8_t"]),
    ("`i16`", &["u16", "s16", "b16", "short", "ushort", "int16", "uint16", "int16_t", "uint16_t"]),
    ("`i32`", &["u32", "s32", "b32", "int", "uint", "unsigned", "int32", "uint32", "int32_t", "uint32_t", "word"]),
    ("`i64`", &["u64", "s64", "b64", "long", "ulong", "int64", "uint64", "int64_t", "uint64_t", "size_t"]),
    ("`f16`", &["half", "__half", "float16", "fp16", "binary16"]),
    ("`bf16`", &["bfloat16", "__nv_bfloat16", "bfloat", "nv_bfloat16"]),
    ("`f32`", &["float", "float32", "fp32", "single", "f"]),
    ("`f64`", &["double", "float64", "fp64"]),
    ("`e4m3`", &["fp8", "float8_e4m3fn", "float8_e4m3", "e4m3fn", "__nv_fp8_e4m3", "f8e4m3fn"]),
    ("`e5m2`", &["float8_e5m2", "__nv_fp8_e5m2", "f8e5m2"]),
    ("`ptr`", &["pointer", "address"]),
    ("`i8x4`", &["uchar4", "char4", "u8x4", "s8x4", "int8x4", "uint8x4", "v4i8"]),
    ("`i16x2`", &["short2", "ushort2", "u16x2", "s16x2", "int16x2", "uint16x2", "v2i16"]),
    ("`f16x2`", &["half2", "__half2", "float16x2", "h2", "v2f16", "fp16x2"]),
    ("`bf16x2`", &["bfloat162", "__nv_bfloat162", "nv_bfloat162", "bfloat16x2", "v2bf16"]),
    ("`i8x16`", &["uchar16", "char16", "u8x16", "s8x16", "int8x16", "uint8x16", "uint8x16_t", "v16i8"]),
    ("two `f32`", &["float2", "f32x2"]),
    ("four `i32` or one `i8x16`", &["int4", "uint4", "i32x4"]),
    ("`i1x4`", &["bool4", "mask4", "b1x4"]),
    ("`i1x2`", &["bool2", "mask2", "b1x2"]),
];

/// Suggestions for foreign names of the conditions of `icmp`.
const INTEGER_CONDITIONS: &[Advice] = &[
    ("`lt_s` (signed) or `lt_u` (unsigned)", &["lt", "less"]),
    ("`le_s` (signed) or `le_u` (unsigned)", &["le", "lte"]),
    ("`gt_s` (signed) or `gt_u` (unsigned)", &["gt", "greater"]),
    ("`ge_s` (signed) or `ge_u` (unsigned)", &["ge", "gte"]),
    ("`lt_s`", &["slt", "olt"]),
    ("`le_s`", &["sle", "ole"]),
    ("`gt_s`", &["sgt", "ogt"]),
    ("`ge_s`", &["sge", "oge"]),
    ("`lt_u`", &["ult", "ltu", "lo"]),
    ("`le_u`", &["ule", "leu", "ls"]),
    ("`gt_u`", &["ugt", "gtu", "hi"]),
    ("`ge_u`", &["uge", "geu", "hs"]),
    ("`eq`", &["equ", "equal", "oeq"]),
    ("`ne`", &["neu", "neq", "not_equal", "une"]),
];

/// Suggestions for foreign names of the conditions of `fcmp` and `fset`.
const FLOAT_CONDITIONS: &[Advice] = &[
    ("`lt`", &["olt", "lt_s", "lt_u", "slt"]),
    ("`le`", &["ole", "le_s", "le_u", "sle"]),
    ("`gt`", &["ogt", "gt_s", "gt_u", "sgt"]),
    ("`ge`", &["oge", "ge_s", "ge_u", "sge"]),
    ("`eq`", &["oeq", "equal"]),
    ("`ne`", &["one", "neq"]),
    ("`equ`", &["ueq"]),
    ("`neu`", &["une"]),
    ("`ltu`", &["ult"]),
    ("`leu`", &["ule"]),
    ("`gtu`", &["ugt"]),
    ("`geu`", &["uge"]),
    ("`num`", &["ord"]),
    ("`nan`", &["uno", "isnan"]),
];

/// Suggestions for foreign names of float modifiers.
const MODIFIERS: &[Advice] = &[
    ("`rn`", &["rte", "rne", "rni", "nearest"]),
    ("`rz`", &["rtz", "rzi", "zero"]),
    ("`rp`", &["rtp", "ru", "rpi", "up", "ceil"]),
    ("`rm`", &["rtn", "rd", "rmi", "down", "floor"]),
    ("`ftz`", &["daz", "flush", "fz"]),
    ("`sat`", &["saturate", "clamp"]),
    ("`contract`", &["fast", "reassoc", "fused"]),
];

/// Modifiers that the IR expresses as a separate op: the op, the modifier, and the op to write instead.
const OTHER_OPS: &[(Op, &str, &str)] = &[
    (Op::Add, "sat", "`add_sat_s` or `add_sat_u`"),
    (Op::Sub, "sat", "`sub_sat_s` or `sub_sat_u`"),
    (Op::Trunc, "sat", "`narrow_sat_s` or `narrow_sat_u`"),
    (Op::ShrS, "rn", "`round_shr_s`"),
    (Op::ShrU, "rn", "`round_shr_u`"),
    (Op::Mul, "wide", "`mul_wide_s` or `mul_wide_u`"),
    (Op::Mul, "hi", "`mul_hi_s` or `mul_hi_u`"),
    (Op::Mul, "lo", "`mul`"),
    (Op::Load, "global", "`load` alone"),
    (Op::Store, "global", "`store` alone"),
];

/// Groups of equivalent ops: the common name, the integer ops, and the float ops.
const TWINS: &[(&str, &[Op], &[Op])] = &[
    ("add", &[Op::Add, Op::AddSatS, Op::AddSatU], &[Op::Fadd]),
    ("sub", &[Op::Sub, Op::SubSatS, Op::SubSatU], &[Op::Fsub]),
    ("mul", &[Op::Mul], &[Op::Fmul]),
    ("neg", &[Op::Neg], &[Op::Fneg]),
    ("abs", &[Op::Abs], &[Op::Fabs]),
    ("min", &[Op::MinS, Op::MinU], &[Op::Fmin]),
    ("max", &[Op::MaxS, Op::MaxU], &[Op::Fmax]),
    ("cmp", &[Op::Icmp], &[Op::Fcmp]),
    ("fma", &[Op::Mul, Op::Add], &[Op::Ffma]),
];

fn advice(table: &[Advice], word: &str) -> Option<&'static str> {
    table.iter().find(|(_, words)| words.contains(&word)).map(|&(advice, _)| advice)
}

/// Returns the valid name that is closest to an invalid one, in backquotes.
fn near<'c>(word: &str, words: impl IntoIterator<Item = &'c str>) -> Option<String> {
    closest(word, words).map(|near| format!("`{near}`"))
}

/// Returns the replacement of a foreign name from a table.
fn stands_for(table: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    table.iter().find(|(theirs, _)| *theirs == word).map(|&(_, ours)| ours)
}

/// Returns the op that is equivalent to a CUDA or PTX instruction on packed integers, such as
/// `__vaddus4`, or `vadd4` with the suffixes `.u32.u32.u32.sat`.
fn packed(word: &str, suffixes: &str) -> Option<String> {
    let theirs = word.strip_prefix("__v").or_else(|| word.strip_prefix('v'))?;
    let stem = theirs.trim_end_matches(['2', '4']);
    let ty = match theirs.get(stem.len()..)? {
        "4" => ".i8x4",
        "2" => ".i16x2",
        "" if word.starts_with("__") => "",
        _ => return None,
    };
    let sign = if suffixes.starts_with(".s") { "s" } else { "u" };
    let sat = if suffixes.ends_with(".sat") && matches!(stem, "add" | "sub") { "s" } else { "" };
    // A sum without saturation is the same for signed and unsigned integers.
    let signed = match (stem, sat) {
        ("add" | "sub", "s") => format!("{stem}{sign}s"),
        ("max" | "min" | "absdiff" | "avg" | "avrg" | "sad", _) => format!("{}{sign}", stem.replace("avrg", "avg")),
        _ => stem.to_owned(),
    };
    if let Some(op) = stands_for(PACKED, &signed) {
        return Some(format!("`{op}{ty}`"));
    }
    let condition = stem.strip_prefix("cmp").or_else(|| stem.strip_prefix("set"))?;
    let ours = match condition {
        "eq" | "ne" => condition.to_owned(),
        _ => format!("{}_{}", condition.get(..2)?, condition.get(2..).filter(|sign| matches!(*sign, "s" | "u"))?),
    };
    IntCC::from_name(&ours).map(|_| format!("`icmp.{ours}{ty}`, which makes a mask"))
}

/// Returns the op that is equivalent to a CUDA intrinsic on halves, such as `__hadd2`, `__hfma2_relu` or `__hgt2`.
fn halves(word: &str) -> Option<String> {
    let is_named = word.starts_with("__h");
    let theirs = word.strip_prefix("__h").or_else(|| word.strip_prefix('h'))?;
    let (theirs, modifier) = theirs.split_once('_').unwrap_or((theirs, ""));
    let (stem, ty) = match theirs.strip_suffix('2') {
        Some(stem) => (stem, "f16x2"),
        // Without the underscores, `hmin` and similar names are reductions over lanes in other languages.
        None if is_named => (theirs, "f16"),
        None => return None,
    };
    if let Some(op) = stands_for(HALVES, stem) {
        let dot = if modifier.is_empty() { "" } else { "." };
        return matches!(modifier, "" | "relu" | "sat" | "nan").then(|| format!("`{op}{dot}{modifier}.{ty}`"));
    }
    FloatCC::from_name(stem)?;
    Some(match modifier {
        "" if ty == "f16x2" => format!("`fset.{stem}.{ty}` (1 and 0) or `fcmp.{stem}.{ty}` (a mask)"),
        "" | "mask" => format!("`fcmp.{stem}.{ty}`"),
        _ => return None,
    })
}

/// Returns the reason why a foreign name has no equivalent op, if it is known.
pub fn no_op(word: &str) -> Option<&'static str> {
    advice(NONE, &word.to_ascii_lowercase())
}

/// Returns the suggestion for a name that is not an op.
pub fn op(word: &str) -> Option<String> {
    op_with(word, "")
}

/// Returns the suggestion for a name that is not an op and that has suffixes.
pub(super) fn op_with(word: &str, suffixes: &str) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    if lower != word && Op::from_name(&lower).is_some() {
        return Some(format!("`{lower}`"));
    }
    let sat = match lower.as_str() {
        "uadd" | "sadd" | "usub" | "ssub" if suffixes.contains(".sat") => advice(OPS, &format!("{lower}_sat")),
        _ => None,
    };
    let theirs = || packed(&lower, suffixes).or_else(|| halves(&lower));
    let known = sat.or_else(|| advice(OPS, &lower)).map(str::to_owned);
    known.or_else(theirs).or_else(|| near(word, Op::ALL.iter().map(|op| op.name())))
}

/// Returns the suggestion for a name that is not a type.
pub fn ty(word: &str) -> Option<String> {
    ty_of(word, |_| true)
}

fn ty_of(word: &str, fits: impl Fn(Type) -> bool) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    if lower != word && Type::from_name(&lower).is_some() {
        return Some(format!("`{lower}`"));
    }
    let types = Type::ALL.iter().copied().filter(|&ty| fits(ty));
    advice(TYPES, &lower).map(str::to_owned).or_else(|| near(word, types.map(|ty| ty.name())))
}

/// Returns the op for the position of an item or the number of items, if the foreign name denotes one.
pub(super) fn place(word: &str) -> Option<&'static str> {
    let op = Op::from_name(advice(OPS, &word.to_ascii_lowercase())?.split('`').nth(1)?)?;
    matches!(op.row().attr, AttrKind::Axis).then(|| op.name()).or((op == Op::ItemCount).then(|| op.name()))
}

/// Returns the suggestion for a suffix that is neither a type nor a modifier of the op. `modifiers`
/// are the modifiers that the op accepts.
pub fn suffix(row: &OpRow, word: &str, modifiers: &[&'static str]) -> Option<String> {
    if let Some(other) = other_op(row.op, word) {
        return Some(other.to_owned());
    }
    let lower = word.to_ascii_lowercase();
    let conditions = match row.attr {
        AttrKind::IntCC => advice(INTEGER_CONDITIONS, &lower),
        AttrKind::FloatCC => advice(FLOAT_CONDITIONS, &lower),
        AttrKind::Float(_) => advice(MODIFIERS, &lower),
        _ => None,
    };
    let ty = || {
        let fits = |ty: Type| row.types.is_some_and(|types| types.contains(ty));
        advice(TYPES, &lower).map(str::to_owned).or_else(|| {
            let types = Type::ALL.iter().copied().filter(|&ty| fits(ty)).map(|ty| ty.name());
            near(word, modifiers.iter().copied().chain(types))
        })
    };
    conditions.map(str::to_owned).or_else(ty)
}

/// Returns the op that is equivalent to `op` with a modifier that `op` does not accept.
pub(crate) fn other_op(op: Op, modifier: &str) -> Option<&'static str> {
    OTHER_OPS.iter().find(|&&(of, word, _)| of == op && word == modifier).map(|&(.., other)| other)
}

/// Returns the equivalent op for a type that `op` does not accept: a float op for an integer op,
/// and an integer op for a float op.
pub(crate) fn twin(op: Op, ty: Type) -> Option<String> {
    let others = TWINS.iter().find_map(|&(_, integers, floats)| match (ty.is_float(), ty.is_int()) {
        (true, _) if integers.contains(&op) => Some(floats),
        (_, true) if floats.contains(&op) => Some(integers),
        _ => None,
    })?;
    let takes = others.iter().filter(|op| op.row().types.is_some_and(|types| types.contains(ty)));
    let named: Vec<String> = takes.map(|op| format!("`{}.{ty}`", op.name())).collect();
    let joint = if op == Op::Ffma { " and " } else { " or " };
    (!named.is_empty()).then(|| match op {
        // The saturating ops are not equivalents of `fadd` and `fsub`.
        Op::Fadd | Op::Fsub => named.into_iter().take(1).collect(),
        _ => named.join(joint),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::attr::FlagKind;

    /// Returns the names in backquotes in a suggestion.
    fn named(advice: &str) -> impl Iterator<Item = &str> {
        advice.split('`').skip(1).step_by(2)
    }

    #[test]
    fn every_word_is_listed_once_and_stands_for_what_there_is() {
        let tables = [OPS, NONE, TYPES, INTEGER_CONDITIONS, FLOAT_CONDITIONS, MODIFIERS];
        for table in tables {
            let mut seen = HashSet::new();
            for word in table.iter().flat_map(|(_, words)| words.iter()) {
                assert!(seen.insert(word), "`{word}` is listed twice");
            }
        }
        for (advice, words) in OPS {
            for word in *words {
                assert!(Op::from_name(word).is_none(), "`{word}` is an op");
            }
            for name in named(advice).filter(|name| !name.starts_with(['^', '%']) && !name.contains(['/', ' '])) {
                let op = name.split('.').next().unwrap();
                assert!(Op::from_name(op).is_some(), "`{op}` in {advice}");
            }
        }
        for (advice, words) in TYPES {
            assert!(words.iter().all(|word| Type::from_name(word).is_none()), "{words:?}");
            assert!(named(advice).all(|name| Type::from_name(name).is_some()), "{advice}");
        }
        for (advice, words) in INTEGER_CONDITIONS {
            assert!(words.iter().all(|word| IntCC::from_name(word).is_none()), "{words:?}");
            assert!(named(advice).all(|name| IntCC::from_name(name).is_some()), "{advice}");
        }
        for (advice, words) in FLOAT_CONDITIONS {
            assert!(words.iter().all(|word| FloatCC::from_name(word).is_none()), "{words:?}");
            assert!(named(advice).all(|name| FloatCC::from_name(name).is_some()), "{advice}");
        }
        for (advice, words) in MODIFIERS {
            assert!(words.iter().all(|word| FlagKind::of(word).is_none()), "{words:?}");
            assert!(named(advice).all(|name| FlagKind::of(name).is_some()), "{advice}");
        }
    }

    #[test]
    fn words_of_other_languages_are_understood() {
        for (word, expected) in [
            ("blockIdx", "`group_id`"),
            ("__vaddus4", "`add_sat_u.i8x4`"),
            ("__vabsdiffu2", "`absdiff_u.i16x2`"),
            ("__vcmpgtu4", "`icmp.gt_u.i8x4`, which makes a mask"),
            ("__hfma2_relu", "`ffma.relu.f16x2`"),
            ("__hgt2_mask", "`fcmp.gt.f16x2`"),
            ("__hadd", "`fadd.f16`"),
            ("fma", "`ffma`"),
            ("FADD", "`fadd`"),
            ("where", "`select`"),
            ("return", "`ret`"),
            ("lshr", "`shr_u`"),
            ("broadcast", "`splat`"),
            ("ffmaa", "`ffma`"),
        ] {
            assert_eq!(op(word).as_deref(), Some(expected), "{word}");
        }
        assert_eq!(op("zzz"), None);
        assert_eq!(op_with("vadd4", ".u32.u32.u32.sat").as_deref(), Some("`add_sat_u.i8x4`"));
        assert_eq!(op_with("vmax2", ".s32.s32.s32").as_deref(), Some("`max_s.i16x2`"));
        assert_eq!(op_with("uadd", ".sat.i8x4").as_deref(), Some("`add_sat_u`"));
        for (_, ours) in PACKED.iter().chain(HALVES) {
            assert!(Op::from_name(ours).is_some(), "{ours}");
        }
        assert_eq!(ty("uchar4").as_deref(), Some("`i8x4`"));
        assert_eq!(ty("F16X2").as_deref(), Some("`f16x2`"));
        assert_eq!(ty("f16x3").as_deref(), Some("`f16x2`"));
        assert_eq!(twin(Op::Add, Type::F16X2).as_deref(), Some("`fadd.f16x2`"));
        assert_eq!(twin(Op::Fadd, Type::I32).as_deref(), Some("`add.i32`"));
        assert_eq!(twin(Op::Fmin, Type::I8X4).as_deref(), Some("`min_s.i8x4` or `min_u.i8x4`"));
        assert_eq!(twin(Op::Ffma, Type::I8X4).as_deref(), Some("`mul.i8x4` and `add.i8x4`"));
        assert_eq!(twin(Op::And, Type::F16X2), None);
    }
}
