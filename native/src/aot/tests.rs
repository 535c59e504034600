//! Comparison of arithmetic in the code of objects, run on the host, with its semantics.
//!
//! `HALFBYTE_SOFT_CASES=2000000 cargo test --release -p halfbyte-native --features aot soft` sets
//! the number of cases of each operation.
#![allow(clippy::unwrap_used)]

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Value};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncOrDataId, Module, default_libcall_names};
use cranelift_object::{ObjectBuilder, ObjectModule};
use halfbyte_isa::approx::Function;
use halfbyte_isa::half::{Clamp, Compare, Format, HalfMode, Rounding};
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{
    Conversion, Divide, Domain, FloatKind, FloatOp, HalfCompare, HalfKind, HalfMinMax, HalfOp, Lanes, NumberFormat,
    VideoKind, VideoMerge, VideoOp,
};

use super::library::Library;
use super::machine::{Features, Machine};
use super::memory::here;
use super::scalar::Scalar;
use super::soft::Soft;
use crate::clif::NativeModule;
use crate::jit::{Dataflow, Id};
use crate::vir::{ITEMS, Input};

/// Number of operands and of results.
const OPERANDS: usize = 6;
const RESULTS: usize = 2;

/// An operation on the words of both domains.
trait Operation {
    fn of<D: Domain>(&self, d: &mut D, words: [D::Word; OPERANDS]) -> [D::Word; RESULTS];
}

fn features(fma: bool) -> Features {
    Features { fma, gangs: false, avx2: false, fp16: false }
}

/// Runs an operation on words as an object does. Returns a description of the first difference from the semantics.
fn differing(op: &impl Operation, has_fma: bool, cases: &[[u32; OPERANDS]]) -> Option<String> {
    let machine = Machine::in_memory().unwrap();
    let mut module = JITModule::new(JITBuilder::with_isa(machine.isa.clone(), default_libcall_names()));
    let mut signature = module.make_signature();
    signature.params = vec![AbiParam::new(I64); 3];
    let mut library = Library::new(&mut module, &machine);
    library.features = features(has_fma);
    library
        .export("all", signature, |s| {
            let params: Vec<Value> = s.b.block_params(s.b.current_block().unwrap()).to_vec();
            let (head, body, done) = (s.b.create_block(), s.b.create_block(), s.b.create_block());
            let [from, to] = [(); 2].map(|()| s.b.append_block_param(head, I64));
            s.b.ins().jump(head, &[params[0].into(), params[1].into()]);
            s.b.switch_to_block(head);
            let more = s.b.ins().icmp(IntCC::NotEqual, from, params[2]);
            s.b.ins().brif(more, body, &[], done, &[]);
            s.b.switch_to_block(body);
            let words = std::array::from_fn(|k| s.b.ins().load(I32, here(), from, 4 * k as i32));
            let results = op.of(&mut Scalar::new(&mut *s.b, &mut *s.library), words);
            for (k, result) in (0..).zip(results) {
                s.b.ins().store(here(), result, to, 4 * k);
            }
            let from = s.b.ins().iadd_imm_s(from, 4 * OPERANDS as i64);
            let to = s.b.ins().iadd_imm_s(to, 4 * RESULTS as i64);
            s.b.ins().jump(head, &[from.into(), to.into()]);
            s.b.switch_to_block(done);
            s.b.ins().return_(&[]);
        })
        .unwrap();
    library.finish().unwrap();
    let Some(FuncOrDataId::Func(id)) = module.get_name("all") else { unreachable!() };
    module.finalize_definitions().unwrap();
    let address = module.get_finalized_function(id);
    let _module = NativeModule::new(module);
    let mut results = vec![[0u32; RESULTS]; cases.len()];
    // SAFETY: the function was compiled with this signature.
    unsafe {
        let run = std::mem::transmute::<*const u8, extern "C" fn(*const u32, *mut u32, *const u32)>(address);
        let cases = cases.as_flattened().as_ptr_range();
        run(cases.start, results.as_mut_ptr().cast(), cases.end);
    }
    cases.iter().zip(results).find_map(|(&case, found)| {
        let expected = op.of(&mut Concrete, case);
        (found != expected).then(|| format!("{case:x?}: {found:x?}, and not {expected:x?}"))
    })
}

