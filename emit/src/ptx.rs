//! Layout of PTX code: turns the blocks of a kernel into the body of an entry, with labels at
//! branch targets. Writes the entries of several kernels to one file.

use std::fmt::{self, Write};

use arrayvec::ArrayVec;
use halfbyte_abi::{self as abi, ParamKind, Sm};
use halfbyte_isa::object::{KernelInfo, Loc, PartialAccess};
use halfbyte_isa::ptx::meaning::strength;
use halfbyte_isa::ptx::module::{
    BlockLimit, Body, Entry, Functions, Kernel, LabelName, Linkage, Param, PointerTarget, Registers,
};
use halfbyte_isa::ptx::names::{identifier, register_prefix};
use halfbyte_isa::ptx::text::{Writer, inst_text};
use halfbyte_isa::ptx::types::{Space, Type};
use halfbyte_isa::ptx::{self, Guard, Inst, Label, Opcode, Operand, Reg};
use halfbyte_isa::row::{InstClass, OperandRole};
use halfbyte_isel::mach::{MachBlock, MachFunc, MachInst};
use halfbyte_isel::vcode::{BlockIndex, Machine};
use halfbyte_isel::{AllocatedCode, Ptx, PtxExtra};

use crate::emitter::{Emitter, KernelCode, WORD, downcast};
use crate::error::LayoutError;
use crate::latch_copies::{RegisterInst, hoist_latch_copies};
use crate::straighten::{ControlInst, lengths, straighten};

/// Size in bytes of the largest scalar type that a PTX parameter can have.
const LARGEST_TYPE: u32 = 8;

impl Emitter for Ptx {
    fn layout(&self, func: Box<dyn AllocatedCode>) -> Result<KernelCode, LayoutError> {
        layout(downcast(func)?)
    }

    fn write_head(&self, out: &mut String, code: &KernelCode) -> fmt::Result {
        let Some(ptx::PtxKernel { kernel, .. }) = code.words.downcast_ref() else { return Ok(()) };
        let (major, minor) = kernel.version;
        writeln!(out, " of PTX {major}.{minor} for {}", kernel.target)?;
        kernel.entry.params.iter().try_for_each(|param| writeln!(out, "// {param}"))
    }

    fn lines(&self, code: &KernelCode) -> String {
        code.words.downcast_ref().map_or(String::new(), |code: &ptx::PtxKernel| labelled(&code.kernel.entry))
    }
}

/// Formats the instructions of an entry, one for each line, with each label on a line of its own.
fn labelled(entry: &Entry) -> String {
    let mut lines = String::new();
    let mut labels = entry.body.labels.iter().peekable();
    for (place, inst) in entry.body.insts.iter().enumerate() {
        while let Some(label) = labels.next_if(|label| label.at as usize <= place) {
            lines += &format!("{}:\n", label.name);
        }
        lines += &format!("{WORD}{}\n", inst_text(inst, entry));
    }
    lines
}

