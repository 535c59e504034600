//! Parser and printer for the stream declarations of a packed kernel.

use std::fmt::{self, Formatter};

use halfbyte_abi::stream::{Affine, AffineVariable, Step, StreamContents, TripCount};
use halfbyte_abi::{Direction, ParamKind};

use super::lexer::Tok;
use super::print::Printer;
use super::read::{Reader, Reading};
use crate::span::Span;
use crate::stream::{Packing, Stream};
use crate::wellformed::StreamPart;

/// Alignment in bytes of the start of every stream.
const ALIGN: u32 = 16;

/// Keyword for the number of the item in an address.
const ITEM: &str = "item";

/// Keyword for the number of items of the launch.
const ITEM_COUNT: &str = "item_count";

/// Returns the default alignment in bytes of an access of `bytes` bytes.
fn default_align(of_buffer: bool, bytes: u32) -> u32 {
    if of_buffer { bytes } else { 1 }
}

/// Returns `true` if the address of a stream is the start of the buffer for every item.
fn is_nothing(scale: &Affine, sum: &Affine) -> bool {
    scale.is_zero() && sum.is_zero()
}

impl Printer<'_> {
    /// Prints the stream declarations of a packed kernel, one per line.
    pub(super) fn streams(&self, f: &mut Formatter<'_>, packing: &Packing) -> fmt::Result {
        let params = self.kernel.params.iter().skip(self.kernel.launch_params().len());
        for (stream, param) in packing.streams.iter().zip(params) {
            f.write_str("  stream ")?;
            self.value(f, param.value)?;
            f.write_str(match (stream.holds, stream.uniform) {
                (StreamContents::Buffer, _) => ": whole ",
                (_, true) => ": uniform ",
                (_, false) => ": ",
            })?;
            if let ParamKind::Buffer { direction, elem, .. } = param.kind {
                write!(f, "{} {elem}", direction.name())?;
            }
            if let Some(buffer) = stream.buffer {
                f.write_str(" of ")?;
                self.param(f, buffer)?;
            }
            if stream.holds == StreamContents::Buffer {
                f.write_str("\n")?;
                continue;
            }
            write!(f, ", {} byte{}", stream.bytes, if stream.bytes == 1 { "" } else { "s" })?;
            if stream.align != default_align(stream.buffer.is_some(), stream.bytes) {
                write!(f, " align {}", stream.align)?;
            }
            if let StreamContents::Offsets { window, stores } = stream.holds {
                f.write_str(if stores { " stores " } else { " loads " })?;
                self.param(f, window.saturating_add(self.kernel.launch_params().len() as u32))?;
            } else if stream.buffer.is_some() || !is_nothing(&stream.scale, &stream.index) {
                f.write_str(" at ")?;
                self.sum(f, &stream.scale, &stream.index)?;
            }
            if stream.offset != 0 {
                write!(f, " offset {}", stream.offset)?;
            }
            stream.steps.iter().try_for_each(|step| self.step(f, step))?;
            if let Some(guard) = stream.guard {
                f.write_str(", guard ")?;
                self.param(f, guard.saturating_add(self.kernel.launch_params().len() as u32))?;
            }
            f.write_str("\n")?;
        }
        Ok(())
    }

    fn param(&self, f: &mut Formatter<'_>, number: u32) -> fmt::Result {
        match self.kernel.params.get(number as usize) {
            Some(param) => self.value(f, param.value),
            None => f.write_str("%?"),
        }
    }

    fn step(&self, f: &mut Formatter<'_>, step: &Step) -> fmt::Result {
        write!(f, ", loop {} trips ", step.loop_number)?;
        match &step.trips {
            TripCount::Const(trips) => write!(f, "{trips}")?,
            TripCount::Of { count, signed, at_least } => {
                f.write_str(if *signed { "signed " } else { "unsigned " })?;
                self.sum(f, &Affine::default(), count)?;
                if *at_least != 0 {
                    write!(f, " at_least {at_least}")?;
                }
            }
        }
        if !step.stride.is_zero() {
            f.write_str(" by ")?;
            self.sum(f, &Affine::default(), &step.stride)?;
        }
        Ok(())
    }

    fn sum(&self, f: &mut Formatter<'_>, scale: &Affine, sum: &Affine) -> fmt::Result {
        let mut first = true;
        let mut number = |f: &mut Formatter<'_>, number: u32| {
            let negative = (number as i32) < 0;
            f.write_str(match (std::mem::replace(&mut first, false), negative) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            })?;
            write!(f, "{}", (number as i32).unsigned_abs())
        };
        if scale.constant != 0 {
            number(f, scale.constant)?;
            write!(f, " * {ITEM}")?;
        }
        let scaled = scale.terms.iter().map(|term| (term, true));
        for (&(factor, by), of_item) in scaled.chain(sum.terms.iter().map(|term| (term, false))) {
            number(f, by)?;
            f.write_str(" * ")?;
            match factor {
                AffineVariable::Param(number) => self.param(f, number)?,
                AffineVariable::ItemCount => f.write_str(ITEM_COUNT)?,
            }
            if of_item {
                write!(f, " * {ITEM}")?;
            }
        }
        if sum.constant != 0 || is_nothing(scale, sum) {
            number(f, sum.constant)?;
        }
        Ok(())
    }
}

