//! Tests of wide lanes: legalisation by pairs of half-words or by byte planes preserves their
//! values, also across blocks.
//!
//! The kernels are the same in every run. `HALFBYTE_SEED=N` selects other kernels, and
//! `HALFBYTE_SUMS=N` sets their number.

use crate::common::pack::{same_on, try_lower};
use halfbyte_ir::builder::Builder;
use halfbyte_ir::generate::arguments;
use halfbyte_ir::witness::Random;
use halfbyte_ir::{Direction, Inst, IntCC, Kernel, Legality, Op, Type, Value};
use halfbyte_lower::trial::target;

const WIDE: [Type; 2] = [Type::I16X16, Type::I32X16];
const NARROWING: [Op; 4] = [Op::Trunc, Op::NarrowSatS, Op::NarrowSatU, Op::NarrowSatUU];

/// Returns a target that has no wide values and assembles vectors from 32-bit words.
fn without_wide_lanes() -> Legality {
    target(|op, ty| {
        let takes_wide = NARROWING.contains(&op) || matches!(op, Op::MulWideS | Op::MulWideU);
        ty.bits() > 128 || (takes_wide || op == Op::Splat) && ty == Type::I8X16
    })
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|number| number.parse().unwrap())
}

struct Sums<'r> {
    random: &'r mut Random,
    b: Builder,
    bytes: Vec<Value>,
    wide: Vec<Value>,
}

