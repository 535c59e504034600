//! Readable text of selected and allocated machine code, for people who inspect the compiler's output.

use std::convert::Infallible;
use std::fmt;

use halfbyte_abi::Signature;
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::module::{BlockLimit, Body, Entry, Functions, LabelName, Linkage, Param, Registers};
use halfbyte_isa::ptx::names::register_prefix;
use halfbyte_isa::ptx::text::inst_text;
use halfbyte_isa::ptx::types::Type;
use halfbyte_isa::word::Field;
use halfbyte_isa::{halu, ptx};

use crate::backend::{AllocatedCode, SelectedCode};
use crate::halu::machine::{Halu, RegClass};
use crate::mach::MachFunc;
use crate::ptx::machine::{Ptx, PtxExtra};
use crate::regalloc::{self, AllocError, Allocate, Allocator};
use crate::vcode::{Access, BlockIndex, Edge, Machine, Terminator, VCode, VInst, VReg};
use crate::vp1::machine::Vp1;
use crate::vp1::{Class, Group, GroupRegisterPosition};

/// Functions that print machine code, which each target implements.
pub trait PrintMachine: Machine {
    /// Names of registers and blocks that the printed instructions refer to.
    type Names;

    /// Returns the names of the registers and blocks of selected code.
    fn names(signature: &Signature, extra: &Self::Extra, classes: &[Self::Class], blocks: usize) -> Self::Names;

    /// Returns the names of the registers and blocks of allocated code.
    fn func_names(func: &MachFunc<Self>) -> Self::Names {
        Self::names(&func.signature, &func.extra, &[], func.blocks.len())
    }

    /// Returns the text of a virtual register of the given class.
    fn reg(reg: VReg, class: Option<Self::Class>) -> String;

    /// Returns the name of an operand's field, such as `rd`.
    fn place(place: Self::RegisterPosition) -> String;

    /// Returns an instruction as assembly text.
    fn text(inst: &Self::Inst, names: &Self::Names) -> String;

    /// Returns a branch as assembly text without its targets. The caller prints the targets after it.
    fn branch(inst: &Self::Inst, names: &Self::Names) -> String {
        Self::text(inst, names)
    }

    /// Returns an instruction of allocated code as assembly text, with its branch target if any.
    fn text_to(inst: &Self::Inst, target: Option<BlockIndex>, names: &Self::Names) -> String {
        let target = target.map_or(String::new(), |target| format!(" -> b{target}"));
        format!("{}{target}", Self::text(inst, names))
    }

    /// Returns the numbers of registers, bytes and spills that follow a function's name in the text.
    fn figures(func: &MachFunc<Self>) -> String {
        let MachFunc { local_bytes, registers, spills, .. } = func;
        format!(": {registers} registers, {spills} spills, {local_bytes} bytes of local memory")
    }
}

impl PrintMachine for Halu {
    type Names = ();

    fn names(_: &Signature, _: &Self::Extra, _: &[RegClass], _: usize) {}

    fn reg(reg: VReg, class: Option<RegClass>) -> String {
        let mark = match class {
            Some(RegClass::Pred) => ".p",
            Some(RegClass::Pair) => ".d",
            Some(RegClass::Quad) => ".q",
            Some(RegClass::Word) | None => "",
        };
        format!("v{}{mark}", reg.0)
    }

    fn place(field: Field) -> String {
        field.name.to_owned()
    }

    fn text(inst: &halu::Inst, (): &()) -> String {
        inst.to_string()
    }
}

impl PrintMachine for Vp1 {
    type Names = ();

    fn names(_: &Signature, _: &Self::Extra, _: &[Class], _: usize) {}

    fn reg(reg: VReg, class: Option<Class>) -> String {
        let mark = match class {
            Some(Class::R) => ".r",
            Some(Class::C) => ".c",
            Some(Class::Vc) => ".vc",
            Some(Class::V) | None => "",
        };
        format!("v{}{mark}", reg.0)
    }

    fn place(place: GroupRegisterPosition) -> String {
        match place.inst {
            0 => place.field.name.to_owned(),
            inst => format!("{}:{}", inst, place.field.name),
        }
    }

    fn text(group: &Group, (): &()) -> String {
        group.to_string()
    }
}

/// PTX functions declare as many registers as they need, and the driver's assembler allocates hardware registers.
impl PrintMachine for Ptx {
    type Names = Entry;

    fn names(signature: &Signature, extra: &PtxExtra, types: &[Type], blocks: usize) -> Entry {
        ptx_names(signature, extra, types, blocks)
    }

    fn func_names(func: &MachFunc<Ptx>) -> Entry {
        ptx_names(&func.signature, &func.extra, &func.extra.types, func.blocks.len())
    }

    fn reg(reg: VReg, ty: Option<Type>) -> String {
        format!("{}{}", register_prefix(ty.unwrap_or(Type::B32)), reg.0)
    }

    fn place(place: Infallible) -> String {
        match place {}
    }

    fn text(inst: &ptx::Inst, names: &Entry) -> String {
        inst_text(inst, names)
    }

    fn branch(inst: &ptx::Inst, names: &Entry) -> String {
        let Some(guard) = inst.guard else { return Self::text(inst, names) };
        let not = if guard.not { "!" } else { "" };
        format!("@{not}{}", Self::reg(guard.reg.into(), Some(Type::Pred)))
    }

