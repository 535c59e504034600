//! Machine functions as text, for people who look at what the compiler does.

use std::fmt;

use halfbyte_isa::abi::Signature;
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::Reg;
use halfbyte_isa::ptx::module::{Entry, LabelName, Linkage, Param, Registers, variables_of};
use halfbyte_isa::ptx::names::register_prefix;
use halfbyte_isa::ptx::text::inst_text;
use halfbyte_isa::ptx::types::Type;
use halfbyte_isa::word::Field;

use crate::backend::{AllocatedCode, SelectedCode};
use crate::mach::MachFunc;
use crate::machine::{Halu, Machine, RegClass, Vp1};
use crate::ptx;
use crate::regalloc::{self, AllocError, Allocator, Each};
use crate::vcode::{Access, Edge, Terminator, VCode, VInst, VReg};
use crate::vp1::{Class, Place};

/// How a machine's own things are shown.
pub trait Shown: Machine {
    /// What is put after the number of a virtual register.
    fn mark(class: Self::Class) -> &'static str;

    /// What an operand's place is called.
    fn place(place: Self::Place) -> String;
}

impl Shown for Halu {
    fn mark(class: RegClass) -> &'static str {
        match class {
            RegClass::Pred => ".p",
            RegClass::Word => "",
            RegClass::Pair => ".d",
            RegClass::Quad => ".q",
        }
    }

    fn place(field: Field) -> String {
        field.name.to_owned()
    }
}

impl Shown for Vp1 {
    fn mark(class: Class) -> &'static str {
        match class {
            Class::R => ".r",
            Class::V => "",
            Class::C => ".c",
            Class::Vc => ".vc",
        }
    }

    fn place(place: Place) -> String {
        match place.inst {
            0 => place.field.name.to_owned(),
            inst => format!("{}:{}", inst, place.field.name),
        }
    }
}

/// Beside each instruction stands what its register fields become: `rd=v3 def` is a definition in field `rd`.
impl<M: Shown> fmt::Display for VCode<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        selected(f, self)
    }
}

impl<M: Machine> fmt::Display for MachFunc<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        allocated(f, self)
    }
}

impl fmt::Display for ptx::Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        selected_ptx(f, self)
    }
}

impl fmt::Display for ptx::Func {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        finished_ptx(f, self)
    }
}

impl<M: Shown + Each> SelectedCode for VCode<M> {
    fn allocate(
        self: Box<Self>,
        allocator: &mut Allocator,
        options: &regalloc::Options<'_>,
    ) -> Result<Box<dyn AllocatedCode>, AllocError> {
        Ok(Box::new(allocator.allocate(*self, options)?))
    }

    fn instructions(&self) -> Vec<String> {
        self.insts.iter().map(|inst| inst.inst.to_string()).collect()
    }
}

impl<M: Machine> AllocatedCode for MachFunc<M> {
    fn spills(&self) -> u32 {
        self.spills
    }
}

impl SelectedCode for ptx::Code {
    fn expand(&mut self) -> Result<(), String> {
        ptx::expand::expand(self).map_err(|error| error.to_string())
    }

    fn allocate(
        self: Box<Self>,
        _: &mut Allocator,
        _: &regalloc::Options<'_>,
    ) -> Result<Box<dyn AllocatedCode>, AllocError> {
        Ok(Box::new(ptx::finish(*self)?))
    }

    fn instructions(&self) -> Vec<String> {
        let names = ptx_names(&self.signature, &self.registers, self.blocks.len());
        let insts = self.blocks.iter().flat_map(|block| &block.insts);
        insts.map(|placed| inst_text(&placed.inst, &names)).collect()
    }
}

/// The assembler gives registers to these.
impl AllocatedCode for ptx::Func {
    fn spills(&self) -> u32 {
        0
    }
}

fn selected<M: Shown>(f: &mut fmt::Formatter<'_>, code: &VCode<M>) -> fmt::Result {
    writeln!(f, "@{}", code.signature.name())?;
    let reg = |reg: &VReg| {
        let mark = code.vregs.get(reg.0 as usize).map_or("", |&class| M::mark(class));
        format!("v{}{mark}", reg.0)
    };
    let list = |regs: &[VReg]| regs.iter().map(reg).collect::<Vec<_>>().join(", ");
    let edge = |edge: &Edge| format!("b{}({})", edge.block, list(code.list(&edge.args)));
    let operands = |inst: &VInst<M>| {
        let operands = code.operands(inst).iter().map(|operand| {
            let part = if operand.part == 0 { String::new() } else { format!("[{}]", operand.part) };
            let access = match operand.access {
                Access::Use => String::new(),
                Access::Def => " def".into(),
                Access::Replace(old) => format!(" replaces {}", reg(&old)),
            };
            format!("{}={}{part}{access}", M::place(operand.place), reg(&operand.reg))
        });
        operands.collect::<Vec<_>>().join(", ")
    };
    for (number, block) in code.blocks.iter().enumerate() {
        writeln!(f, "b{number}({}):", list(code.list(&block.params)))?;
        let insts = code.insts.get(block.insts.start as usize..block.insts.end as usize).unwrap_or_default();
        for inst in insts {
            line(f, &format!("{:<40}  {}", inst.inst.to_string(), operands(inst)), inst.loc)?;
        }
        let terminator = match &block.terminator {
            Terminator::Exit => "exit".into(),
            Terminator::Jump(to) => format!("jump {}", edge(to)),
            Terminator::Branch { inst, then, otherwise } => {
                format!("{:<40}  {} to {}, else {}", inst.inst.to_string(), operands(inst), edge(then), edge(otherwise))
            }
        };
        line(f, &terminator, block.loc)?;
    }
    Ok(())
}

