//! Instructions that GPUs approximate, and the tolerances for comparing their results with correctly rounded results.

use std::collections::BTreeMap;
use std::fmt;

use halfbyte::Module;
use halfbyte::import_ptx::ir_name;
use halfbyte_abi::{Elem, Type};
use halfbyte_ir::{self as ir, Attr, Kernel, Op};
use halfbyte_isa::ptx::module::Body;
use halfbyte_isa::ptx::row::{Bound, Distance, InstClass};
use halfbyte_isa::ptx::text::ParsedFile;
use halfbyte_isa::ptx::types::Token;
use halfbyte_isa::ptx::{Inst, NAME, Opcode, template};

use crate::tolerance::{Format, Margin, Tolerance};

/// A PTX instruction that GPUs approximate. A PTX kernel contains the instruction itself; an IR
/// kernel contains an op that is compiled to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Approximation {
    opcode: Opcode,
    words: Vec<Token>,
}

impl Approximation {
    /// Returns the approximation of an instruction, or `None` if the instruction is exact.
    fn of_inst(inst: &Inst) -> Option<Approximation> {
        inst.row().is_approximate().then(|| Approximation { opcode: inst.opcode, words: inst.modifiers.to_vec() })
    }

    /// Returns the PTX instruction to which an op of the IR corresponds, or `None` if that
    /// instruction is exact. For an op on halves, the result is the PTX instruction on halves. The
    /// PTX that halfbyte generates for the op computes in f32 and is at least as accurate.
    fn of_op(op: Op, ty: Type) -> Option<Approximation> {
        let (of_f32, of_f16, of_bf16) = match op {
            Op::Fexp2 => (Opcode::EX2_F32, Opcode::EX2_F16, Opcode::EX2_BF16),
            Op::Ftanh => (Opcode::TANH_F32, Opcode::TANH_F16, Opcode::TANH_BF16),
            Op::Flog2 => (Opcode::LG2_F32, Opcode::LG2_F32, Opcode::LG2_F32),
            Op::Frsqrt => (Opcode::RSQRT_F32, Opcode::RSQRT_F32, Opcode::RSQRT_F32),
            Op::Fsin => (Opcode::SIN_F32, Opcode::SIN_F32, Opcode::SIN_F32),
            Op::Fcos => (Opcode::COS_F32, Opcode::COS_F32, Opcode::COS_F32),
            _ => return None,
        };
        let opcode = match ty.elem() {
            Elem::F16 => of_f16,
            Elem::BF16 => of_bf16,
            _ => of_f32,
        };
        let ty = Token::from_text(ty.name())?;
        let needs_ftz = opcode == Opcode::EX2_BF16;
        Some(Approximation {
            opcode,
            words: [Token::Approx].into_iter().chain(needs_ftz.then_some(Token::Ftz)).chain([ty]).collect(),
        })
    }

    /// Returns the floating-point format of the instruction's result.
    fn format(&self) -> Option<Format> {
        self.words.iter().find_map(|word| if let Token::Type(ty) = word { Format::from_name(ty.name()) } else { None })
    }

    fn bounds(&self) -> impl Iterator<Item = &'static Bound> {
        self.opcode.row().bounds(&self.words)
    }
}

impl fmt::Display for Approximation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.opcode.row().mnemonic)?;
        self.words.iter().try_for_each(|word| word.fmt(f))
    }
}

/// Returns the kernels of a module that contain approximated instructions, by name. Each list names an instruction
/// once. PTX kernels are searched as PTX, because some approximated instructions are imported as exact ops of the IR.
/// `read` is the parsed text of a PTX module.
pub fn approximations(module: &Module, read: Option<&ParsedFile>) -> BTreeMap<String, Vec<Approximation>> {
    let mut found = BTreeMap::<String, Vec<Approximation>>::new();
    let mut add = |name: String, approximation: Approximation| {
        let of_kernel = found.entry(name).or_default();
        if !of_kernel.contains(&approximation) {
            of_kernel.push(approximation);
        }
    };
    if let Some(read) = read {
        let has_one = |body: &Body| body.insts.iter().any(|inst| Approximation::of_inst(inst).is_some());
        let entries = read.module.entries.iter().zip(read.module.kernels_with(has_one));
        for (entry, _) in entries.filter(|(_, has_one)| *has_one) {
            let insts = entry.reached_bodies().flat_map(|body| &body.insts);
            insts.filter_map(Approximation::of_inst).for_each(|inst| add(ir_name(&entry.name), inst));
        }
        return found;
    }
    for kernel in &module.ir().kernels {
        of_kernel(kernel).for_each(|found| add(kernel.name.clone(), found));
    }
    found
}