    fn text_to(inst: &ptx::Inst, target: Option<BlockIndex>, names: &Entry) -> String {
        let mut inst = inst.clone();
        target.into_iter().for_each(|target| Ptx::set_target(&mut inst, target));
        Self::text(&inst, names)
    }

    fn figures(_: &MachFunc<Ptx>) -> String {
        String::new()
    }
}

/// Register operands are printed beside each instruction: `rd=v3 def` is a definition in field `rd`.
impl<M: PrintMachine> fmt::Display for VCode<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_vcode(f, self)
    }
}

impl<M: PrintMachine> fmt::Display for MachFunc<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_mach_func(f, self)
    }
}

impl<M: PrintMachine + Allocate> SelectedCode for VCode<M> {
    fn expand(&mut self) -> Result<(), String> {
        M::expand(self)
    }

    fn allocate(
        self: Box<Self>,
        allocator: &mut Allocator,
        options: &regalloc::Options<'_>,
    ) -> Result<Box<dyn AllocatedCode>, AllocError> {
        Ok(Box::new(allocator.allocate(*self, options)?))
    }

    fn instructions(&self) -> Vec<String> {
        let names = M::names(&self.signature, &self.extra, &self.vregs, self.blocks.len());
        self.insts.iter().map(|inst| M::text(&inst.inst, &names)).collect()
    }

    fn locs(&self) -> Vec<Loc> {
        self.insts.iter().map(|inst| inst.loc).collect()
    }
}

impl<M: PrintMachine> AllocatedCode for MachFunc<M> {
    fn spills(&self) -> u32 {
        self.spills
    }
}

fn fmt_vcode<M: PrintMachine>(f: &mut fmt::Formatter<'_>, code: &VCode<M>) -> fmt::Result {
    writeln!(f, "@{}", code.signature.name())?;
    let names = M::names(&code.signature, &code.extra, &code.vregs, code.blocks.len());
    let reg = |reg: &VReg| M::reg(*reg, code.vregs.get(reg.0 as usize).copied());
    let list = |regs: &[VReg]| regs.iter().map(reg).collect::<Vec<_>>().join(", ");
    let edge = |edge: &Edge| format!("b{}({})", edge.block, list(code.list(&edge.args)));
    let beside = |text: String, inst: &VInst<M>| {
        let operands = code.operands(inst).iter().map(|operand| {
            let part = if operand.part == 0 { String::new() } else { format!("[{}]", operand.part) };
            let access = match operand.access {
                Access::Use => String::new(),
                Access::Def => " def".into(),
                Access::UpdateInPlace(old) => format!(" replaces {}", reg(&old)),
            };
            format!("{}={}{part}{access}", M::place(operand.place), reg(&operand.reg))
        });
        match operands.collect::<Vec<_>>().join(", ") {
            operands if operands.is_empty() => text,
            operands => format!("{text:<40}  {operands}"),
        }
    };
    for (number, block) in code.blocks.iter().enumerate() {
        writeln!(f, "b{number}({}):", list(code.list(&block.params)))?;
        for inst in code.insts_of(block) {
            line(f, &beside(M::text(&inst.inst, &names), inst), inst.loc)?;
        }
        let terminator = match &block.terminator {
            Terminator::Exit => "exit".into(),
            Terminator::Jump(to) => format!("jump {}", edge(to)),
            Terminator::Branch { inst, then, otherwise } => {
                let branch = beside(M::branch(&inst.inst, &names), inst);
                format!("{branch} to {}, else {}", edge(then), edge(otherwise))
            }
        };
        line(f, &terminator, block.loc)?;
    }
    Ok(())
}

fn fmt_mach_func<M: PrintMachine>(f: &mut fmt::Formatter<'_>, func: &MachFunc<M>) -> fmt::Result {
    writeln!(f, "@{}{}", func.signature.name(), M::figures(func))?;
    let names = M::func_names(func);
    for (number, block) in func.blocks.iter().enumerate() {
        writeln!(f, "b{number}:")?;
        for inst in &block.insts {
            line(f, &M::text_to(&inst.inst, inst.target, &names), inst.loc)?;
        }
    }
    Ok(())
}

/// Builds an entry without instructions, whose names are used to print the kernel.
fn ptx_names(signature: &Signature, extra: &PtxExtra, registers: &[Type], blocks: usize) -> Entry {
    let mut declared = Registers::default();
    let mut numbers = (0..).zip(registers);
    while let Some((number, &ty)) = numbers.next() {
        declared.declare(Ptx::reg(VReg(number), Some(ty)), ty, None);
        // A 128-bit register counts as two registers in the numbering.
        if ty == Type::B128 {
            numbers.next();
        }
    }
    let param = |param: &halfbyte_abi::Param| Param {
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
        blocks: BlockLimit::Any,
        hints: Vec::new(),
        body: Body {
            registers: declared,
            labels: (0..blocks as u32).map(|at| LabelName { name: format!("b{at}"), at }).collect(),
            frame: extra.frame(),
            ..Body::default()
        },
        variables: extra.variables(signature),
        functions: Functions::default(),
    }
}

fn line(f: &mut fmt::Formatter<'_>, text: &str, loc: Loc) -> fmt::Result {
    if loc.is_known() {
        writeln!(f, "    {text:<72}  // {}:{}", loc.line, loc.column)
    } else {
        writeln!(f, "    {}", text.trim_end())
    }
}