impl Sums<'_> {
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.below(of.len())]
    }

    fn ty(&self, value: Value) -> Type {
        self.b.kernel().ty(value)
    }

    /// Returns a value of the type: the latest one, an earlier one, or a new one.
    fn of(&mut self, ty: Type) -> Value {
        let known: Vec<Value> = self.wide.iter().copied().filter(|&value| self.ty(value) == ty).collect();
        match known.last() {
            Some(&last) if self.random.below(2) == 0 => last,
            Some(_) if self.random.below(3) > 0 => self.pick(&known),
            _ => {
                let (op, bytes) = (self.pick(&[Op::Zext, Op::Zext, Op::Sext]), self.bytes.clone());
                let bytes = self.pick(&bytes);
                self.b.op(op, ty, &[bytes])
            }
        }
    }

    fn small(&mut self, ty: Type) -> Value {
        let number = match self.random.below(6) {
            0 => self.random.bits(),
            1 => 1 << self.random.below(16),
            2 => self.random.below(300) as u64,
            _ => (self.random.below(41) as u64).wrapping_sub(20),
        };
        self.b.constant(ty, &[number])
    }

    fn step(&mut self) {
        let ty = self.pick(&[Type::I16X16, Type::I16X16, Type::I32X16]);
        let x = self.of(ty);
        let value = match self.random.below(16) {
            0..=4 => {
                let (op, y) = (self.pick(&[Op::Add, Op::Add, Op::Sub]), self.of(ty));
                self.b.op(op, ty, &[x, y])
            }
            5..=7 => {
                let y = self.small(ty);
                self.b.op(Op::Mul, ty, &[x, y])
            }
            8 => {
                let (op, y) = (self.pick(&[Op::Add, Op::Sub, Op::MinS, Op::MaxS, Op::MinU, Op::MaxU]), self.small(ty));
                self.b.op(op, ty, &[x, y])
            }
            9..=11 => {
                let op = self.pick(&[Op::Shl, Op::ShrS, Op::ShrU, Op::RoundShrS, Op::RoundShrU]);
                let count = self.random.below(10) as u64;
                let count = self.b.constant(ty, &[count]);
                self.b.op(op, ty, &[x, count])
            }
            12 => {
                let op = self.pick(&[Op::Neg, Op::Abs, Op::Not]);
                self.b.op(op, ty, &[x])
            }
            13 => {
                let (op, y) =
                    (self.pick(&[Op::And, Op::Xor, Op::AbsDiffU, Op::AddSatS, Op::AvgU, Op::MaxS]), self.of(ty));
                self.b.op(op, ty, &[x, y])
            }
            14 if ty == Type::I16X16 => {
                let (op, bytes) = (self.pick(&[Op::MulWideS, Op::MulWideU]), self.bytes.clone());
                let (x, small) = (self.pick(&bytes), self.small(Type::I8X16));
                let y = if self.random.below(2) == 0 { small } else { self.pick(&bytes) };
                self.b.op(op, Type::I8X16, &[x, y])
            }
            _ if ty == Type::I16X16 => {
                let (op, x) = (self.pick(&NARROWING), self.of(Type::I32X16));
                self.b.op(op, ty, &[x])
            }
            _ => {
                let (op, x) = (self.pick(&[Op::Zext, Op::Sext]), self.of(Type::I16X16));
                self.b.op(op, ty, &[x])
            }
        };
        self.wide.push(value);
    }

    fn steps(&mut self, most: usize) {
        for _ in 0..1 + self.random.below(most) {
            self.step();
        }
    }

    /// Passes a value of each wide type as a block argument, around a loop and to the block after it.
    fn passed(&mut self) {
        let initial: Vec<Value> = WIDE.iter().map(|&ty| self.of(ty)).collect();
        let (zero, trips) = (self.b.int(Type::I32, 0), self.random.below(3) as i64);
        let bound = self.b.int(Type::I32, trips);
        let head = self.b.block("head", &[Type::I32, WIDE[0], WIDE[1]]);
        let exit = self.b.block("exit", &WIDE);
        self.b.br(head, &[&[zero], initial.as_slice()].concat());
        self.b.go_to(head);
        let params = self.b.params(head).to_vec();
        let outer = self.wide.len();
        self.wide.extend(&params[1..]);
        self.steps(4);
        let next: Vec<Value> = WIDE.iter().map(|&ty| self.of(ty)).collect();
        let one = self.b.int(Type::I32, 1);
        let count = self.b.op(Op::Add, Type::I32, &[params[0], one]);
        let more = self.b.icmp(IntCC::LtS, Type::I32, count, bound);
        let out = if self.random.below(2) == 0 { next.clone() } else { params[1..].to_vec() };
        self.b.br_if(more, (head, &[&[count], next.as_slice()].concat()), (exit, &out));
        self.wide.truncate(outer);
        self.b.go_to(exit);
        let params = self.b.params(exit).to_vec();
        self.wide.extend(params);
    }

    fn kernel(mut self, passes: bool) -> Kernel {
        self.b.begin("entry", &[]);
        let item = self.b.here(Op::ItemId);
        for name in ["a", "b", "c"] {
            let buffer = self.b.buffer(name, Direction::In, Type::I8X16);
            self.bytes.push(self.b.load(Type::I8X16, buffer, item));
        }
        let scalar = self.b.scalar("s", Type::I8);
        self.bytes.push(self.b.op(Op::Splat, Type::I8X16, &[scalar]));
        self.steps(12);
        if passes {
            self.passed();
            self.steps(4);
        }
        for number in 0..3 {
            let ty = self.pick(&WIDE);
            let (mut op, mut wide) = (self.pick(&NARROWING), self.of(ty));
            if ty == Type::I32X16 && self.random.below(3) == 0 {
                op = Op::Trunc;
            } else if ty == Type::I32X16 {
                let first = self.pick(&NARROWING);
                wide = self.b.op(first, Type::I16X16, &[wide]);
            }
            let bytes = self.b.op(op, Type::I8X16, &[wide]);
            let out = self.b.buffer(&format!("o{number}"), Direction::Out, Type::I8X16);
            self.b.store(Type::I8X16, bytes, out, item);
        }
        self.b.ret();
        self.b.finish()
    }
}

