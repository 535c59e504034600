//! Parser for statements. A statement has an op, its suffixes, and the operands that the op's description requires.

use cranelift_entity::packed_option::ReservedValue;
use halfbyte_abi::{Axis, ParamKind, Type};
use smallvec::SmallVec;

use super::lexer::{Lexer, Name, Tok};
use super::literal::{self, BadNumber};
use super::read::{Failed, Reader, Reading};
use super::{UNALIGNED, suggestions};
use crate::attr::{FlagKind, FloatCC, FloatFlags, IntCC, LaneMap};
use crate::diag::Diagnostic;
use crate::kernel::{Attr, BlockCall, Inst, InstData, IntrinsicData, Value, ValueData, ValueDef, ValueList};
use crate::op::{ArgType, AttrKind, Op, OpRow, ResultType};
use crate::order::{AtomicAttr, FenceAttr, MemOrder, Scope};
use crate::span::Span;
use crate::wellformed::{self, InstPart};

/// Operands of a statement.
type Args = SmallVec<[Value; 4]>;

/// Suffixes of an op in the text: modifiers and type.
#[derive(Default)]
struct Suffix {
    int_cc: Option<IntCC>,
    float_cc: Option<FloatCC>,
    axis: Option<Axis>,
    order: Option<MemOrder>,
    scope: Option<Scope>,
    unaligned: bool,
    flags: FloatFlags,
    ty: Option<Type>,
}

/// A parsed address. The type of the accessed value is not known yet.
struct Address {
    base: Value,
    steps: i128,
    steps_span: Span,
    wide: bool,
    step: Option<u32>,
    align: Option<u32>,
}

/// Returns `true` if an op has a memory order and a scope.
fn has_order(row: &OpRow) -> bool {
    matches!(row.attr, AttrKind::Atomic | AttrKind::Fence)
}

fn untyped(row: &OpRow, mnemonic: Span) -> Diagnostic {
    let types = row.types.map_or("", |types| types.name);
    Diagnostic::new(mnemonic, format!("`{}` needs a type suffix", row.name))
        .expected(format!("`{}.TYPE`, {types}", row.name))
        .help(format!("as in `{}`", row.example))
}

impl<'s> Reader<'s> {
    /// Parses a statement and appends its instruction to the current block.
    pub(super) fn statement(&mut self) -> Reading<()> {
        let start = self.at();
        let result = match self.tok() {
            Tok::Value => {
                let name = self.take_name();
                if self.tok() == Tok::Punctuation(b'[') {
                    let value = self.rest_of_line().split_once('=').map_or("", |(_, value)| value).trim();
                    return Err(self.value_goes_first("`=`", "store", self.source(name.span), value));
                }
                self.mark(b'=')?;
                if self.tok() == Tok::Value {
                    return Err(self.expression(name));
                }
                Some(name)
            }
            _ => None,
        };
        let op_start = self.at();
        let op = self.op()?;
        let row = op.row();
        match (result, row.result) {
            (Some(name), ResultType::None) => {
                return Err(self.error(name.span, format!("`{}` has no result", row.name), "the op without a result"));
            }
            (None, ResultType::None) | (Some(_), _) => {}
            (None, _) if op.may_drop_result() => {}
            (None, _) => {
                let message = format!("the result of `{}` has no name", row.name);
                return Err(self.error(self.since(op_start), message, format!("`%name = {}`", row.name)));
            }
        }
        let mut args = Args::new();
        let mut suffix = Suffix::default();
        self.suffix(row, &mut suffix)?;
        let mnemonic = self.since(op_start);
        self.part(InstPart::Op, mnemonic);
        let (ty, attr) = self.operands(row, &suffix, mnemonic, &mut args)?;
        self.end_of_line()?;

        let span = self.since(start);
        let inst = self.body.kernel.insts.next_key();
        let result = match (result, row.result_type(ty)) {
            (None, Some(ty)) => Some(self.body.kernel.values.push(ValueData { ty, def: ValueDef::Result(inst) })),
            (result, _) => result.map(|name| self.result(name, row, ty, inst)),
        };
        let kernel = &mut self.body.kernel;
        let args = ValueList::from_slice(&args, &mut kernel.pool);
        kernel.insts.push(InstData { op, ty, attr, args, result: result.into(), span });
        self.body.insts.push(inst);
        Ok(())
    }

    /// Defines the result of an op with controlling type `ty`.
    fn result(&mut self, name: Name, row: &OpRow, ty: Type, inst: Inst) -> Value {
        // If the op does not accept `ty`, there may be no result type. The verifier then reports the error.
        let result_type = row.result_type(ty);
        let value = self.define_value(name, result_type.unwrap_or(ty), ValueDef::Result(inst));
        if result_type.is_none() || !row.types.is_none_or(|types| types.contains(ty)) {
            self.body.partial.unknown.insert(value);
        }
        value
    }