fn layout(func: MachFunc<Ptx>) -> Result<KernelCode, LayoutError> {
    let MachFunc { signature, blocks, extra, .. } = func;
    let (frame, variables) = (extra.frame(), extra.variables(&signature));
    let PtxExtra { sm, max_items, along_x, block, types, .. } = extra;
    let split = |MachBlock { insts, parts }: MachBlock<Ptx>| (insts, parts);
    let (mut blocks, of_blocks): (Vec<_>, Vec<_>) = blocks.into_iter().map(split).unzip();
    hoist_latch_copies(&mut blocks);
    straighten(&mut blocks);
    guard_strong_accesses(&mut blocks);
    let lengths = lengths(&blocks);
    let total = lengths.iter().sum();
    let (mut insts, mut locs): (Vec<Inst>, Vec<Loc>) = (Vec::with_capacity(total), Vec::with_capacity(total));
    let mut parts = Vec::new();
    let mut starts = Vec::with_capacity(blocks.len());
    for ((block, length), of_block) in blocks.into_iter().zip(lengths).zip(of_blocks) {
        let start = insts.len() as u32;
        starts.push(start);
        // Only branches at the end of a block are omitted, so the indices of the instructions
        // before the omitted branches stay valid.
        parts.extend(of_block.iter().map(|part| PartialAccess { word: start + part.word, ..*part }));
        for MachInst { mut inst, target, loc } in block.into_iter().take(length) {
            target.into_iter().for_each(|target| Ptx::set_target(&mut inst, target));
            insts.push(inst);
            locs.push(loc);
        }
    }
    let kernel = || signature.name().to_owned();
    let labels = place_labels(&mut insts, &starts).map_err(|block| {
        let blocks = starts.len();
        LayoutError::Block { kernel: kernel(), block, blocks }
    })?;
    let registers = number_registers(&mut insts, &types);
    let registers = registers.ok_or_else(|| LayoutError::Registers { kernel: kernel() })?;
    let entry = Entry {
        name: identifier(signature.name()).into_owned(),
        linkage: Linkage::Visible,
        params: signature.given().iter().map(param).collect(),
        blocks: block.map_or(BlockLimit::Any, BlockLimit::Exactly),
        hints: Vec::new(),
        body: Body { registers, frame, insts, labels, ..Body::default() },
        variables,
        functions: Functions::default(),
    };
    let kernel = Kernel::for_sm(sm, entry);
    let info = KernelInfo {
        registers: kernel.entry.body.registers.count(),
        signature,
        local_bytes: 0,
        tiles: None,
        max_items: u32::try_from(max_items).unwrap_or(u32::MAX),
        shared_bytes: None,
        scratch_bytes: 0,
        along_x,
    };
    Ok(KernelCode { info, words: ptx::PtxKernel { sm, kernel }.into(), locs, parts, stats: Vec::new() })
}

/// Maximum number of instructions on a side of a branch that are predicated.
const MOST_GUARDED: usize = 64;

/// Predicates strong accesses in place of branching around them, because a branch would diverge the
/// lanes of a warp. The other side of the branch may contain instructions, but no strong accesses.
fn guard_strong_accesses(blocks: &mut [Vec<MachInst<Ptx>>]) {
    for at in 0..blocks.len() {
        let Some(Fork { branch, guard, sides }) = fork(blocks, at) else { continue };
        for (number, count, not) in sides {
            let Some(side) = blocks.get_mut(number) else { continue };
            side.truncate(count);
            side.iter_mut().for_each(|inst| inst.inst.guard = Some(Guard { not, ..guard }));
        }
        if let Some(block) = blocks.get_mut(at) {
            block.truncate(branch);
        }
    }
}

/// A branch that can be replaced by predicates on the instructions of its sides.
struct Fork {
    /// Index of the branch in its block.
    branch: usize,
    guard: Guard,
    /// Each side of the branch: its block, its number of instructions without the final jump, and
    /// `true` if the negated predicate guards the side.
    sides: ArrayVec<(usize, usize, bool), 2>,
}

