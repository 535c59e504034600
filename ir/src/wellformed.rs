//! Rules of well-formed kernels: the requirements of the op table for each instruction, and the rules of SSA form.
//!
//! The parser applies these checks to each parsed kernel, with the span of every operand. [`verify`](mod@crate::verify)
//! applies them to kernels from any source.

use std::collections::HashSet;
use std::fmt::Display;

use cranelift_entity::{EntitySet, SecondaryMap};
use halfbyte_abi::{Axis, Direction, ParamKind, Type};

use crate::attr::{FlagKind, FloatCC, FloatFlags, IntCC, MemAttr};
use crate::diag::Diagnostic;
use crate::flow::Flow;
use crate::kernel::{Attr, Block, BlockCall, CallRange, Inst, InstData, Kernel, Param, Value, ValueDef, is_name};
use crate::op::{ArgType, AttrKind, Op, OpRow};
use crate::order::{AtomicAttr, Scope};
use crate::span::Span;
use crate::text::{UNALIGNED, suggestions};

mod arrays;
mod streams;

/// Maximum alignment in bytes of a buffer or an access.
pub const MAX_ALIGN: u32 = 4096;

/// Maximum size in bytes of the constant contents of a buffer.
pub const MAX_CONTENTS: usize = 1 << 20;

/// Maximum number of reported violations of a kernel. The checks stop after this number.
pub const MAX_DIAGNOSTICS: usize = 100;

/// Part of a kernel that violates a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Subject {
    Kernel,
    /// Group size of a packed kernel.
    Groups,
    Param(usize),
    /// A declared array.
    Array(usize),
    /// A stream of a packed kernel.
    Stream(usize, StreamPart),
    Block(Block),
    Inst(Inst, InstPart),
}

/// Part of a stream declaration in the IR text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum StreamPart {
    Name,
    /// Direction and element type of the stream.
    Type,
    Buffer,
    Bytes,
    Align,
    Address,
    /// Loop that encloses the access, by depth from the outermost.
    Loop(u32),
    Guard,
}

/// Part of an instruction in the IR text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum InstPart {
    /// Op with its suffixes.
    Op,
    Type,
    /// Lane number, lane list, constant or offset.
    Attr,
    /// Memory order of an atomic access or fence.
    Order,
    Step,
    Align,
    Arg(u32),
    Target(u32),
    TargetArg(u32, u32),
    Case(u32),
}

/// A violation of a rule of well-formed kernels.
pub(crate) struct Finding {
    pub place: Subject,
    message: String,
    expected: Option<String>,
    help: Option<String>,
    /// Value whose definition the error shows in a note.
    related: Option<Value>,
}

impl Finding {
    pub(crate) fn diagnostic(&self, kernel: &Kernel, span: Span) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(span, self.message.clone());
        diagnostic.expected = self.expected.clone();
        diagnostic.help = self.help.clone();
        let related = self.related.and_then(|value| match kernel.values.get(value)?.def {
            ValueDef::Param(number) => Some(kernel.params.get(number as usize)?.span),
            ValueDef::Array(number) => Some(kernel.arrays.get(number as usize)?.span),
            ValueDef::BlockParam(block, _) => Some(kernel.blocks.get(block)?.span),
            ValueDef::Result(inst) => Some(kernel.insts.get(inst)?.span),
        });
        match related.filter(|&span| span != Span::default()) {
            Some(span) => diagnostic.note(Some(span), "its definition is here"),
            None => diagnostic,
        }
    }
}

/// Parts of the kernel that could not be parsed, so that one mistake is not reported twice.
#[derive(Default)]
pub(crate) struct Partial {
    /// Values of unknown type.
    pub unknown: EntitySet<Value>,
    /// Blocks whose last statement is missing.
    pub open_ended: EntitySet<Block>,
    /// `true` if statements or names are missing, so control flow is unknown.
    pub incomplete: bool,
    /// `true` if the kernel was parsed from text. In such a kernel, a store that always traps is an error.
    pub is_text: bool,
}

/// Returns all violations in a kernel, at most [`MAX_DIAGNOSTICS`].
pub(crate) fn check(kernel: &Kernel, partial: &Partial) -> Vec<Finding> {
    let mut verifier = Verifier {
        kernel,
        partial,
        findings: Vec::new(),
        placed: SecondaryMap::with_capacity(kernel.insts.len()),
        layout: EntitySet::with_capacity(kernel.blocks.len()),
    };
    verifier.kernel();
    verifier.findings.truncate(MAX_DIAGNOSTICS);
    verifier.findings
}