/// Returns `true` if a kernel has an instruction that GPUs approximate.
pub fn is_approximate(kernel: &Kernel) -> bool {
    of_kernel(kernel).next().is_some()
}

fn of_kernel(kernel: &Kernel) -> impl Iterator<Item = Approximation> {
    let insts = kernel.layout.iter().filter_map(|&block| kernel.blocks.get(block)).flat_map(|block| &block.insts);
    insts.filter_map(|&inst| {
        let data = kernel.insts.get(inst)?;
        match data.attr {
            Attr::Intrinsic(_) => Approximation::of_inst(&named(kernel, inst)?),
            _ => Approximation::of_op(data.op, data.ty),
        }
    })
}

/// Returns `true` if an instruction converts an address or queries its state space.
pub(crate) fn is_of_addresses(kernel: &Kernel, inst: ir::Inst) -> bool {
    named(kernel, inst).is_some_and(|inst| inst.row().class == InstClass::Address)
}

/// Returns the PTX instruction that an intrinsic names.
fn named(kernel: &Kernel, inst: ir::Inst) -> Option<Inst> {
    let Attr::Intrinsic(text) = kernel.insts.get(inst)?.attr else { return None };
    let of = kernel.intrinsics.get(text)?;
    if of.target != NAME {
        return None;
    }
    let register = |ty: Type| template::register_of(ty.bits());
    let operands: Option<Vec<_>> = kernel.args(inst).iter().map(|&arg| register(kernel.ty(arg))).collect();
    template::parse(&of.text, register(kernel.insts.get(inst)?.ty)?, &operands?).ok()
}

/// Returns the tolerance for the results of these instructions in a format. A result is accepted if
/// it is within the bound that the PTX manual gives for at least one of them. Returns `None` if the
/// list is empty; then the results must be bit-identical.
///
/// # Errors
/// Fails if the manual has no bound for one of the instructions in this format.
pub fn tolerance_of(approximations: &[Approximation], format: Format) -> Result<Option<Tolerance>, String> {
    let Some(first) = approximations.first() else { return Ok(None) };
    let of_format = || approximations.iter().filter(|approximation| approximation.format() == Some(format));
    if of_format().next().is_none() {
        return Err(format!("the manual's bound for `{first}` does not apply to type {}", format.name()));
    }
    if let Some(unknown) = of_format().find(|approximation| approximation.bounds().next().is_none()) {
        return Err(format!("the manual has no bound for `{unknown}`"));
    }
    let margins = of_format().flat_map(Approximation::bounds).map(margin).collect();
    let said = of_format().map(|approximation| {
        let bounds: Vec<String> = approximation.bounds().map(Bound::to_string).collect();
        format!("{} of `{approximation}`", bounds.join(", "))
    });
    let said = format!("the manual's bound, {}", said.collect::<Vec<_>>().join("; "));
    Ok(Some(Tolerance::new(format, margins, said)))
}

