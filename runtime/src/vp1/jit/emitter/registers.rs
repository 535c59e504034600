//! Registers in native code. A function holds them in Cranelift variables, loads the variables on
//! entry, and stores them on exit.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I8X16, I32, I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value};
use cranelift_frontend::Variable;
use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::domain::{Index, Reader, Shape, Write};
use halfbyte_isa::vp1::fields::R_ZERO;
use halfbyte_isa::vp1::footprint::Locations;

use super::super::machine::at;
use super::masks::Mask;
use super::wide::Wide;
use super::words::{ValueFacts, Word};
use super::{Bytes, Emitter, FLAG_GROUPS};

/// The field of the machine state, or the part of a field, that a variable holds. Parts of a
/// register that instructions write separately have separate variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::vp1::jit) enum VariableHome {
    R(u8),
    V(u8),
    Vx,
    /// Four of the sixteen components of the accumulator `$va`. The number selects the quarter.
    Va(u8),
    /// The sign flags (`false`) or the zero flags (`true`) of a `$vc`, as a mask of bytes.
    Vc(u8, bool),
    /// The high half of a `$a`, as a 32-bit word whose low half is 0.
    AHigh(u8),
    /// The low half of a `$a`.
    ALow(u8),
    /// A group of bits of a `$c`. The second number is the index of the group in [`FLAG_GROUPS`].
    C(u8, u8),
    L(u8),
    Uccfg,
    Issued,
    Left,
    Counted,
    Rest,
}

/// Maximum number of variables in a function.
const MAX_VARIABLES: usize = 256;

impl VariableHome {
    fn number(self) -> usize {
        usize::from(match self {
            VariableHome::R(n) => n & 31,
            VariableHome::V(n) => 32 + (n & 31),
            VariableHome::AHigh(n) => 64 + (n & 31),
            VariableHome::ALow(n) => 96 + (n & 31),
            VariableHome::Va(k) => 128 + (k & 3),
            VariableHome::Vc(n, zero) => 132 + 2 * (n & 3) + u8::from(zero),
            VariableHome::L(n) => 140 + (n & 3),
            VariableHome::C(n, part) => 144 + 16 * (n & 3) + (part & 15),
            VariableHome::Vx => 208,
            VariableHome::Uccfg => 209,
            VariableHome::Issued => 210,
            VariableHome::Left => 211,
            VariableHome::Counted => 212,
            VariableHome::Rest => 213,
        })
    }

    fn ty(self) -> Type {
        match self {
            VariableHome::V(_) | VariableHome::Vx | VariableHome::Vc(..) => I8X16,
            VariableHome::Va(_) => I32X4,
            VariableHome::C(_, part) if part_bits(part).is_power_of_two() => I8,
            VariableHome::Issued | VariableHome::Left | VariableHome::Counted => I64,
            _ => I32,
        }
    }

    /// Returns the registers that the variable belongs to. Returns `None` for a variable that
    /// counts bundles or branches.
    fn locations(self) -> Option<Locations> {
        let (file, n) = match self {
            VariableHome::R(n) => (RegFile::R, n),
            VariableHome::V(n) => (RegFile::V, n),
            VariableHome::Vx => (RegFile::Vx, 0),
            VariableHome::Va(_) => (RegFile::Va, 0),
            VariableHome::Vc(n, _) => (RegFile::Vc, n),
            VariableHome::AHigh(n) | VariableHome::ALow(n) => (RegFile::A, n),
            VariableHome::C(n, part) => return Some(Locations::flags(n, part_bits(part))),
            VariableHome::L(n) => (RegFile::L, n),
            VariableHome::Uccfg => (RegFile::Uc, 0),
            VariableHome::Issued | VariableHome::Left | VariableHome::Counted | VariableHome::Rest => return None,
        };
        Some(Locations::register(file, n))
    }

    /// Returns `true` if the variable belongs to one of the `wanted` registers, or counts bundles or branches.
    fn is_wanted(self, wanted: Locations) -> bool {
        self.locations().is_none_or(|locations| locations.intersects(wanted))
    }

