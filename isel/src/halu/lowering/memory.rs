//! Selection of addresses, loads and stores.

use halfbyte_ir::{Kernel, MemAttr, Space, Type, Value, ValueDef};
use halfbyte_isa::halu::domain::{LOCAL_WINDOW, SHARED_WINDOW};
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst as Word, Opcode};

use super::super::machine::{HaluExtra, RegClass};
use super::super::operands::{Index, Reg, SourceLocation, Src};
use super::{Lowering, class_of, context};

/// Number of buffers whose addresses are in pairs of uniform registers. The addresses of further
/// buffers are in general registers.
const UNIFORM_PAIRS: usize = URZ as usize / 2;
/// Range of the displacement of an access: a signed 24-bit integer.
const DISPLACEMENT: std::ops::Range<i64> = -(1 << 23)..1 << 23;

/// Address of a load or store, by addressing mode.
pub(super) enum Address {
    /// Global memory: pair of uniform registers, offset register and displacement.
    Uniform { pair: u8, offset: Reg, displacement: i32 },
    /// Global memory: pair of general registers and displacement.
    Wide { base: Reg, displacement: i32 },
    /// Generic address space: pair of general registers and displacement.
    Flat { base: Reg, displacement: i32 },
    /// Shared or scratch memory of the kernel: offset register and displacement.
    Array { space: Space, offset: Reg, displacement: i32 },
}

/// Opcodes of a load or store, one for each addressing mode.
#[derive(Clone, Copy)]
pub(super) struct AddressForms {
    pub uniform: Opcode,
    pub wide: Opcode,
    pub flat: Opcode,
    pub shared: Opcode,
    /// Opcode for scratch memory, or `None` for an atomic operation, which scratch memory lacks.
    pub scratch: Option<Opcode>,
}

/// Opcodes of a load or store of the given size, one for each addressing mode.
macro_rules! forms {
    ($uniform:ident $wide:ident $flat:ident $shared:ident $scratch:ident) => {
        AddressForms {
            uniform: Opcode::$uniform,
            wide: Opcode::$wide,
            flat: Opcode::$flat,
            shared: Opcode::$shared,
            scratch: Some(Opcode::$scratch),
        }
    };
}

const fn load(bytes: u32) -> AddressForms {
    match bytes {
        1 => forms!(LDG_U_U8 LDG_W_U8 LD_U8 LDS_U8 LDL_X_U8),
        2 => forms!(LDG_U_U16 LDG_W_U16 LD_U16 LDS_U16 LDL_X_U16),
        4 => forms!(LDG_U_32 LDG_W_32 LD_32 LDS_32 LDL_X_32),
        8 => forms!(LDG_U_64 LDG_W_64 LD_64 LDS_64 LDL_X_64),
        _ => forms!(LDG_U_128 LDG_W_128 LD_128 LDS_128 LDL_X_128),
    }
}

const fn store(bytes: u32) -> AddressForms {
    match bytes {
        1 => forms!(STG_U_8 STG_W_8 ST_8 STS_8 STL_X_8),
        2 => forms!(STG_U_16 STG_W_16 ST_16 STS_16 STL_X_16),
        4 => forms!(STG_U_32 STG_W_32 ST_32 STS_32 STL_X_32),
        8 => forms!(STG_U_64 STG_W_64 ST_64 STS_64 STL_X_64),
        _ => forms!(STG_U_128 STG_W_128 ST_128 STS_128 STL_X_128),
    }
}

/// Memory order and scope fields of a strong access.
pub(super) type Strength = [u64; 2];

/// Returns the start of each array in shared or scratch memory, and the total size of each memory.
pub(super) fn arrays(kernel: &Kernel) -> (Vec<u64>, HaluExtra) {
    if kernel.arrays.is_empty() {
        return (Vec::new(), HaluExtra::default());
    }
    let [shared, scratch] = Space::ALL.map(|space| kernel.placement(space));
    let start = |(array, [shared, scratch]): (&halfbyte_ir::Array, [u64; 2])| match array.space {
        Space::Shared => shared,
        Space::Scratch => scratch,
    };
    let places = shared.starts.iter().zip(&scratch.starts).map(|(&shared, &scratch)| [shared, scratch]);
    let starts = kernel.arrays.iter().zip(places).map(start).collect();
    let has_shared = kernel.arrays.iter().any(|array| array.space == Space::Shared);
    let extra =
        HaluExtra { shared_bytes: has_shared.then_some(shared.bytes as u32), scratch_bytes: scratch.bytes as u32 };
    (starts, extra)
}

