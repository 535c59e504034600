//! Selection for machines that [`plain`](halfbyte_isa::plain) rows describe: an instruction or a few for an op, in one block, and
//! registers for it.

use std::fmt;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use halfbyte_abi::Signature;
use halfbyte_ir::{Inst as IrInst, Kernel, Refusal, Value};
use halfbyte_isa::object::Loc;
use halfbyte_isa::plain::{Field, Inst, MAX_OPERANDS, Plain, Role};

use crate::backend::{AllocatedCode, Request, Selected, SelectedCode};
use crate::regalloc::{AllocError, Allocator, Options};
use crate::signature;

/// A register that is yet to be allocated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(u32);

cranelift_entity::entity_impl!(Register, "v");

/// A machine whose registers serve for everything alike.
#[derive(Clone, Copy, Debug)]
pub struct Straight {
    /// Its instructions.
    pub isa: &'static Plain,
    /// How many registers there are to allocate, from register 0 on.
    pub registers: u32,
}

impl Straight {
    /// Selects a kernel: `lower` appends the instructions of each op, and gives none where it has no way to do it.
    ///
    /// # Errors
    /// Every op that has none.
    pub fn select(
        &self,
        request: Request<'_>,
        mut lower: impl FnMut(&mut Selection<'_>, IrInst) -> Option<()>,
    ) -> Result<Selected, Vec<Refusal>> {
        let Request { kernel, target, locate, .. } = request;
        let signature = signature(kernel, target.name()).map_err(|refusal| vec![refusal])?;
        let code = Virtual { machine: *self, signature, insts: Vec::new(), registers: 0 };
        let mut selection = Selection { kernel, code, loc: Loc::default(), values: SecondaryMap::new() };
        let mut refusals = Vec::new();
        for &inst in kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts) {
            let data = &kernel.insts[inst];
            selection.loc = locate(data.span);
            if lower(&mut selection, inst).is_none() {
                let op = Some((data.op, data.ty));
                refusals.push(Refusal { op, span: data.span, target: target.name(), reason: None });
                // What uses it is not wrong for that.
                selection.define(inst, Register(selection.code.registers));
                selection.code.registers += 1;
            }
        }
        match refusals.is_empty() {
            true => Ok(Selected { code: Box::new(selection.code), fired: Vec::new() }),
            false => Err(refusals),
        }
    }
}

/// A kernel on its way to instructions.
pub struct Selection<'k> {
    kernel: &'k Kernel,
    code: Virtual,
    loc: Loc,
    values: SecondaryMap<Value, PackedOption<Register>>,
}

impl<'k> Selection<'k> {
    /// The kernel.
    pub fn kernel(&self) -> &'k Kernel {
        self.kernel
    }

    /// The register of a value that an instruction before this one has defined.
    pub fn register(&self, value: Value) -> Option<u32> {
        self.values[value].expand().map(Register::as_u32)
    }

    /// Says which register has the result of an op.
    pub fn define(&mut self, inst: IrInst, register: Register) {
        if let Some(result) = self.kernel.result(inst) {
            self.values[result] = register.into();
        }
    }

    /// Appends an instruction: its operands in the order of the text, without the register that is written, which is a new one.
    /// Gives that register, where there is one; none too where operands are missing, or registers that nothing has written.
    pub fn push(&mut self, opcode: u8, operands: &[u32]) -> Option<Register> {
        let fields = self.code.machine.isa.row(opcode)?.fields;
        let def = fields.iter().any(|field| field.role == Role::Def).then_some(Register(self.code.registers));
        self.code.registers += u32::from(def.is_some());
        let mut inst = Inst { opcode, operands: [0; MAX_OPERANDS] };
        let mut given = operands.iter().copied();
        for (field, operand) in fields.iter().zip(&mut inst.operands) {
            *operand = match (field.role, def) {
                (Role::Def, Some(def)) => def.as_u32(),
                (Role::Use, _) => given.next().filter(|&register| register < self.code.registers)?,
                _ => given.next()?,
            };
        }
        self.code.insts.push((inst, self.loc));
        def
    }
}

