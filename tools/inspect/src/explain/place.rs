//! Lookup of the op or value to explain: a value by its name, or an op by its position in the text.

use halfbyte_ir::diag::Lines;
use halfbyte_ir::text::{closest, print_inst};
use halfbyte_ir::{Inst, Kernel, Value, ValueDef};

use super::ExplainError;
use halfbyte::Module;

/// The op or value that an explanation is about.
pub(super) enum Subject {
    /// An op of the text.
    Op(Inst),
    /// A parameter of the kernel or of a block.
    Parameter(Value),
}

/// Maximum number of values that an error message lists.
const LISTED: usize = 12;

/// Finds the op or value to explain. `at` is a name, `%r`, or a position, `LINE` or `LINE:COLUMN`.
pub(super) fn find<'m>(
    module: &'m Module,
    at: &str,
    kernel: Option<&str>,
) -> Result<(&'m Kernel, Subject), ExplainError> {
    let kernels = &module.ir().kernels;
    let name = kernel.map(|name| name.strip_prefix('@').unwrap_or(name));
    let asked: Vec<&Kernel> = kernels.iter().filter(|kernel| name.is_none_or(|name| kernel.name == name)).collect();
    if asked.is_empty() {
        let there = kernels.iter().map(|kernel| format!("@{}", kernel.name)).collect::<Vec<_>>().join(", ");
        let name = name.unwrap_or_default();
        return Err(ExplainError::Kernel { file: module.file().into(), name: name.into(), there });
    }
    match at.starts_with(|c: char| c.is_ascii_digit()) {
        true => at_place(module, &asked, at),
        false => by_name(&asked, at),
    }
}

fn by_name<'m>(kernels: &[&'m Kernel], at: &str) -> Result<(&'m Kernel, Subject), ExplainError> {
    let name = at.strip_prefix('%').unwrap_or(at);
    let found: Vec<(&Kernel, Value)> =
        kernels.iter().filter_map(|&kernel| Some((kernel, named(kernel, name)?))).collect();
    match found.as_slice() {
        &[(kernel, value)] => Ok((kernel, subject(kernel, value))),
        [] => {
            let names = |kernel: &&'m Kernel| values(kernel).filter_map(|value| kernel.value_name(value));
            let all: Vec<&str> = kernels.iter().flat_map(names).collect();
            let near = closest(name, all.iter().copied()).map(str::to_owned);
            let mut there = all.iter().take(LISTED).map(|name| format!("%{name}")).collect::<Vec<_>>().join(", ");
            if all.len() > LISTED {
                there += ", ...";
            }
            Err(ExplainError::Value { name: name.into(), near, there })
        }
        several => {
            let there = several.iter().map(|(kernel, _)| format!("@{}", kernel.name)).collect::<Vec<_>>().join(", ");
            Err(ExplainError::Ambiguous { name: name.into(), there })
        }
    }
}

fn subject(kernel: &Kernel, value: Value) -> Subject {
    match kernel.values.get(value).map(|data| data.def) {
        Some(ValueDef::Result(inst)) => Subject::Op(inst),
        _ => Subject::Parameter(value),
    }
}

/// Returns the value with this name in a kernel.
pub(super) fn named(kernel: &Kernel, name: &str) -> Option<Value> {
    values(kernel).find(|&value| kernel.value_name(value) == Some(name))
}

/// Returns the values of a kernel, in the order of the text.
fn values(kernel: &Kernel) -> impl Iterator<Item = Value> + '_ {
    let of_block = |&block| {
        let results = kernel.blocks[block].insts.iter().filter_map(|&inst| kernel.result(inst));
        kernel.block_params(block).iter().copied().chain(results)
    };
    let arrays = kernel.arrays.iter().map(|array| array.value);
    kernel.params.iter().map(|param| param.value).chain(arrays).chain(kernel.layout.iter().flat_map(of_block))
}

fn at_place<'m>(module: &Module, kernels: &[&'m Kernel], at: &str) -> Result<(&'m Kernel, Subject), ExplainError> {
    let (line, column) = match at.split_once(':') {
        Some((line, column)) => (line.parse().ok(), Some(column.parse::<usize>().ok())),
        None => (at.parse::<usize>().ok(), None),
    };
    let (Some(line), false) = (line, column == Some(None)) else {
        return Err(ExplainError::Place { at: at.into() });
    };
    let lines = Lines::new(module.text());
    let mut found: Vec<(&Kernel, Inst)> = Vec::new();
    for &kernel in kernels {
        for &inst in kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts) {
            let span = kernel.insts[inst].span;
            let (start, end) = (lines.position(span.start), lines.position(span.end));
            let covers = column.flatten().is_none_or(|column| (start.column..end.column).contains(&column));
            if start.line == line && covers {
                found.push((kernel, inst));
            }
        }
    }
    match found.as_slice() {
        &[(kernel, inst)] => Ok((kernel, Subject::Op(inst))),
        [] => {
            let text = lines.text(line).trim().to_owned();
            Err(ExplainError::Nothing { at: at.into(), text })
        }
        several => {
            let places = several.iter().map(|&(kernel, inst)| {
                let start = lines.position(kernel.insts[inst].span.start);
                format!("{line}:{} `{}`", start.column, print_inst(kernel, inst))
            });
            Err(ExplainError::Several { line, there: places.collect::<Vec<_>>().join(", ") })
        }
    }
}