/// Random number generator (SplitMix, by Steele and others).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.next() as usize % all.len()]
    }

    /// Returns a half: an arbitrary half, or a neighbour of an edge case of the formats.
    fn half(&mut self) -> u32 {
        const EDGES: [u32; 16] = [
            0, 1, 0x3FF, 0x400, 0x3C00, 0x3BFF, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x7FFF, 0x7F, 0x80, 0x3F80, 0x7F7F,
            0x7F80,
        ];
        let bits = self.next() as u32;
        match bits >> 30 {
            0 => self.one_of(&EDGES) | bits & 0x8000,
            1 => (self.one_of(&EDGES) ^ bits & 7) | bits & 0x8000,
            _ => bits & 0xFFFF,
        }
    }

    /// Returns a word: two halves, a neighbour of an edge case of floats or integers, or an arbitrary word.
    fn word(&mut self) -> u32 {
        const EDGES: [u32; 20] = [
            0,
            1,
            0x007F_FFFF,
            0x0080_0000,
            0x3F80_0000,
            0x3F7F_FFFF,
            0x4B00_0000,
            0x7F7F_FFFF,
            0x7F80_0000,
            0x7FC0_0000,
            0x3F00_0000,
            0x3880_0000,
            0x3300_0000,
            0x477F_E000,
            0x477F_F000,
            0x000F_FFFF,
            0x0010_0000,
            0x3FF0_0000,
            0x7FEF_FFFF,
            0x7FF0_0000,
        ];
        let bits = self.next() as u32;
        match bits >> 29 {
            0 => self.one_of(&EDGES) ^ bits & 1 << 28,
            1 => (self.one_of(&EDGES).wrapping_add(bits & 7).wrapping_sub(3)) | bits & 1 << 28 << 3,
            2..5 => self.half() << 16 | self.half(),
            // Few significant bits, which sums and products preserve.
            5 => (self.next() as u32) & 0xFFF0_0000 | 0x2000_0000,
            _ => self.next() as u32,
        }
    }

    fn case(&mut self) -> [u32; OPERANDS] {
        let mut words = std::array::from_fn(|_| self.word());
        // Operands that cancel completely or nearly.
        match self.next() % 8 {
            0 => words[1] = words[0] ^ 0x8000_8000,
            1 => words[2] = words[0] ^ (self.next() as u32 & 0x8001_8001),
            2 => (words[2], words[3]) = (words[0], words[1] ^ 1 << 31),
            _ => {}
        }
        words
    }
}

