//! Statements: an op, its suffixes, and operands as its row has them.

use halfbyte_abi::{ParamKind, Type};
use smallvec::SmallVec;

use super::lexer::Tok;
use super::literal::{self, BadNumber};
use super::read::{Failed, Reader, Reading};
use super::suggest::closest;
use crate::attr::{FlagKind, FloatCC, FloatFlags, IntCC, LaneMap};
use crate::diag::Diagnostic;
use crate::kernel::{Attr, BlockCall, InstData, IntrinsicData, Value, ValueDef, ValueList};
use crate::op::{AttrKind, Op, OpRow, ResultType};
use crate::span::Span;
use crate::wellformed::{self, Part};

/// The operands of a statement.
type Args = SmallVec<[Value; 4]>;

/// What stands between the op's name and its type.
#[derive(Default)]
struct Suffix {
    int_cc: Option<IntCC>,
    float_cc: Option<FloatCC>,
    flags: FloatFlags,
    ty: Option<Type>,
}

/// An address before the type of the access is known.
struct Address {
    base: Value,
    steps: i128,
    steps_span: Span,
    step: Option<u32>,
    align: Option<u32>,
}

fn untyped(row: &OpRow, mnemonic: Span) -> Diagnostic {
    let types = row.types.map_or("", |types| types.name);
    Diagnostic::new(mnemonic, format!("`{}` without a type", row.name))
        .expected(format!("`{}.TYPE`, {types}", row.name))
}

impl<'s> Reader<'s> {
    /// Reads a statement into the block being read.
    pub(super) fn statement(&mut self) -> Reading<()> {
        let start = self.at();
        let result = match self.tok() {
            Tok::Value => {
                let name = self.take_name();
                self.mark(b'=')?;
                Some(name)
            }
            _ => None,
        };
        let op_start = self.at();
        let op = self.op()?;
        let row = op.row();
        match (result, row.result) {
            (Some(name), ResultType::None) => {
                return Err(self.error(name.span, format!("`{}` has no result", row.name), "the op alone"));
            }
            (None, ResultType::None) | (Some(_), _) => {}
            (None, _) => {
                let message = format!("the result of `{}` has no name", row.name);
                return Err(self.error(self.since(op_start), message, format!("`%name = {}`", row.name)));
            }
        }
        let mut args = Args::new();
        let mut suffix = Suffix::default();
        self.suffix(row, &mut suffix)?;
        let mnemonic = self.since(op_start);
        self.part(Part::Op, mnemonic);
        let (ty, attr) = self.operands(row, &suffix, mnemonic, &mut args)?;
        self.end_of_line()?;

        let span = self.since(start);
        let inst = self.body.kernel.insts.next_key();
        let result = result.map(|name| {
            // A type that the op does not take may have no result type; the verifier reports it.
            let result_type = row.result_type(ty);
            let value = self.define_value(name, result_type.unwrap_or(ty), ValueDef::Result(inst));
            if result_type.is_none() || !row.types.is_none_or(|types| (types.contains)(ty)) {
                self.body.partial.unknown.insert(value);
            }
            value
        });
        let kernel = &mut self.body.kernel;
        let args = ValueList::from_slice(&args, &mut kernel.pool);
        kernel.insts.push(InstData { op, ty, attr, args, result: result.into(), span });
        self.body.insts.push(inst);
        Ok(())
    }

    fn op(&mut self) -> Reading<Op> {
        let span = self.word("an instruction")?;
        let word = self.source(span);
        Op::from_name(word).ok_or_else(|| {
            let near = closest(word, Op::ALL.iter().map(|op| op.name()));
            let expected = near.map_or("an op".into(), |near| format!("an op; did you mean `{near}`?"));
            self.error(span, format!("`{word}` is no op"), expected)
        })
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
                self.part(Part::Type, span);
                suffix.ty = Some(ty);
            } else if let Some(cc) = IntCC::from_name(word).filter(|_| row.attr == AttrKind::IntCC) {
                if let Some(other) = suffix.int_cc.replace(cc) {
                    return Err(self.error(span, format!("`{word}` after `{other}`"), "one of them"));
                }
            } else if let Some(cc) = FloatCC::from_name(word).filter(|_| row.attr == AttrKind::FloatCC) {
                if let Some(other) = suffix.float_cc.replace(cc) {
                    return Err(self.error(span, format!("`{word}` after `{other}`"), "one of them"));
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
            _ => Ok(()),
        }
    }