/// Returns the branch at the end of a block, if exactly one of its sides contains strong accesses
/// and the instructions of both sides can be predicated.
fn fork(blocks: &[Vec<MachInst<Ptx>>], at: usize) -> Option<Fork> {
    // Returns the next block with instructions. A branch to an empty block in front of this block
    // also leads to this block.
    let next = |from: usize| {
        let filled = blocks.iter().enumerate().skip(from + 1).find(|(_, block)| !block.is_empty());
        filled.map_or(blocks.len(), |(number, _)| number)
    };
    let leads = |inst: &MachInst<Ptx>, from: usize, to: usize| {
        inst.target.is_some_and(|target| (from + 1..=to).contains(&(target as usize)))
    };
    let jump = |number: usize| blocks.get(number).and_then(|block| block.last()).filter(|last| last.is_jump());
    let falls = |number: usize, to: usize| jump(number).is_none_or(|jump| leads(jump, number, to));
    let [first, second] = [next(at), next(next(at))];
    let block = blocks.get(at)?;
    let branch = block.len().checked_sub(1 + usize::from(jump(at).is_some_and(|jump| leads(jump, at, first))))?;
    let inst = block.get(branch).filter(|&inst| inst.inst.opcode == Opcode::BRA && leads(inst, first, second))?;
    let guard = inst.inst.guard?;
    let mut sides: ArrayVec<(usize, usize, bool), 2> = ArrayVec::new();
    let count = |number: usize| blocks.get(number).map_or(0, |block| block.len() - usize::from(jump(number).is_some()));
    sides.push((first, count(first), !guard.not));
    let mut last = first;
    if !falls(first, second) {
        let third = next(second);
        jump(first).filter(|&jump| leads(jump, second, third) && falls(second, third))?;
        sides.push((second, count(second), guard.not));
        last = second;
    }
    let mut strong = 0;
    for &(number, count, _) in &sides {
        let insts = blocks.get(number)?.get(..count).filter(|insts| insts.len() <= MOST_GUARDED)?;
        strong += u32::from(insts.iter().any(|inst| strength(&inst.inst).is_some()));
        if !insts.iter().all(|inst| may_be_guarded(&inst.inst, guard.reg)) {
            return None;
        }
    }
    let is_entered =
        |(other, block): (usize, &Vec<MachInst<Ptx>>)| other != at && block.iter().any(|inst| leads(inst, at, last));
    (strong == 1 && !blocks.iter().enumerate().any(is_entered)).then_some(Fork { branch, guard, sides })
}

/// Returns `true` if an instruction without a guard may get a guard with this predicate register.
fn may_be_guarded(inst: &Inst, reg: Reg) -> bool {
    let writes = || inst.registers().any(|(role, of)| role != OperandRole::Use && of == reg);
    inst.guard.is_none() && inst.row().class != InstClass::Control && !inst.is_collective() && !writes()
}

/// Returns the PTX parameter for a kernel parameter: the address of a buffer, a scalar, or an array
/// with the bytes of a vector.
fn param(param: &abi::Param) -> Param {
    let name = identifier(&param.name).into_owned();
    let plain = |ty| Param { name: name.clone(), ty, count: None, align: None, pointer: None };
    match param.kind {
        ParamKind::Buffer { align, .. } => {
            let target = PointerTarget { space: Some(Space::Global), align: Some(align) };
            Param { pointer: Some(target), ..plain(Type::U64) }
        }
        ParamKind::Scalar(ty) => match ty.bytes() {
            1 => plain(Type::B8),
            2 => plain(Type::B16),
            4 => plain(Type::B32),
            LARGEST_TYPE => plain(Type::B64),
            bytes => Param { count: Some(bytes), align: Some(bytes), ..plain(Type::B8) },
        },
    }
}

/// Creates labels for the blocks that are branch targets, and replaces the block numbers in branches by labels.
fn place_labels(insts: &mut [Inst], starts: &[u32]) -> Result<Vec<LabelName>, u32> {
    let mut is_target = vec![false; starts.len()];
    for label in insts.iter_mut().flat_map(targets) {
        *is_target.get_mut(label.0 as usize).ok_or(label.0)? = true;
    }
    let mut numbers = vec![Label(0); starts.len()];
    let mut labels = Vec::new();
    for ((number, &at), _) in numbers.iter_mut().zip(starts).zip(&is_target).filter(|&(_, &is_target)| is_target) {
        *number = Label(labels.len() as u32);
        // The label is unique, because names of kernels and parameters never begin with `$L_`.
        labels.push(LabelName { name: format!("$L_{}", labels.len()), at });
    }
    for label in insts.iter_mut().flat_map(targets) {
        *label = numbers.get(label.0 as usize).copied().unwrap_or(*label);
    }
    Ok(labels)
}

fn targets(inst: &mut Inst) -> impl Iterator<Item = &mut Label> {
    inst.operands.iter_mut().filter_map(|operand| match operand {
        Operand::Label(label) => Some(label),
        _ => None,
    })
}