impl<'s> Reader<'s> {
    /// Parses the group size of a packed kernel, `groups N`, after its parameters.
    pub(super) fn groups(&mut self) -> Reading<()> {
        if self.at_word("groups") {
            let start = self.bump().start;
            let (items, _) = self.number("the number of work items in a group")?;
            self.body.groups = self.since(start);
            self.body.kernel.packing = Some(Packing { items, streams: Vec::new() });
        }
        Ok(())
    }

    /// Parses a stream declaration, a line that begins with `stream`.
    pub(super) fn stream(&mut self) -> Reading<()> {
        let start = self.bump();
        let name = self.name(Tok::Value, "the stream's name: `%name`")?;
        let number = self.body.kernel.packing.as_ref().map_or(0, |packing| packing.streams.len());
        let result = if self.body.kernel.packing.is_none() {
            let expected = "`groups` and a number after the kernel's parameters";
            Err(self.error(start, "only a packed kernel can have streams", expected))
        } else if self.body.block.is_some() {
            Err(self.error(
                start,
                "the stream declaration follows a label",
                "all stream declarations before the first block",
            ))
        } else {
            self.stream_of(number, name.span, start)
        };
        match result {
            Ok((kind, stream)) => {
                let span = stream.site;
                let value = self.body.kernel.add_param(self.name_text(name), kind, span);
                self.claim(name, name.span, value);
                if let Some(packing) = &mut self.body.kernel.packing {
                    packing.streams.push(stream);
                }
                Ok(())
            }
            Err(failed) => {
                self.body.forget_stream(number);
                self.poison(name);
                Err(failed)
            }
        }
    }