    /// Returns the byte offset in the machine state.
    fn offset(self) -> i32 {
        let (base, size, n) = match self {
            VariableHome::R(n) => (at::R, 4, n),
            VariableHome::V(n) => (at::V, 16, n),
            VariableHome::Vx => (at::VX, 0, 0),
            VariableHome::Va(k) => (at::VA, 16, k),
            VariableHome::Vc(n, _) => (at::VC, 4, n),
            VariableHome::AHigh(n) | VariableHome::ALow(n) => (at::A, 4, n),
            VariableHome::C(n, _) => (at::C, 4, n),
            VariableHome::L(n) => (at::L, 4, n),
            VariableHome::Uccfg => (at::UCCFG, 0, 0),
            VariableHome::Issued => (at::ISSUED, 0, 0),
            VariableHome::Left => (at::LEFT, 0, 0),
            VariableHome::Counted => (at::COUNTED, 0, 0),
            VariableHome::Rest => (at::REST, 0, 0),
        };
        (base + size * usize::from(n)) as i32
    }
}

fn part_bits(part: u8) -> u32 {
    FLAG_GROUPS.get(usize::from(part)).copied().unwrap_or(0)
}

/// Returns the register files that hold 0 after reset, and that generated code may assume to be 0.
/// The caller excludes registers that the program writes.
pub(in crate::vp1::jit) fn zero_after_reset() -> Locations {
    Locations::file(RegFile::A).union(Locations::file(RegFile::Uc))
}

/// Returns the Cranelift memory flags for accesses to the machine state.
pub(in crate::vp1::jit) fn machine_mem_flags() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// The low half of an address register, which a loop holds as a pointer into the data store.
struct Pointer {
    /// Number of the `$a`.
    register: u8,
    variable: Variable,
    /// Number of bytes by which the pointer is ahead of the variable.
    plus: u32,
    /// Alignment in bytes of all addresses that the pointer takes.
    align: u32,
}

/// The Cranelift variables of a function, which hold its registers.
pub(in crate::vp1::jit) struct Registers {
    variables: [Option<Variable>; MAX_VARIABLES],
    /// The registers and counters for which a variable exists.
    touched: Vec<VariableHome>,
    written: [bool; MAX_VARIABLES],
    /// Registers that always hold 0.
    zero: Locations,
    /// Address registers whose low half is currently held as a pointer.
    pointers: Vec<Pointer>,
    /// The deferred value of `$va`, while an unrolled loop body accumulates products.
    sums: Option<Wide>,
}

impl Registers {
    /// Creates an empty set of variables. `zero` is a subset of [`zero_after_reset`]: the registers that always hold 0.
    pub(crate) fn new(zero: Locations) -> Registers {
        Registers {
            variables: [None; MAX_VARIABLES],
            touched: Vec::new(),
            written: [false; MAX_VARIABLES],
            zero,
            pointers: Vec::new(),
            sums: None,
        }
    }

    /// Holds the low half of an address register as a pointer from here on. The low half must be an
    /// address in the data store and a multiple of `align`.
    pub(crate) fn start_pointer(&mut self, e: &mut Emitter<'_, '_>, register: u8, align: u32) {
        let low = self.get(e, VariableHome::ALow(register));
        let low = e.b.ins().uextend(I64, low);
        let pointer = e.b.ins().iadd(e.machine, low);
        let variable = e.b.declare_var(I64);
        e.b.def_var(variable, pointer);
        self.pointers.push(Pointer { register, variable, plus: 0, align });
    }

    /// Begins an unrolled loop body. Until the body ends, additions of products to `$va` are deferred.
    pub(crate) fn start_unrolled_body(&mut self, e: &mut Emitter<'_, '_>) {
        self.sums = Some(Wide::of_words([0, 1, 2, 3].map(|k| self.get(e, VariableHome::Va(k)))));
    }

    /// Ends an unrolled loop body. Computes the deferred sums, and adds the deferred steps to the pointers.
    pub(crate) fn end_unrolled_body(&mut self, e: &mut Emitter<'_, '_>) {
        if let Some(sums) = self.sums.take() {
            self.set_sums(e, sums);
        }
        for Pointer { variable, plus, .. } in &mut self.pointers {
            let pointer = e.b.use_var(*variable);
            let moved = e.b.ins().iadd_imm_u(pointer, i64::from(std::mem::take(plus)));
            e.b.def_var(*variable, moved);
        }
    }