/// Numbers and declares the registers that the instructions use. The registers are grouped by type
/// and ordered by their first use.
fn number_registers(insts: &mut [Inst], types: &[Type]) -> Option<Registers> {
    let ty = |reg: Reg| types.get(reg.0 as usize).copied().unwrap_or(Type::B32);
    let mut counts = [0u32; Type::ALL.len()];
    let mut places: Vec<Option<u32>> = vec![None; types.len()];
    let mut meet = |reg: Reg| {
        if let (Some(place @ None), Some(count)) = (places.get_mut(reg.0 as usize), counts.get_mut(ty(reg) as usize)) {
            *place = Some(*count);
            *count += 1;
        }
    };
    insts.iter().for_each(|inst| inst.visit_registers(|_, reg| meet(reg)));
    let mut registers = Registers::default();
    let mut firsts = [Reg(0); Type::ALL.len()];
    for ((&ty, &count), first) in Type::ALL.iter().zip(&counts).zip(&mut firsts).filter(|((_, count), _)| **count > 0) {
        // A 128-bit register has two register numbers, which the instructions always use together.
        let count = if ty == Type::B128 { count / 2 } else { count };
        *first = registers.declare(register_prefix(ty), ty, Some(count))?;
    }
    let name = |reg: Reg| {
        let first = firsts.get(ty(reg) as usize).map_or(0, |first| first.0);
        Reg(first + places.get(reg.0 as usize).copied().flatten().unwrap_or(0))
    };
    insts.iter_mut().for_each(|inst| inst.rename(|_, reg| name(reg)));
    Some(registers)
}

impl ControlInst for MachInst<Ptx> {
    fn target(&self) -> Option<BlockIndex> {
        self.target
    }

    fn set_target(&mut self, target: BlockIndex) {
        self.target = Some(target);
    }

    fn is_jump(&self) -> bool {
        self.inst.opcode == Opcode::BRA && self.inst.guard.is_none()
    }

    fn is_end(&self) -> bool {
        matches!(self.inst.opcode, Opcode::BRA | Opcode::RET | Opcode::EXIT) && self.inst.guard.is_none()
    }

    fn inverted(&self) -> Option<MachInst<Ptx>> {
        let conditional = self.inst.opcode == Opcode::BRA && self.inst.guard.is_some();
        let mut branch = self.clone();
        Ptx::invert(&mut branch.inst);
        conditional.then_some(branch)
    }
}

impl RegisterInst for MachInst<Ptx> {
    type Register = Reg;

    fn is_copy(&self) -> bool {
        let is_source = |operand: &Operand| matches!(operand, Operand::Register(_) | Operand::Number(_));
        self.inst.opcode == Opcode::MOV && self.is_unguarded() && self.inst.operands.iter().all(is_source)
    }

    fn is_unguarded(&self) -> bool {
        self.inst.guard.is_none()
    }

    fn visit_registers(&self, each: impl FnMut(OperandRole, Reg)) {
        self.inst.visit_registers(each);
    }
}

/// Writer that creates a PTX file kernel by kernel. It keeps only the kernels that have variables or functions.
pub struct PtxWriter {
    sm: Sm,
    text: Writer,
}

impl PtxWriter {
    /// Creates an empty file for an SM version. The buffer has `capacity` bytes. If `source` is the
    /// name of the source text, the file also contains line information.
    pub fn new(sm: Sm, source: Option<&str>, capacity: usize) -> PtxWriter {
        PtxWriter { sm, text: Writer::new(sm, source, capacity) }
    }

    /// Adds a kernel. A kernel for another SM version is ignored.
    pub fn add(&mut self, code: KernelCode) {
        if let Some(ptx::PtxKernel { sm, kernel }) = code.words.downcast()
            && sm == self.sm
        {
            self.text.add(kernel, &code.locs);
        }
    }

    /// Returns the text of the file.
    pub fn finish(self) -> String {
        self.text.finish()
    }
}

/// Returns a PTX file with the kernels for an SM version. If `source` is the name of the source
/// text, the file also contains line information.
pub fn ptx_text(kernels: Vec<KernelCode>, sm: Sm, source: Option<&str>) -> String {
    let mut writer = PtxWriter::new(sm, source, 0);
    kernels.into_iter().for_each(|code| writer.add(code));
    writer.finish()
}