    fn unknown_suffix(&mut self, row: &OpRow, word: &str, span: Span) -> Failed {
        let words = wellformed::suffix_words(row);
        let types = Type::ALL.iter().copied().filter(|&ty| row.types.is_some_and(|types| (types.contains)(ty)));
        let expected = match closest(word, words.iter().copied().chain(types.map(|ty| ty.name()))) {
            Some(near) => format!("a type or modifier; did you mean `{near}`?"),
            None if words.is_empty() => row.types.map_or("no suffix".into(), |types| types.name.into()),
            None => format!("{} and {}", wellformed::one_of(words), row.types.map_or("no type", |types| types.name)),
        };
        self.error(span, format!("`{word}` is neither a type nor a modifier of `{}`", row.name), expected)
    }

    /// Reads what follows the suffixes, and says the controlling type.
    fn operands(&mut self, row: &OpRow, suffix: &Suffix, mnemonic: Span, args: &mut Args) -> Reading<(Type, Attr)> {
        if row.attr == AttrKind::Mem {
            return self.memory(row, suffix.ty, mnemonic, args);
        }
        let Some(ty) = suffix.ty.or(row.fixed_type()) else { return Err(self.report(untyped(row, mnemonic))) };
        let attr = match row.attr {
            AttrKind::Const => self.constant(ty)?,
            AttrKind::Intrinsic => self.intrinsic(args)?,
            AttrKind::Targets => self.targets(row, args)?,
            kind => {
                let carried = self.values(kind, ty, args)?;
                match (kind, suffix.int_cc, suffix.float_cc) {
                    (AttrKind::Float(_), ..) => Attr::Float(suffix.flags),
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
            return Err(self.unexpected("an operand: `%name`"));
        }
        let number = args.len();
        let name = self.take_name();
        let value = self.value(name);
        args.push(value);
        self.part(Part::Arg(number as u32), name.span);
        Ok(value)
    }

    /// Operands with commas between them and, of ops that have one, the lane number or list that comes last.
    fn values(&mut self, kind: AttrKind, ty: Type, args: &mut Args) -> Reading<Attr> {
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
                (Tok::Number | Tok::Mark(b'-'), AttrKind::Lane) => return self.lane_number(),
                (Tok::Mark(b'['), AttrKind::Lanes) => return self.lanes(ty),
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
        self.part(Part::Attr, span);
        match u8::try_from(lane) {
            Ok(lane) => Ok(Attr::Lane(lane)),
            Err(_) => Err(self.error(span, format!("lane {lane}"), "a number below 16")),
        }
    }

    /// Reads `[`, items with commas between them, and `]`, over as many lines as it takes.
    fn bracketed(&mut self, mut item: impl FnMut(&mut Self, usize) -> Reading<()>) -> Reading<Span> {
        let (start, free) = (self.at(), self.is_free());
        self.free(true);
        self.mark(b'[')?;
        let mut count = 0;
        while self.tok() != Tok::Mark(b']') {
            if count > 0 && !self.eat(b',') {
                return Err(self.unexpected("`,` or `]`"));
            }
            item(self, count)?;
            count += 1;
        }
        // What comes after the bracket is on its line or on another: that counts as before.
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
        self.part(Part::Attr, span);
        if count != lanes {
            return Err(self.error(span, format!("{count} lane numbers"), format!("{lanes}, one a lane of `{ty}`")));
        }
        Ok(Attr::Lanes(LaneMap::new(&map)))
    }

    fn bad(&mut self, span: Span, bad: BadNumber) -> Failed {
        self.error(span, bad.message, bad.expected)
    }

    /// An integer with or without a sign.
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

    /// A number of bytes.
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

    /// What a buffer holds: constants of its elements.
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
        if self.tok() == Tok::Mark(b'[') {
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
                    format!("{lanes}, those of `{ty}`, or one value for all"),
                ));
            }
        } else {
            let bits = self.lane(ty)?;
            (0..lanes).for_each(|lane| set(lane, bits));
        }
        Ok(words)
    }

    /// The bits of one lane.
    fn lane(&mut self, ty: Type) -> Reading<u64> {
        let start = self.at();
        let negative = self.eat(b'-');
        if !matches!(self.tok(), Tok::Number | Tok::Word) {
            return Err(self.unexpected(format!("a number of `{}`", ty.lane_type())));
        }
        let text = self.text();
        self.bump();
        literal::lane(text, negative, ty.elem()).map_err(|bad| self.bad(self.since(start), bad))
    }

    fn intrinsic(&mut self, args: &mut Args) -> Reading<Attr> {
        let target = self.word("a target's name")?;
        let (quoted, _) = self.expect(Tok::Text, "the instruction's text in quotes")?;
        self.part(Part::Attr, self.since(target.start));
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

    fn memory(&mut self, row: &OpRow, ty: Option<Type>, mnemonic: Span, args: &mut Args) -> Reading<(Type, Attr)> {
        while args.len() + 1 < row.args.len() {
            self.operand(args)?;
            self.mark(b',')?;
        }
        let address = self.address(args)?;
        let elem = self.body.kernel.param(address.base).and_then(|param| match param.kind {
            ParamKind::Buffer { elem, .. } => Some(elem),
            ParamKind::Scalar(_) => None,
        });
        let Some(ty) = ty.or(elem) else {
            // The base may yet turn out to have no definition, and then that is the error.
            self.body.untyped.push((address.base, untyped(row, mnemonic)));
            self.body.partial.incomplete = true;
            return Err(Failed);
        };
        let mut mem = self.body.kernel.default_mem(address.base, ty);
        mem.scale = address.step.unwrap_or(mem.scale);
        mem.align = address.align.unwrap_or(mem.align);
        let bytes = address.steps.saturating_mul(mem.scale.into());
        mem.offset = i32::try_from(bytes).map_err(|_| {
            let expected = format!("{} to {}", i32::MIN, i32::MAX);
            self.error(address.steps_span, format!("an offset of {bytes} bytes"), expected)
        })?;
        Ok((ty, Attr::Mem(mem)))
    }

    /// `%base`, `%base[%index]`, `%base[%index + 3]`, `%base[3]`; then `step N` and `align N`.
    fn address(&mut self, args: &mut Args) -> Reading<Address> {
        let base = self.operand(args)?;
        let mut address = Address { base, steps: 0, steps_span: self.span(), step: None, align: None };
        if self.eat(b'[') {
            let indexed = self.tok() == Tok::Value;
            if indexed {
                self.operand(args)?;
            }
            let minus = match (indexed, self.tok()) {
                (true, Tok::Mark(sign @ (b'+' | b'-'))) => {
                    self.bump();
                    Some(sign == b'-')
                }
                (true, _) => None,
                (false, _) => Some(false),
            };
            if let Some(minus) = minus {
                let (steps, span) = self.integer("an index: `%name` or a number")?;
                address.steps = if minus { -steps } else { steps };
                address.steps_span = span;
                self.part(Part::Attr, span);
            }
            if self.tok() != Tok::Mark(b']') {
                return Err(self.unexpected(if minus.is_some() { "`]`" } else { "`]`, `+` or `-`" }));
            }
            self.bump();
        }
        if self.eat_word("step") {
            let (step, span) = self.size("a number of bytes")?;
            self.part(Part::Step, span);
            address.step = Some(step);
        }
        if self.eat_word("align") {
            let (align, span) = self.size("an alignment in bytes")?;
            self.part(Part::Align, span);
            address.align = Some(align);
        }
        Ok(address)
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
                    reader.part(Part::Case(target), span);
                    reader.mark(b':')?;
                    reader.target(case as u32, target, &mut calls)
                })?;
            }
            _ => {}
        }
        Ok(Attr::Targets(self.body.kernel.add_calls(&calls)))
    }

    /// `^block` or `^block(%a, %b)`
    fn target(&mut self, case: u32, number: u32, calls: &mut SmallVec<[BlockCall; 2]>) -> Reading<()> {
        let name = self.name(Tok::Block, "a target: `^name`")?;
        let block = self.block(name);
        self.part(Part::Target(number), name.span);
        let mut args = Args::new();
        if self.eat(b'(') {
            loop {
                let name = self.name(Tok::Value, "an argument: `%name`")?;
                self.part(Part::TargetArg(number, args.len() as u32), name.span);
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