fn allocated<M: Machine>(f: &mut fmt::Formatter<'_>, func: &MachFunc<M>) -> fmt::Result {
    let MachFunc { signature, blocks, local_bytes, registers, spills, .. } = func;
    let name = signature.name();
    writeln!(f, "@{name}: {registers} registers, {spills} spills, {local_bytes} bytes of local memory")?;
    for (number, block) in blocks.iter().enumerate() {
        writeln!(f, "b{number}:")?;
        for inst in &block.insts {
            let target = inst.target.map_or(String::new(), |target| format!(" -> b{target}"));
            line(f, &format!("{}{target}", inst.inst), inst.loc)?;
        }
    }
    Ok(())
}

fn selected_ptx(f: &mut fmt::Formatter<'_>, code: &ptx::Code) -> fmt::Result {
    writeln!(f, "@{}", code.signature.name())?;
    let names = ptx_names(&code.signature, &code.registers, code.blocks.len());
    let list = |regs: &[Reg]| regs.iter().map(|&reg| register(&code.registers, reg)).collect::<Vec<_>>().join(", ");
    let edge = |edge: &ptx::Edge| format!("b{}({})", edge.block, list(&edge.args));
    for (number, block) in code.blocks.iter().enumerate() {
        writeln!(f, "b{number}({}):", list(&block.params))?;
        block.insts.iter().try_for_each(|placed| line(f, &inst_text(&placed.inst, &names), placed.loc))?;
        let terminator = match &block.terminator {
            ptx::Terminator::Exit => "exit".to_owned(),
            ptx::Terminator::Jump(to) => format!("jump {}", edge(to)),
            ptx::Terminator::Branch { guard, then, otherwise } => {
                let not = if guard.not { "!" } else { "" };
                let guard = register(&code.registers, guard.reg);
                format!("@{not}{guard} to {}, else {}", edge(then), edge(otherwise))
            }
        };
        line(f, &terminator, block.loc)?;
    }
    Ok(())
}

fn finished_ptx(f: &mut fmt::Formatter<'_>, func: &ptx::Func) -> fmt::Result {
    writeln!(f, "@{}", func.signature.name())?;
    let names = ptx_names(&func.signature, &func.registers, func.blocks.len());
    for (number, block) in func.blocks.iter().enumerate() {
        writeln!(f, "b{number}:")?;
        block.iter().try_for_each(|placed| line(f, &inst_text(&placed.inst, &names), placed.loc))?;
    }
    Ok(())
}

/// The name of a register: its type's letter, and its number among all.
fn register(registers: &[Type], reg: Reg) -> String {
    let ty = registers.get(reg.0 as usize).copied().unwrap_or(Type::B32);
    format!("{}{}", register_prefix(ty), reg.0)
}

/// An entry without instructions, whose names those of a kernel are shown by.
pub fn ptx_names(signature: &Signature, registers: &[Type], blocks: usize) -> Entry {
    let mut declared = Registers::default();
    for (number, &ty) in (0..).zip(registers) {
        declared.declare(register(registers, Reg(number)), ty, None);
    }
    let param = |param: &halfbyte_isa::abi::Param| Param {
        name: param.name.clone(),
        ty: Type::B8,
        count: None,
        align: None,
        pointer: None,
    };
    Entry {
        name: signature.name().to_owned(),
        linkage: Linkage::Plain,
        params: signature.given().iter().map(param).collect(),
        registers: declared,
        insts: Vec::new(),
        labels: (0..blocks as u32).map(|at| LabelName { name: format!("b{at}"), at }).collect(),
        variables: variables_of(signature),
    }
}

fn line(f: &mut fmt::Formatter<'_>, text: &str, loc: Loc) -> fmt::Result {
    if loc.is_known() {
        writeln!(f, "    {text:<72}  // {}:{}", loc.line, loc.column)
    } else {
        writeln!(f, "    {}", text.trim_end())
    }
}
