//! Generation of the machine function for VP1 from the result of allocation: writes register
//! numbers into the instructions, and inserts instructions for moves and spills.

use halfbyte_isa::stream::MAX_FRAME_BYTES;
use halfbyte_isa::vp1::fields::{DST, IMM, SRC1};
use halfbyte_isa::vp1::{Inst, Opcode};
use regalloc2::{Allocation, ProgPoint};

use super::super::AllocError;
use super::super::adapter::{AllocationRun, BankAssignment, Cursor, is_repeated};
use super::super::flow::Flow;
use super::super::rewrite::{Rewriter, rewrite};
use super::Files;
use super::check::by_place;
use super::flags::Flags;
use super::shape::{TupleShape, slot_at};
use crate::mach::MachBlock;
use crate::vcode::{Access, Operand, VCode, VInst, VReg};
use crate::vp1::machine::Vp1;
use crate::vp1::{Class, Group};

/// Number of the `$a` that holds 0 and is the base address of the data image and the spill slots.
const FRAME_BASE: u64 = 31;
/// Size and alignment in bytes of the spill slot of a vector.
const VECTOR_BYTES: usize = 16;

/// Generated blocks, with the memory and registers that they use.
pub(super) struct Written {
    pub(super) blocks: Vec<MachBlock<Vp1>>,
    /// Bytes of the data store that the data image and the spill slots take.
    pub(super) frame_bytes: u32,
    /// Number of `$r` that the code uses: the highest register number plus one.
    pub(super) registers: u32,
    /// Number of instructions that store a spilled register.
    pub(super) spills: u32,
}

/// Returns the address of the first spill slot, which follows the data image.
fn base(code: &VCode<Vp1>) -> u64 {
    code.extra.tiles.image.len().next_multiple_of(VECTOR_BYTES) as u64
}

/// Returns the bytes available for spill slots.
pub(super) fn room(code: &VCode<Vp1>) -> u64 {
    u64::from(MAX_FRAME_BYTES).saturating_sub(base(code))
}

/// Generates the machine function.
pub(super) fn write(
    code: &VCode<Vp1>,
    flow: &Flow,
    run: &AllocationRun,
    flags: &Flags,
    files: &Files,
) -> Result<Written, AllocError> {
    let image = code.extra.tiles.image.len();
    let spilled = 4 * run.output().num_spillslots as u64;
    let base = base(code);
    let bytes = if spilled == 0 { image as u64 } else { base + spilled };
    if bytes > MAX_FRAME_BYTES.into() {
        return Err(AllocError::Frame { image, spilled });
    }
    let mut writer = Writer { cursor: run.cursor(), flags, files, base, registers: 0, spills: 0 };
    let blocks = rewrite(code, flow, &mut writer)?;
    Ok(Written { blocks, frame_bytes: bytes as u32, registers: writer.registers, spills: writer.spills })
}

/// Location of a value after allocation.
enum Home {
    /// Register `$r`.
    R(u64),
    /// Register `$v`.
    V(u64),
    /// Byte address in the data store.
    Frame(u64),
}

struct Writer<'a> {
    cursor: Cursor<'a>,
    flags: &'a Flags,
    files: &'a Files<'a>,
    /// Address of the first spill slot in the data store.
    base: u64,
    registers: u32,
    spills: u32,
}

impl Rewriter<Vp1> for Writer<'_> {
    fn inst(&mut self, code: &VCode<Vp1>, vinst: &VInst<Vp1>) -> Result<Group, AllocError> {
        let mut group = vinst.inst.clone();
        let mut indices = vinst.operands.clone();
        for same in by_place(code.operands(vinst)) {
            let mut number = None;
            for (operand, i) in same.iter().zip(&mut indices) {
                let shape = shape(&vinst.inst, operand);
                let register = self.register(code, vinst, operand, i)?;
                let number = *number.get_or_insert_with(|| shape.number(register, operand.part));
                if shape.register(number, operand.part) != register {
                    return Err(AllocError::Unsound(format!("part {} of {number} in {register}", operand.part)));
                }
                group.set(operand.place, number.into());
            }
        }
        Ok(group)
    }

    fn moves(&mut self, point: ProgPoint, push: &mut dyn FnMut(Group)) -> Result<(), AllocError> {
        while let Some((from, to)) = self.cursor.next_move(point) {
            if from != to {
                push(self.movement(from, to)?.into());
            }
        }
        Ok(())
    }
}

