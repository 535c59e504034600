//! Parts of instruction selection that targets with one thread per work item share: types that the
//! rules use, and methods that only inspect the kernel.

use halfbyte_ir::{AllKnown, Inst, IntCC, Kernel, LaneMap, MemAttr, Op, Type, Value};

/// Operation of a video instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Video {
    Add,
    Sub,
    Avrg,
    AbsDiff,
    Min,
    Max,
}

/// Signedness of an integer operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    U,
    S,
}

impl Sign {
    /// Returns the signedness with which a comparison reads its operands.
    pub(crate) const fn of(cc: IntCC) -> Sign {
        match cc {
            IntCC::LtS | IntCC::LeS | IntCC::GtS | IntCC::GeS => Sign::S,
            _ => Sign::U,
        }
    }
}

/// Returns the width in bits of a lane in a register. The lanes of a mask in a register are as wide
/// as those of a packed 32-bit word with the same number of lanes.
pub(crate) fn lane_bits(ty: Type) -> u32 {
    if ty.is_mask() { 32 / ty.lanes() as u32 } else { ty.elem().bits() }
}

/// Repeats the low `lane` bits of `bits` in every lane of a word, if `lane` is 8 or 16. For any
/// other width, returns `bits` unchanged.
pub(crate) fn in_lanes(lane: u32, bits: u32) -> u32 {
    match lane {
        8 => (bits & 0xff) * 0x0101_0101,
        16 => (bits & 0xffff) * 0x1_0001,
        _ => bits,
    }
}

/// Returns the `const` instruction that defines a value, or `None` if another instruction does.
pub(crate) fn const_inst(kernel: &Kernel, value: Value) -> Option<Inst> {
    let inst = kernel.def_inst(value)?;
    (kernel.insts[inst].op == Op::Const).then_some(inst)
}

/// Returns the bits of a constant in registers. In a mask, each lane is all ones or all zeros.
pub(crate) fn register_bits(kernel: &Kernel, inst: Inst) -> Option<[u64; 8]> {
    let mut bits = kernel.const_bits(inst)?;
    let ty = kernel.insts[inst].ty;
    if ty.is_mask() && !ty.is_scalar() {
        let ones = (1u64 << lane_bits(ty)) - 1;
        let spread = (0..ty.lanes()).filter(|i| bits[0] >> i & 1 == 1).map(|i| ones << (i as u32 * lane_bits(ty)));
        bits[0] = spread.fold(0, |all, lane| all | lane);
    }
    Some(bits)
}

/// Returns the shift count that a constant has in all lanes, modulo the lane width. Returns `None`
/// if the value is not constant or its lanes differ.
pub(crate) fn splat_count(kernel: &Kernel, value: Value) -> Option<u32> {
    let bits = register_bits(kernel, const_inst(kernel, value)?)?[0] as u32;
    let elem = kernel.ty(value).elem();
    let lane = bits & elem.mask() as u32;
    (kernel.ty(value).is_scalar() || in_lanes(elem.bits(), lane) == bits).then_some(lane % elem.bits())
}

/// Returns the PRMT selector that performs a shuffle.
pub(crate) fn shuffle_selector(ty: Type, map: LaneMap) -> u16 {
    let nibble = |i: usize| match lane_bits(ty) {
        8 => map.get(i),
        _ => 2 * map.get(i / 2) + i % 2,
    };
    (0..4).fold(0, |s, i| s | (nibble(i) as u16 & 7) << (4 * i))
}

/// Returns the PRMT selector that inserts the lowest lane of the second word into lane `lane` of the first word.
pub(crate) fn insert_selector(ty: Type, lane: u8) -> u16 {
    let bytes = lane_bits(ty) / 8;
    let first = u32::from(lane) * bytes;
    let nibble = |i: u32| if (first..first + bytes).contains(&i) { 4 + i - first } else { i };
    (0..4).fold(0, |s, i| s | (nibble(i) as u16 & 7) << (4 * i))
}

/// Returns `true` if the access takes one instruction, or several instructions whose size is the
/// alignment of the access.
pub(crate) fn is_reachable(ty: Type, mem: MemAttr) -> bool {
    mem.align >= ty.bytes().min(4) && mem.align <= ty.bytes()
}

/// Returns `true` if `holds` is true for each pair of corresponding lanes of two values, except the last lanes. The
/// arguments of `holds` are the unsigned minimum and maximum of each lane.
pub(crate) fn stays_in_lanes(
    known: &AllKnown<'_>,
    [a, b]: [Value; 2],
    holds: impl Fn((u64, u64), (u64, u64)) -> bool,
) -> bool {
    let (ty, a, b) = (known.kernel().ty(a), known.of(a), known.of(b));
    let mut lanes = a.lanes().zip(b.lanes()).take(ty.lanes() - 1);
    lanes.all(|(a, b)| holds(a.unsigned(), b.unsigned()))
}

/// Returns `true` if the highest bit of each lane of two values is zero.
pub(crate) fn are_in_half_range(known: &AllKnown<'_>, values: [Value; 2]) -> bool {
    values.into_iter().all(|value| known.of(value).all().signed().0 >= 0)
}

/// Returns a word in whose lanes only the highest bit is set, for a condition that includes equality. For any other
/// condition, each lane is one less.
pub(crate) fn lane_bias(ty: Type, cc: IntCC) -> u32 {
    let bits = lane_bits(ty);
    let is_strict = matches!(cc, IntCC::GtS | IntCC::GtU | IntCC::LtS | IntCC::LtU | IntCC::Ne);
    in_lanes(bits, (1 << (bits - 1)) - u32::from(is_strict))
}