/// A kernel's instructions, all in one block, on as many registers as it likes.
#[derive(Debug)]
struct Virtual {
    machine: Straight,
    signature: Signature,
    insts: Vec<(Inst, Loc)>,
    registers: u32,
}

impl Virtual {
    fn fields(&self, inst: Inst) -> &'static [Field] {
        self.machine.isa.row(inst.opcode).map_or(&[], |row| row.fields)
    }
}

impl SelectedCode for Virtual {
    /// A register is free again after the last instruction that reads what it holds.
    fn allocate(self: Box<Self>, _: &mut Allocator, _: &Options<'_>) -> Result<Box<dyn AllocatedCode>, AllocError> {
        let mut last: SecondaryMap<Register, usize> = SecondaryMap::new();
        for (n, &(inst, _)) in self.insts.iter().enumerate() {
            let operands = self.fields(inst).iter().zip(inst.operands);
            operands.filter(|(field, _)| field.role != Role::Imm).for_each(|(_, at)| last[Register(at)] = n);
        }
        let mut held: Vec<Option<Register>> = vec![None; self.machine.registers as usize];
        let mut words = Vec::with_capacity(self.insts.len());
        let mut used = 0;
        for (n, &(mut inst, _)) in self.insts.iter().enumerate() {
            let fields = self.fields(inst);
            for (field, operand) in fields.iter().zip(&mut inst.operands) {
                if field.role == Role::Use {
                    let register = held.iter().position(|&held| held == Some(Register(*operand)));
                    *operand = register.ok_or(AllocError::Operands(n as u32))? as u32;
                }
            }
            for slot in &mut held {
                *slot = slot.filter(|&register| last[register] > n);
            }
            for (field, operand) in fields.iter().zip(&mut inst.operands) {
                if field.role == Role::Def {
                    let registers = self.machine.registers;
                    let pressure = AllocError::Pressure { live: registers + 1, registers, bytes: 4, most: 0 };
                    let (free, slot) = held.iter_mut().enumerate().find(|(_, held)| held.is_none()).ok_or(pressure)?;
                    *slot = Some(Register(*operand));
                    *operand = free as u32;
                    used = used.max(*operand + 1);
                }
            }
            words.push(self.machine.isa.encode(inst).ok_or(AllocError::Operands(n as u32))?);
        }
        let locs = self.insts.iter().map(|&(_, loc)| loc).collect();
        Ok(Box::new(StraightCode { isa: self.machine.isa, signature: self.signature, words, locs, registers: used }))
    }

    fn locs(&self) -> Vec<Loc> {
        self.insts.iter().map(|&(_, loc)| loc).collect()
    }

    fn instructions(&self) -> Vec<String> {
        let name = |&(inst, _): &(Inst, Loc)| self.machine.isa.row(inst.opcode).map_or("", |row| row.name).to_owned();
        self.insts.iter().map(name).collect()
    }
}

impl fmt::Display for Virtual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &(inst, _) in &self.insts {
            let Some(row) = self.machine.isa.row(inst.opcode) else { continue };
            f.write_str(row.name)?;
            for (field, operand) in row.fields.iter().zip(inst.operands) {
                write!(f, " {}{operand}", if field.role == Role::Imm { '#' } else { 'v' })?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// A kernel's words.
#[derive(Debug)]
pub struct StraightCode {
    /// Its instruction set.
    pub isa: &'static Plain,
    /// Its name and parameters.
    pub signature: Signature,
    /// The words in order.
    pub words: Vec<u32>,
    /// Where each comes from.
    pub locs: Vec<Loc>,
    /// How many registers it has.
    pub registers: u32,
}

impl AllocatedCode for StraightCode {
    fn spills(&self) -> u32 {
        0
    }
}

impl fmt::Display for StraightCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words.iter().try_for_each(|&word| writeln!(f, "{}", self.isa.text(word)))
    }
}