    /// Returns the host address of the data store row that is `offset` bytes after a pointer.
    /// Returns `None` if the register is not held as a pointer.
    pub(crate) fn row(&self, e: &mut Emitter<'_, '_>, register: u8, offset: i32) -> Option<Value> {
        let pointer = self.pointers.iter().find(|pointer| pointer.register == register)?;
        let start = e.b.use_var(pointer.variable);
        Some(e.b.ins().iadd_imm_s(start, at::STORE as i64 + i64::from(offset)))
    }

    /// Adds `by` bytes to the pointer of an address register.
    pub(crate) fn advance(&mut self, e: &mut Emitter<'_, '_>, register: u8, by: Value) {
        if let Some(pointer) = self.pointers.iter().find(|pointer| pointer.register == register) {
            let start = e.b.use_var(pointer.variable);
            let moved = e.b.ins().iadd(start, by);
            e.b.def_var(pointer.variable, moved);
        }
    }

    /// Writes all pointers back to the low halves of their address registers, after the loop.
    pub(crate) fn drop_pointers(&mut self, e: &mut Emitter<'_, '_>) {
        for Pointer { register, variable, plus, align } in std::mem::take(&mut self.pointers) {
            let pointer = e.b.use_var(variable);
            let low = e.value(Word::StoreAddress { pointer, plus, align });
            self.set(e, VariableHome::ALow(register), low);
        }
    }

    fn variable(&mut self, e: &mut Emitter<'_, '_>, place: VariableHome) -> Variable {
        let Some(variable) = self.variables.get_mut(place.number()) else { return Variable::from_u32(0) };
        *variable.get_or_insert_with(|| {
            self.touched.push(place);
            e.b.declare_var(place.ty())
        })
    }

    pub(crate) fn get(&mut self, e: &mut Emitter<'_, '_>, place: VariableHome) -> Value {
        let variable = self.variable(e, place);
        e.b.use_var(variable)
    }

    pub(crate) fn set(&mut self, e: &mut Emitter<'_, '_>, place: VariableHome, value: Value) {
        let variable = self.variable(e, place);
        if let Some(written) = self.written.get_mut(place.number()) {
            *written = true;
        }
        e.b.def_var(variable, value);
    }

    fn is_written(&self, place: VariableHome) -> bool {
        self.written.get(place.number()).copied().unwrap_or(false)
    }

    /// Emits the loads of the `wanted` registers on entry to the function.
    pub(crate) fn load(&mut self, e: &mut Emitter<'_, '_>, wanted: Locations) {
        for place in self.touched.clone().into_iter().filter(|place| place.is_wanted(wanted)) {
            let offset = place.offset();
            let value = match place {
                VariableHome::Vc(_, zero) => {
                    let mut bits = e.b.ins().load(I32, machine_mem_flags(), e.machine, offset);
                    if zero {
                        bits = e.b.ins().ushr_imm_u(bits, 16);
                    }
                    let bits = e.any(bits);
                    e.mask_bytes(Mask::Bits(bits))
                }
                VariableHome::AHigh(_) | VariableHome::ALow(_) => {
                    let word = e.b.ins().load(I32, machine_mem_flags(), e.machine, offset);
                    let mask = if let VariableHome::ALow(_) = place { 0xffff } else { 0xffff_0000 };
                    e.b.ins().band_imm_u(word, mask)
                }
                VariableHome::C(_, part) => {
                    let word = e.b.ins().load(I32, machine_mem_flags(), e.machine, offset);
                    let bits = part_bits(part);
                    let bits_set = e.b.ins().band_imm_u(word, i64::from(bits));
                    if place.ty() == I8 { e.b.ins().icmp_imm_u(IntCC::NotEqual, bits_set, 0) } else { bits_set }
                }
                _ => e.b.ins().load(place.ty(), machine_mem_flags(), e.machine, offset),
            };
            let variable = self.variable(e, place);
            e.b.def_var(variable, value);
        }
    }

