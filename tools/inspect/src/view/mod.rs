//! An HTML page that shows how kernels are compiled: all compiler stages side by side, the live ranges of registers,
//! and the units that each bundle uses.
//!
//! An op of the source and everything that the compiler derives from it have the same source position. The page uses
//! this position to relate the stages. Values and registers are traced to the instructions that define them.

mod charts;
mod decisions;
mod embed;
mod head;
mod html;
mod language;
mod markup;
mod slots;
mod whole;

// The following modules are public only for tests, which call them with inputs that the compiler
// does not produce. The modules are not part of the stable interface. The tests are
// `tests/lifetimes.rs`, `tests/machine.rs`, `tests/registers.rs`, `tests/selected.rs` and
// `tests/source.rs`.
#[doc(hidden)]
pub mod lifetimes;
#[doc(hidden)]
pub mod machine;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod registers;
#[doc(hidden)]
pub mod selected;
#[doc(hidden)]
pub mod source;

use std::collections::BTreeSet;
use std::path::Path;

use halfbyte::Module;
use halfbyte::pipeline::{Compiler, Options, Product, Stage};
use halfbyte_abi::Target;
use halfbyte_ir::diag::{Diagnostic, Lines};
use halfbyte_ir::{Kernel, Span};
use model::{Origin, Snapshot};
use whole::View;

/// A kernel that a target refuses.
struct Refused<'k> {
    kernel: &'k str,
    target: Target,
    /// The distinct reasons for the refusal, in the order of the source, with their source positions.
    reasons: Vec<(String, BTreeSet<Origin>)>,
}

impl<'k> Refused<'k> {
    fn new(kernel: &'k str, target: Target, diagnostics: &[Diagnostic], lines: &Lines<'_>) -> Refused<'k> {
        let mut reasons: Vec<(String, BTreeSet<Origin>)> = Vec::new();
        for Diagnostic { span, message, .. } in diagnostics {
            let position = lines.position(span.start);
            let place = Origin { line: position.line as u32, column: position.column as u32 };
            match reasons.iter_mut().find(|(reason, _)| reason == message) {
                Some((_, places)) => drop(places.insert(place)),
                None => reasons.push((message.clone(), BTreeSet::from([place]))),
            }
        }
        Refused { kernel, target, reasons }
    }
}

/// Returns a self-contained HTML page about the kernels that at least one target accepts. The page
/// depends only on the source and the file name, not on the folder of the file.
///
/// # Errors
/// Fails with the targets' diagnostics if no target accepts any kernel.
pub fn page(module: &Module, kernels: &[Kernel], targets: &[Target]) -> Result<String, Vec<Diagnostic>> {
    let lines = Lines::new(module.text());
    let (mut views, mut refused, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for kernel in kernels {
        for &target in targets {
            match view(module, kernel, target, &lines) {
                Ok(view) => views.push(view),
                Err(diagnostics) => {
                    refused.push(Refused::new(&kernel.name, target, &diagnostics, &lines));
                    errors.extend(diagnostics);
                }
            }
        }
    }
    if views.is_empty() {
        if errors.is_empty() {
            errors.push(Diagnostic::new(Span::default(), "the file has no kernels").expected("at least one kernel"));
        }
        return Err(errors);
    }
    let file = Path::new(module.file()).file_name().and_then(|name| name.to_str()).unwrap_or(module.file());
    Ok(html::page(file, &views, &refused))
}

/// Compiles a kernel for a target and records the kernel after every stage.
fn view(module: &Module, kernel: &Kernel, target: Target, lines: &Lines<'_>) -> Result<View, Vec<Diagnostic>> {
    let options = Options::new(target);
    let as_read = Snapshot { name: "as read".to_owned(), lines: source::of_kernel(kernel, lines) };
    let mut passes: Vec<Snapshot> = vec![as_read];
    let (mut selected, mut allocated, mut words) = (Vec::new(), Vec::new(), Vec::new());
    let (mut lifetimes, mut slots) = (lifetimes::Lifetimes::default(), None);
    let mut pass = 0;
    let mut watch = |step: &Stage<'_>| match step.result {
        Product::Lowered(kernel) => {
            pass += 1;
            if step.changed {
                let name = format!("after {} ({pass})", step.name);
                passes.push(Snapshot { name, lines: source::of_kernel(kernel, lines) });
            }
        }
        Product::Selected(code) => selected = selected::of_code(code),
        Product::Allocated(func) => {
            let (nodes, blocks) = machine::nodes(func);
            let contents = registers::contents(&nodes);
            allocated = machine::of_func(func, &nodes, &contents.uses);
            let columns = allocated.iter().filter(|line| line.shape == model::Shape::Inst).map(|line| line.place);
            lifetimes = lifetimes::of_nodes(&nodes, &contents, columns.collect(), blocks);
        }
        Product::Words(code) => {
            words = machine::of_words(code);
            slots = slots::of_code(code);
        }
    };
    let (_, stats) = Compiler::new(module, &options).compile(kernel, &mut watch)?;
    let lowered = passes.last_mut().map(|last| last.lines.as_mut_slice()).unwrap_or_default();
    let why = decisions::of_kernel(kernel, &options, lines, lowered, &mut selected);
    let text = match language::of_text(module.text(), kernel, lines) {
        Some(text) => text,
        None => source::of_text(kernel, lines),
    };
    let meets = source::collective_ops(kernel, lines);
    let kernel = kernel.name.clone();
    Ok(View { meets, kernel, target, text, passes, selected, allocated, words, why, lifetimes, slots, stats })
}
