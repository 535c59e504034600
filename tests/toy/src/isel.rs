//! Selection, an instruction an op, and registers for it.

use std::fmt;

use halfbyte_abi::{ParamKind, Signature, Target, Type};
use halfbyte_ir::{Attr, Inst as IrInst, Kernel, Legality, Op, Refusal, Rule, Value};
use halfbyte_isa::object::Loc;
use halfbyte_isel::regalloc::{AllocError, Allocator, Options};
use halfbyte_isel::{AllocatedCode, Backend, Request, Scratch, Selected, SelectedCode, signature};

use crate::isa::{Inst, Opcode, SINK, TARGET};

/// Selection for the toy target.
#[derive(Clone, Copy, Debug)]
pub struct Toy;

/// The ops it has, all on one type.
const NATIVE: [Op; 6] = [Op::Const, Op::Add, Op::Mul, Op::Load, Op::Store, Op::ItemId];

impl Backend for Toy {
    fn legality(&self, _: Target) -> Legality {
        let native = NATIVE.into_iter().map(|op| (op, Type::I32)).chain([(Op::Ret, Type::I32)]);
        Legality::new(TARGET.name(), native, |_, _| None)
    }

    fn rules(&self) -> &'static [Rule] {
        &[]
    }

    fn check_intrinsics(&self, kernel: &Kernel, _: Target) -> Vec<Refusal> {
        let all = kernel.insts.values().filter(|data| data.op == Op::Intrinsic);
        let refusal = |span| Refusal { op: None, span, target: TARGET.name(), reason: None };
        all.map(|data| refusal(data.span)).collect()
    }

    fn select(&self, request: Request<'_>, _: &mut Scratch) -> Result<Selected, Vec<Refusal>> {
        let Request { kernel, locate, .. } = request;
        let signature = signature(kernel, TARGET.name()).map_err(|refusal| vec![refusal])?;
        let mut code = Virtual { signature, insts: Vec::new(), values: 0 };
        let mut registers = vec![None; kernel.values.len()];
        let mut refusals = Vec::new();
        for &block in &kernel.layout {
            for &inst in &kernel.blocks[block].insts {
                if lower(kernel, inst, locate, &mut code, &mut registers).is_none() {
                    let data = &kernel.insts[inst];
                    let op = Some((data.op, data.ty));
                    refusals.push(Refusal { op, span: data.span, target: TARGET.name(), reason: None });
                    // What uses it is not wrong for that.
                    if let Some(value) = kernel.result(inst) {
                        registers[value.as_u32() as usize] = Some(0);
                    }
                }
            }
        }
        match refusals.is_empty() {
            true => Ok(Selected { code: Box::new(code), fired: Vec::new() }),
            false => Err(refusals),
        }
    }
}

/// An instruction before it has registers: what it writes and reads, by number.
#[derive(Clone, Copy, Debug)]
struct VirtualInst {
    inst: Inst,
    def: Option<u32>,
    uses: [Option<u32>; 2],
    loc: Loc,
}

/// A kernel's instructions, all in one block, on as many registers as it likes.
#[derive(Debug)]
struct Virtual {
    signature: Signature,
    insts: Vec<VirtualInst>,
    values: u32,
}

/// Appends the instruction of an op; none where there is none.
fn lower(
    kernel: &Kernel,
    inst: IrInst,
    locate: &dyn Fn(halfbyte_ir::Span) -> Loc,
    code: &mut Virtual,
    registers: &mut [Option<u32>],
) -> Option<()> {
    let data = &kernel.insts[inst];
    let loc = locate(data.span);
    let use_of = |code: &mut Virtual, value: Value| -> Option<u32> {
        if let Some(param) = scalar_param(kernel, value) {
            let arg = Inst { imm: param, ..Inst::new(Opcode::Arg) };
            return code.push(arg, true, [None; 2], loc);
        }
        registers.get(value.as_u32() as usize).copied()?
    };
    let args = kernel.args(inst);
    let def = match (data.op, args) {
        (Op::Const, []) if data.ty == Type::I32 => {
            let [bits, ..] = kernel.const_bits(inst)?;
            let imm = i16::try_from(bits as u32 as i32).ok()?;
            code.push(Inst { imm: imm as u16, ..Inst::new(Opcode::Const) }, true, [None; 2], loc)
        }
        (Op::ItemId, []) => code.push(Inst::new(Opcode::Item), true, [None; 2], loc),
        (Op::Add | Op::Mul, &[a, b]) if data.ty == Type::I32 => {
            let opcode = if data.op == Op::Add { Opcode::Add } else { Opcode::Mul };
            let uses = [Some(use_of(code, a)?), Some(use_of(code, b)?)];
            code.push(Inst::new(opcode), true, uses, loc)
        }
        (Op::Load, &[base, index]) if data.ty == Type::I32 => {
            let imm = plain_buffer(kernel, inst, base)?;
            let uses = [Some(use_of(code, index)?), None];
            code.push(Inst { imm, ..Inst::new(Opcode::Load) }, true, uses, loc)
        }
        (Op::Store, &[value, base, index]) if kernel.ty(value) == Type::I32 => {
            let imm = plain_buffer(kernel, inst, base)?;
            let uses = [Some(use_of(code, index)?), Some(use_of(code, value)?)];
            code.push(Inst { imm, ..Inst::new(Opcode::Store) }, false, uses, loc);
            return Some(());
        }
        (Op::Ret, []) => {
            code.push(Inst::new(Opcode::Exit), false, [None; 2], loc);
            return Some(());
        }
        _ => return None,
    };
    let result = kernel.result(inst)?;
    *registers.get_mut(result.as_u32() as usize)? = def;
    Some(())
}