/// Methods of the rules' `Context` that only inspect the kernel, which is `self.kernel`.
macro_rules! thread_methods {
    ($($class:ident)*) => {
        $(fn $class(&mut self, ty: Type) -> Option<Type> {
            (type_class(stringify!($class), ty) == Some(true)).then_some(ty)
        })*

        fn type_of(&mut self, value: Value) -> Type {
            self.kernel.ty(value)
        }

        fn without_clamp(&mut self, flags: FloatFlags) -> FloatFlags {
            FloatFlags { clamp: Clamp::None, ..flags }
        }

        fn no_flags(&mut self) -> FloatFlags {
            FloatFlags::default()
        }

        fn rounds_to_nearest(&mut self, flags: FloatFlags) -> Option<Unit> {
            let plain = FloatFlags { contract: flags.contract, ..FloatFlags::default() };
            (flags == plain).then_some(())
        }

        fn keeps_subnormals(&mut self, cond: FloatCond) -> Option<Unit> {
            (!cond.1).then_some(())
        }

        fn byte_pair(&mut self, first: u8, second: u8) -> Option<u8> {
            matches!((first, second), (0, 1) | (2, 3)).then_some(first)
        }

        fn zero_extended_pair(&mut self, map: LaneMap) -> Option<u8> {
            let first = self.byte_pair(map.get(0) as u8, map.get(2) as u8)?;
            (map.get(1) >= 4 && map.get(3) >= 4).then_some(first)
        }

        fn below_32(&mut self, count: u32) -> Option<u32> {
            (count < 32).then_some(count)
        }

        fn above_32(&mut self, count: u32) -> Option<u32> {
            (count > 32).then(|| count - 32)
        }

        fn fill_word(&mut self, count: u32, other: u32) -> Option<()> {
            (count + other == 32).then_some(())
        }

        fn sign_of(&mut self, cc: &IntCC) -> Sign {
            Sign::of(*cc)
        }

        fn shuffle_selector(&mut self, ty: Type, map: LaneMap) -> u16 {
            $crate::simt::shuffle_selector(ty, map)
        }

        fn splat_selector(&mut self, ty: Type) -> u16 {
            if lane_bits(ty) == 8 { 0x0000 } else { 0x1010 }
        }

        fn insert_selector(&mut self, ty: Type, lane: u8) -> u16 {
            $crate::simt::insert_selector(ty, lane)
        }

        fn splat_count(&mut self, value: Value) -> Option<u32> {
            $crate::simt::splat_count(self.kernel, value)
        }

        fn const_word(&mut self, value: Value) -> Option<u32> {
            self.word(self.kernel.ty(value))?;
            Some(register_bits(self.kernel, const_inst(self.kernel, value)?)?[0] as u32)
        }

        fn const_truth(&mut self, value: Value) -> Option<bool> {
            let inst = const_inst(self.kernel, value)?;
            (self.kernel.ty(value) == Type::I1).then(|| self.truth_of(inst))
        }

        fn truth_of(&mut self, inst: Inst) -> bool {
            register_bits(self.kernel, inst).unwrap_or_default()[0] & 1 == 1
        }

        fn carries_nothing(&mut self, ty: Type, a: Value, b: Value) -> Option<Unit> {
            $crate::simt::stays_in_lanes(&self.known, [a, b], |a, b| a.1 + b.1 <= ty.elem().mask()).then_some(())
        }

        fn borrows_nothing(&mut self, _ty: Type, a: Value, b: Value) -> Option<Unit> {
            $crate::simt::stays_in_lanes(&self.known, [a, b], |a, b| a.0 >= b.1).then_some(())
        }

        fn in_half_range(&mut self, a: Value, b: Value) -> Option<Unit> {
            $crate::simt::are_in_half_range(&self.known, [a, b]).then_some(())
        }

        fn is_greater(&mut self, cc: &IntCC) -> Option<Unit> {
            matches!(cc, IntCC::GtS | IntCC::GeS | IntCC::GtU | IntCC::GeU).then_some(())
        }

        fn is_less(&mut self, cc: &IntCC) -> Option<Unit> {
            matches!(cc, IntCC::LtS | IntCC::LeS | IntCC::LtU | IntCC::LeU).then_some(())
        }

        fn lane_bias(&mut self, ty: Type, cc: &IntCC) -> u32 {
            $crate::simt::lane_bias(ty, *cc)
        }

        fn word_plus(&mut self, a: u32, b: u32) -> u32 {
            a.wrapping_add(b)
        }

        fn word_minus(&mut self, a: u32, b: u32) -> u32 {
            a.wrapping_sub(b)
        }

        fn reachable(&mut self, ty: Type, mem: MemAttr) -> Option<Unit> {
            $crate::simt::is_reachable(ty, mem).then_some(())
        }

        fn index_of(&mut self, mem: MemAttr, value: Value) -> Index {
            if mem.wide && !self.folds_wide_index(mem, value) {
                return rules::Context::plain_index(self, value);
            }
            rules::constructor_index(self, value)
        }

        fn power(&mut self, n: u32) -> Option<u32> {
            1u32.checked_shl(n)
        }
    };
}

pub(crate) use thread_methods;
