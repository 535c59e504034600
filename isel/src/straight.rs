//! Selection and register allocation for simple machines whose instructions are described by
//! [`plain`](halfbyte_isa::row_isa) rows. The code is one basic block, and each op becomes one or a few instructions.

use std::fmt;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use halfbyte_abi::Signature;
use halfbyte_ir::{Inst as IrInst, Kernel, Refusal, Value};
use halfbyte_isa::object::Loc;
use halfbyte_isa::row_isa::{Field, Inst, MAX_OPERANDS, Role, RowIsa};

use crate::backend::{AllocatedCode, Request, Selected, SelectedCode};
use crate::regalloc::{AllocError, Allocator, Options};
use crate::signature;

/// Virtual register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(u32);

cranelift_entity::entity_impl!(Register, "v");

/// Machine with one file of interchangeable registers, whose code is a single basic block.
#[derive(Clone, Copy, Debug)]
pub struct SingleBlockMachine {
    /// Instruction set that describes the machine's instructions.
    pub isa: &'static RowIsa,
    /// Number of registers that allocation may use, from register 0 on.
    pub registers: u32,
}

impl SingleBlockMachine {
    /// Selects the instructions of a kernel. `lower` appends the instructions of one op, and
    /// returns `None` if the machine does not support the op.
    ///
    /// # Errors
    /// Returns a refusal for every unsupported op.
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
                // The result of a refused op still gets a register, so that the uses of the result
                // are not refused, too.
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

/// State of instruction selection for one kernel.
pub struct Selection<'k> {
    kernel: &'k Kernel,
    code: Virtual,
    loc: Loc,
    values: SecondaryMap<Value, PackedOption<Register>>,
}

impl<'k> Selection<'k> {
    /// Returns the kernel whose instructions are being selected.
    pub fn kernel(&self) -> &'k Kernel {
        self.kernel
    }

    /// Returns the virtual register of a value, or `None` if no earlier instruction defined it.
    pub fn register(&self, value: Value) -> Option<u32> {
        self.values[value].expand().map(Register::as_u32)
    }

    /// Records the virtual register that holds the result of an op.
    pub fn define(&mut self, inst: IrInst, register: Register) {
        if let Some(result) = self.kernel.result(inst) {
            self.values[result] = register.into();
        }
    }

    /// Appends an instruction. `operands` are in the order of the assembly text, without the
    /// register that the instruction writes. A new register is created for the result.
    ///
    /// Returns the new register. Returns `None` if the instruction writes no register, if operands
    /// are missing, or if an operand is a register that no instruction has written.
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

/// Instructions of a kernel in one block, on an unlimited number of virtual registers.
#[derive(Debug)]
struct Virtual {
    machine: SingleBlockMachine,
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
    /// Assigns hardware registers in program order. A register is free after the last instruction that reads its value.
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
        Ok(Box::new(SingleBlockCode { isa: self.machine.isa, signature: self.signature, words, locs, registers: used }))
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

/// Encoded instructions of a kernel in a single basic block.
#[derive(Debug)]
pub struct SingleBlockCode {
    /// Instruction set to which the instructions belong.
    pub isa: &'static RowIsa,
    /// Name and parameters of the kernel.
    pub signature: Signature,
    /// Instruction words in order.
    pub words: Vec<u32>,
    /// Source location of each instruction word.
    pub locs: Vec<Loc>,
    /// Number of registers that the code uses.
    pub registers: u32,
}

impl AllocatedCode for SingleBlockCode {
    fn spills(&self) -> u32 {
        0
    }
}

impl fmt::Display for SingleBlockCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words.iter().try_for_each(|&word| writeln!(f, "{}", self.isa.text(word)))
    }
}