    /// Emits the stores before an exit: the counters, and the `wanted` registers that the function has written.
    pub(crate) fn store(&mut self, e: &mut Emitter<'_, '_>, wanted: Locations) {
        for place in self.touched.clone() {
            if !self.is_written(place) || !place.is_wanted(wanted) {
                continue;
            }
            let value = match place {
                VariableHome::Va(_) => {
                    let value = self.get(e, place);
                    let value = e.b.ins().ishl_imm_u(value, 4);
                    e.b.ins().sshr_imm_u(value, 4)
                }
                VariableHome::Vc(_, true) | VariableHome::ALow(_) => continue,
                VariableHome::Vc(n, false) => {
                    let [sign, zero] = [false, true].map(|zero| {
                        let mask = self.get(e, VariableHome::Vc(n, zero));
                        e.b.ins().vhigh_bits(I32, mask)
                    });
                    let zero = e.b.ins().ishl_imm_u(zero, 16);
                    e.b.ins().bor(sign, zero)
                }
                VariableHome::AHigh(n) => {
                    let (high, low) = (self.get(e, place), self.get(e, VariableHome::ALow(n)));
                    e.b.ins().bor(high, low)
                }
                VariableHome::C(n, part) => {
                    let flags = self.get(e, place);
                    let bits = part_bits(part);
                    let word = if place.ty() == I8 {
                        Word::Truth { value: flags, at: bits.trailing_zeros() as u8 }
                    } else {
                        Word::Value(flags, ValueFacts::within(bits))
                    };
                    let flags = e.value(word);
                    let old = e.b.ins().load(I32, machine_mem_flags(), e.machine, VariableHome::C(n, part).offset());
                    let kept = e.b.ins().band_imm_u(old, i64::from(!bits & 0xffff));
                    e.b.ins().bor(kept, flags)
                }
                _ => self.get(e, place),
            };
            e.b.ins().store(machine_mem_flags(), value, e.machine, place.offset());
        }
    }

    /// Returns a bit of a `$c` as a truth value. Returns `None` if the bit is in a group with other bits.
    pub(crate) fn flag(&mut self, e: &mut Emitter<'_, '_>, n: u8, bit: u32) -> Option<Value> {
        let part = FLAG_GROUPS.iter().position(|&part| part == bit)?;
        Some(self.get(e, VariableHome::C(n, part as u8)))
    }

    /// Clears a bit of a `$c` that forms a group by itself.
    pub(crate) fn clear_flag(&mut self, e: &mut Emitter<'_, '_>, n: u8, bit: u32) {
        let Some(part) = FLAG_GROUPS.iter().position(|&part| part == bit) else { return };
        let clear = e.b.ins().iconst(I8, 0);
        self.set(e, VariableHome::C(n, part as u8), clear);
    }