    fn stream_of(&mut self, number: usize, name: Span, start: Span) -> Reading<(ParamKind, Stream)> {
        self.stream_part(number, StreamPart::Name, name);
        self.mark(b':')?;
        let whole = self.eat_word("whole");
        let mut stream = Stream { uniform: whole || self.eat_word("uniform"), ..Stream::default() };
        let ty_start = self.at();
        let directions = [Direction::In, Direction::Out, Direction::InOut];
        let directions = directions.into_iter().take(if whole { 3 } else { 2 });
        let Some(direction) = directions.into_iter().find(|direction| self.eat_word(direction.name())) else {
            return Err(self.unexpected(if whole { "`in`, `out` or `inout`" } else { "`in` or `out`" }));
        };
        let elem = self.type_name("the type of the stream's values")?;
        self.stream_part(number, StreamPart::Type, self.since(ty_start));
        if self.eat_word("of") {
            let (buffer, span) = self.param_number("a buffer parameter: `%name`")?;
            self.stream_part(number, StreamPart::Buffer, span);
            stream.buffer = Some(buffer);
        }
        let kind = ParamKind::Buffer { direction, elem, align: ALIGN, may_alias: false };
        if whole {
            self.end_of_line()?;
            (stream.holds, stream.bytes, stream.align) = (StreamContents::Buffer, 1, 1);
            stream.site = self.since(start.start);
            return Ok((kind, stream));
        }
        self.mark(b',')?;
        let (bytes, span) = self.number("the size of an access in bytes")?;
        self.stream_part(number, StreamPart::Bytes, span);
        stream.bytes = bytes;
        if !self.eat_word("bytes") && !self.eat_word("byte") {
            return Err(self.unexpected("`bytes`"));
        }
        stream.align = default_align(stream.buffer.is_some(), bytes);
        if self.eat_word("align") {
            let (align, span) = self.number("an alignment in bytes")?;
            self.stream_part(number, StreamPart::Align, span);
            stream.align = align;
        }
        let address = self.at();
        let stores = self.eat_word("stores");
        if stores || self.eat_word("loads") {
            let (window, _) = self.param_number("a stream: `%name`")?;
            let first = self.body.kernel.launch_params().len() as u32;
            // If the parameter is not a stream, the error is reported later, together with streams
            // that are not windows.
            stream.holds = StreamContents::Offsets { window: window.wrapping_sub(first), stores };
        } else if self.eat_word("at") {
            (stream.scale, stream.index) = self.sum(true)?;
        } else if stream.buffer.is_some() {
            return Err(self.unexpected("`at` and the address in the buffer, or `loads` or `stores` and a window"));
        }
        if self.eat_word("offset") {
            let (offset, span) = self.integer("a number of bytes")?;
            stream.offset = i32::try_from(offset).map_err(|_| {
                self.error(span, format!("the offset is {offset} bytes"), format!("{} to {}", i32::MIN, i32::MAX))
            })?;
        }
        if self.since(address).end > address {
            self.stream_part(number, StreamPart::Address, self.since(address));
        }
        while self.eat(b',') {
            let start = self.at();
            if self.eat_word("loop") {
                let step = self.step()?;
                self.stream_part(number, StreamPart::Loop(stream.steps.len() as u32), self.since(start));
                stream.steps.push(step);
            } else if self.eat_word("guard") {
                let name = self.name(Tok::Value, "a stream: `%name`")?;
                self.stream_part(number, StreamPart::Guard, name.span);
                self.body.guards.push((number, name));
                break;
            } else {
                return Err(self.unexpected("`loop` or `guard`"));
            }
        }
        self.end_of_line()?;
        stream.site = self.since(start.start);
        Ok((kind, stream))
    }

    /// Parses a loop of a stream declaration, after the keyword `loop`.
    fn step(&mut self) -> Reading<Step> {
        let (loop_number, _) = self.number("the loop's number")?;
        if !self.eat_word("trips") {
            return Err(self.unexpected("`trips`"));
        }
        let signed = self.eat_word("signed");
        let trips = if signed || self.eat_word("unsigned") {
            let (_, count) = self.sum(false)?;
            let at_least = if self.eat_word("at_least") { self.number("0 or 1")?.0 } else { 0 };
            TripCount::Of { count, signed, at_least }
        } else {
            TripCount::Const(self.number("a number of trips, or `signed` or `unsigned` and a sum")?.0)
        };
        let stride = if self.eat_word("by") { self.sum(false)?.1 } else { Affine::default() };
        Ok(Step { loop_number, trips, stride })
    }

