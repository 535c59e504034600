//! Import of shared and local memory. Each becomes one array of bytes, and an address in PTX
//! becomes an offset in that array.

use halfbyte_ir::{Op, Space, Type, Value};
use halfbyte_isa::halu::domain::Domain;
use halfbyte_isa::ptx::meaning::{LOCAL_WINDOW, SHARED_WINDOW};
use halfbyte_isa::ptx::row::named_space;
use halfbyte_isa::ptx::types::Space as PtxSpace;
use halfbyte_isa::ptx::{Base, Inst, Opcode, Operand, Var};

use crate::address::Address;
use crate::builder::{Arrays, Import, LOCAL_START};
use crate::provenance::named;
use crate::ssa::{Def, Function, Val};

/// Maximum number of instructions that are followed from an address backwards to find its space.
const MAX_STEPS: u32 = 10;

/// Returns the generic address at which a space is mapped in a kernel that is not flat.
fn window(space: PtxSpace) -> u64 {
    if space == PtxSpace::Shared { SHARED_WINDOW } else { LOCAL_WINDOW }
}

/// Returns the address in shared or local memory at which the array for this memory begins.
fn array_start(space: PtxSpace) -> u64 {
    if space == PtxSpace::Shared { 0 } else { LOCAL_START }
}

impl Import<'_> {
    /// Declares the arrays for shared and local memory.
    pub(crate) fn declare_arrays(&mut self) {
        let entry = self.function.entry;
        let names = |name: &str| {
            let mut name = name.to_owned();
            while self.parameters.places.iter().any(|place| place.name == name) {
                name.push('_');
            }
            name
        };
        let [of_group, open, of_item] = ["shared", "dynamic", "local"].map(names);
        let layout = &self.shared;
        let builder = &mut self.code.builder;
        let mut array = |name: &str, space, count: Option<u64>, align| {
            let count = count.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
            builder.array_aligned(name, space, Type::I8, count, align)
        };
        // The array for static shared memory ends where dynamic shared memory begins. Dynamic
        // shared memory is a separate array.
        let fixed = (layout.fixed != 0).then(|| array(&of_group, Space::Shared, Some(layout.bytes), layout.align));
        let open = layout.open_align.map(|align| array(&open, Space::Shared, None, align));
        let (_, bytes) = entry.body.layout();
        let align = entry.body.frame.iter().map(|variable| variable.alignment()).max().unwrap_or(1);
        let local = (bytes != 0).then(|| array(&of_item, Space::Scratch, Some(bytes.into()), align));
        self.arrays = Arrays { shared: fixed.or(open), local };
    }

    fn array(&self, space: PtxSpace) -> Option<Value> {
        if space == PtxSpace::Shared { self.arrays.shared } else { self.arrays.local }
    }

    /// Emits the generic address of the array for a memory, which is the address that the target gives to the array.
    /// Returns `None` if the kernel is not flat or does not use the memory.
    fn flat_array(&mut self, space: PtxSpace) -> Option<Value> {
        let array = self.array(space).filter(|_| self.parameters.is_flat)?;
        Some(self.code.cast(array, Type::I64))
    }

    /// Imports an instruction that computes an address in shared or local memory. Returns `false`
    /// for other instructions.
    pub(crate) fn private_address_inst(&mut self, inst: &Inst) -> bool {
        let bits = inst.ty(0).bits();
        let value = match (inst.opcode, inst.operands.get(1)) {
            (Opcode::MOV_ADDRESS | Opcode::CVTA_ADDRESS, Some(operand)) => {
                let Some((space, address)) = self.private_address(operand) else { return false };
                let array = self.flat_array(space).filter(|_| inst.opcode == Opcode::CVTA_ADDRESS);
                let start = match (inst.opcode, array) {
                    (Opcode::CVTA_ADDRESS, None) => window(space),
                    (Opcode::CVTA_ADDRESS, Some(_)) => array_start(space).wrapping_neg(),
                    _ => 0,
                };
                let ty = if bits == 32 { Type::I32 } else { Type::I64 };
                let address = self.code.constant(ty, address.wrapping_add(start) & (u64::MAX >> (64 - bits)));
                match array {
                    Some(array) => self.code.op(Op::Add, ty, &[array, address]),
                    None => address,
                }
            }
            (Opcode::CVTA, Some(_)) => {
                let Some(space) = named(inst) else { return false };
                let address = self.operand(inst, 1, Type::I64);
                let start = match self.flat_array(space) {
                    Some(array) => {
                        let start = self.code.constant(Type::I64, array_start(space));
                        self.code.op(Op::Sub, Type::I64, &[array, start])
                    }
                    None => self.code.constant(Type::I64, window(space)),
                };
                let op = if inst.has(halfbyte_isa::ptx::types::Token::To) { Op::Sub } else { Op::Add };
                self.code.op(op, Type::I64, &[address, start])
            }
            (Opcode::ISSPACEP | Opcode::ISSPACEP_WORD, Some(_)) => {
                let space = named_space(&inst.modifiers).unwrap_or(PtxSpace::Global);
                let val = self.operand_val(inst, 1);
                let Some(is_in) = val.and_then(|val| self.is_in(val, space, MAX_STEPS)) else {
                    self.refuse(
                        "the address space of this address is only known at run time",
                        "direct execution with `--target ptx`",
                    );
                    return true;
                };
                is_in
            }
            _ => return false,
        };
        self.result(inst, value);
        true
    }

    /// Emits the test of whether a generic address points to `space`. The result is a constant, or
    /// derives from the condition of a select between addresses. Returns `None` if the space is
    /// unknown.
    fn is_in(&mut self, val: Val, space: PtxSpace, steps: u32) -> Option<Value> {
        if let Some(of) = self.parameters.space_of(val) {
            return Some(self.code.truth(of == space));
        }
        let &Def::Inst(number, None) = self.function.def(val) else { return None };
        let inst = self.function.inst(number)?;
        let steps = steps.checked_sub(1)?;
        let read = |function: &Function<'_>, i: usize| match inst.operands.get(i) {
            Some(&Operand::Register(reg)) => function.read(number, reg),
            _ => None,
        };
        match inst.opcode {
            Opcode::SELP => {
                let [a, b, condition] = [1, 2, 3].map(|i| read(self.function, i));
                let a = self.is_in(a?, space, steps)?;
                let b = self.is_in(b?, space, steps)?;
                let condition = self.value(condition?);
                Some(self.code.select(condition, a, b))
            }
            Opcode::MOV => self.is_in(read(self.function, 1)?, space, steps),
            Opcode::ADD => {
                let sides = [1, 2].map(|i| read(self.function, i).filter(|&val| self.parameters.has_space(val)));
                match sides {
                    [Some(val), None] | [None, Some(val)] => self.is_in(val, space, steps),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the address of an access to shared or local memory. Returns `None` if the access
    /// cannot be imported.
    pub(crate) fn private_access_address(&mut self, inst: &Inst, space: PtxSpace) -> Option<Address> {
        let address = inst.operands.iter().find_map(|operand| match operand {
            Operand::Memory(address) => Some(*address),
            _ => None,
        })?;
        let Some(base) = self.array(space) else {
            let what = if space == PtxSpace::Shared { "shared" } else { "local" };
            self.refuse(format!("the kernel has no {what} memory"), format!("a `.{what}` variable").as_str());
            return None;
        };
        let at = |base, index, offset| Address { base, index, scale: 1, wide: false, offset, known_align: 1 };
        let fixed = |start: u64| i32::try_from(start.wrapping_add_signed(address.offset.into()) as i64).ok();
        match address.base {
            Base::Variable(Var { number, .. }) => {
                let start = self.shared.places.get(&number).copied()?;
                Some(at(base, None, fixed(start)?))
            }
            Base::Frame(var) => {
                let start = self.frame.get(var.number as usize).copied()?;
                Some(at(base, None, fixed(start.into())?))
            }
            Base::Register(reg) if space == PtxSpace::Shared && named(inst).is_some() => {
                let value = self.register(reg);
                let index = self.convert(value, Type::I32);
                let val = self.function.read(self.number, reg)?;
                // In PTX, the address is a sum of 32 bits, which may wrap. In that case an op
                // computes the sum, because the offset of an IR address does not wrap.
                let wraps = self.bounds(val).is_none_or(|(low, high)| {
                    let offset = i64::from(address.offset);
                    low as i64 + offset < 0 || high as i64 + offset > u32::MAX.into()
                });
                if !wraps || address.offset == 0 {
                    return Some(at(base, Some(index), address.offset));
                }
                let offset = self.code.constant(Type::I32, u64::from(address.offset.cast_unsigned()));
                let index = self.code.op(Op::Add, Type::I32, &[index, offset]);
                Some(at(base, Some(index), 0))
            }
            Base::Register(reg) => {
                let value = self.register(reg);
                let number = self.convert(value, Type::I64);
                // A generic address is larger than the address in the space by the start of the
                // space's generic address range.
                let window = if named(inst).is_some() { 0 } else { window(space) };
                let start = self.code.constant(Type::I64, window + array_start(space));
                let bytes = self.code.op(Op::Sub, Type::I64, &[number, start]);
                let base = self.code.builder.value(Op::PtrAdd, Type::PTR, halfbyte_ir::Attr::None, &[base, bytes]);
                Some(at(base, None, address.offset))
            }
            Base::Parameter(_) => None,
        }
    }
}