/// Position of an instruction. `order` counts from 1; 0 means that the instruction is in no block.
#[derive(Clone, Copy, Default)]
struct InstPosition {
    block: u32,
    order: u32,
}

struct Verifier<'k> {
    kernel: &'k Kernel,
    partial: &'k Partial,
    findings: Vec<Finding>,
    placed: SecondaryMap<Inst, InstPosition>,
    layout: EntitySet<Block>,
}

/// Formats a list of alternatives: "`a`, `b` or `c`".
pub fn one_of<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut items: Vec<String> = items.into_iter().map(|item| format!("`{item}`")).collect();
    match (items.pop(), items.is_empty()) {
        (None, _) => "nothing".into(),
        (Some(only), true) => only,
        (Some(last), false) => format!("{} or {last}", items.join(", ")),
    }
}

/// Formats a number with a noun: "1 operand", "2 operands".
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Returns `true` if `align` is a valid alignment in bytes.
fn is_alignment(align: u32) -> bool {
    align.is_power_of_two() && align <= MAX_ALIGN
}

/// Returns a help text that names the ops that convert a value of type `from` to type `to` in one
/// step, if there are any.
fn conversion(kernel: &Kernel, value: Value, from: Type, to: Type) -> Option<String> {
    let takes = |op: Op| op.row().convert.is_some_and(|convert| convert(from, to));
    let name = kernel.value_name(value).unwrap_or("x");
    if from == Type::PTR {
        return Some(format!("`%{name}` is a buffer: load a value of it first, `%v = load %{name}[%i]`"));
    }
    if to == Type::PTR {
        return Some(format!("take the address of a buffer: declare the parameter `%{name}: in {from}`"));
    }
    let ops: &[Op] = match (from.is_int(), to.is_int()) {
        _ if from == to.lane_type() && from != to => &[Op::Splat],
        (true, true) => &[Op::Sext, Op::Zext, Op::Trunc, Op::Bitcast],
        (false, true) => &[Op::FcvtToS, Op::FcvtToU, Op::Bitcast, Op::MaskExpand],
        (true, false) => &[Op::FcvtFromS, Op::FcvtFromU, Op::Bitcast],
        (false, false) => &[Op::Fcvt, Op::Bitcast],
    };
    let fits = |op: &&Op| **op == Op::Splat || takes(**op);
    let ways: Vec<String> = ops.iter().filter(fits).map(|op| format!("`{}.{to} %{name}`", op.name())).collect();
    (!ways.is_empty()).then(|| format!("{} makes it `{to}`", ways.join(" or ")))
}

/// Returns `true` if an operand of type `actual` is valid for the operand type `wanted` and the controlling type `ty`.
fn accepts(row: &OpRow, ty: Type, wanted: ArgType, actual: Type) -> bool {
    match wanted {
        ArgType::Same => actual == ty,
        ArgType::Lane => actual == ty.lane_type(),
        ArgType::Exactly(exactly) => actual == exactly,
        ArgType::Mask => Some(actual) == ty.mask_type(),
        ArgType::Condition => actual == Type::I1 || Some(actual) == ty.mask_type(),
        ArgType::Converted => row.converts(actual, ty),
    }
}

/// Returns the suffixes that an op accepts besides its type: modifiers, conditions, axes or orders.
pub fn suffix_words(row: &OpRow) -> Vec<&'static str> {
    let flags = row.flags(Type::F16);
    let flags = FlagKind::ALL.into_iter().filter(|&kind| flags.contains(kind)).flat_map(FlagKind::words).copied();
    match row.attr {
        AttrKind::IntCC => IntCC::ALL.iter().map(|cc| cc.name()).collect(),
        AttrKind::FloatCC => FloatCC::ALL.iter().map(|cc| cc.name()).chain(flags).collect(),
        AttrKind::Axis => Axis::ALL.map(Axis::name).into(),
        AttrKind::Barrier => vec![UNALIGNED],
        AttrKind::Atomic | AttrKind::Fence => {
            let orders = row.op.orders().iter().map(|order| order.name());
            orders.chain(Scope::ALL.iter().map(|scope| scope.name())).collect()
        }
        _ => flags.collect(),
    }
}