    /// Parses an affine sum of numbers and of multiples of `i32` parameters and `item_count`. If
    /// `of_item`, the sum can also contain multiples of `item`, and products of `item` with the
    /// other terms. Returns the coefficient of `item` and the sum of the other terms.
    fn sum(&mut self, of_item: bool) -> Reading<(Affine, Affine)> {
        let mut scale = None;
        let mut constant = None;
        let (mut scaled, mut terms) = (Vec::new(), Vec::new());
        let mut minus = self.eat(b'-');
        loop {
            let start = self.span();
            let by = match self.tok() {
                Tok::Number => Some(self.integer("a number")?.0),
                _ => None,
            };
            let product = by.is_none() || self.eat(b'*');
            let signed = if minus { by.unwrap_or(1).saturating_neg() } else { by.unwrap_or(1) };
            let by = match i32::try_from(signed).map(|by| by as u32).or_else(|_| u32::try_from(signed)) {
                Ok(by) => by,
                Err(_) => {
                    let expected = format!("{} to {}", i32::MIN, u32::MAX);
                    return Err(self.error(start, format!("{signed} does not fit i32"), expected));
                }
            };
            if !product {
                if constant.replace(by).is_some() {
                    return Err(self.error(
                        start,
                        "the sum has two numbers",
                        "one number, and multiples of parameters",
                    ));
                }
            } else if of_item && self.eat_word(ITEM) {
                if scale.replace(by).is_some() {
                    return Err(self.error(
                        self.since(start.start),
                        format!("`{ITEM}` occurs twice in the sum"),
                        "one",
                    ));
                }
            } else {
                let words = if of_item { "`item`, `item_count`" } else { "`item_count`" };
                let factor = match self.eat_word(ITEM_COUNT) {
                    true => AffineVariable::ItemCount,
                    false => AffineVariable::Param(
                        self.param_number(&format!("a number, {words} or a parameter: `%name`"))?.0,
                    ),
                };
                if of_item && self.eat(b'*') {
                    if !self.eat_word(ITEM) {
                        return Err(self.unexpected("`item`"));
                    }
                    scaled.push((factor, by));
                } else {
                    terms.push((factor, by));
                }
            }
            match self.tok() {
                Tok::Punctuation(sign @ (b'+' | b'-')) => {
                    self.bump();
                    minus = sign == b'-';
                }
                _ => {
                    let scale = Affine { constant: scale.unwrap_or(0), terms: scaled };
                    return Ok((scale, Affine { constant: constant.unwrap_or(0), terms }));
                }
            }
        }
    }

    /// Parses the name of a parameter that is already defined.
    fn param_number(&mut self, expected: &str) -> Reading<(u32, Span)> {
        let name = self.name(Tok::Value, expected)?;
        match self.body.param_number(name) {
            Some(number) => Ok((number, name.span)),
            None => {
                let message = format!("`%{}` is not a parameter", self.name_text(name));
                Err(self.error(name.span, message, "a parameter of the kernel"))
            }
        }
    }

    /// Resolves the names of guards, which can be declared after the streams that use them.
    pub(super) fn resolve_guards(&mut self) {
        let first = self.body.kernel.launch_params().len() as u32;
        for (number, name) in std::mem::take(&mut self.body.guards) {
            if self.body.is_unknown(name) {
                continue;
            }
            match self.body.param_number(name).and_then(|param| param.checked_sub(first)) {
                Some(guard) => {
                    let packing = self.body.kernel.packing.as_mut();
                    if let Some(stream) = packing.and_then(|packing| packing.streams.get_mut(number)) {
                        stream.guard = Some(guard);
                    }
                }
                None => {
                    let message = format!("`%{}` is not a stream", self.name_text(name));
                    self.error(name.span, message, "an `out` stream without a buffer");
                }
            }
        }
    }

    fn number(&mut self, expected: &str) -> Reading<(u32, Span)> {
        let (value, span) = self.integer(expected)?;
        match u32::try_from(value) {
            Ok(value) => Ok((value, span)),
            Err(_) => Err(self.error(span, format!("{value} is not an unsigned 32-bit number"), expected)),
        }
    }

    fn stream_part(&mut self, number: usize, part: StreamPart, span: Span) {
        self.body.stream_parts.push((number, part, span));
    }
}
