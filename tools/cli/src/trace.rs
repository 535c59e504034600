//! `halfbyte run --trace`: prints the values that one work item computes, in execution order.

use std::collections::HashMap;
use std::io::{BufWriter, Write, stdout};

use halfbyte::args::element_bits;
use halfbyte::args::print::{Sign, lane_value};
use halfbyte::ir::diag::{Lines, Position};
use halfbyte::ir::eval::{Accessed, Evaluated, Fault, Observer, pack};
use halfbyte::ir::text::print_inst;
use halfbyte::ir::{Block, Elem, Kernel, ParamKind, Span, Type, Value, ValueDef};
use halfbyte::launch::{Evaluation, evaluate_observed};
use halfbyte::target::Platform;

use super::{Done, Failure};

/// Fails if the work item does not exist, or if the launch neither runs on the evaluator nor executes PTX directly
/// (`is_text`). Other machine code computes other values than the ops of the text.
pub(super) fn check(item: Option<u32>, on: Platform, is_text: bool, items: u32) -> Done {
    match (item, on) {
        (None, _) => Ok(()),
        (Some(_), Platform::Target(target)) if !is_text => {
            let name = target.name();
            let message =
                format!("--trace shows the values of the IR, which do not exist on target {name}; use --target ir");
            Err(Failure::Call(message))
        }
        (Some(item), _) if item >= items => {
            Err(Failure::Call(format!("--trace {item}: the launch has {items} items, numbered from 0")))
        }
        (Some(_), _) => Ok(()),
    }
}

/// Executes a launch on the evaluator, and prints each value that a work item computes. Integers
/// are formatted like the integers of buffers in `run`.
pub(super) fn evaluate_traced(
    kernel: &Kernel,
    text: &str,
    item: u32,
    how: Evaluation<'_>,
    args: &mut [Vec<u8>],
    sign: &dyn Fn(Elem) -> Sign,
) -> Result<Evaluated, Fault> {
    let out = BufWriter::new(stdout().lock());
    let lines = Lines::new(text);
    let mut tracer = Tracer { kernel, lines, item, names: HashMap::new(), loaded: String::new(), sign, out };
    let evaluated = evaluate_observed(kernel, how, args, &mut tracer);
    // The reader may have closed the pipe, so errors of writing are ignored.
    let _ = writeln!(tracer.out).and_then(|()| tracer.out.flush());
    evaluated
}

struct Tracer<'k, W> {
    kernel: &'k Kernel,
    lines: Lines<'k>,
    item: u32,
    names: HashMap<Value, String>,
    /// The location from which the next value is loaded, as the end of its line.
    loaded: String,
    /// Function that returns the signedness with which integers of a type are printed.
    sign: &'k dyn Fn(Elem) -> Sign,
    out: W,
}

impl<W: Write> Observer for Tracer<'_, W> {
    fn block(&mut self, item: u32, block: Block) {
        if item == self.item {
            let name = self.kernel.block_name(block).map_or_else(|| block.to_string(), |name| format!("^{name}"));
            let span = self.kernel.blocks.get(block).map_or(Span::default(), |data| data.span);
            self.line(span, &name);
        }
    }

    fn value(&mut self, item: u32, value: Value, lanes: &[u64]) {
        if item != self.item {
            return;
        }
        let Some(data) = self.kernel.values.get(value) else { return };
        let (ty, span) = (data.ty, self.span(data.def));
        let loaded = std::mem::take(&mut self.loaded);
        let shown = typed_value(ty, lanes, (self.sign)(ty.elem()));
        let line = format!("{} = {shown}{loaded}", self.name(value));
        self.line(span, &line);
    }

    fn access(&mut self, item: u32, access: &Accessed<'_>) {
        if item != self.item {
            return;
        }
        let place = self.place(access);
        if !access.write {
            self.loaded = format!("  from {place} at {:#x}", access.address);
            return;
        }
        let span = self.kernel.insts.get(access.inst).map_or(Span::default(), |data| data.span);
        let stored = typed_value(access.ty, access.lanes, (self.sign)(access.ty.elem()));
        let line = format!("{place} = {stored}  at {:#x}", access.address);
        self.line(span, &line);
    }
}

impl<W: Write> Tracer<'_, W> {
    fn line(&mut self, span: Span, line: &str) {
        let Position { line: number, column } = self.lines.position(span.start);
        let place = format!("{number}:{column}");
        // The reader may have closed the pipe, so errors of writing are ignored.
        let _ = writeln!(self.out, "{place:<7} {line}");
    }

    /// Returns the span of a value's definition; for a block parameter, the span of the block.
    fn span(&self, def: ValueDef) -> Span {
        match def {
            ValueDef::Result(inst) => self.kernel.insts.get(inst).map(|data| data.span),
            ValueDef::BlockParam(block, _) => self.kernel.blocks.get(block).map(|data| data.span),
            ValueDef::Param(_) | ValueDef::Array(_) => None,
        }
        .unwrap_or_default()
    }

    /// Returns the name of a value, or for a value without a name the one that the IR printer gives it.
    fn name(&mut self, value: Value) -> &str {
        let kernel = self.kernel;
        self.names.entry(value).or_insert_with(|| {
            let printed = kernel.def_inst(value).map(|inst| print_inst(kernel, inst));
            match (kernel.value_name(value), printed) {
                (Some(name), _) => format!("%{name}"),
                (None, Some(printed)) => printed.split(" = ").next().unwrap_or_default().to_owned(),
                (None, None) => value.to_string(),
            }
        })
    }

    /// Formats the buffer and the element that an access reads.
    fn place(&self, access: &Accessed<'_>) -> String {
        let found = access.place.and_then(|(number, byte)| Some((self.kernel.params.get(number)?, byte)));
        let Some((param, byte)) = found else { return "memory".into() };
        let size = match param.kind {
            ParamKind::Buffer { elem, .. } | ParamKind::Scalar(elem) => u64::from(elem.bytes()),
        };
        let name = &param.name;
        if byte.is_multiple_of(size) { format!("{name}[{}]", byte / size) } else { format!("{name}, byte {byte}") }
    }
}

/// Formats a value as a number or as a list of lanes. If the type has at most 128 bits, the bits follow.
fn typed_value(ty: Type, lanes: &[u64], sign: Sign) -> String {
    if ty == Type::PTR {
        return lanes.iter().map(|address| format!("{address:#x}")).collect();
    }
    let numbers: Vec<String> = lanes.iter().map(|&bits| lane_value(ty.elem(), bits, sign)).collect();
    let text = match numbers.as_slice() {
        [one] if ty.is_scalar() => one.clone(),
        _ => format!("[{}]", numbers.join(", ")),
    };
    if ty.is_mask() || ty.bits() > 128 {
        return text;
    }
    let bytes: Vec<u8> = pack(ty, lanes).iter().flat_map(|word| word.to_le_bytes()).take(ty.bytes() as usize).collect();
    format!("{text} ({})", element_bits(ty, &bytes))
}