/// Checks a modifier for a controlling type. If the op does not accept the modifier, returns the
/// error message and the accepted modifiers.
pub fn refused_flag(row: &OpRow, ty: Option<Type>, kind: FlagKind, word: &str) -> Option<(String, String)> {
    let set = row.flags(ty.unwrap_or(Type::F16));
    if set.contains(kind) {
        return None;
    }
    let allowed = FlagKind::ALL.into_iter().filter(|&kind| set.contains(kind));
    let allowed: Vec<&str> = allowed.flat_map(FlagKind::words).copied().collect();
    let on = match ty {
        Some(ty) if row.flags(Type::F16).contains(kind) => format!(" on `{ty}`"),
        _ => String::new(),
    };
    let expected = match suggestions::other_op(row.op, word) {
        Some(other) => other.into(),
        None if allowed.is_empty() => "no modifier".into(),
        None => one_of(allowed),
    };
    Some((format!("`{}` does not take `{word}`{on}", row.name), expected))
}

/// Returns the message and the expected range for an invalid lane number of a shuffle.
pub(crate) fn no_source_lane(lane: impl Display, ty: Type) -> (String, String) {
    let lanes = ty.lanes();
    (format!("lane {lane} of two operands of {lanes} lanes each"), format!("0 to {}", 2 * lanes - 1))
}

/// Returns the name of an instruction's op for messages, with its type suffix if it has one.
fn mnemonic(data: &InstData) -> String {
    match data.op.row().types {
        Some(_) => format!("`{}.{}`", data.op.name(), data.ty),
        None => format!("`{}`", data.op.name()),
    }
}