/// The number of the scalar parameter that a value is.
fn scalar_param(kernel: &Kernel, value: Value) -> Option<u16> {
    let param = kernel.param(value).filter(|param| param.kind == ParamKind::Scalar(Type::I32))?;
    number(kernel, &param.name)
}

/// The number of the buffer of words that an access is of, where it steps by its elements.
fn plain_buffer(kernel: &Kernel, access: IrInst, base: Value) -> Option<u16> {
    let param = kernel.param(base)?;
    let plain = kernel.insts[access].attr == Attr::Mem(kernel.default_mem(base, Type::I32));
    let words = matches!(param.kind, ParamKind::Buffer { elem: Type::I32, .. });
    (plain && words).then(|| number(kernel, &param.name))?
}

fn number(kernel: &Kernel, name: &str) -> Option<u16> {
    u16::try_from(kernel.params.iter().position(|param| param.name == name)?).ok()
}

impl Virtual {
    /// Appends an instruction; the number of what it writes, where it writes something.
    fn push(&mut self, inst: Inst, writes: bool, uses: [Option<u32>; 2], loc: Loc) -> Option<u32> {
        let def = writes.then_some(self.values);
        self.values += u32::from(writes);
        self.insts.push(VirtualInst { inst, def, uses, loc });
        def
    }
}

impl fmt::Display for Virtual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for VirtualInst { inst, def, uses, .. } in &self.insts {
            if let Some(def) = def {
                write!(f, "v{def} = ")?;
            }
            f.write_str(inst.row().name)?;
            for used in uses.iter().flatten() {
                write!(f, " v{used}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl SelectedCode for Virtual {
    fn allocate(self: Box<Self>, _: &mut Allocator, _: &Options<'_>) -> Result<Box<dyn AllocatedCode>, AllocError> {
        let mut last_use = vec![0; self.values as usize];
        for (n, VirtualInst { def, uses, .. }) in self.insts.iter().enumerate() {
            for value in uses.iter().chain([def]).flatten() {
                last_use[*value as usize] = n;
            }
        }
        let mut held: [Option<u32>; SINK as usize] = [None; _];
        let mut insts = Vec::new();
        for (n, &VirtualInst { mut inst, def, uses, loc }) in self.insts.iter().enumerate() {
            let register = |value| held.iter().position(|&held| held == Some(value)).unwrap_or(0) as u8;
            let [a, b] = uses.map(|used| used.map(register));
            match inst.opcode {
                Opcode::Store => (inst.a, inst.def) = (a.unwrap_or(0), b.unwrap_or(0)),
                _ => (inst.a, inst.b) = (a.unwrap_or(0), b.unwrap_or(0)),
            }
            for slot in &mut held {
                *slot = slot.filter(|&value| last_use[value as usize] > n);
            }
            if let Some(def) = def {
                let free = held.iter().position(Option::is_none);
                let live = held.len() as u32 + 1;
                let pressure = AllocError::Pressure { live, registers: SINK.into(), bytes: 4, most: 0 };
                let free = free.ok_or(pressure)?;
                held[free] = Some(def);
                inst.def = free as u8;
            }
            insts.push((inst, loc));
        }
        Ok(Box::new(Physical { signature: self.signature, insts }))
    }

    fn instructions(&self) -> Vec<String> {
        self.insts.iter().map(|inst| inst.inst.row().name.to_owned()).collect()
    }
}

/// A kernel's instructions, with registers.
#[derive(Debug)]
pub struct Physical {
    /// Its name and parameters.
    pub signature: Signature,
    /// In order, and where each comes from.
    pub insts: Vec<(Inst, Loc)>,
}

impl fmt::Display for Physical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.insts.iter().try_for_each(|(inst, _)| writeln!(f, "{inst}"))
    }
}

impl AllocatedCode for Physical {
    fn spills(&self) -> u32 {
        0
    }
}