/// Returns the number of cases of an operation.
fn count(few: usize) -> usize {
    std::env::var("HALFBYTE_SOFT_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(few)
}

fn proves(name: impl std::fmt::Debug, few: usize, op: &impl Operation) {
    let mut random = Random(0x5EED ^ few as u64);
    let cases: Vec<_> = (0..count(few)).map(|_| random.case()).collect();
    for has_fma in [false, true] {
        if has_fma && !Machine::in_memory().unwrap().features().fma {
            continue;
        }
        let found = differing(op, has_fma, &cases);
        assert_eq!(found, None, "{name:?}, with fma: {has_fma}");
    }
    for features in gang_features() {
        let found = differing_in_gangs(op, features, &cases);
        assert!(!matches!(found, Some(Err(_))), "{name:?}, in gangs: {found:?}");
    }
}

/// Returns the features of machines whose gangs this machine runs.
fn gang_features() -> impl Iterator<Item = Features> {
    let Features { fma, avx2, fp16, .. } = Machine::in_memory().unwrap().features();
    let all = [
        // Cranelift's vectors, without and with a fused multiply-add.
        (true, features(false)),
        (fma, features(true)),
        (avx2, Features { avx2: true, ..features(true) }),
        (avx2 && fp16, Features { avx2: true, fp16: true, ..features(true) }),
    ];
    all.into_iter().filter(|(is_here, _)| *is_here).map(|(_, features)| features)
}

/// Runs an operation on cases of `N` words, in gangs of a machine with the given features. Returns the two results of
/// each case, or `None` if the operation has no form in vectors.
fn results<const N: usize>(
    features: Features,
    compute: impl FnOnce(&mut Dataflow, [Id; N]) -> [Id; 2],
    cases: &[[u32; N]],
) -> Option<Vec<[u32; 2]>> {
    let function = crate::vir::tests::function(features.fp16, compute)?;
    let machine = Machine::in_memory().unwrap();
    let mut module = JITModule::new(JITBuilder::with_isa(machine.isa.clone(), default_libcall_names()));
    let mut library = Library::new(&mut module, &machine);
    library.features = features;
    let (id, table) = library.gang_function(&function).unwrap();
    module.finalize_definitions().unwrap();
    let address = module.get_finalized_function(id);
    let _module = NativeModule::new(module);
    // SAFETY: the code is that of a function of gangs, with the convention of the host.
    let run = unsafe { std::mem::transmute::<*const u8, unsafe extern "C" fn(*mut u64, usize) -> usize>(address) };
    let items = cases.len().next_multiple_of(ITEMS as usize);
    let mut buffers = vec![vec![0u32; items]; N + 2];
    for (item, case) in cases.iter().enumerate() {
        for (buffer, &word) in buffers.iter_mut().zip(case) {
            buffer[item] = word;
        }
    }
    let mut memory = vec![0u64; table as usize / 8 + 4];
    let start = memory.as_ptr().align_offset(32);
    for (word, input) in memory[start..].iter_mut().zip(&function.inputs) {
        *word = match *input {
            Input::Start(number) => buffers[number].as_mut_ptr() as u64,
            Input::Bytes(number) => 4 * buffers[number].len() as u64,
            Input::Bank(_) | Input::Cell(_) | Input::Own => unreachable!(),
        };
    }
    // SAFETY: the table has the bytes that the function names, and the buffers have the bytes that the table names.
    let done = unsafe { run(memory[start..].as_mut_ptr(), items) };
    assert_eq!(done, items);
    Some((0..cases.len()).map(|item| [buffers[N][item], buffers[N + 1][item]]).collect())
}

/// Runs an operation in gangs. Returns an error if a result differs from that of `Concrete`, or `None` if the operation
/// has no form in vectors.
fn differing_in_gangs(
    op: &impl Operation,
    features: Features,
    cases: &[[u32; OPERANDS]],
) -> Option<Result<(), String>> {
    let found = results(features, |d, words| op.of(d, words), cases)?;
    let differing = cases.iter().zip(found).find_map(|(&case, found)| {
        let expected = op.of(&mut Concrete, case);
        (found != expected).then(|| format!("{features:?}: {case:x?}: {found:x?}, and not {expected:x?}"))
    });
    Some(differing.map_or(Ok(()), Err))
}

/// Operations that gangs must support: halves to nearest, their comparisons and conversions, integers, bytes and video
/// instructions.
#[test]
fn gangs_have_forms() {
    let mut random = Random(68);
    let cases: Vec<_> = (0..1000).map(|_| random.case()).collect();
    for features in gang_features() {
        let has = |found: Option<Result<(), String>>| assert_eq!(found, Some(Ok(())));
        for format in Format::ALL {
            for kind in [HalfKind::Add, HalfKind::Mul, HalfKind::Fma] {
                let mode = HalfMode { format, rounding: Rounding::Nearest, ftz: false, clamp: Clamp::None };
                has(differing_in_gangs(&HalfOp { kind, mode }, features, &cases));
            }
            has(differing_in_gangs(&MinMax(HalfMinMax { format, ftz: false, nan: true }), features, &cases));
            has(differing_in_gangs(&HalfCompare { format, ftz: true, compare: Compare::LT }, features, &cases));
            for rounding in Rounding::ALL {
                has(differing_in_gangs(&Narrow(format, rounding), features, &cases));
            }
        }
        has(differing_in_gangs(&Halves, features, &cases));
        has(differing_in_gangs(&Words, features, &cases));
        has(differing_in_gangs(&Quotients, features, &cases));
        has(differing_in_gangs(&Floats, features, &cases));
        for op in videos() {
            has(differing_in_gangs(&op, features, &cases));
        }
    }
}

/// Chains of half operations, with and without flushing and clamping.
struct Halves;

impl Operation for Halves {
    fn of<D: Domain>(&self, d: &mut D, [a, b, c, ..]: [D::Word; OPERANDS]) -> [D::Word; RESULTS] {
        Format::ALL.map(|format| {
            let mut x = d.xor(a, b);
            for (k, kind) in [HalfKind::Add, HalfKind::Mul, HalfKind::Fma, HalfKind::Mul].into_iter().enumerate() {
                for (ftz, clamp) in
                    [(false, Clamp::None), (true, Clamp::None), (false, Clamp::Sat), (k == 2, Clamp::Relu)]
                {
                    let mode = HalfMode { format, rounding: Rounding::Nearest, ftz, clamp };
                    let [y, z] = if k % 2 == 0 { [b, x] } else { [x, c] };
                    let result = d.half(&HalfOp { kind, mode }, x, y, z);
                    let zero = d.word(0);
                    let differ =
                        d.half_compare(&HalfCompare { format, ftz: k == 1, compare: Compare::NEU }, result, zero);
                    let least = d.half_minmax(&HalfMinMax { format, ftz, nan: k == 3 }, differ[0], result, x);
                    let kept = d.select(differ[1], least, result);
                    x = d.half(&HalfOp { kind: HalfKind::Add, mode }, kept, a, a);
                }
            }
            x
        })
    }
}

/// Integers, comparisons, shifts and bytes.
struct Words;

impl Operation for Words {
    fn of<D: Domain>(&self, d: &mut D, [a, b, c, e, ..]: [D::Word; OPERANDS]) -> [D::Word; RESULTS] {
        let (high, low) = (d.mul_high(true, a, b), d.mul_high(false, a, b));
        let (left, right, down) = (d.shl(a, c), d.shr(b, c), d.sar(c, e));
        let [less, below] = [true, false].map(|signed| d.less(signed, a, b));
        let same = d.equal(c, e);
        let (either, differ) = (d.either(less, same), d.differ(below, same));
        let negated = d.negate(differ);
        let both = d.both(either, negated);
        let picked = d.select(both, left, right);
        let product = d.mul(picked, down);
        let selectors = [0x5140, 0x9999, 0xBBA8, 0x8880, 0xCCC4, 0x9910, 0x8F47, 0xFB73];
        let mut bytes = d.word(0);
        for selector in selectors {
            let selector = d.word(selector);
            let part = d.permute(a, b, selector);
            let mixed = d.shl(bytes, c);
            bytes = d.xor(mixed, part);
        }
        let not = d.not(high);
        let sum = d.add(not, low);
        [d.sub(sum, product), bytes]
    }
}

/// Quotients and remainders of words, and of small and equal words.
struct Quotients;

impl Operation for Quotients {
    fn of<D: Domain>(&self, d: &mut D, [a, b, c, ..]: [D::Word; OPERANDS]) -> [D::Word; RESULTS] {
        let mut results = [d.word(0), d.word(0)];
        let few = d.word(24);
        let small = d.shr(b, few);
        let minus_one = d.word(u32::MAX);
        for (divisor, result) in [(b, 0), (small, 1), (c, 0), (a, 1), (minus_one, 0)] {
            for (signed, remainder) in [(false, false), (false, true), (true, false), (true, true)] {
                let part = d.divide(Divide { signed, remainder }, a, divisor);
                let one = d.word(1);
                let mixed = d.shl(results[result], one);
                results[result] = d.xor(mixed, part);
            }
        }
        results
    }
}

/// Floats, and conversions between floats and integers.
struct Floats;

impl Operation for Floats {
    fn of<D: Domain>(&self, d: &mut D, [a, b, c, e, ..]: [D::Word; OPERANDS]) -> [D::Word; RESULTS] {
        let numbers = [d.int_to_float(true, a), d.int_to_float(false, b)];
        let sum = d.fadd(numbers[0], numbers[1]);
        let product = d.fmul(a, b);
        let fused = d.fma(a, product, c);
        let quotient = d.fdiv(fused, e);
        let root = d.fsqrt(c);
        let less = d.fcompare(Compare::LEU, quotient, root);
        let picked = d.select(less, quotient, sum);
        let back = [d.float_to_int(true, picked), d.float_to_int(false, root)];
        let other = [d.float_to_int(true, a), d.float_to_int(false, b)];
        let all = [d.xor(back[0], other[0]), d.xor(back[1], other[1])];
        [d.xor(all[0], picked), d.xor(all[1], fused)]
    }
}

impl Operation for VideoOp {
    fn of<D: Domain>(&self, d: &mut D, [a, b, c, ..]: [D::Word; OPERANDS]) -> [D::Word; RESULTS] {
        [d.video(self, a, b, c); 2]
    }
}

/// Video instructions with all kinds, types, merges and lanes, with selectors and masks.
fn videos() -> Vec<VideoOp> {
    let kinds = [VideoKind::Add, VideoKind::Sub, VideoKind::Avrg, VideoKind::AbsDiff, VideoKind::Min, VideoKind::Max];
    let merges = [VideoMerge::Wrap, VideoMerge::Saturate, VideoMerge::Accumulate];
    let mut all = Vec::new();
    for (kind, merge) in kinds.into_iter().flat_map(|kind| merges.map(|merge| (kind, merge))) {
        for (lanes, bits) in
            [Lanes::Two, Lanes::Four].into_iter().flat_map(|lanes| (0..8).map(move |bits| (lanes, bits)))
        {
            let [d_signed, a_signed, b_signed] = [1, 2, 4].map(|bit| bits & bit != 0);
            let plain = if lanes == Lanes::Two { [[0, 1, 0, 0], [2, 3, 0, 0]] } else { [[0, 1, 2, 3], [4, 5, 6, 7]] };
            let mixed = if lanes == Lanes::Two { [[3, 0, 0, 0], [1, 1, 0, 0]] } else { [[7, 1, 4, 2], [3, 0, 6, 6]] };
            for ([a_select, b_select], mask) in [(plain, 15), (plain, 1), (mixed, 2), (mixed, 15)] {
                all.push(VideoOp { kind, lanes, d_signed, a_signed, b_signed, a_select, b_select, mask, merge });
            }
        }
    }
    all
}

impl Operation for HalfOp {
    fn of<D: Domain>(&self, d: &mut D, [a, b, c, ..]: [D::Word; OPERANDS]) -> [D::Word; RESULTS] {
        [d.half(self, a, b, c); 2]
    }
}

#[test]
fn soft_halves_are_exact() {
    for format in Format::ALL {
        for kind in [HalfKind::Add, HalfKind::Mul, HalfKind::Fma] {
            for (k, rounding) in Rounding::ALL.into_iter().enumerate() {
                // Flushing and clamping are independent of the rounding mode, because both follow the rounding.
                let ends = [(false, Clamp::None), (true, Clamp::None), (false, Clamp::Sat), (true, Clamp::Relu)];
                let some = if k == 0 { &ends[..] } else { &ends[..2] };
                for &(ftz, clamp) in some {
                    let op = HalfOp { kind, mode: HalfMode { format, rounding, ftz, clamp } };
                    proves(op, 4000, &op);
                }
            }
        }
    }
}

struct MinMax(HalfMinMax);

impl Operation for MinMax {
    fn of<D: Domain>(&self, d: &mut D, [a, b, c, ..]: [D::Word; OPERANDS]) -> [D::Word; RESULTS] {
        let min = d.less(true, c, a);
        [d.half_minmax(&self.0, min, a, b); 2]
    }
}

impl Operation for HalfCompare {
    fn of<D: Domain>(&self, d: &mut D, [a, b, ..]: [D::Word; OPERANDS]) -> [D::Word; RESULTS] {
        let lanes = d.half_compare(self, a, b);
        let (one, none) = (d.word(1), d.word(0));
        lanes.map(|lane| d.select(lane, one, none))
    }
}

#[test]
fn soft_compares_of_halves_are_exact() {
    for (format, ftz) in Format::ALL.into_iter().flat_map(|format| [(format, false), (format, true)]) {
        for nan in [false, true] {
            let op = HalfMinMax { format, ftz, nan };
            proves(op, 4000, &MinMax(op));
        }
        for compare in [Compare::LT, Compare::NE, Compare::EQU, Compare::GEU, Compare::NAN] {
            let op = HalfCompare { format, ftz, compare };
            proves(op, 4000, &op);
        }
    }
}

struct Narrow(Format, Rounding);

impl Operation for Narrow {
    fn of<D: Domain>(&self, d: &mut D, [a, ..]: [D::Word; OPERANDS]) -> [D::Word; RESULTS] {
        [d.narrow(self.0, self.1, a), d.widen(self.0, a)]
    }
}

#[test]
fn soft_conversions_of_halves_are_exact() {
    for format in Format::ALL {
        let all: Vec<_> = (0..1 << 16).map(|bits| [bits << 16 | bits ^ 0x5555; OPERANDS]).collect();
        for rounding in Rounding::ALL {
            let op = Narrow(format, rounding);
            proves((format, rounding), 20_000, &op);
            assert_eq!(differing(&op, false, &all), None, "{format:?}, {rounding:?}");
        }
    }
}

impl Operation for FloatOp {
    fn of<D: Domain>(&self, d: &mut D, [a, b, c, e, f, g]: [D::Word; OPERANDS]) -> [D::Word; RESULTS] {
        let single = d.single(self, [a, b, c]);
        let double = d.double(self, [[a, b], [c, e], [f, g]]);
        [d.xor(single, double[0]), double[1]]
    }
}

#[test]
fn soft_floats_are_exact() {
    for kind in FloatKind::ALL {
        for rounding in Rounding::ALL {
            let op = FloatOp { kind, rounding };
            proves(op, 4000, &op);
        }
    }
}

impl Operation for Conversion {
    fn of<D: Domain>(&self, d: &mut D, [a, b, ..]: [D::Word; OPERANDS]) -> [D::Word; RESULTS] {
        d.convert(self, [a, b])
    }
}

#[test]
fn soft_conversions_are_exact() {
    let int = |signed, bits| NumberFormat::Int { signed, bits };
    let forms = [
        int(true, 8),
        int(false, 32),
        int(true, 64),
        NumberFormat::F16,
        NumberFormat::Bf16,
        NumberFormat::F32,
        NumberFormat::F64,
    ];
    for (k, (from, to)) in forms.iter().flat_map(|&from| forms.map(|to| (from, to))).enumerate() {
        let op = Conversion { from, to, rounding: Rounding::ALL[k % 4] };
        proves(op, 2000, &op);
    }
}

struct Integers;

impl Operation for Integers {
    fn of<D: Domain>(&self, d: &mut D, [a, b, c, ..]: [D::Word; OPERANDS]) -> [D::Word; RESULTS] {
        let small = d.word(0xFF);
        let by = d.and(c, small);
        let mut all = d.word(0);
        for (signed, remainder) in [(false, false), (false, true), (true, false), (true, true)] {
            for by in [b, by] {
                let part = d.divide(Divide { signed, remainder }, a, by);
                let high = d.mul_high(signed, part, b);
                let mixed = d.sub(high, part);
                all = d.add(all, mixed);
            }
        }
        let float = d.int_to_float(true, a);
        let other = d.int_to_float(false, b);
        let sum = d.fadd(float, other);
        let back = [d.float_to_int(true, c), d.float_to_int(false, a)];
        let both = d.xor(back[0], back[1]);
        let ones = d.count_ones(a);
        let bits = d.permute(a, b, c);
        let mixed = d.xor(ones, bits);
        let mixed = d.xor(mixed, both);
        [d.xor(all, sum), mixed]
    }
}

#[test]
fn integers_are_exact() {
    proves("integers", 100_000, &Integers);
}

/// Bytes of two words that keep their position, move alone, or move together with others.
#[test]
fn bytes_are_picked_in_any_order() {
    struct Bytes([u8; 4]);
    impl Bytes {
        fn expected(&self, words: [u32; 2]) -> u32 {
            let all = u64::from(words[1]) << 32 | u64::from(words[0]);
            u32::from_le_bytes(self.0.map(|byte| (all >> (8 * byte)) as u8))
        }
    }
    for pick in [[0, 1, 4, 5], [4, 1, 6, 3], [3, 2, 1, 0], [7, 7, 0, 0], [2, 3, 6, 7], [0, 1, 2, 3], [5, 6, 7, 0]] {
        let bytes = Bytes(pick);
        let machine = Machine::in_memory().unwrap();
        let mut module = JITModule::new(JITBuilder::with_isa(machine.isa.clone(), default_libcall_names()));
        let mut signature = module.make_signature();
        signature.params = vec![AbiParam::new(I32); 2];
        signature.returns = vec![AbiParam::new(I32)];
        let mut library = Library::new(&mut module, &machine);
        library.features = features(false);
        library
            .export("pick", signature, |s| {
                let params: Vec<Value> = s.b.block_params(s.b.current_block().unwrap()).to_vec();
                let word = s.bytes(params[0], params[1], pick);
                s.b.ins().return_(&[word]);
            })
            .unwrap();
        let Some(FuncOrDataId::Func(id)) = module.get_name("pick") else { unreachable!() };
        module.finalize_definitions().unwrap();
        let address = module.get_finalized_function(id);
        let _module = NativeModule::new(module);
        // SAFETY: the function was compiled with this signature.
        let run = unsafe { std::mem::transmute::<*const u8, extern "C" fn(u32, u32) -> u32>(address) };
        for words in [[0x0403_0201, 0x0807_0605], [0xFFFE_FDFC, 0x8090_A0B0]] {
            assert_eq!(run(words[0], words[1]), bytes.expected(words), "{pick:?}");
        }
    }
}

struct Elementary(Function);

impl Operation for Elementary {
    fn of<D: Domain>(&self, d: &mut D, [a, ..]: [D::Word; OPERANDS]) -> [D::Word; RESULTS] {
        [d.elementary(self.0, a), d.half_elementary(self.0, Format::F16, a)]
    }
}

#[test]
fn soft_functions_are_exact() {
    let all: Vec<_> = (0..1 << 16).map(|bits| [bits << 16 | bits ^ 0x5555; OPERANDS]).collect();
    for function in Function::ALL {
        proves(function, 20_000, &Elementary(function));
        assert_eq!(differing(&Elementary(function), false, &all), None, "{function:?}");
    }
}

/// On each machine, an object contains all functions that it calls.
#[test]
fn objects_call_nothing() {
    use object::{Object as _, ObjectSymbol as _};
    let formats = || Format::ALL.into_iter();
    let mut softs: Vec<Soft> = Function::ALL.map(Soft::Elementary).to_vec();
    for (kind, rounding) in FloatKind::ALL.into_iter().flat_map(|kind| Rounding::ALL.map(|rounding| (kind, rounding))) {
        let op = FloatOp { kind, rounding };
        softs.extend([Soft::Single(op), Soft::Double(op)]);
    }
    for (format, rounding) in formats().flat_map(|format| Rounding::ALL.map(|rounding| (format, rounding))) {
        let mode = HalfMode { format, rounding, ftz: true, clamp: Clamp::Sat };
        softs.extend([HalfKind::Add, HalfKind::Mul, HalfKind::Fma].map(|kind| Soft::Half(HalfOp { kind, mode })));
    }
    let int = |signed, bits| NumberFormat::Int { signed, bits };
    for (from, to) in [
        (NumberFormat::F64, int(true, 64)),
        (int(false, 64), NumberFormat::F32),
        (NumberFormat::F16, NumberFormat::F64),
        (NumberFormat::F64, NumberFormat::Bf16),
    ] {
        softs.push(Soft::Convert(Conversion { from, to, rounding: Rounding::Up }));
    }
    softs.push(Soft::Zero);
    for triple in ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "riscv64gc-unknown-linux-gnu"] {
        let machine = Machine::new(triple, None).unwrap();
        let builder = ObjectBuilder::new(machine.isa.clone(), "soft", default_libcall_names()).unwrap();
        let mut module = ObjectModule::new(builder);
        let mut signature = module.make_signature();
        signature.params = vec![AbiParam::new(I64); 2];
        let mut library = Library::new(&mut module, &machine);
        library
            .export("all", signature, |s| {
                let params: Vec<Value> = s.b.block_params(s.b.current_block().unwrap()).to_vec();
                let word = s.b.ins().load(I32, here(), params[0], 0);
                for &soft in &softs {
                    let args = vec![if soft == Soft::Zero { params[0] } else { word }; soft.operands()];
                    s.call(soft, &args);
                }
                // Operations that are expanded in place.
                let float = s.single(&FloatOp { kind: FloatKind::Fma, rounding: Rounding::Nearest }, [word; 3]);
                let int = s.float_to_int(false, float);
                let float = s.int_to_float(false, int);
                let quotient = s.divide(Divide { signed: true, remainder: true }, float, int);
                s.b.ins().store(here(), quotient, params[0], 0);
                s.b.ins().return_(&[]);
            })
            .unwrap();
        library.finish().unwrap();
        let bytes = module.finish().emit().unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let undefined: Vec<_> = file
            .symbols()
            .filter(|symbol| symbol.is_undefined())
            .filter_map(|symbol| symbol.name().ok())
            .filter(|name| !name.is_empty())
            .collect();
        assert_eq!(undefined, [""; 0], "{triple}");
        // This object contains all soft functions. Other objects contain only the soft functions that they call.
        assert!(bytes.len() < 1 << 20, "{triple}: {} bytes", bytes.len());
    }
}