impl Verifier<'_> {
    fn found(&mut self, place: Subject, message: impl Into<String>, expected: impl Into<String>) {
        self.related(place, message, expected, None);
    }

    fn related(
        &mut self,
        place: Subject,
        message: impl Into<String>,
        expected: impl Into<String>,
        value: Option<Value>,
    ) {
        let expected = Some(expected.into()).filter(|expected| !expected.is_empty());
        if self.findings.len() < MAX_DIAGNOSTICS {
            self.findings.push(Finding { place, message: message.into(), expected, help: None, related: value });
        }
    }

    /// Adds a help text to the last violation.
    fn help(&mut self, help: Option<String>) {
        if let (Some(last), Some(_)) = (self.findings.last_mut(), &help) {
            last.help = help;
        }
    }

    /// Returns the type of a value, if the value exists and its type is known.
    fn ty(&self, value: Value) -> Option<Type> {
        let data = self.kernel.values.get(value)?;
        (!self.partial.unknown.contains(value)).then_some(data.ty)
    }

    fn block_name(&self, block: Block) -> String {
        match self.kernel.block_name(block) {
            Some(name) => format!("`^{name}`"),
            None => format!("the block of number {}", block.as_u32()),
        }
    }

    fn kernel(&mut self) {
        let kernel = self.kernel;
        self.placed.resize(kernel.insts.len());
        self.names();
        self.params();
        self.arrays();
        self.packing();
        if kernel.layout.is_empty() && !self.partial.incomplete {
            self.found(Subject::Kernel, format!("@{} has no block", kernel.name), "`^entry:`");
        }
        for &block in &kernel.layout {
            self.place(block);
        }
        if let Some(entry) = kernel.entry().filter(|&entry| kernel.blocks.is_valid(entry))
            && !kernel.block_params(entry).is_empty()
        {
            self.found(Subject::Block(entry), "the entry block has parameters", "a first block without parameters");
        }
        let flow = (!self.partial.incomplete && self.findings.is_empty()).then(|| Flow::new(kernel));
        self.stream_uses();
        for &block in &kernel.layout {
            let Some(data) = kernel.blocks.get(block) else { continue };
            for &inst in &data.insts {
                if self.findings.len() >= MAX_DIAGNOSTICS {
                    return;
                }
                if kernel.insts.is_valid(inst) {
                    self.inst(inst);
                    if let Some(flow) = &flow {
                        self.uses(flow, inst);
                    }
                }
            }
        }
    }

    /// Checks the names of the kernel and its parameters, which launches and objects use. Invalid
    /// names of values and blocks are not errors, because the printer replaces them by numbers.
    fn names(&mut self) {
        // In a text, the parser has already rejected invalid names.
        if self.partial.is_text {
            return;
        }
        let expected = "letters, digits and `_`";
        if !is_name(&self.kernel.name) {
            self.found(Subject::Kernel, format!("{:?} is not a valid kernel name", self.kernel.name), expected);
        }
        let mut taken = HashSet::with_capacity(self.kernel.params.len());
        for (number, param) in self.kernel.launch_params().iter().enumerate() {
            let place = Subject::Param(number);
            if !is_name(&param.name) {
                self.found(place, format!("{:?} is not a valid parameter name", param.name), expected);
            } else if !taken.insert(param.name.as_str()) {
                self.found(place, format!("two parameters have the name `%{}`", param.name), "distinct names");
            }
        }
    }

    fn params(&mut self) {
        let given = self.kernel.given_params().len();
        for (number, param) in self.kernel.params.iter().enumerate() {
            let place = Subject::Param(number);
            self.contents(place, param);
            if number > given && number < self.kernel.launch_params().len() && param.contents.is_none() {
                let message = format!("`%{}` follows a parameter with contents", param.name);
                self.found(place, message, "all parameters with contents at the end");
            }
            match param.kind {
                ParamKind::Scalar(Type::PTR) => {
                    self.found(
                        place,
                        format!("`%{}` is a pointer", param.name),
                        "a buffer: `in`, `out` or `inout` and its element type",
                    );
                }
                ParamKind::Buffer { elem: Type::PTR, .. } => {
                    self.found(
                        place,
                        format!("`%{}` is a buffer of pointers", param.name),
                        "an element type other than `ptr`",
                    );
                }
                ParamKind::Buffer { direction: Direction::Out, may_alias: true, .. } => {
                    let message = format!("`out` buffer `%{}` cannot have `may_alias`", param.name);
                    self.found(place, message, "`inout` with `may_alias`");
                }
                ParamKind::Buffer { may_alias: true, .. } if param.contents.is_some() => {
                    let message = format!("`%{}` has contents and cannot have `may_alias`", param.name);
                    self.found(place, message, "no `may_alias`");
                }
                ParamKind::Buffer { align, .. } if !is_alignment(align) => {
                    self.found(place, format!("the alignment is {align}"), format!("a power of two up to {MAX_ALIGN}"));
                }
                _ => {}
            }
        }
    }

    /// Checks the constant contents of a parameter.
    fn contents(&mut self, place: Subject, param: &Param) {
        let Some(contents) = &param.contents else { return };
        let name = &param.name;
        match param.kind {
            ParamKind::Buffer { direction: Direction::In, elem, .. } if self.kernel.stream(param.value).is_none() => {
                let bytes = elem.bytes() as usize;
                if contents.is_empty() || contents.len() > MAX_CONTENTS || !contents.len().is_multiple_of(bytes.max(1))
                {
                    let message = format!("`%{name}` holds {} bytes", contents.len());
                    self.found(place, message, format!("elements of `{elem}`, in at most {MAX_CONTENTS} bytes"));
                }
            }
            _ => self.found(place, format!("`%{name}` has contents"), "an `in` buffer for constant contents"),
        }
    }

    /// Records the positions of a block's instructions, and checks that the block ends with a terminator.
    fn place(&mut self, block: Block) {
        let kernel = self.kernel;
        let Some(data) = kernel.blocks.get(block) else {
            return self.found(Subject::Kernel, "a block that does not exist is in the layout", "");
        };
        if !self.layout.insert(block) {
            let message = format!("{} is in the layout twice", self.block_name(block));
            return self.found(Subject::Block(block), message, "");
        }
        let is_terminator = |inst: &Inst| kernel.insts.get(*inst).is_some_and(|data| data.op.is_terminator());
        for (order, inst) in data.insts.iter().enumerate() {
            if !kernel.insts.is_valid(*inst) {
                self.found(Subject::Block(block), "an instruction that does not exist is in a block", "");
                continue;
            }
            let spot = InstPosition { block: block.as_u32(), order: order as u32 + 1 };
            if std::mem::replace(&mut self.placed[*inst], spot).order != 0 {
                self.found(Subject::Inst(*inst, InstPart::Op), "an instruction occurs twice", "");
            }
            if is_terminator(inst) && order + 1 < data.insts.len() {
                let message = format!("`{}` is not the last instruction of its block", kernel.insts[*inst].op.name());
                self.found(
                    Subject::Inst(*inst, InstPart::Op),
                    message,
                    "the end of the block or a label after the terminator",
                );
            }
        }
        if !data.insts.last().is_some_and(is_terminator) && !self.partial.open_ended.contains(block) {
            let place = match data.insts.last() {
                Some(&inst) => Subject::Inst(inst, InstPart::Op),
                None => Subject::Block(block),
            };
            let message = format!("{} does not end in a terminator", self.block_name(block));
            self.found(place, message, "`br`, `br_if`, `switch` or `ret` as its last instruction");
        }
    }

    fn inst(&mut self, inst: Inst) {
        let data = &self.kernel.insts[inst];
        let row = data.op.row();
        let has_type = match row.types {
            Some(types) => types.contains(data.ty),
            None => row.fixed_type().is_none_or(|fixed| fixed == data.ty),
        };
        if !has_type {
            return self.wrong_type(inst, data, row);
        }
        self.operands(inst, data, row);
        self.attribute(inst, data, row);
        if self.kernel.packing.is_some() && data.op.orders_memory() {
            let message = format!("{} in a packed kernel, whose items cannot synchronise", mnemonic(data));
            self.found(Subject::Inst(inst, InstPart::Op), message, "an op of one item");
        }
        let expected = row.result_type(data.ty);
        let result = data.result.expand();
        let as_expected = match (expected, result.map(|value| self.kernel.values.get(value))) {
            (Some(ty), Some(Some(value))) => value.ty == ty && value.def == ValueDef::Result(inst),
            (None, None) => true,
            _ => false,
        };
        if !as_expected && result.is_none_or(|value| !self.partial.unknown.contains(value)) {
            self.wrong_result(inst, data, expected);
        }
    }

    #[cold]
    fn wrong_type(&mut self, inst: Inst, data: &InstData, row: &OpRow) {
        let place = Subject::Inst(inst, InstPart::Type);
        match (row.types, row.fixed_type()) {
            (Some(types), _) => {
                self.found(place, format!("`{}` does not take `{}`", row.name, data.ty), types.name);
                self.help(suggestions::twin(data.op, data.ty).map(|twin| format!("{twin} does")));
            }
            (None, fixed) => {
                let expected = fixed.map_or_else(String::new, |fixed| format!("`{fixed}`"));
                self.found(place, format!("`{}` has the type `{}`", row.name, data.ty), expected);
            }
        }
    }

    #[cold]
    fn wrong_result(&mut self, inst: Inst, data: &InstData, expected: Option<Type>) {
        let expected = expected.map_or("no result".into(), |ty| format!("`{ty}`"));
        self.found(
            Subject::Inst(inst, InstPart::Op),
            format!("{} has the wrong result type", mnemonic(data)),
            expected,
        );
    }

    fn operands(&mut self, inst: Inst, data: &InstData, row: &OpRow) {
        let args = data.args.as_slice(&self.kernel.pool);
        let is_same = |(&arg, &wanted): (&Value, &ArgType)| {
            wanted == ArgType::Same && self.kernel.values.get(arg).is_some_and(|value| value.ty == data.ty)
        };
        // Fast path: most ops have all required operands, each of the controlling type.
        if args.len() != row.args.len() || !args.iter().zip(row.args).all(is_same) {
            self.other_operands(inst, data, row, args);
        }
    }

    fn other_operands(&mut self, inst: Inst, data: &InstData, row: &OpRow, args: &[Value]) {
        if !row.arity().contains(&args.len()) {
            return self.wrong_arity(inst, data, row, args.len());
        }
        for (number, &arg) in args.iter().enumerate() {
            let Some(value) = self.kernel.values.get(arg) else {
                self.no_operand(inst, data, number);
                continue;
            };
            let Some(wanted) = row.arg(number) else { continue };
            if self.partial.unknown.contains(arg) {
                continue;
            }
            if !accepts(row, data.ty, wanted, value.ty) {
                if !self.wrong_operand(inst, data, number, wanted, arg, value.ty) {
                    return;
                }
            } else if data.op == Op::Concat {
                self.part(inst, data, number, args);
            }
        }
    }

    #[cold]
    fn wrong_arity(&mut self, inst: Inst, data: &InstData, row: &OpRow, given: usize) {
        let arity = row.arity();
        let part = if given > *arity.end() { InstPart::Arg(*arity.end() as u32) } else { InstPart::Op };
        let message = format!("{} has {}", mnemonic(data), count(given, "operand"));
        let expected = match arity.end() - arity.start() {
            0 => arity.end().to_string(),
            1 => format!("{} or {}", arity.start(), arity.end()),
            2 => format!("{} to {}", arity.start(), arity.end()),
            _ => format!("at least {}", arity.start()),
        };
        self.found(Subject::Inst(inst, part), message, expected);
        self.help(Some(format!("as in `{}`", row.example)));
    }

    #[cold]
    fn no_operand(&mut self, inst: Inst, data: &InstData, number: usize) {
        let message = format!("operand {} of {} does not exist", number + 1, mnemonic(data));
        self.found(Subject::Inst(inst, InstPart::Arg(number as u32)), message, "");
    }

    /// Reports an operand of the wrong type. Returns `false` if the op accepts no type for this operand.
    #[cold]
    fn wrong_operand(
        &mut self,
        inst: Inst,
        data: &InstData,
        number: usize,
        wanted: ArgType,
        arg: Value,
        actual: Type,
    ) -> bool {
        let row = data.op.row();
        let fitting: Vec<Type> = Type::ALL.iter().copied().filter(|&ty| accepts(row, data.ty, wanted, ty)).collect();
        if fitting.is_empty() {
            let message = format!("`{}` does not give `{}`", row.name, data.ty);
            let gives = |ty: &&Type| Type::ALL.iter().any(|&from| accepts(row, **ty, wanted, from));
            self.found(Subject::Inst(inst, InstPart::Type), message, one_of(Type::ALL.iter().filter(gives)));
            return false;
        }
        let message = format!("operand {} of {} is `{actual}`", number + 1, mnemonic(data));
        let help = match fitting.as_slice() {
            &[wanted] if row.convert.is_none() => conversion(self.kernel, arg, actual, wanted),
            _ => None,
        };
        self.related(Subject::Inst(inst, InstPart::Arg(number as u32)), message, one_of(fitting), Some(arg));
        self.help(help);
        true
    }

    /// Checks an operand of a `concat`. All operands must have the type of the first operand, and
    /// together the width of the result.
    fn part(&mut self, inst: Inst, data: &InstData, number: usize, args: &[Value]) {
        let Some((first, actual)) =
            args.first().and_then(|&first| self.ty(first)).zip(args.get(number).and_then(|&arg| self.ty(arg)))
        else {
            return;
        };
        let parts = (data.ty.bits() / first.bits()) as usize;
        if actual != first {
            let message = format!("operand {} of {} is `{actual}`", number + 1, mnemonic(data));
            let expected = format!("`{first}`, as the first operand is");
            self.related(
                Subject::Inst(inst, InstPart::Arg(number as u32)),
                message,
                expected,
                args.get(number).copied(),
            );
        } else if number == 0 && args.len() != parts {
            let message = format!("{} has {}", mnemonic(data), count(args.len(), "operand"));
            self.found(Subject::Inst(inst, InstPart::Op), message, format!("{parts} of `{first}`"));
        }
    }

    fn attribute(&mut self, inst: Inst, data: &InstData, row: &OpRow) {
        let place = Subject::Inst(inst, InstPart::Attr);
        let args = data.args.as_slice(&self.kernel.pool);
        match (row.attr, data.attr) {
            (AttrKind::None | AttrKind::Axis, Attr::None) => {}
            (AttrKind::IntCC, Attr::IntCC(_)) | (AttrKind::Axis, Attr::Axis(_)) => {}
            (AttrKind::Float(_), Attr::Float(flags)) => {
                if flags != FloatFlags::default() {
                    self.flags(inst, data, flags);
                }
            }
            (AttrKind::FloatCC, Attr::FloatCC { ftz, .. }) => {
                if ftz {
                    self.flag(inst, data, FlagKind::Ftz, "ftz");
                }
            }
            (AttrKind::Const, Attr::Bits(bits)) if data.ty.bits() <= 64 => {
                if bits & (u64::MAX >> (64 - data.ty.bits())) != bits {
                    let message = format!("a constant of `{}` has more bits than {}", data.ty, data.ty.bits());
                    self.found(place, message, "no bits beyond the lanes");
                }
            }
            (AttrKind::Const, Attr::Wide(wide)) if data.ty.bits() > 64 && self.kernel.wide_consts.is_valid(wide) => {}
            (AttrKind::Lane, Attr::Lane(lane)) => {
                let (what, lanes) = match (data.op, args.first().and_then(|&whole| self.ty(whole))) {
                    (Op::Split, Some(whole)) if whole.bits() > data.ty.bits() => {
                        ("part", (whole.bits() / data.ty.bits()) as usize)
                    }
                    (Op::Split, _) => return,
                    _ => ("lane", data.ty.lanes()),
                };
                if usize::from(lane) >= lanes {
                    self.found(place, format!("{what} {lane} of {lanes}"), format!("0 to {}", lanes.saturating_sub(1)));
                }
            }
            (AttrKind::Lanes, Attr::Lanes(map)) => {
                let lanes = data.ty.lanes();
                if let Some(lane) = (0..lanes).map(|i| map.get(i)).find(|&lane| lane >= 2 * lanes) {
                    let (message, expected) = no_source_lane(lane, data.ty);
                    self.found(place, message, expected);
                }
            }
            (AttrKind::Mem, Attr::Mem(mem)) => self.address(inst, data, mem, args),
            (AttrKind::Atomic, Attr::Atomic(AtomicAttr { mem, order, .. })) => {
                self.address(inst, data, mem, args);
                self.order(inst, data, order);
                self.atomic(inst, data, mem, args);
            }
            (AttrKind::Fence, Attr::Fence(fence)) => self.order(inst, data, fence.order),
            (AttrKind::Barrier, Attr::Aligned(_)) => {}
            (AttrKind::Targets, Attr::Targets(range)) => self.targets(inst, data, range),
            (AttrKind::Intrinsic, Attr::Intrinsic(intrinsic)) => match self.kernel.intrinsics.get(intrinsic) {
                Some(intrinsic) if !is_name(&intrinsic.target) => {
                    self.found(place, "the target of the intrinsic is not a name", "letters, digits and `_`");
                }
                Some(intrinsic) if intrinsic.text.contains(['\n', '\r']) => {
                    self.found(place, "the text of the intrinsic has a line break", "one line");
                }
                Some(_) => {}
                None => self.found(place, "an intrinsic that does not exist", ""),
            },
            _ => self.found(place, format!("{} has the wrong kind of attribute", mnemonic(data)), ""),
        }
    }

    fn flags(&mut self, inst: Inst, data: &InstData, flags: FloatFlags) {
        for kind in FlagKind::ALL {
            if let Some(word) = flags.word(kind) {
                self.flag(inst, data, kind, word);
            }
        }
    }

    fn flag(&mut self, inst: Inst, data: &InstData, kind: FlagKind, word: &str) {
        if let Some((message, expected)) = refused_flag(data.op.row(), Some(data.ty), kind, word) {
            self.found(Subject::Inst(inst, InstPart::Attr), message, expected);
        }
    }

    fn address(&mut self, inst: Inst, data: &InstData, mem: MemAttr, args: &[Value]) {
        if !is_alignment(mem.align) {
            let message = format!("alignment {}", mem.align);
            self.found(Subject::Inst(inst, InstPart::Align), message, format!("a power of two up to {MAX_ALIGN}"));
        }
        if !mem.scale.is_power_of_two() || mem.scale > 64 {
            self.found(
                Subject::Inst(inst, InstPart::Step),
                format!("`step` is {} bytes", mem.scale),
                "1, 2, 4, 8, 16, 32 or 64",
            );
        } else if mem.offset % mem.scale as i32 != 0 {
            let message = format!("an offset of {} bytes in steps of {}", mem.offset, mem.scale);
            self.found(Subject::Inst(inst, InstPart::Attr), message, "a whole number of steps");
        }
        let base = data.op.row().args.len() - 1;
        if mem.wide && args.len() == base + 1 {
            self.found(Subject::Inst(inst, InstPart::Attr), "`wide` without an index", "an index, which it scales");
        }
        let Some(param) = args.get(base).and_then(|&base| self.kernel.param(base)) else { return };
        // A store to an `in` buffer always traps, but is an error only in source text and for
        // streams. In other kernels, a pass may have replaced a computed address by the buffer.
        let counts = self.partial.is_text || args.get(base).is_some_and(|&base| self.kernel.stream(base).is_some());
        let stores = data.op == Op::Store || data.op.row().attr == AttrKind::Atomic && data.op != Op::AtomicLoad;
        if let (true, ParamKind::Buffer { direction: Direction::In, .. }, true) = (stores, param.kind, counts) {
            let message = format!("cannot store into `%{}`, which is an `in` buffer", param.name);
            self.related(
                Subject::Inst(inst, InstPart::Arg(base as u32)),
                message,
                "an `out` or `inout` buffer",
                Some(param.value),
            );
        }
    }

    fn targets(&mut self, inst: Inst, data: &InstData, range: CallRange) {
        let calls = self.kernel.calls(range);
        let (fits, expected) = match data.op {
            Op::BrIf => (calls.len() == 2, "2"),
            Op::Switch => (!calls.is_empty(), "at least 1"),
            _ => (calls.len() == 1, "1"),
        };
        if !fits {
            let message = format!("`{}` has {}", data.op.name(), count(calls.len(), "target"));
            self.found(Subject::Inst(inst, InstPart::Op), message, expected);
        }
        for (number, call) in calls.iter().enumerate() {
            self.call(inst, number as u32, call);
        }
        if data.op == Op::Switch {
            let mut seen = HashSet::new();
            for (number, call) in calls.iter().enumerate().skip(1) {
                if !seen.insert(call.case) {
                    let message = format!("case {} occurs twice", call.case as i32);
                    self.found(
                        Subject::Inst(inst, InstPart::Case(number as u32)),
                        message,
                        "a different value for each case",
                    );
                }
            }
        }
    }

    fn call(&mut self, inst: Inst, target: u32, call: &BlockCall) {
        let kernel = self.kernel;
        let place = Subject::Inst(inst, InstPart::Target(target));
        if !self.layout.contains(call.block) {
            if !self.partial.incomplete {
                self.found(place, "the target is not a block of the kernel", "");
            }
            return;
        }
        if kernel.entry() == Some(call.block) {
            self.found(place, "a branch leads to the entry block", "a branch to another block");
        }
        let args = kernel.call_args(call);
        let params = kernel.block_params(call.block);
        if args.len() != params.len() {
            let message = format!("{} is given {}", self.block_name(call.block), count(args.len(), "argument"));
            self.related(place, message, params.len().to_string(), params.first().copied());
        }
        for (number, (&arg, &param)) in args.iter().zip(params).enumerate() {
            let place = Subject::Inst(inst, InstPart::TargetArg(target, number as u32));
            if !kernel.values.is_valid(arg) {
                self.found(place, format!("argument {} does not exist", number + 1), "");
            } else if let Some((actual, wanted)) = self.ty(arg).zip(self.ty(param)).filter(|(a, b)| a != b) {
                let message = format!("argument {} of {} is `{actual}`", number + 1, self.block_name(call.block));
                self.related(place, message, format!("`{wanted}`"), Some(arg));
            }
        }
    }

    /// Checks that the definition of each operand dominates the instruction.
    fn uses(&mut self, flow: &Flow, inst: Inst) {
        let kernel = self.kernel;
        let user = self.placed[inst];
        for (number, &arg) in kernel.args(inst).iter().enumerate() {
            self.value_use(flow, user, arg, || Subject::Inst(inst, InstPart::Arg(number as u32)));
        }
        for (target, call) in kernel.targets(inst).iter().enumerate() {
            for (number, &arg) in kernel.call_args(call).iter().enumerate() {
                let part = || InstPart::TargetArg(target as u32, number as u32);
                self.value_use(flow, user, arg, || Subject::Inst(inst, part()));
            }
        }
    }

    #[inline]
    fn value_use(&mut self, flow: &Flow, user: InstPosition, value: Value, place: impl Fn() -> Subject) {
        let kernel = self.kernel;
        let Some(data) = kernel.values.get(value) else { return };
        let block = Block::from_u32(user.block);
        let dominates = |def: Block| flow.dominates(def, block) || !flow.is_reachable(block);
        let (exists, defined) = match data.def {
            ValueDef::Param(_) => (kernel.param(value).is_some_and(|param| param.value == value), true),
            ValueDef::Array(_) => (kernel.array(value).is_some_and(|array| array.value == value), true),
            ValueDef::BlockParam(def, number) => (
                self.layout.contains(def) && kernel.block_params(def).get(number as usize) == Some(&value),
                dominates(def),
            ),
            ValueDef::Result(def) => {
                let spot = self.placed.get(def).copied().unwrap_or_default();
                let exists =
                    spot.order != 0 && kernel.insts.get(def).is_some_and(|def| def.result.expand() == Some(value));
                let defined = match spot.block == user.block {
                    true => user.order > spot.order,
                    false => dominates(Block::from_u32(spot.block)),
                };
                (exists, defined)
            }
        };
        if !exists || !defined {
            let is_later = matches!(data.def, ValueDef::Result(def) if self.placed.get(def).is_some_and(|def| def.block == user.block));
            self.wrong_use(place(), value, exists, is_later);
        }
    }

    #[cold]
    fn wrong_use(&mut self, place: Subject, value: Value, exists: bool, is_later: bool) {
        let name = self.kernel.value_name(value).map_or("a value".into(), |name| format!("`%{name}`"));
        if exists {
            let message = format!("{name} is not defined on every path to this use");
            self.related(place, message, "a definition on every path", Some(value));
            let bare = self.kernel.value_name(value).unwrap_or("x");
            self.help(Some(match is_later {
                true => "move its definition before this line, or pass the value of the previous iteration to a block parameter".into(),
                false => format!(
                    "define it before all branches that lead here, or pass it to a block parameter: `br ^next(%{bare})`"
                ),
            }));
        } else {
            self.found(place, format!("{name} has no definition in a block"), "");
        }
    }
}
