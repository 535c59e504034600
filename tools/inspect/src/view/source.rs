//! Lines of a kernel: of its source, and of its IR after a pass.

use std::collections::{BTreeMap, HashMap, VecDeque};

use halfbyte_ir::diag::Lines;
use halfbyte_ir::{ConvergenceScope, Kernel, Value, ValueDef};

use super::model::{Line, Origin, Origins, Shape, Token};

/// The source positions of named values, by their names without `%`.
pub type Defs<'n> = HashMap<&'n str, Origins>;

/// Returns the source lines of a kernel, including the comment above the kernel.
pub fn of_text(kernel: &Kernel, lines: &Lines<'_>) -> Vec<Line> {
    let values = definitions(kernel, lines);
    let named = values.iter().filter_map(|(&value, places)| Some((kernel.value_name(value)?, places.clone())));
    let defs: Defs<'_> = named.collect();

    let head = Origin::of_span(lines, kernel.span).unwrap_or(Origin { line: 1, column: 1 });
    let mut at: BTreeMap<u32, (Shape, Origin)> = BTreeMap::from([(head.line, (Shape::Label, head))]);
    let mut last = head.line;
    for data in kernel.layout.iter().filter_map(|&block| kernel.blocks.get(block)) {
        if let Some(label) = Origin::of_span(lines, data.span) {
            at.entry(label.line).or_insert((Shape::Label, label));
        }
        for inst in data.insts.iter().filter_map(|&inst| kernel.insts.get(inst)) {
            let Some(place) = Origin::of_span(lines, inst.span) else { continue };
            let end = lines.position(inst.span.end.saturating_sub(1)).line as u32;
            (place.line..=end.max(place.line)).for_each(|line| {
                at.insert(line, (Shape::Inst, place));
            });
            last = last.max(end);
        }
    }
    let first = with_comment(head.line, lines);
    let closes = |line: &u32| code_of(lines.text(*line as usize)).contains('}');
    let end = (last..).take_while(|&line| lines.start(line as usize) < lines.start(usize::MAX)).find(closes);

    let line = |number: u32| {
        let (shape, place) = at.get(&number).map_or((Shape::Other, None), |&(shape, place)| (shape, Some(place)));
        let tokens = tokens(lines.text(number as usize), shape, &defs);
        Line { margin: number.to_string(), ..Line::new(shape, place, tokens) }
    };
    (first..=end.unwrap_or(last)).map(line).collect()
}

/// Returns the first line number of the comment above a line. Returns `line` if there is no comment.
pub(super) fn with_comment(line: u32, lines: &Lines<'_>) -> u32 {
    let is_comment = |line: u32| lines.text(line as usize).trim_start().starts_with(';');
    (1..line).rev().take_while(|&line| is_comment(line)).last().unwrap_or(line)
}

/// Returns the collective operations of a kernel by their source positions, each with the group of
/// items that synchronise.
pub(super) fn collective_ops(kernel: &Kernel, lines: &Lines<'_>) -> BTreeMap<Origin, ConvergenceScope> {
    let insts = kernel.layout.iter().filter_map(|&block| kernel.blocks.get(block)).flat_map(|data| &data.insts);
    let insts = insts.filter_map(|&inst| kernel.insts.get(inst));
    insts.filter_map(|inst| Some((Origin::of_span(lines, inst.span)?, inst.op.party()?))).collect()
}

/// Returns the lines of a kernel's IR after a pass.
pub fn of_kernel(kernel: &Kernel, lines: &Lines<'_>) -> Vec<Line> {
    let text = kernel.to_string();
    let mut places: Vec<(Shape, Option<Origin>)> = Vec::new();
    for data in kernel.layout.iter().filter_map(|&block| kernel.blocks.get(block)) {
        places.push((Shape::Label, Origin::of_span(lines, data.span)));
        for inst in data.insts.iter().filter_map(|&inst| kernel.insts.get(inst)) {
            places.push((Shape::Inst, Origin::of_span(lines, inst.span)));
        }
    }
    places.push((Shape::Other, None));
    // The number of lines above the first block: the first line of the kernel, and its streams or arrays.
    let above = text.lines().count().saturating_sub(places.len());
    let arrays = kernel.arrays.iter().map(|array| array.span);
    let streams = kernel.params.iter().skip(kernel.launch_params().len()).map(|param| param.span);
    let heads = std::iter::once(kernel.span)
        .chain(streams)
        .chain(arrays)
        .map(|span| (Shape::Label, Origin::of_span(lines, span)));
    let heads: Vec<_> = heads.chain(std::iter::repeat((Shape::Label, None))).take(above).collect();
    let placed: Vec<(&str, Shape, Option<Origin>)> =
        text.lines().zip(heads.into_iter().chain(places)).map(|(line, (shape, place))| (line, shape, place)).collect();

    let values = definitions(kernel, lines);
    let arrays = kernel.arrays.iter().map(|array| (array.name.as_str(), array.value));
    let params = kernel.params.iter().map(|param| (param.name.as_str(), param.value)).chain(arrays);
    let mut defs: Defs<'_> = params.filter_map(|(name, value)| Some((name, values.get(&value)?.clone()))).collect();
    let blocks = kernel.layout.iter().filter(|&&block| kernel.blocks.is_valid(block));
    let made = blocks.flat_map(|&block| {
        let insts = kernel.blocks.get(block).map_or([].as_slice(), |data| data.insts.as_slice());
        std::iter::once(kernel.block_params(block).to_vec())
            .chain(insts.iter().map(|&inst| kernel.result(inst).into_iter().collect()))
    });
    for ((line, ..), made) in placed.iter().skip(above).zip(made) {
        let of_line = names(line).zip(made).filter_map(|(name, value)| Some((name, values.get(&value)?.clone())));
        defs.extend(of_line);
    }
    placed.iter().map(|&(line, shape, place)| Line::new(shape, place, tokens(line, shape, &defs))).collect()
}