fn shape(group: &Group, operand: &Operand<Vp1>) -> TupleShape {
    let member = group.insts.get(usize::from(operand.place.inst));
    member.and_then(|member| slot_at(member, operand.place.field)).map_or(TupleShape::Single, |slot| slot.shape)
}

impl Writer<'_> {
    /// Returns the hardware register of the operand with index `i`, which must be the next one in code order.
    fn register(
        &mut self,
        code: &VCode<Vp1>,
        inst: &VInst<Vp1>,
        operand: &Operand<Vp1>,
        i: u32,
    ) -> Result<u8, AllocError> {
        let missing = |reg: VReg| AllocError::Unsound(format!("{reg:?} has no register"));
        let reg = operand.reg;
        if matches!(code.vregs.get(reg.0 as usize), Some(Class::C | Class::Vc)) {
            return self.flags.number(reg).ok_or_else(|| missing(reg));
        }
        if is_repeated(code, inst, i, self.files) {
            return self.files.fixed(i).ok_or_else(|| missing(reg));
        }
        if let Access::UpdateInPlace(_) = operand.access {
            self.cursor.next_place();
        }
        let place = self.cursor.next_place().ok_or_else(|| missing(reg))?;
        match self.home(place) {
            Some(Home::R(number)) => {
                self.registers = self.registers.max(number as u32 + 1);
                Ok(number as u8)
            }
            Some(Home::V(number)) => Ok(number as u8),
            Some(Home::Frame(_)) | None => Err(missing(reg)),
        }
    }

    fn home(&self, place: Allocation) -> Option<Home> {
        match (place.as_reg(), place.as_stack()) {
            (Some(reg), _) => {
                let number = reg.hw_enc() as u64;
                Some(if reg.class() as usize == 0 { Home::R(number) } else { Home::V(number) })
            }
            (None, Some(slot)) => Some(Home::Frame(self.base + 4 * slot.index() as u64)),
            (None, None) => None,
        }
    }

    fn movement(&mut self, from: Allocation, to: Allocation) -> Result<Inst, AllocError> {
        let inst = Inst::new;
        let load = |opcode, at| inst(opcode).with(SRC1, FRAME_BASE).with(IMM, at);
        let store = |opcode, at| inst(opcode).with(DST, FRAME_BASE).with(IMM, at);
        let (source, target) = (self.home(from), self.home(to));
        if let Some(Home::Frame(_)) = target {
            self.spills += 1;
        }
        if let Some(Home::R(number)) = target {
            self.registers = self.registers.max(number as u32 + 1);
        }
        Ok(match (source, target) {
            (Some(Home::R(from)), Some(Home::R(to))) => inst(Opcode::OR_RI).with(DST, to).with(SRC1, from),
            (Some(Home::V(from)), Some(Home::V(to))) => inst(Opcode::MOV_V).with(DST, to).with(SRC1, from),
            (Some(Home::R(from)), Some(Home::Frame(at))) => store(Opcode::STS, at).with(SRC1, from),
            (Some(Home::V(from)), Some(Home::Frame(at))) => store(Opcode::STVH, at).with(SRC1, from),
            (Some(Home::Frame(at)), Some(Home::R(to))) => load(Opcode::LDS, at).with(DST, to),
            (Some(Home::Frame(at)), Some(Home::V(to))) => load(Opcode::LDVH, at).with(DST, to),
            _ => return Err(AllocError::Unsound(format!("a move from {from} to {to}"))),
        })
    }
}