    /// Reads a register: a fixed one, or one of four consecutive registers that an index selects.
    fn read_selected(
        &mut self,
        e: &mut Emitter<'_, '_>,
        index: Index<Word>,
        mut get: impl FnMut(&mut Self, &mut Emitter<'_, '_>, u8) -> Value,
    ) -> Value {
        let (first, element) = match index {
            Index::Fixed(n) => return get(self, e, n),
            Index::InQuad { first, element: Word::Const(k) } => return get(self, e, first | (k & 3) as u8),
            Index::InQuad { first, element } => (first, element),
        };
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| get(self, e, first & 28 | k));
        let [odd, high] = [1, 2].map(|bit| {
            let bit = e.and_mask(element, bit);
            e.condition(bit)
        });
        let (low, top) = (e.b.ins().select(odd, b, a), e.b.ins().select(odd, d, c));
        e.b.ins().select(high, top, low)
    }

    fn word(&mut self, e: &mut Emitter<'_, '_>, place: VariableHome) -> Word {
        let value = self.get(e, place);
        e.any(value)
    }

    /// Returns the value of a `$a`, as a union of its two halves.
    fn address(&mut self, e: &mut Emitter<'_, '_>, n: u8) -> Word {
        if Locations::register(RegFile::A, n & 31).is_subset(self.zero) {
            return Word::Const(0);
        }
        if let Some(&Pointer { variable, plus, align, .. }) = self.pointers.iter().find(|pointer| pointer.register == n)
        {
            let (high, pointer) = (self.get(e, VariableHome::AHigh(n)), e.b.use_var(variable));
            // The stride code of an address register that is held as a pointer is 0.
            return e.union(
                Word::Value(high, ValueFacts::within(0x3fff_0000)),
                Word::StoreAddress { pointer, plus, align },
            );
        }
        let (high, low) = (self.get(e, VariableHome::AHigh(n)), self.get(e, VariableHome::ALow(n)));
        let high = Word::Value(high, ValueFacts::within(0xffff_0000));
        e.union(high, Word::Value(low, ValueFacts::within(0xffff)))
    }

    fn set_sums(&mut self, e: &mut Emitter<'_, '_>, wide: Wide) {
        for (k, words) in (0..).zip(e.words(wide)) {
            self.set(e, VariableHome::Va(k), words);
        }
    }

    fn set_address(&mut self, e: &mut Emitter<'_, '_>, n: u8, word: Word) {
        if let Some(at) = self.pointers.iter().position(|pointer| pointer.register == n)
            && let Word::StoreAddress { plus, .. } = e.and_mask(word, 0xffff)
        {
            if let Some(pointer) = self.pointers.get_mut(at) {
                pointer.plus = plus;
            }
            return;
        }
        for (place, mask) in [(VariableHome::AHigh(n), 0xffff_0000), (VariableHome::ALow(n), 0xffff)] {
            let half = e.and_mask(word, mask);
            let half = e.value(half);
            self.set(e, place, half);
        }
    }

    fn set_flags(&mut self, e: &mut Emitter<'_, '_>, n: u8, group: u32, bits: Word) {
        for (part, mask) in (0..).zip(FLAG_GROUPS) {
            let place = VariableHome::C(n, part);
            if mask & !group == 0 {
                let word = e.and_mask(bits, mask);
                let value = if mask.is_power_of_two() { e.truth(word) } else { e.value(word) };
                self.set(e, place, value);
            } else if mask & group != 0 {
                let old = self.get(e, place);
                let kept = e.b.ins().band_imm_u(old, i64::from(!group));
                let new = e.and_mask(bits, mask & group);
                let new = e.value(new);
                let value = e.b.ins().bor(kept, new);
                self.set(e, place, value);
            }
        }
    }

    /// Performs a register write of an instruction.
    pub(crate) fn commit(&mut self, e: &mut Emitter<'_, '_>, write: &Write<Emitter<'_, '_>>) {
        match *write {
            Write::R(n, word) if n < R_ZERO => {
                let value = e.value(word);
                self.set(e, VariableHome::R(n), value);
            }
            Write::R(..) => {}
            Write::V(n, bytes) => {
                let value = e.bytes_value(bytes);
                self.set(e, VariableHome::V(n), value);
            }
            Write::ConditionalV { when: Word::Const(0), .. } => {}
            Write::ConditionalV { when, index, value } => {
                let value = e.bytes_value(value);
                self.set_where(e, when, index, value);
            }
            Write::Vx(bytes) => {
                let value = e.bytes_value(bytes);
                self.set(e, VariableHome::Vx, value);
            }
            Write::Va(wide) if self.sums.is_some() => self.sums = Some(e.sums(wide)),
            Write::Va(wide) => self.set_sums(e, wide),
            Write::Vc(n, flags) => {
                for (zero, mask) in [false, true].into_iter().zip(flags) {
                    let value = e.mask_bytes(mask);
                    self.set(e, VariableHome::Vc(n, zero), value);
                }
            }
            Write::A(n, word) => self.set_address(e, n, word),
            Write::C { n, group, bits } => self.set_flags(e, n, group, bits),
            Write::L(n, word) => {
                let word = e.and_mask(word, 0xffff);
                let value = e.value(word);
                self.set(e, VariableHome::L(n), value);
            }
            Write::M(n, word) => e.set_field(at::M + 4 * usize::from(n & 63), word),
            Write::X(n, word) => e.set_field(at::X + 4 * usize::from(n & 15), word),
            Write::Uccfg(word) => {
                let value = e.value(word);
                self.set(e, VariableHome::Uccfg, value);
            }
            Write::Store(shape, address, value) => e.store_vector(shape, address, value),
            Write::StoreWord(address, word) => e.store_word(address, word),
        }
    }

    fn set_where(&mut self, e: &mut Emitter<'_, '_>, when: Word, index: Index<Word>, value: Value) {
        let (registers, element) = match index {
            Index::Fixed(n) => (n & 31..(n & 31) + 1, Word::Const((n & 3).into())),
            Index::InQuad { first, element } => (first & 28..(first & 28) + 4, element),
        };
        for n in registers {
            let here = e.word_equal(element, Word::Const((n & 3).into()));
            let here = e.word_select(here, when, Word::Const(0));
            let old = self.get(e, VariableHome::V(n));
            let new = match here {
                Word::Const(0) => continue,
                Word::Const(_) => value,
                here => {
                    let here = e.condition(here);
                    e.b.ins().select(here, value, old)
                }
            };
            self.set(e, VariableHome::V(n), new);
        }
    }
}

