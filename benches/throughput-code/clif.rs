//! Translation of the benchmark's functions to Cranelift IR. For this machine, Cranelift supports
//! neither vectors of halves nor 32-bit vectors. The translation therefore uses 16-byte vectors:
//! four `f32` in place of two halves, and sixteen bytes in place of four.

use std::fmt::Write;
use std::sync::Arc;

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use halfbyte::Module;
use halfbyte::ir::{Attr, Inst, Kernel, Op, Type, Value, ValueDef};

/// Size of a vector in bytes.
const VECTOR: i32 = 16;

/// Translates the functions of an IR text to Cranelift IR, value by value.
pub fn clif(ours: &str) -> Result<String, String> {
    let module = Module::parse(ours).map_err(|errors| errors.to_string())?;
    let mut text = String::new();
    for kernel in &module.ir().kernels {
        Writer { kernel, text: &mut text, extra: kernel.values.len() }.function()?;
    }
    Ok(text)
}

/// Returns the Cranelift target for this computer, with optimisation for speed.
pub fn isa() -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    for (name, value) in [("opt_level", "speed"), ("enable_verifier", "false")] {
        flags.set(name, value).map_err(|error| error.to_string())?;
    }
    let isa = cranelift_native::builder().map_err(str::to_owned)?;
    isa.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
}

/// Parses and compiles functions in Cranelift IR, and returns the size of their code in bytes.
pub fn compile(text: &str, isa: &OwnedTargetIsa) -> Result<usize, String> {
    let functions = cranelift_reader::parse_functions(text).map_err(|error| error.to_string())?;
    let isa = Arc::clone(isa);
    let (mut context, mut control, mut bytes) = (Context::new(), ControlPlane::default(), 0);
    for function in functions {
        context.clear();
        context.func = function;
        let code = context.compile(&*isa, &mut control).map_err(|error| format!("{:?}", error.inner))?;
        bytes += code.code_buffer().len();
    }
    Ok(bytes)
}

struct Writer<'a> {
    kernel: &'a Kernel,
    text: &'a mut String,
    /// The number of the next Cranelift value that has no counterpart in our IR.
    extra: usize,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        // The result can be ignored, because writing to a string cannot fail.
        let _ = writeln!(self.text, "    {line}");
    }

    /// Defines a Cranelift value that has no counterpart in our IR, and returns its name.
    fn extra(&mut self, what: &str) -> String {
        let name = format!("v{}", self.extra);
        self.extra += 1;
        self.line(&format!("{name} = {what}"));
        name
    }

    fn typed(&self, values: &[Value]) -> Result<Vec<String>, String> {
        values.iter().map(|&value| Ok(format!("{value}: {}", ty(self.kernel.ty(value))?))).collect()
    }

    fn function(&mut self) -> Result<(), String> {
        let kernel = self.kernel;
        let entry = kernel.entry();
        let is_param = |value: &Value| matches!(kernel.values[*value].def, ValueDef::Param(_));
        let params: Vec<Value> = kernel.values.keys().filter(is_param).collect();
        // In Cranelift IR, the item index is an additional parameter.
        let item = self.extra;
        self.extra += 1;
        let mut params = self.typed(&params)?;
        params.push(format!("v{item}: i32"));
        let types: Vec<&str> = params.iter().filter_map(|param| param.split(": ").nth(1)).collect();
        let _ = writeln!(self.text, "function %{}({}) system_v {{", kernel.name, types.join(", "));
        for &block in &kernel.layout {
            let params = match Some(block) == entry {
                true => params.clone(),
                false => self.typed(kernel.block_params(block))?,
            };
            let _ = writeln!(self.text, "{block}({}):", params.join(", "));
            for &inst in &kernel.blocks[block].insts {
                self.inst(inst, item)?;
            }
        }
        let _ = writeln!(self.text, "}}\n");
        Ok(())
    }

    fn inst(&mut self, inst: Inst, item: usize) -> Result<(), String> {
        let kernel = self.kernel;
        let (op, attr, args) = (kernel.insts[inst].op, kernel.insts[inst].attr, kernel.args(inst));
        let result = kernel.result(inst).map(|value| format!("{value} = ")).unwrap_or_default();
        let joined = || args.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        let line = match (op, attr, args) {
            (Op::ItemId, ..) => {
                let zero = self.extra("iconst.i32 0");
                format!("{result}bor v{item}, {zero}")
            }
            (Op::Const, Attr::Bits(bits), _) => format!("{result}iconst.i32 {bits}"),
            (Op::Load, Attr::Mem(mem), &[base, index]) => {
                let (ty, at) = (ty(kernel.result(inst).map_or(Type::I32, |value| kernel.ty(value)))?, mem.offset / 4);
                let address = self.address(base, index);
                format!("{result}load.{ty} {address}+{}", at * VECTOR)
            }
            (Op::Store, Attr::Mem(mem), &[value, base, index]) => {
                let address = self.address(base, index);
                format!("store {value}, {address}+{}", mem.offset / 4 * VECTOR)
            }
            (Op::Icmp, ..) => format!("{result}icmp ult {}", joined()),
            (Op::Br, ..) => format!("jump {}", self.targets(inst)),
            (Op::BrIf, _, &[condition]) => format!("brif {condition}, {}", self.targets(inst)),
            (Op::Ret, ..) => "return".to_owned(),
            _ => {
                let (_, name) = OPS.iter().find(|(ours, _)| *ours == op).ok_or("an op that Cranelift is not given")?;
                format!("{result}{name} {}", joined())
            }
        };
        self.line(&line);
        Ok(())
    }

    fn address(&mut self, base: Value, index: Value) -> String {
        let wide = self.extra(&format!("uextend.i64 {index}"));
        let shift = self.extra("iconst.i64 4");
        let scaled = self.extra(&format!("ishl {wide}, {shift}"));
        self.extra(&format!("iadd {base}, {scaled}"))
    }

    fn targets(&self, inst: Inst) -> String {
        let target = |call: &halfbyte::ir::BlockCall| {
            let args: Vec<String> = self.kernel.call_args(call).iter().map(Value::to_string).collect();
            format!("{}({})", call.block, args.join(", "))
        };
        self.kernel.targets(inst).iter().map(target).collect::<Vec<_>>().join(", ")
    }
}

#[rustfmt::skip]
const OPS: [(Op, &str); 13] = [
    (Op::Fadd, "fadd"), (Op::Fsub, "fsub"), (Op::Fmul, "fmul"), (Op::Ffma, "fma"), (Op::Fmin, "fmin"), (Op::Fmax, "fmax"),
    (Op::Add, "iadd"), (Op::Sub, "isub"), (Op::Xor, "bxor"), (Op::MinU, "umin"), (Op::MaxS, "smax"),
    (Op::AddSatU, "uadd_sat"), (Op::SubSatS, "ssub_sat"),
];

fn ty(ours: Type) -> Result<&'static str, String> {
    Ok(match ours {
        Type::F16X2 => "f32x4",
        Type::I8X4 => "i8x16",
        Type::I32 => "i32",
        Type::I1 => "i8",
        Type::PTR => "i64",
        _ => return Err(format!("the translation to Cranelift IR does not support the type {ours}")),
    })
}
