//! The support matrix: the instructions that each target selects for each op on each type. The matrix is measured by
//! compiling one minimal kernel for each entry, so it always agrees with the compiler.

mod kernels;
mod page;

use halfbyte::ir::diag::{Lines, Position};
use halfbyte::ir::{Op, Reason, Refusal, Span};
use halfbyte::pipeline::{Compiler, Options};
use halfbyte::{CompileError, Module, TARGETS, Target};
use halfbyte_isa::object::Loc;
use halfbyte_isel::Request;

pub use kernels::{OpForm, Variant};
pub use page::{page, table};

/// The support of an op on a type by one target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cell {
    /// The target has instructions for the op.
    Made {
        /// The mnemonics selected for the op, in order; empty if the op needs no instruction.
        instructions: Vec<String>,
        /// The number of work items for which the instructions compute the op.
        items: u32,
    },
    /// The target refuses the op, with this reason.
    Refused(String),
}

/// An op with its types and variant, and its support by each requested target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measured {
    /// The op with its types and variant.
    pub form: OpForm,
    /// The support by each target, in the order of the requested targets.
    pub cells: Vec<Cell>,
}

/// Measures the support of the given ops, in all types and variants, by the given targets.
pub fn measure(ops: &[Op], targets: &[Target]) -> Vec<Measured> {
    let options: Vec<Options> =
        targets.iter().map(|&target| Options { verify: false, ..Options::new(target) }).collect();
    let mut measured = Vec::new();
    for form in ops.iter().flat_map(|&op| OpForm::of(op)) {
        let sample = form.sample();
        let cells = match Module::parse(&sample.text) {
            Ok(module) => options.iter().map(|options| cell(&form, &module, sample.line, options)).collect(),
            // Unreachable in practice: a test checks that all sample kernels are well-formed.
            Err(wrong) => vec![Cell::Refused(wrong.to_string()); targets.len()],
        };
        measured.push(Measured { form, cells });
    }
    measured
}

/// Compiles a kernel for a target. Returns the support of the op on the given line of its text.
fn cell(form: &OpForm, module: &Module, line: u32, options: &Options) -> Cell {
    match made(module, line, options) {
        Ok((instructions, items)) => Cell::Made { instructions, items },
        Err(MeasureError::Lowered(error)) => Cell::Refused(refusal(form, line, &error)),
        Err(MeasureError::Selected(refused)) => {
            Cell::Refused(refused.map_or("refused".into(), |refused| reason(form, &refused)))
        }
        Err(MeasureError::Other(why)) => Cell::Refused(why),
    }
}

/// Returns the mnemonics of the instructions that a target selects for one line of the first kernel, and the number of
/// items for which they compute it. Returns `None` if the target refuses the kernel.
pub fn of_line(module: &Module, line: u32, target: Target) -> Option<(Vec<String>, u32)> {
    made(module, line, &Options::new(target)).ok()
}

/// The reason why a line has no measured instructions.
enum MeasureError {
    Lowered(CompileError),
    Selected(Option<Refusal>),
    Other(String),
}

fn made(module: &Module, line: u32, options: &Options) -> Result<(Vec<String>, u32), MeasureError> {
    let Some(kernel) = module.ir().kernels.first() else { return Err(MeasureError::Other("no kernel".into())) };
    let lowered = Compiler::new(module, options).lower(kernel, &mut |_| {}).map_err(MeasureError::Lowered)?;
    let lines = Lines::new(module.text());
    let locate = |span: Span| {
        let Position { line, column } = lines.position(span.start);
        Loc { line: line as u32, column: column as u32 }
    };
    let request = Request::new(&lowered, options.target, &locate);
    let mut code = match TARGETS.select(request) {
        Ok(selected) => selected.code,
        Err(refused) => {
            let of_line = refused.iter().find(|refusal| locate(refusal.span).line == line).or(refused.first());
            return Err(MeasureError::Selected(of_line.cloned()));
        }
    };
    code.expand().map_err(MeasureError::Other)?;
    let of_op = code.locs().into_iter().zip(code.instructions()).filter(|(loc, _)| loc.line == line);
    let instructions = of_op.flat_map(|(_, text)| mnemonics(&text)).collect();
    Ok((instructions, lowered.packing.as_ref().map_or(1, |packing| packing.items)))
}

/// Returns the mnemonics of the instructions in one line of a listing.
fn mnemonics(text: &str) -> Vec<String> {
    let mnemonic = |text: &str| {
        let guarded = text.trim_start().trim_start_matches('{');
        let mut words = guarded.split_whitespace().skip_while(|word| word.starts_with('@'));
        words.next().map(|word| word.trim_end_matches(';').to_owned())
    };
    text.split(" & ").filter_map(mnemonic).collect()
}

fn refusal(form: &OpForm, line: u32, error: &CompileError) -> String {
    match error {
        CompileError::Refused(refused) => {
            let of_line = refused.iter().find(|refused| refused.at.loc.line == line).or(refused.first());
            of_line.map_or_else(|| error.to_string(), |refused| reason(form, &refused.refusal))
        }
        error => error.to_string(),
    }
}

/// Formats the reason of a refusal. The reason names the refused op only if legalisation has
/// replaced the op of the kernel by another one.
fn reason(form: &OpForm, refusal: &Refusal) -> String {
    let other = refusal.op.filter(|(op, _)| *op != form.op).map(|(op, ty)| format!("`{}.{ty}`: ", op.name()));
    let reason = match &refusal.reason {
        Some(Reason { why, help: Some(help) }) => format!("{why}; {help}"),
        Some(Reason { why, help: None }) => why.to_string(),
        None => "it has no such instruction, and no expansion is known".into(),
    };
    other.unwrap_or_default() + &reason
}
