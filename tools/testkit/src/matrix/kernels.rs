//! Minimal kernels that contain a given op: loads of its operands, the op on its own line, and a store of its result.

use std::fmt::Write;

use halfbyte::ir::op::{ArgType, OpRow};
use halfbyte::ir::{AttrKind, FlagKind, Op, Type};

/// An op with its types and its variant: one row of the support matrix.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpForm {
    /// The op.
    pub op: Op,
    /// The variant of the op: a modifier, a condition, or a constant or scalar operand.
    pub variant: Variant,
    /// The type in the op's suffix; `None` if the op has no suffix.
    pub ty: Option<Type>,
    /// The source type of a conversion.
    pub from: Option<Type>,
}

/// A variant of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    /// The plain op, without modifiers.
    Plain,
    /// The op with a modifier or a condition.
    Word(&'static str),
    /// The op with a splat constant as its second operand.
    ByConstant,
    /// The op with a scalar `i1` that is the condition of all lanes.
    ByOne,
}

/// The text of a kernel with one op of interest, and the number of that op's line.
pub(super) struct Sample {
    pub text: String,
    pub line: u32,
}

const INT_CONDITIONS: [&str; 3] = ["eq", "lt_s", "lt_u"];
const FLOAT_CONDITIONS: [&str; 2] = ["lt", "ltu"];

impl OpForm {
    /// Returns the op's name and variant, as the table prints them.
    pub fn name(&self) -> String {
        match self.variant {
            Variant::Plain => self.op.name().to_owned(),
            Variant::Word(word) => format!("{}.{word}", self.op.name()),
            Variant::ByConstant => format!("{} by a constant", self.op.name()),
            Variant::ByOne => format!("{} by one i1", self.op.name()),
        }
    }

    /// Returns the types as the table prints them.
    pub fn types(&self) -> String {
        match (self.from, self.ty) {
            (Some(from), Some(ty)) => format!("{from} -> {ty}"),
            (None, Some(ty)) => ty.to_string(),
            _ => String::new(),
        }
    }

    /// Returns every combination of types and variant with which the verifier accepts an op.
    /// Addresses are excluded, because loads and stores already use them. Types that are too wide
    /// for a load are excluded; the passes split them if they can.
    pub fn of(op: Op) -> Vec<OpForm> {
        let row = op.row();
        if matches!(row.attr, AttrKind::Targets | AttrKind::Intrinsic | AttrKind::Const) || op == Op::Ret {
            return Vec::new();
        }
        let Some(types) = row.types else {
            return vec![OpForm { op, variant: Variant::Plain, ty: None, from: None }];
        };
        let mut forms = Vec::new();
        let is_asked = |ty: Type| ty != Type::PTR && !ty.is_wide();
        for &ty in Type::ALL.iter().filter(|&&ty| types.contains(ty) && is_asked(ty)) {
            let from: Vec<Option<Type>> = match row.convert {
                Some(_) => row.sources(ty).filter(|&from| is_asked(from)).map(Some).collect(),
                None => vec![None],
            };
            for (from, variant) in from.iter().flat_map(|&from| variants(row, ty).into_iter().map(move |v| (from, v))) {
                forms.push(OpForm { op, variant, ty: Some(ty), from });
            }
        }
        forms
    }

    /// Returns a kernel that contains the op with these types and this variant.
    pub(super) fn sample(&self) -> Sample {
        let (row, ty) = (self.op.row(), self.ty.unwrap_or(Type::I32));
        let mut draft = Draft::default();
        let mut args = Vec::new();
        match self.op {
            Op::Load => draft.param("p", &format!("in {ty}")),
            Op::Store => {
                draft.param("y", &format!("out {ty}"));
                args.push(draft.value(ty, ty));
            }
            _ if row.attr == AttrKind::Atomic => {
                draft.param("p", &format!("inout {ty}"));
                args.extend((1..row.args.len()).map(|_| draft.value(ty, ty)).collect::<Vec<_>>());
                args.push("%p[%i]".into());
            }
            Op::PtrAdd => {
                draft.param("p", "in i32");
                args.extend(["%p".to_owned(), draft.value(Type::I64, ty)]);
            }
            _ => {
                for number in 0..self.operands() {
                    let arg = row.arg(number).unwrap_or(ArgType::Same);
                    let value = match (arg, self.variant) {
                        (ArgType::Same, Variant::ByConstant) if number == 1 => draft.constant(ty, "3"),
                        (ArgType::Condition, Variant::ByOne) => draft.value(Type::I1, Type::I32),
                        _ => match self.operand(arg, ty) {
                            Some(operand) => draft.value(operand, ty),
                            None => continue,
                        },
                    };
                    args.push(value);
                }
            }
        }
        let suffix = match self.variant {
            Variant::Word(word) => format!(".{word}"),
            _ if self.op == Op::Fence => ".acq_rel.device".into(),
            _ => String::new(),
        };
        let lanes = ty.lanes();
        // The shuffle takes the even lanes of its first operand and the odd lanes of its second.
        let shuffled = (0..lanes).map(|lane| (lane + lane % 2 * lanes).to_string()).collect::<Vec<_>>().join(", ");
        match row.attr {
            AttrKind::Lane => args.push("1".into()),
            AttrKind::Lanes => args.push(format!("[{shuffled}]")),
            _ => {}
        }
        let typed = self.ty.map_or(String::new(), |ty| format!(".{ty}"));
        let statement = match self.op {
            Op::Load => format!("%r = load.{ty} %p[%i]"),
            Op::Store => format!("store.{ty} {}, %y[%i]", args.concat()),
            _ => {
                let result = if row.result_type(ty).is_some() { "%r = " } else { "" };
                format!("{result}{}{suffix}{typed} {}", self.op.name(), args.join(", "))
            }
        };
        let line = draft.line(&statement);
        match row.result_type(ty) {
            Some(Type::PTR) => {
                draft.param("y", "out i32");
                draft.line("%v = load.i32 %r");
                draft.line("store %v, %y[%i]");
            }
            Some(result) => draft.store("%r", result),
            None => {}
        }
        draft.finish(line)
    }