    /// Skips a number whose type is not known yet.
    fn skip_literal(&mut self) -> Reading<()> {
        if self.tok() == Tok::Punctuation(b'[') {
            self.bracketed(|reader, _| reader.skip_number())?;
            return Ok(());
        }
        self.skip_number()
    }

    fn skip_number(&mut self) -> Reading<()> {
        self.eat(b'-');
        if !matches!(self.tok(), Tok::Number | Tok::Word) {
            return Err(self.unexpected("a number"));
        }
        self.bump();
        Ok(())
    }

    /// Returns the rest of the line, without its comment.
    fn rest_of_line(&self) -> &'s str {
        let rest = self.source_from(self.at());
        rest.split(['\n', ';']).next().unwrap_or_default().trim()
    }

    /// Reports a store whose address comes before the value to store. The index of the address has
    /// not been consumed yet.
    fn value_goes_first(&mut self, expected: &str, op: &str, base: &str, value: &str) -> Failed {
        let element = self.rest_of_line().split_once(']').map_or("", |(index, _)| index);
        let value = if value.starts_with('%') && !value.contains(' ') { value } else { "%v" };
        let failed = self.unexpected(expected);
        self.help(format!("the value comes first: `{op} {value}, {base}{element}]`"));
        failed
    }

    /// Reports a value where the name of an op is expected.
    fn expression(&mut self, result: Name) -> Failed {
        let here = self.name_at(self.at());
        let (y, x) = (self.source(result.span), self.source(here.span));
        let is_buffer = self.body.param_number(here).is_some_and(|number| {
            let param = self.body.kernel.params.get(number as usize);
            param.is_some_and(|param| matches!(param.kind, ParamKind::Buffer { .. }))
        });
        let known = self.body.values.get(here).filter(|named| named.defined && !self.body.is_unknown(here));
        let ty = known.and_then(|named| self.body.kernel.values.get(named.entity)).map_or(Type::I32, |value| value.ty);
        let rest = self.rest_of_line().strip_prefix(x).unwrap_or_default().trim_start();
        let mark_len = if rest.starts_with("<<") || rest.starts_with(">>") { 2 } else { 1 };
        let (mark, right) = rest.split_at_checked(mark_len).unwrap_or_default();
        let right = right.trim_start_matches(['=', '>']).split_whitespace().next().unwrap_or_default();
        let right = if right.starts_with('%') { right } else { "%k" };
        let either = |float: &'static str, integer: &'static str| Some(if ty.is_float() { float } else { integer });
        let op = match mark {
            "+" => either("fadd", "add"),
            "-" => either("fsub", "sub"),
            "*" => either("fmul", "mul"),
            "/" if ty.is_float() => Some("fdiv"),
            "&" => Some("and"),
            "|" => Some("or"),
            "^" => Some("xor"),
            "<<" => Some("shl"),
            ">>" => Some("shr_u"),
            "<" => either("fcmp.lt", "icmp.lt_s"),
            ">" => either("fcmp.gt", "icmp.gt_s"),
            "=" => either("fcmp.eq", "icmp.eq"),
            "!" => either("fcmp.ne", "icmp.ne"),
            _ => None,
        };
        let help = match (op, mark) {
            _ if is_buffer && mark == "[" => {
                let index = rest.split_once(']').map_or("[%i", |(index, _)| index);
                format!("write an op first: `{y} = load {x}{index}]`")
            }
            _ if is_buffer => format!("write an op first, on values: `{y} = load {x}[%i]` loads an element"),
            (_, "") => format!("there is no copy: use `{x}` itself"),
            (_, ".") => format!("write an op first: `{y} = extract.{ty} {x}, 0` is a lane of `{x}`"),
            (Some(op), "<" | ">" | "=" | "!") => {
                let unsigned = match op {
                    "icmp.lt_s" => " (`lt_u` unsigned)",
                    "icmp.gt_s" => " (`gt_u` unsigned)",
                    _ => "",
                };
                let choice = match rest.contains('?') {
                    true => format!(", and `{y} = select.{ty} %c, %p, %q` chooses"),
                    false => String::new(),
                };
                format!("write an op first: `%c = {op}.{ty} {x}, {right}`{unsigned} makes a mask{choice}")
            }
            (Some(op), _) => format!("write an op first: `{y} = {op}.{ty} {x}, {right}`"),
            _ => format!("write an op first, as in `{y} = add.i32 {x}, %k`"),
        };
        let failed = self.unexpected("an instruction");
        self.help(help);
        failed
    }

    fn op(&mut self) -> Reading<Op> {
        let span = self.word("an instruction")?;
        let word = self.source(span);
        match (self.tok(), Op::from_name(word)) {
            (Tok::Punctuation(b'='), _) => {
                // The user intended to define a value here. Define the value, so that its uses are not reported.
                let name = self.name_at(span.start.saturating_sub(1));
                self.poison(name);
                let expected = format!("`%{word}`: the names of values begin with `%`");
                Err(self.error(span, format!("`{word}` without `%`"), expected))
            }
            (Tok::Punctuation(b':'), _) => {
                let expected = format!("`^{word}:`: labels begin with `^`");
                Err(self.error(span, format!("`{word}` without `^`"), expected))
            }
            (_, Some(op)) => Ok(op),
            (_, None) if suggestions::no_op(word).is_some() => {
                let failed = self.error(span, format!("`{word}` is not an op"), "an op");
                self.help(suggestions::no_op(word).unwrap_or_default());
                Err(failed)
            }
            (_, None) => {
                let suffixes = self.source_from(span.end);
                let suffixes = suffixes.split(|c: char| c.is_whitespace()).next().unwrap_or_default();
                let expected = suggestions::op_with(word, suffixes)
                    .map_or("an op".into(), |meant| format!("an op; did you mean {meant}?"));
                Err(self.error(span, format!("`{word}` is not an op"), expected))
            }
        }
    }

    fn suffix(&mut self, row: &OpRow, suffix: &mut Suffix) -> Reading<()> {
        let mut flags: SmallVec<[(FlagKind, &str, Span); 4]> = SmallVec::new();
        let start = self.at();
        while self.eat(b'.') {
            let span = self.word("a type or modifier")?;
            let word = self.source(span);
            if suffix.ty.is_some() {
                return Err(self.error(span, format!("`{word}` after the type"), "the type as the last suffix"));
            }
            if let Some(ty) = Type::from_name(word) {
                if row.types.is_none() {
                    return Err(self.error(span, format!("`{}` takes no type", row.name), "no suffix"));
                }
                self.part(InstPart::Type, span);
                suffix.ty = Some(ty);
            } else if let Some(cc) = IntCC::from_name(word).filter(|_| row.attr == AttrKind::IntCC) {
                if let Some(other) = suffix.int_cc.replace(cc) {
                    return Err(self.error(span, format!("`{word}` after `{other}`"), "one of them"));
                }
            } else if let Some(cc) = FloatCC::from_name(word).filter(|_| row.attr == AttrKind::FloatCC) {
                if let Some(other) = suffix.float_cc.replace(cc) {
                    return Err(self.error(span, format!("`{word}` after `{other}`"), "one of them"));
                }
            } else if let Some(axis) = Axis::from_name(word).filter(|_| row.attr == AttrKind::Axis) {
                if let Some(other) = suffix.axis.replace(axis) {
                    return Err(self.error(span, format!("`{word}` after `{other}`"), "one of them"));
                }
            } else if let Some(order) = MemOrder::from_name(word).filter(|_| has_order(row)) {
                self.part(InstPart::Order, span);
                if let Some(other) = suffix.order.replace(order) {
                    return Err(self.error(span, format!("`{word}` after `{other}`"), "one of them"));
                }
            } else if let Some(scope) = Scope::from_name(word).filter(|_| has_order(row)) {
                if let Some(other) = suffix.scope.replace(scope) {
                    return Err(self.error(span, format!("`{word}` after `{other}`"), "one of them"));
                }
            } else if word == UNALIGNED && row.attr == AttrKind::Barrier {
                if std::mem::replace(&mut suffix.unaligned, true) {
                    return Err(self.error(span, format!("`{word}` after `{word}`"), "one of them"));
                }
            } else if let Some(kind) = FlagKind::of(word) {
                if let Some(&(_, other, _)) = flags.iter().find(|&&(other, ..)| other == kind) {
                    return Err(self.error(span, format!("`{word}` after `{other}`"), "one of them"));
                }
                flags.push((kind, word, span));
                suffix.flags.set(word);
            } else {
                return Err(self.unknown_suffix(row, word, span));
            }
        }
        for &(kind, word, span) in &flags {
            if let Some((message, expected)) = wellformed::refused_flag(row, suffix.ty, kind, word) {
                return Err(self.error(span, message, expected));
            }
        }
        let without = |what: &str| format!("`{}` without a {what}", row.name);
        match row.attr {
            AttrKind::IntCC if suffix.int_cc.is_none() => {
                let expected = wellformed::one_of(IntCC::ALL);
                Err(self.error(self.since(start), without("condition"), expected))
            }
            AttrKind::FloatCC if suffix.float_cc.is_none() => {
                let expected = wellformed::one_of(FloatCC::ALL);
                Err(self.error(self.since(start), without("condition"), expected))
            }
            AttrKind::Fence if suffix.order.is_none() => {
                let expected = wellformed::one_of(row.op.orders());
                Err(self.error(self.since(start), format!("`{}` without a memory order", row.name), expected))
            }
            AttrKind::Fence if suffix.scope.is_none() => {
                Err(self.error(self.since(start), without("scope"), wellformed::one_of(Scope::ALL)))
            }
            _ => Ok(()),
        }
    }

    fn unknown_suffix(&mut self, row: &OpRow, word: &str, span: Span) -> Failed {
        let words = wellformed::suffix_words(row);
        if row.attr == AttrKind::Axis {
            return self.error(
                span,
                format!("`{word}` is not an axis"),
                format!("{} or no suffix", wellformed::one_of(words)),
            );
        }
        let expected = match suggestions::suffix(row, word, &words) {
            Some(meant) => format!("a type or modifier; did you mean {meant}?"),
            None if words.is_empty() => row.types.map_or("no suffix".into(), |types| types.name.into()),
            None => format!("{} and {}", wellformed::one_of(words), row.types.map_or("no type", |types| types.name)),
        };
        self.error(span, format!("`{word}` is neither a type nor a modifier of `{}`", row.name), expected)
    }

    /// Parses the operands after the op and its suffixes. Returns the controlling type and the attribute.
    fn operands(&mut self, row: &OpRow, suffix: &Suffix, mnemonic: Span, args: &mut Args) -> Reading<(Type, Attr)> {
        if matches!(row.attr, AttrKind::Mem | AttrKind::Atomic) {
            return self.memory(row, suffix, mnemonic, args);
        }
        let Some(ty) = suffix.ty.or(row.fixed_type()) else { return Err(self.report(untyped(row, mnemonic))) };
        let attr = match row.attr {
            AttrKind::Const => self.constant(ty)?,
            AttrKind::Intrinsic => self.intrinsic(args)?,
            AttrKind::Targets => self.targets(row, args)?,
            kind => {
                let carried = self.values(row, ty, args)?;
                match (kind, suffix.int_cc, suffix.float_cc) {
                    (AttrKind::Float(_), ..) => Attr::Float(suffix.flags),
                    (AttrKind::Axis, ..) => suffix.axis.map_or(Attr::None, Attr::Axis),
                    (AttrKind::Barrier, ..) => Attr::Aligned(!suffix.unaligned),
                    (AttrKind::Fence, ..) => {
                        let (order, scope) = (suffix.order.unwrap_or_default(), suffix.scope.unwrap_or_default());
                        Attr::Fence(FenceAttr { order, scope })
                    }
                    (_, Some(cc), _) => Attr::IntCC(cc),
                    (_, _, Some(cc)) => Attr::FloatCC { cc, ftz: suffix.flags.ftz },
                    _ => carried,
                }
            }
        };
        Ok((ty, attr))
    }

    fn operand(&mut self, args: &mut Args) -> Reading<Value> {
        if self.tok() != Tok::Value {
            return Err(self.no_operand());
        }
        let number = args.len();
        let name = self.take_name();
        let value = self.value(name);
        args.push(value);
        self.part(InstPart::Arg(number as u32), name.span);
        Ok(value)
    }

    /// Reports an unexpected token where a value is expected.
    fn no_operand(&mut self) -> Failed {
        let rest = self.rest_of_line();
        let help = match self.tok() {
            Tok::Punctuation(b'(') => Some("write operands without parentheses: `add.i32 %a, %b`".to_owned()),
            Tok::Word => Op::from_name(self.text()).map(|op| {
                let end = if rest.contains('[') { rest.find(']').map(|at| at + 1) } else { rest.find([',', ')']) };
                let whole = end.and_then(|end| rest.get(..end)).unwrap_or(rest).trim_end();
                let name = if op == Op::Const { "c" } else { "t" };
                format!("define a value on the line before, `%{name} = {whole}`, and use `%{name}` here")
            }),
            _ => None,
        };
        let failed = self.unexpected("an operand: `%name`");
        if let Some(help) = help {
            self.help(help);
        }
        failed
    }

    /// Returns `true` if the next token begins a number or a list of lanes.
    fn at_literal(&self) -> bool {
        match self.tok() {
            Tok::Number | Tok::Punctuation(b'-' | b'[') => true,
            Tok::Word => self.at_word("inf") || self.at_word("nan"),
            _ => false,
        }
    }

    /// Parses a number as an operand. Such a number is equivalent to a `const` instruction of the
    /// operand's type before the current instruction.
    fn literal(&mut self, row: &OpRow, ty: Type, args: &mut Args) -> Reading<Value> {
        let wanted = match row.arg(args.len()) {
            Some(ArgType::Same) => Some(ty),
            Some(ArgType::Lane) => Some(ty.lane_type()),
            Some(ArgType::Mask) => ty.mask_type(),
            Some(ArgType::Condition) => Some(Type::I1),
            Some(ArgType::Exactly(ty)) => Some(ty),
            Some(ArgType::Converted) | None => None,
        };
        match wanted.filter(|&wanted| wanted != Type::PTR) {
            Some(wanted) => {
                let value = self.literal_of(wanted, args.len())?;
                args.push(value);
                Ok(value)
            }
            None if row.arg(args.len()).is_none() => Err(self.unexpected("the end of the line")),
            None => Err(self.number_for_operand(row, ty)),
        }
    }

    /// Parses a number of type `ty` as the operand with number `number`.
    fn literal_of(&mut self, ty: Type, number: usize) -> Reading<Value> {
        let start = self.at();
        let words = self.constant_words(ty)?;
        let span = self.since(start);
        let kernel = &mut self.body.kernel;
        let attr = kernel.const_attr(ty, words);
        let inst = kernel.insts.next_key();
        let value = kernel.values.push(ValueData { ty, def: ValueDef::Result(inst) });
        kernel.insts.push(InstData { op: Op::Const, ty, attr, args: ValueList::new(), result: value.into(), span });
        self.body.insts.push(inst);
        self.put_off(inst);
        self.part(InstPart::Arg(number as u32), span);
        Ok(value)
    }

    /// Reports a number where a value is expected, if no other operand determines the number's type.
    fn number_for_operand(&mut self, row: &OpRow, ty: Type) -> Failed {
        let from = row.sources(ty).next().unwrap_or(ty);
        let is_list = self.tok() == Tok::Punctuation(b'[');
        let minus = if self.eat(b'-') { "-" } else { "" };
        let number = if is_list { "[..]".to_owned() } else { format!("{minus}{}", self.text()) };
        let name = match number.as_str() {
            "0" => "zero",
            "1" => "one",
            "2" => "two",
            "3" => "three",
            "4" => "four",
            _ => "k",
        };
        let failed = self.unexpected("an operand: `%name`");
        self.help(format!("define a value first: `%{name} = const.{from} {number}`"));
        failed
    }

    /// Parses operands separated by commas, and then the lane number or list of lane numbers if the op has one.
    fn values(&mut self, row: &OpRow, ty: Type, args: &mut Args) -> Reading<Attr> {
        let kind = row.attr;
        let last = match kind {
            AttrKind::Lane => Some("a lane number"),
            AttrKind::Lanes => Some("a list of lane numbers"),
            _ => None,
        };
        if last.is_none() && self.at_end() {
            return Ok(Attr::None);
        }
        loop {
            match (self.tok(), kind) {
                (Tok::Value, _) => self.operand(args)?,
                (Tok::Number | Tok::Punctuation(b'-'), AttrKind::Lane) if args.len() >= row.args.len() => {
                    return self.lane_number();
                }
                (Tok::Punctuation(b'['), AttrKind::Lanes) => return self.lanes(ty),
                _ if self.at_literal() => self.literal(row, ty, args)?,
                _ => self.operand(args)?,
            };
            match last {
                None if self.at_end() => return Ok(Attr::None),
                _ if self.eat(b',') => {}
                None => return Err(self.unexpected("`,` or the end of the line")),
                Some(last) => return Err(self.unexpected(format!("`,` and {last}"))),
            }
        }
    }

    fn lane_number(&mut self) -> Reading<Attr> {
        let (lane, span) = self.integer("a lane number")?;
        self.part(InstPart::Attr, span);
        match u8::try_from(lane) {
            Ok(lane) => Ok(Attr::Lane(lane)),
            Err(_) => Err(self.error(span, format!("lane {lane}"), "a number below 16")),
        }
    }

    /// Parses `[`, items separated by commas, and `]`, across line breaks.
    fn bracketed(&mut self, mut item: impl FnMut(&mut Self, usize) -> Reading<()>) -> Reading<Span> {
        let (start, free) = (self.at(), self.is_free());
        self.free(true);
        self.mark(b'[')?;
        let mut count = 0;
        while self.tok() != Tok::Punctuation(b']') {
            if count > 0 && !self.eat(b',') {
                return Err(self.unexpected("`,` or `]`"));
            }
            item(self, count)?;
            count += 1;
        }
        // Restore line-break handling before the bracket is consumed, so that it applies to the
        // token after the bracket.
        self.free(free);
        self.bump();
        Ok(self.since(start))
    }

    fn lanes(&mut self, ty: Type) -> Reading<Attr> {
        let lanes = ty.lanes();
        let mut map: SmallVec<[u8; 16]> = SmallVec::new();
        let mut count = 0;
        let span = self.bracketed(|reader, number| {
            count = number + 1;
            let (lane, span) = reader.integer("a lane number")?;
            match u8::try_from(lane) {
                Ok(lane) if usize::from(lane) < 2 * lanes => {
                    if number < lanes {
                        map.push(lane);
                    }
                    Ok(())
                }
                _ => {
                    let (message, expected) = wellformed::no_source_lane(lane, ty);
                    Err(reader.error(span, message, expected))
                }
            }
        })?;
        self.part(InstPart::Attr, span);
        if count != lanes {
            return Err(self.error(
                span,
                format!("{count} lane numbers"),
                format!("{lanes}, one for each lane of `{ty}`"),
            ));
        }
        Ok(Attr::Lanes(LaneMap::new(&map)))
    }

    fn bad(&mut self, span: Span, bad: BadNumber) -> Failed {
        self.error(span, bad.message, bad.expected)
    }

    /// Parses an integer with or without a sign.
    pub(super) fn integer(&mut self, expected: &str) -> Reading<(i128, Span)> {
        let start = self.at();
        let negative = self.eat(b'-');
        let (text, _) = self.expect(Tok::Number, expected)?;
        let span = self.since(start);
        match literal::integer(text, negative) {
            Ok(value) => Ok((value, span)),
            Err(bad) => Err(self.bad(span, bad)),
        }
    }

    /// Parses a number of bytes.
    pub(super) fn size(&mut self, expected: &str) -> Reading<(u32, Span)> {
        let (value, span) = self.integer(expected)?;
        match u32::try_from(value) {
            Ok(value) => Ok((value, span)),
            Err(_) => Err(self.error(span, format!("{value} bytes"), expected)),
        }
    }

    fn constant(&mut self, ty: Type) -> Reading<Attr> {
        let words = self.constant_words(ty)?;
        Ok(self.body.kernel.const_attr(ty, words))
    }

    /// Parses the constant contents of a buffer: constants of its element type.
    pub(super) fn contents(&mut self, elem: Type) -> Reading<Vec<u8>> {
        let mut contents = Vec::new();
        self.bracketed(|reader, _| {
            let words = reader.constant_words(elem)?;
            contents.extend(words.iter().flat_map(|word| word.to_le_bytes()).take(elem.bytes() as usize));
            Ok(())
        })?;
        Ok(contents)
    }

    fn constant_words(&mut self, ty: Type) -> Reading<[u64; 8]> {
        let (elem, lanes) = (ty.elem(), ty.lanes());
        let width = elem.bits() as usize;
        let mut words = [0u64; 8];
        let mut set = |lane: usize, bits: u64| {
            if let Some(word) = words.get_mut(lane * width / 64) {
                *word |= bits << (lane * width % 64);
            }
        };
        if self.tok() == Tok::Punctuation(b'[') {
            let mut count = 0;
            let span = self.bracketed(|reader, number| {
                count = number + 1;
                let bits = reader.lane(ty)?;
                if number < lanes {
                    set(number, bits);
                }
                Ok(())
            })?;
            if count != lanes {
                return Err(self.error(
                    span,
                    format!("{count} lanes"),
                    format!("{lanes} for `{ty}`, or one value for all lanes"),
                ));
            }
        } else {
            let (text, negative, span) = self.lane_text(ty)?;
            match literal::element(text, negative, ty) {
                Some(whole) => return whole.map_err(|bad| self.bad(span, bad)),
                None => {
                    let bits = literal::lane(text, negative, ty.elem()).map_err(|bad| self.bad(span, bad))?;
                    (0..lanes).for_each(|lane| set(lane, bits));
                }
            }
        }
        Ok(words)
    }

    /// Parses one number of a list of lanes. Returns its bits.
    fn lane(&mut self, ty: Type) -> Reading<u64> {
        let (text, negative, span) = self.lane_text(ty)?;
        literal::lane(text, negative, ty.elem()).map_err(|bad| self.bad(span, bad))
    }

    /// Parses a number. Returns its text without the sign, `true` if it is negative, and its span.
    fn lane_text(&mut self, ty: Type) -> Reading<(&'s str, bool, Span)> {
        let start = self.at();
        let negative = self.eat(b'-');
        if !matches!(self.tok(), Tok::Number | Tok::Word) {
            return Err(self.unexpected(format!("a number of `{}`", ty.lane_type())));
        }
        let text = self.text();
        self.bump();
        Ok((text, negative, self.since(start)))
    }

    fn intrinsic(&mut self, args: &mut Args) -> Reading<Attr> {
        let target = self.word("a target's name")?;
        let (quoted, _) = self.expect(Tok::Text, "the instruction's text in quotes")?;
        self.part(InstPart::Attr, self.since(target.start));
        while self.eat(b',') {
            self.operand(args)?;
        }
        let mut text = String::with_capacity(quoted.len());
        let mut chars = quoted.get(1..quoted.len() - 1).unwrap_or_default().chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => text.extend(chars.next()),
                c => text.push(c),
            }
        }
        let data = IntrinsicData { target: self.source(target).into(), text };
        Ok(Attr::Intrinsic(self.body.kernel.intrinsics.push(data)))
    }

    fn memory(&mut self, row: &OpRow, suffix: &Suffix, mnemonic: Span, args: &mut Args) -> Reading<(Type, Attr)> {
        let ty = suffix.ty;
        // Numbers whose type is only known after the address has been parsed, with their operand numbers.
        let mut literals: SmallVec<[(usize, Lexer<'s>); 2]> = SmallVec::new();
        while args.len() + 1 < row.args.len() {
            let operand = self.at();
            if self.at_literal() {
                match ty {
                    Some(ty) => {
                        self.literal(row, ty, args)?;
                    }
                    None => {
                        literals.push((args.len(), self.place()));
                        args.push(Value::reserved_value());
                        self.skip_literal()?;
                    }
                }
                self.mark(b',')?;
                continue;
            }
            self.operand(args)?;
            if self.tok() == Tok::Punctuation(b'[') {
                let value = self.rest_of_line().rsplit_once(',').map_or("", |(_, value)| value).trim();
                return Err(self.value_goes_first(
                    "`,`",
                    self.source(mnemonic),
                    self.source(self.name_at(operand).span),
                    value,
                ));
            }
            self.mark(b',')?;
        }
        let base = self.at();
        let address = self.address(args)?;
        if ty.is_none() {
            self.check_base(base, address.base)?;
        }
        let elem = self.body.kernel.elements(address.base).map(|(elem, _)| elem);
        let Some(ty) = ty.or(elem) else {
            // If the base has no definition, that error is reported instead.
            self.body.untyped.push((address.base, untyped(row, mnemonic)));
            self.body.partial.incomplete = true;
            return Err(Failed);
        };
        if !literals.is_empty() {
            let end = self.place();
            for (number, place) in literals {
                self.go_to(place);
                let value = self.literal_of(ty, number)?;
                if let Some(arg) = args.get_mut(number) {
                    *arg = value;
                }
            }
            self.go_to(end);
        }
        let mut mem = self.body.kernel.default_mem(address.base, ty);
        mem.scale = address.step.unwrap_or(mem.scale);
        mem.wide = address.wide;
        let align = if row.attr == AttrKind::Atomic { ty.bytes() } else { mem.align };
        mem.align = address.align.unwrap_or(align);
        let bytes = address.steps.saturating_mul(mem.scale.into());
        mem.offset = i32::try_from(bytes).map_err(|_| {
            let expected = format!("{} to {}", i32::MIN, i32::MAX);
            self.error(address.steps_span, format!("the offset is {bytes} bytes"), expected)
        })?;
        let attr = match row.attr {
            AttrKind::Atomic => {
                let (order, scope) = (suffix.order.unwrap_or_default(), suffix.scope.unwrap_or_default());
                Attr::Atomic(AtomicAttr { mem, order, scope })
            }
            _ => Attr::Mem(mem),
        };
        Ok((ty, attr))
    }

    /// Reports a base that is not an address, in a memory access without a type suffix.
    fn check_base(&mut self, start: u32, base: Value) -> Reading<()> {
        let known = self.body.kernel.values.get(base).filter(|value| value.def != ValueDef::Param(u32::MAX));
        let Some(ty) = known.map(|value| value.ty).filter(|&ty| ty != Type::PTR) else { return Ok(()) };
        let span = self.name_at(start).span;
        let name = self.source(span);
        let failed = self.error(span, format!("`{name}` is not a buffer: its type is `{ty}`"), "a buffer");
        self.help(match self.body.kernel.param(base) {
            Some(_) => format!("`{name}: in {ty}` among the parameters is a buffer; a scalar is used by its name"),
            None => format!("a value is used by its name: `{name}`"),
        });
        Err(failed)
    }

    /// Parses an address: `%base`, `%base[%index]`, `%base[%index wide]`, `%base[%index + 3]` or
    /// `%base[3]`, then `step N` and `align N`.
    fn address(&mut self, args: &mut Args) -> Reading<Address> {
        let base = self.operand(args)?;
        let mut address = Address { base, steps: 0, steps_span: self.span(), wide: false, step: None, align: None };
        if self.eat(b'[') {
            let indexed = self.tok() == Tok::Value;
            let index = self.at();
            if indexed {
                self.operand(args)?;
                address.wide = self.eat_word("wide");
                if self.tok() == Tok::Punctuation(b'*') {
                    return Err(self.computed_index(index, "mul"));
                }
            }
            let minus = match (indexed, self.tok()) {
                (true, Tok::Punctuation(sign @ (b'+' | b'-'))) => {
                    self.bump();
                    Some(sign == b'-')
                }
                (true, _) => None,
                (false, _) => Some(false),
            };
            if let Some(minus) = minus {
                if indexed && self.tok() == Tok::Value {
                    return Err(self.computed_index(index, if minus { "sub" } else { "add" }));
                }
                let (steps, span) = self.integer("an index: `%name` or a number")?;
                address.steps = if minus { -steps } else { steps };
                address.steps_span = span;
                self.part(InstPart::Attr, span);
            }
            if self.tok() != Tok::Punctuation(b']') {
                let misplaced = self.at_word("wide");
                let failed = self.unexpected(match (minus.is_some(), address.wide) {
                    (true, _) => "`]`",
                    (false, true) => "`]`, `+` or `-`",
                    (false, false) => "`]`, `wide`, `+` or `-`",
                });
                if misplaced {
                    self.help(match (indexed, address.wide) {
                        (true, true) => "`wide` occurs twice",
                        (true, false) => "`wide` follows the value: `%x[%i wide + 3]`",
                        (false, _) => "`wide` scales an index value in 64 bits; a number is always added in 64 bits",
                    });
                }
                return Err(failed);
            }
            self.bump();
        }
        if self.eat_word("step") {
            let (step, span) = self.size("a number of bytes")?;
            self.part(InstPart::Step, span);
            address.step = Some(step);
        }
        if self.eat_word("align") {
            let (align, span) = self.size("an alignment in bytes")?;
            self.part(InstPart::Align, span);
            address.align = Some(align);
        }
        Ok(address)
    }

    /// Reports an index that is not a value plus a constant.
    fn computed_index(&mut self, index: u32, op: &str) -> Failed {
        let rest = self.rest_of_line().trim_start_matches('*');
        let right = rest.split(']').next().unwrap_or_default().trim();
        let (before, right) = match right.parse::<u32>() {
            Ok(number) => (format!("`%k = const.i32 {number}`, "), "%k"),
            Err(_) => (String::new(), right),
        };
        let index = self.source(self.name_at(index).span);
        let failed = self.unexpected(if op == "mul" { "`]`, `+` or `-`" } else { "a number" });
        self.help(format!(
            "an index is the sum of a value and a constant; compute any other index first: {before}`%at = {op}.i32 {index}, {right}`"
        ));
        failed
    }

    fn targets(&mut self, row: &OpRow, args: &mut Args) -> Reading<Attr> {
        for _ in row.args {
            self.operand(args)?;
            self.mark(b',')?;
        }
        let mut calls: SmallVec<[BlockCall; 2]> = SmallVec::new();
        self.target(0, 0, &mut calls)?;
        match row.op {
            Op::BrIf => {
                self.mark(b',')?;
                self.target(0, 1, &mut calls)?;
            }
            Op::Switch => {
                self.mark(b',')?;
                self.bracketed(|reader, number| {
                    let (case, span) = reader.integer("a case: `value: ^block`")?;
                    if !(i128::from(i32::MIN)..=u32::MAX.into()).contains(&case) {
                        let expected = format!("{} to {}", i32::MIN, u32::MAX);
                        return Err(reader.error(span, format!("{case} does not fit i32"), expected));
                    }
                    let target = number as u32 + 1;
                    reader.part(InstPart::Case(target), span);
                    reader.mark(b':')?;
                    reader.target(case as u32, target, &mut calls)
                })?;
            }
            _ => {}
        }
        Ok(Attr::Targets(self.body.kernel.add_calls(&calls)))
    }

    /// Parses a branch target: `^block` or `^block(%a, %b)`.
    fn target(&mut self, case: u32, number: u32, calls: &mut SmallVec<[BlockCall; 2]>) -> Reading<()> {
        let name = self.name(Tok::Block, "a target: `^name`")?;
        let block = self.block(name);
        self.part(InstPart::Target(number), name.span);
        let mut args = Args::new();
        if self.eat(b'(') {
            loop {
                let name = self.name(Tok::Value, "an argument: `%name`")?;
                self.part(InstPart::TargetArg(number, args.len() as u32), name.span);
                args.push(self.value(name));
                if self.eat(b')') {
                    break;
                }
                if !self.eat(b',') {
                    return Err(self.unexpected("`,` or `)`"));
                }
            }
        }
        let args = ValueList::from_slice(&args, &mut self.body.kernel.pool);
        calls.push(BlockCall { block, args, case });
        Ok(())
    }
}