/// Returns the accepted distance between a GPU's result and the evaluator's result. The evaluator's result is at most
/// half an ulp from the exact result, so half an ulp is added to the manual's bound.
fn margin(bound: &Bound) -> Margin {
    let (absolute, relative, ulps) = match bound.distance {
        Distance::Ulps(ulps) => (0.0, 0.0, ulps.into()),
        Distance::Relative(power) => (0.0, power.exp2(), 0.0),
        Distance::Absolute(power) => (power.exp2(), 0.0, 0.0),
    };
    Margin::Distance { absolute, relative, ulps: ulps + 0.5 }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use halfbyte::pipeline::{Options, compile_ptx};

    fn of(text: &str) -> Vec<Approximation> {
        let module = Module::parse(text).unwrap();
        approximations(&module, None).remove("k").unwrap_or_default()
    }

    fn format(name: &str) -> Format {
        Format::from_name(name).unwrap()
    }

    fn kernel(ty: &str, ops: &[&str]) -> Vec<Approximation> {
        of(&text(ty, ops))
    }

    fn text(ty: &str, ops: &[&str]) -> String {
        let op = |(n, op): (usize, &&str)| format!("  %r{n} = {op}.{ty} %a\n  store %r{n}, %y[{n}]\n");
        let ops: String = ops.iter().enumerate().map(op).collect();
        format!("kernel @k(%a: {ty}, %y: out {ty}) {{\n^entry:\n{ops}  ret\n}}\n")
    }

    #[test]
    fn ops_are_the_instructions_that_they_become() {
        let texts = |list: &[Approximation]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let all = kernel("f32", &["fexp2", "flog2", "frsqrt", "fsin", "fcos", "ftanh", "fexp2"]);
        let names = ["ex2", "lg2", "rsqrt", "sin", "cos", "tanh"].map(|name| format!("{name}.approx.f32"));
        assert_eq!(texts(&all), names);
        assert_eq!(texts(&kernel("bf16x2", &["fexp2", "ftanh"])), ["ex2.approx.ftz.bf16x2", "tanh.approx.bf16x2"]);
        assert_eq!(texts(&kernel("f16", &["fexp2", "ftanh"])), ["ex2.approx.f16", "tanh.approx.f16"]);
        assert!(kernel("f32", &["fsqrt", "fneg"]).is_empty());
        let options = Options::new(halfbyte::ptx(halfbyte::Sm::SM_90));
        let ops = ["fexp2", "flog2", "frsqrt", "fsin", "fcos", "ftanh"];
        let ptx = compile_ptx(&text("f32", &ops), &options, None, &mut |_| {}).unwrap();
        for found in kernel("f32", &ops) {
            assert!(ptx.contains(&format!("{found} ")), "{found}: {ptx}");
        }
        for found in all.iter().chain(&kernel("bf16x2", &["fexp2"])) {
            assert_eq!(found.opcode.row().fit(&found.words), Ok(()), "{found}");
        }
    }

    #[test]
    fn intrinsics_name_approximated_instructions() {
        let kernel = |text: &str| {
            of(&format!(
                "kernel @k(%a: f32, %y: out f32) {{\n^entry:\n  %r = intrinsic.f32 {text}, %a\n  store %r, %y[0]\n  ret\n}}\n"
            ))
        };
        let found = kernel("ptx \"rcp.approx.ftz.f32 $d, $0\"");
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), ["rcp.approx.ftz.f32"]);
        for exact in ["ptx \"cvt.rmi.f32.f32 $d, $0\"", "ptx \"frob $d, $0\"", "halu \"MOV $d, $0\""] {
            assert!(kernel(exact).is_empty(), "{exact}");
        }
    }

    #[test]
    fn the_widest_bound_counts() {
        let allows = |list: &[Approximation], expected: f32, found: f32| {
            let near = tolerance_of(list, format("f32")).unwrap().unwrap();
            near.allows(expected.to_bits().into(), found.to_bits().into())
        };
        let up = |from: f32, by: u32| f32::from_bits(from.to_bits() + by);
        let exp = kernel("f32", &["fexp2"]);
        assert!(allows(&exp, up(1.5, 2), 1.5) && !allows(&exp, up(1.5, 3), 1.5));
        // The bound of `lg2` is absolute for small results and relative for large ones.
        let log = kernel("f32", &["flog2"]);
        assert!(allows(&log, 1e-7, 0.0) && !allows(&log, 5e-7, 0.0));
        assert!(allows(&log, up(100.0, 2), 100.0) && !allows(&log, up(100.0, 5), 100.0));
        let both = kernel("f32", &["fexp2", "ftanh"]);
        assert!(allows(&both, 1.0004, 1.0) && !allows(&both, 1.0006, 1.0));
        let said = tolerance_of(&both, format("f32")).unwrap().unwrap().description;
        assert_eq!(said, "the manual's bound, 2 ulps of `ex2.approx.f32`; 2^-11 of the result of `tanh.approx.f32`");
    }

    #[test]
    fn rejects_instructions_without_a_manual_bound() {
        let exp = kernel("f32", &["fexp2"]);
        let said = |list: &[Approximation], name| tolerance_of(list, format(name)).unwrap_err();
        assert_eq!(said(&exp, "f16"), "the manual's bound for `ex2.approx.f32` does not apply to type f16");
        assert_eq!(tolerance_of(&[], format("f32")), Ok(None));
        assert!(tolerance_of(&kernel("f16", &["fexp2"]), format("f16x2")).unwrap().is_some());
        let words = vec![Token::Approx, Token::from_text("f64").unwrap()];
        let root = Approximation { opcode: Opcode::RSQRT_F64, words };
        assert_eq!(said(&[root], "f64"), "the manual has no bound for `rsqrt.approx.f64`");
    }
}