#[rustfmt::skip]
impl<'a, 'f> Reader<Emitter<'a, 'f>> for Registers {
    fn r(&mut self, e: &mut Emitter<'a, 'f>, n: Index<Word>) -> Word {
        if let Index::Fixed(R_ZERO) = n {
            return Word::Const(0);
        }
        let value = self.read_selected(e, n, |registers, e, n| {
            if n == R_ZERO { e.value(Word::Const(0)) } else { registers.get(e, VariableHome::R(n)) }
        });
        e.any(value)
    }
    fn v(&mut self, e: &mut Emitter<'a, 'f>, n: Index<Word>) -> Bytes {
        Bytes::Value(self.read_selected(e, n, |registers, e, n| registers.get(e, VariableHome::V(n))))
    }
    fn vx(&mut self, e: &mut Emitter<'a, 'f>) -> Bytes { Bytes::Value(self.get(e, VariableHome::Vx)) }
    fn va(&mut self, e: &mut Emitter<'a, 'f>) -> Wide {
        self.sums.unwrap_or_else(|| Wide::of_words([0, 1, 2, 3].map(|k| self.get(e, VariableHome::Va(k)))))
    }
    fn vc(&mut self, e: &mut Emitter<'a, 'f>, n: u8) -> [Mask; 2] {
        [false, true].map(|zero| Mask::Bytes(self.get(e, VariableHome::Vc(n, zero))))
    }
    fn a(&mut self, e: &mut Emitter<'a, 'f>, n: Index<Word>) -> Word {
        if let Index::Fixed(n) = n {
            return self.address(e, n);
        }
        let value = self.read_selected(e, n, |registers, e, n| {
            let word = registers.address(e, n);
            e.value(word)
        });
        e.any(value)
    }
    fn c(&mut self, e: &mut Emitter<'a, 'f>, n: u8) -> Word {
        let mut part = 0..;
        let parts = FLAG_GROUPS.map(|_| self.variable(e, VariableHome::C(n, part.next().unwrap_or(0))));
        if let Some(variables) = e.flag_variables.get_mut(usize::from(n & 3)) {
            *variables = parts;
        }
        Word::Flags { n, down: 0 }
    }
    fn l(&mut self, e: &mut Emitter<'a, 'f>, n: u8) -> Word {
        let value = self.get(e, VariableHome::L(n));
        Word::Value(value, ValueFacts::within(0xffff))
    }
    fn m(&mut self, e: &mut Emitter<'a, 'f>, n: u8) -> Word { e.field(at::M + 4 * usize::from(n & 63)) }
    fn x(&mut self, e: &mut Emitter<'a, 'f>, n: u8) -> Word { e.field(at::X + 4 * usize::from(n & 15)) }
    fn uccfg(&mut self, e: &mut Emitter<'a, 'f>) -> Word {
        match Locations::register(RegFile::Uc, 0).is_subset(self.zero) {
            true => Word::Const(0),
            false => self.word(e, VariableHome::Uccfg),
        }
    }
    fn load(&mut self, e: &mut Emitter<'a, 'f>, shape: Shape, address: Word) -> Bytes { e.load_vector(shape, address) }
    fn load_word(&mut self, e: &mut Emitter<'a, 'f>, address: Word) -> Word { e.load_word(address) }
    fn gather(&mut self, e: &mut Emitter<'a, 'f>, address: Word, rows: Bytes) -> Bytes { e.gather(address, rows) }
}