#[test]
fn wide_sums_preserve_results() {
    let mut random = Random(number("HALFBYTE_SEED").unwrap_or(0));
    let mut in_pairs = 0;
    let count = number("HALFBYTE_SUMS").unwrap_or(400);
    for number in 0..count {
        let legality = without_wide_lanes();
        let legality = if number % 4 == 3 { legality } else { legality.with_half_word_pairs() };
        let sums = Sums { random: &mut random, b: Builder::new("k"), bytes: Vec::new(), wide: Vec::new() };
        let before = sums.kernel(number % 2 == 1);
        halfbyte_ir::verify(&before).unwrap();
        let mut after = before.clone();
        try_lower(&mut after, "legalise gvn dce", &legality).unwrap_or_else(|found| panic!("{}\n{before}", found[0]));
        let insts = || after.layout.iter().flat_map(|&block| &after.blocks[block].insts);
        let types = insts().filter_map(|&inst| after.result(inst)).map(|value| after.ty(value));
        assert!(types.clone().all(|ty| ty.bits() <= 128), "{before}\n{after}");
        in_pairs += u64::from(types.clone().any(|ty| ty == Type::I16X2) && types.clone().all(|ty| ty != Type::I16));
        for items in [1, 17] {
            let args = arguments(&before, items, &mut random);
            assert!(same_on(&before, &after, items, &args), "{before}");
        }
    }
    assert!(in_pairs > count / 16, "only {in_pairs} of {count} in pairs");
}

/// Returns `true` if wide lanes are a sum of at most `most` bytes, or a right shift of such a sum.
/// Subtracts the bytes from `most`.
fn is_sum_of_bytes(kernel: &Kernel, value: Value, most: &mut u32) -> bool {
    let Some(inst) = kernel.def_inst(value) else { return false };
    let args = kernel.args(inst);
    match (kernel.insts[inst].op, args) {
        (Op::Const, _) => true,
        (Op::Zext | Op::Sext, &[bytes]) if kernel.ty(bytes) == Type::I8X16 => {
            *most = most.saturating_sub(1);
            *most > 0
        }
        (Op::Add | Op::Sub, &[x, y]) => is_sum_of_bytes(kernel, x, most) && is_sum_of_bytes(kernel, y, most),
        (Op::ShrS | Op::ShrU, &[x, _]) => is_sum_of_bytes(kernel, x, most),
        _ => false,
    }
}

/// Returns `true` for a narrowing that the target computes with one instruction. All other narrowings need byte planes.
fn narrows_sums(kernel: &Kernel, inst: Inst) -> bool {
    kernel.insts[inst].op == Op::Trunc && is_sum_of_bytes(kernel, kernel.args(inst)[0], &mut 16)
}

#[test]
fn byte_planes_preserve_results() {
    let mut random = Random(number("HALFBYTE_SEED").unwrap_or(1));
    let legality = target(|_, ty| ty.is_wide()).with_narrowings(|_| Box::new(narrows_sums));
    for number in 0..number("HALFBYTE_SUMS").unwrap_or(400) {
        let sums = Sums { random: &mut random, b: Builder::new("k"), bytes: Vec::new(), wide: Vec::new() };
        let before = sums.kernel(number % 2 == 1);
        halfbyte_ir::verify(&before).unwrap();
        let mut after = before.clone();
        try_lower(&mut after, "legalise gvn dce", &legality).unwrap_or_else(|found| panic!("{}\n{before}", found[0]));
        for &inst in after.layout.iter().flat_map(|&block| &after.blocks[block].insts) {
            let takes_wide = after.args(inst).iter().any(|&arg| after.ty(arg).is_wide());
            let gives_wide = after.result(inst).is_some_and(|result| after.ty(result).is_wide());
            assert!(!takes_wide || gives_wide || narrows_sums(&after, inst), "{before}\n{after}");
        }
        assert!(after.layout.iter().all(|&block| after.block_params(block).iter().all(|&p| !after.ty(p).is_wide())));
        for items in [1, 17] {
            let args = arguments(&before, items, &mut random);
            assert!(same_on(&before, &after, items, &args), "{before}");
        }
    }
}