    fn operands(&self) -> usize {
        match (self.op, self.ty, self.from) {
            (Op::Concat, Some(ty), Some(from)) => (ty.bits() / from.bits()) as usize,
            _ => self.op.row().args.len() - self.op.row().optional,
        }
    }

    fn operand(&self, arg: ArgType, ty: Type) -> Option<Type> {
        match arg {
            ArgType::Same => Some(ty),
            ArgType::Mask | ArgType::Condition => ty.mask_type(),
            ArgType::Lane => Some(ty.lane_type()),
            ArgType::Exactly(exactly) => Some(exactly),
            ArgType::Converted => self.from,
        }
    }
}

fn variants(row: &OpRow, ty: Type) -> Vec<Variant> {
    let words = |words: &[&'static str]| words.iter().copied().map(Variant::Word).collect::<Vec<_>>();
    match row.op {
        Op::Shl | Op::ShrS | Op::ShrU | Op::RoundShrS | Op::RoundShrU | Op::Rotl | Op::Rotr => {
            return vec![Variant::Plain, Variant::ByConstant];
        }
        Op::Select if !ty.is_scalar() => return vec![Variant::Plain, Variant::ByOne],
        _ => {}
    }
    match row.attr {
        AttrKind::IntCC => words(&INT_CONDITIONS),
        AttrKind::FloatCC => {
            let ftz = row.flags(ty).ftz.then_some(Variant::Word("lt.ftz"));
            words(&FLOAT_CONDITIONS).into_iter().chain(ftz).collect()
        }
        AttrKind::Float(_) => {
            let set = row.flags(ty);
            let kinds = FlagKind::ALL.into_iter().filter(|&kind| set.contains(kind));
            // `rn` is the default rounding mode, so the op without modifiers covers it.
            let flags = kinds.flat_map(FlagKind::words).copied().filter(|&word| word != "rn");
            // `contract` has no effect on a single op.
            let flags = flags.filter(|&word| word != "contract");
            std::iter::once(Variant::Plain).chain(flags.map(Variant::Word)).collect()
        }
        _ => vec![Variant::Plain],
    }
}

/// A kernel text under construction: parameters, lines, and the number of values.
#[derive(Default)]
struct Draft {
    params: Vec<String>,
    lines: Vec<String>,
    values: usize,
}

/// Returns an integer type on which a comparison returns the given mask type.
fn compared(mask: Type) -> Type {
    match mask.lanes() {
        1 => Type::I32,
        2 => Type::I16X2,
        4 => Type::I8X4,
        _ => Type::I8X16,
    }
}

impl Draft {
    fn param(&mut self, name: &str, ty: &str) {
        self.params.push(format!("%{name}: {ty}"));
    }

    /// Appends a line. Returns its line number in the kernel's text, in which three lines precede
    /// the first appended line.
    fn line(&mut self, line: &str) -> u32 {
        self.lines.push(line.to_owned());
        self.lines.len() as u32 + 3
    }

    fn name(&mut self) -> usize {
        self.values += 1;
        self.values
    }

    fn constant(&mut self, ty: Type, value: &str) -> String {
        let n = self.name();
        self.line(&format!("%k{n} = const.{ty} {value}"));
        format!("%k{n}")
    }

    fn loaded(&mut self, ty: Type) -> String {
        let n = self.name();
        self.param(&format!("x{n}"), &format!("in {ty}"));
        self.line(&format!("%v{n} = load %x{n}[%i]"));
        format!("%v{n}")
    }

    /// Adds a value that the compiler cannot fold, and returns its name. A mask is the result of an
    /// integer comparison, which every target supports. The operands of the comparison have type
    /// `of` if that type has the requested mask type.
    fn value(&mut self, ty: Type, of: Type) -> String {
        if !ty.is_mask() {
            return self.loaded(ty);
        }
        let compared = if of.is_int() && of.mask_type() == Some(ty) { of } else { compared(ty) };
        let [a, b] = [0; 2].map(|_| self.loaded(compared));
        let n = self.name();
        self.line(&format!("%m{n} = icmp.lt_s.{compared} {a}, {b}"));
        format!("%m{n}")
    }

    /// Appends a store of a value. A mask is expanded to integers first.
    fn store(&mut self, value: &str, ty: Type) {
        if !ty.is_mask() {
            self.param("y", &format!("out {ty}"));
            self.line(&format!("store {value}, %y[%i]"));
            return;
        }
        let of = compared(ty);
        self.param("y", &format!("out {of}"));
        self.line(&format!("%s = mask_expand.{of} {value}"));
        self.line("store %s, %y[%i]");
    }

    fn finish(self, line: u32) -> Sample {
        let mut text = format!("kernel @k({}) {{\n^entry:\n  %i = item_id\n", self.params.join(", "));
        for line in &self.lines {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {line}");
        }
        text += "  ret\n}\n";
        Sample { text, line }
    }
}