impl Lowering<'_> {
    /// Returns `false`: a launch may have any number of items, so that a product of an item index may wrap.
    pub(super) fn folds_wide_index(&self, _: MemAttr, _: Value) -> bool {
        false
    }

    /// Returns the number of the uniform register pair that holds a buffer's address. Returns
    /// `None` if no pair is free.
    fn uniform_pair(&mut self, base: Value) -> Option<u8> {
        let ValueDef::Param(number) = self.kernel.values[base].def else { return None };
        if !context::is_buffer(self.kernel, number) {
            return None;
        }
        let known = self.uniform.iter().position(|&n| n == number);
        let pair = known.or_else(|| {
            (self.uniform.len() < UNIFORM_PAIRS).then(|| {
                self.uniform.push(number);
                self.uniform.len() - 1
            })
        })?;
        Some(2 * pair as u8)
    }

    /// Returns the generic address of an array of the kernel.
    pub(crate) fn array_address(&mut self, number: usize) -> Reg {
        let window = match self.kernel.arrays.get(number).map(|array| array.space) {
            Some(Space::Scratch) => LOCAL_WINDOW,
            _ => SHARED_WINDOW,
        };
        let address = window + self.starts.get(number).copied().unwrap_or(0);
        self.out.wide(RegClass::Pair, &[Src::imm(address as u32), Src::imm((address >> 32) as u32)])
    }

    /// Returns the address of an access to an array, or `None` if one register and a displacement
    /// cannot express the address.
    fn in_array(&mut self, mem: MemAttr, base: Value, index: Option<Index>) -> Option<Address> {
        let ValueDef::Array(number) = self.kernel.values[base].def else { return None };
        let space = self.kernel.array(base)?.space;
        let displacement = self.starts.get(number as usize).copied()? as i64 + i64::from(mem.offset);
        let is_near = DISPLACEMENT.contains(&displacement) && DISPLACEMENT.contains(&(displacement + 12));
        if !is_near || (mem.wide && index.is_some()) {
            return None;
        }
        let offset = index.map_or(Reg::ZERO, |index| self.scaled(index, mem.scale));
        Some(Address::Array { space, offset, displacement: displacement as i32 })
    }

    /// Returns the address of a load or store for the opcodes `forms`.
    pub(super) fn address(&mut self, forms: AddressForms, mem: MemAttr, base: Value, index: Option<Index>) -> Address {
        let is_scratch = self.kernel.array(base).is_some_and(|array| array.space == Space::Scratch);
        if (forms.scratch.is_some() || !is_scratch)
            && let Some(address) = self.in_array(mem, base, index)
        {
            return address;
        }
        let near = DISPLACEMENT.contains(&(i64::from(mem.offset) + 12)) && DISPLACEMENT.contains(&mem.offset.into());
        let wide = index.filter(|_| mem.wide);
        if near
            && wide.is_none()
            && let Some(pair) = self.uniform_pair(base)
        {
            let offset = index.map_or(Reg::ZERO, |index| self.scaled(index, mem.scale));
            return Address::Uniform { pair, offset, displacement: mem.offset };
        }
        // If the kernel has arrays, a computed address may point into an array, so it is generic.
        let is_flat = !self.kernel.arrays.is_empty() && !matches!(self.kernel.values[base].def, ValueDef::Param(_));
        let mut base = self.value_reg(base);
        if let Some(index) = wide {
            let index = self.value_reg(index.value);
            base = self.wide_sum(base, index, mem.scale);
        } else if let Some(index) = index {
            let offset = self.scaled(index, mem.scale);
            let offset = self.out.wide(RegClass::Pair, &[Src::plain(SourceLocation::Reg(offset)), Src::ZERO]);
            base = self.add_words(base, offset, false);
        }
        let mut displacement = mem.offset;
        if !near {
            let high = Src::imm(if mem.offset < 0 { u32::MAX } else { 0 });
            let offset = self.out.wide(RegClass::Pair, &[Src::imm(mem.offset as u32), high]);
            base = self.add_words(base, offset, false);
            displacement = 0;
        }
        if is_flat { Address::Flat { base, displacement } } else { Address::Wide { base, displacement } }
    }

    /// Starts a load or store instruction, `plus` bytes after the address.
    pub(super) fn access(&mut self, forms: AddressForms, address: &Address, plus: i32) -> Word {
        // An access that replaces several source accesses is aligned to its size, so it is one instruction.
        self.out.access = self.wide.take().into();
        let (opcode, reg, displacement) = match *address {
            Address::Uniform { offset, displacement, .. } => (forms.uniform, offset, displacement),
            Address::Wide { base, displacement } => (forms.wide, base, displacement),
            Address::Flat { base, displacement } => (forms.flat, base, displacement),
            Address::Array { space: Space::Shared, offset, displacement } => (forms.shared, offset, displacement),
            Address::Array { offset, displacement, .. } => (forms.scratch.unwrap_or(forms.flat), offset, displacement),
        };
        self.out.read(RA, reg);
        let word = Word::new(opcode).with(IMM24, (displacement + plus) as u64);
        match *address {
            Address::Uniform { pair, .. } => word.with(UR32, pair.into()),
            _ => word,
        }
    }

    pub(crate) fn load_from(&mut self, ty: Type, mem: MemAttr, base: Value, index: Option<Index>) -> Reg {
        self.load_in(ty, mem, base, index, None)
    }

    pub(super) fn load_in(
        &mut self,
        ty: Type,
        mem: MemAttr,
        base: Value,
        index: Option<Index>,
        strength: Option<Strength>,
    ) -> Reg {
        let bytes = ty.bytes();
        let address = self.address(load(bytes), mem, base, index);
        let class = class_of(ty).unwrap_or(RegClass::Word);
        if mem.align >= bytes || bytes <= 4 || strength.is_some() {
            let inst = ordered(self.access(load(bytes), &address, 0), strength);
            return Reg::new(self.out.put(inst, class, None, 0));
        }
        // A wide access is split into pieces as wide as the alignment, so that exactly the
        // misaligned accesses of the IR trap.
        if mem.align == 8 {
            let [low, high] = [0, 8].map(|plus| {
                let inst = self.access(load(8), &address, plus);
                Reg::new(self.out.put(inst, RegClass::Pair, None, 0))
            });
            let words = [low, low.part(1), high, high.part(1)];
            return self.out.wide(class, &words.map(|word| Src::plain(SourceLocation::Reg(word))));
        }
        let mut so_far = None;
        for part in 0..(bytes / 4) as u8 {
            let inst = self.access(load(4), &address, 4 * i32::from(part));
            so_far = Some(self.out.put(inst, class, so_far, part));
        }
        so_far.map_or(Reg::ZERO, Reg::new)
    }

    pub(crate) fn store_to(&mut self, ty: Type, mem: MemAttr, value: Value, base: Value, index: Option<Index>) -> Reg {
        self.store_in(ty, mem, value, (base, index), None)
    }

    pub(super) fn store_in(
        &mut self,
        ty: Type,
        mem: MemAttr,
        value: Value,
        (base, index): (Value, Option<Index>),
        strength: Option<Strength>,
    ) -> Reg {
        let bytes = ty.bytes();
        let address = self.address(store(bytes), mem, base, index);
        // A store only accepts registers. The constant zero is RZ.
        let src = context::src(self, value);
        let data = if bytes <= 4 { self.out.reg(src) } else { self.value_reg(value) };
        if mem.align >= bytes || bytes <= 4 || strength.is_some() {
            let inst = ordered(self.access(store(bytes), &address, 0), strength);
            self.out.read(R64, data);
            self.out.push(inst);
        } else if mem.align == 8 {
            for part in [0, 2] {
                let words = [data.part(part), data.part(part + 1)].map(|word| Src::plain(SourceLocation::Reg(word)));
                let pair = self.out.wide(RegClass::Pair, &words);
                let inst = self.access(store(8), &address, 4 * i32::from(part));
                self.out.read(R64, pair);
                self.out.push(inst);
            }
        } else {
            for part in 0..(bytes / 4) as u8 {
                let inst = self.access(store(4), &address, 4 * i32::from(part));
                self.out.read(R64, data.part(part));
                self.out.push(inst);
            }
        }
        Reg::ZERO
    }
}

fn ordered(word: Word, strength: Option<Strength>) -> Word {
    match strength {
        Some([order, scope]) => word.with(ORDER, order).with(SCOPE, scope),
        None => word,
    }
}