/// Returns the source positions of each value. A block parameter has the source positions of the
/// values that branches pass for it.
pub(super) fn definitions(kernel: &Kernel, lines: &Lines<'_>) -> HashMap<Value, Origins> {
    let mut defs: HashMap<Value, Origins> = HashMap::new();
    for (value, data) in kernel.values.iter() {
        let span = match data.def {
            ValueDef::Param(number) => kernel.params.get(number as usize).map(|param| param.span),
            ValueDef::Array(number) => kernel.arrays.get(number as usize).map(|array| array.span),
            ValueDef::Result(inst) => kernel.insts.get(inst).map(|inst| inst.span),
            ValueDef::BlockParam(..) => None,
        };
        defs.insert(value, span.and_then(|span| Origin::of_span(lines, span)).into_iter().collect());
    }
    let insts = kernel.layout.iter().filter_map(|&block| kernel.terminator(block));
    let passed: Vec<(Value, Value)> = insts
        .flat_map(|inst| kernel.targets(inst))
        .flat_map(|call| kernel.block_params(call.block).iter().copied().zip(kernel.call_args(call).iter().copied()))
        .collect();
    let mut params: HashMap<Value, Vec<Value>> = HashMap::new();
    for &(param, argument) in &passed {
        params.entry(argument).or_default().push(param);
    }
    let mut left: VecDeque<Value> = passed.iter().map(|&(_, argument)| argument).collect();
    while let Some(argument) = left.pop_front() {
        let from = defs.get(&argument).cloned().unwrap_or_default();
        for &param in params.get(&argument).into_iter().flatten() {
            if defs.entry(param).or_default().add(&from) {
                left.push_back(param);
            }
        }
    }
    defs
}

/// Returns the names of the values in a line of IR, without `%`.
fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split('%').skip(1).map(|rest| rest.split(|c: char| !is_in_name(c)).next().unwrap_or_default())
}

fn is_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns a line without its comment.
pub(super) fn code_of(line: &str) -> &str {
    let mut quoted = false;
    let mut escaped = false;
    let comment = line.find(|c: char| {
        let ends = c == ';' && !quoted;
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && quoted && !escaped;
        ends
    });
    line.get(..comment.unwrap_or(line.len())).unwrap_or(line)
}

/// Splits a line of IR into tokens.
pub fn tokens(line: &str, shape: Shape, defs: &Defs<'_>) -> Vec<Token> {
    let line = if shape == Shape::Inst { line.trim_start() } else { line };
    let code = code_of(line);
    let mut tokens = Vec::new();
    let mut plain = String::new();
    let mut rest = code;
    // Names before the op are results; names after it are operands.
    let mut before_op = shape == Shape::Inst;
    while let Some(c) = rest.chars().next() {
        let length = |belongs: fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        let (token, taken) = match c {
            '%' => {
                let name: &str = rest.get(1..).unwrap_or_default();
                let name = name.get(..name.find(|c| !is_in_name(c)).unwrap_or(name.len())).unwrap_or_default();
                let defs = defs.get(name).cloned().unwrap_or_default();
                let is_def = before_op || shape == Shape::Label;
                (Some(Token::Name { text: format!("%{name}"), defs, is_def }), 1 + name.len())
            }
            '"' => (None, string_length(rest)),
            '^' | '@' => {
                (None, 1 + rest.get(1..).map_or(0, |name| name.find(|c| !is_in_name(c)).unwrap_or(name.len())))
            }
            c if c.is_ascii_alphabetic() && before_op => {
                before_op = false;
                let taken = length(|c| is_in_name(c) || c == '.');
                (Some(Token::Op(rest.get(..taken).unwrap_or_default().to_owned(), None)), taken)
            }
            c if is_in_name(c) => (None, length(is_in_name)),
            c => (None, c.len_utf8()),
        };
        match token {
            Some(token) => {
                push_plain(&mut tokens, &mut plain);
                tokens.push(token);
            }
            None => plain.push_str(rest.get(..taken).unwrap_or_default()),
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
    push_plain(&mut tokens, &mut plain);
    if code.len() < line.len() {
        tokens.push(Token::Comment(line.get(code.len()..).unwrap_or_default().to_owned()));
    }
    tokens
}

fn push_plain(tokens: &mut Vec<Token>, plain: &mut String) {
    if !plain.is_empty() {
        tokens.push(Token::Plain(std::mem::take(plain)));
    }
}

/// Returns the length in bytes of the string literal at the start of a text.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|&(_, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}
