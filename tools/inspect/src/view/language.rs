//! The source lines of a kernel in the kernel language, including the functions that it calls.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use halfbyte::lang::{Item, outline};
use halfbyte_ir::diag::Lines;
use halfbyte_ir::{Kernel, Span};

use super::model::{Line, Origin, Origins, Shape, Token};
use super::source::{code_of, definitions, with_comment};

/// The source positions of ops or values, by their byte offset in the text.
type Places = BTreeMap<u32, Origin>;

/// Returns the source lines of a kernel in the kernel language, or `None` for a kernel in the IR.
pub(super) fn of_text(text: &str, kernel: &Kernel, lines: &Lines<'_>) -> Option<Vec<Line>> {
    let items = outline(text);
    let own = items.iter().position(|item| item.is_kernel && item.at.start == kernel.span.start)?;
    let insts = || kernel.layout.iter().filter_map(|&block| kernel.blocks.get(block)).flat_map(|block| &block.insts);
    let spans = || insts().filter_map(|&inst| kernel.insts.get(inst)).map(|inst| inst.span);
    let placed = |span: Span| Some((span.start, Origin::of_span(lines, span)?));
    let ops: Places = spans().filter_map(placed).collect();
    let outside = kernel.params.iter().map(|param| param.span).chain(kernel.arrays.iter().map(|array| array.span));
    let values: Places = spans().chain(outside).filter_map(placed).collect();

    let mut shown = BTreeSet::from([own]);
    let mut left = vec![own];
    while let Some(item) = left.pop().and_then(|number| items.get(number)) {
        left.extend(item.calls.iter().filter(|&&called| shown.insert(called)));
    }
    let mut all = Vec::new();
    for (number, item) in shown.into_iter().filter_map(|number| Some((number, items.get(number)?))) {
        let named = if number == own { by_name(kernel, lines) } else { HashMap::new() };
        of_item(&mut all, text, item, (&ops, &values), named, lines);
    }
    Some(all)
}

/// Returns the source positions of the kernel's named values, by name.
fn by_name<'k>(kernel: &'k Kernel, lines: &Lines<'_>) -> HashMap<&'k str, Origins> {
    let defs = definitions(kernel, lines);
    defs.into_iter().filter_map(|(value, places)| Some((kernel.value_name(value)?, places))).collect()
}

/// Returns the source positions within a span of the text.
fn within(places: &Places, span: Span) -> impl Iterator<Item = &Origin> {
    places.range(span.start..span.end.max(span.start)).map(|(_, place)| place)
}

fn of_item(
    all: &mut Vec<Line>,
    text: &str,
    item: &Item,
    (ops, values): (&Places, &Places),
    named: HashMap<&str, Origins>,
    lines: &Lines<'_>,
) {
    let line_of = |offset: u32| lines.position(offset).line as u32;
    let name_of = |span: Span| text.get(span.start as usize..span.end as usize).unwrap_or_default();
    let plain = |span: Span| name_of(span).trim_start_matches('%');

    // The definitions of a variable are the statements that assign it, and the IR value of the same name.
    let mut defs: HashMap<&str, Origins> = HashMap::new();
    for name in &item.names {
        if let Some(by) = name.set_by {
            defs.entry(plain(name.span)).or_default().add(within(values, by));
        }
    }
    for (name, places) in named {
        if let Some(defs) = defs.get_mut(name) {
            defs.add(&places);
        }
    }

    let mut at: BTreeMap<u32, BTreeSet<Origin>> = BTreeMap::new();
    for place in within(ops, item.span) {
        at.entry(place.line).or_default().insert(*place);
    }
    at.entry(line_of(item.at.start)).or_default().extend(Origin::of_span(lines, item.at).filter(|_| item.is_kernel));
    // All lines of a statement get the source positions of the whole statement.
    for &statement in &item.statements {
        let (first, last) = (line_of(statement.start), line_of(statement.end.saturating_sub(1)));
        for line in (first..=last).filter(|_| first < last) {
            at.entry(line).or_default().extend(within(ops, statement));
        }
    }

    let head = line_of(item.span.start);
    for number in with_comment(head, lines)..=line_of(item.span.end.saturating_sub(1)) {
        let start = lines.start(number as usize) as u32;
        let line = lines.text(number as usize);
        let end = start + line.len() as u32;
        let code = start + code_of(line).len() as u32;
        let part = |from: u32, to: u32| name_of(Span { start: from, end: to }).to_owned();
        let mut tokens = Vec::new();
        let mut from = start;
        let first = item.names.partition_point(|name| name.span.start < start);
        for name in item.names.iter().skip(first).take_while(|name| name.span.end <= code) {
            tokens.push(Token::Plain(part(from, name.span.start)));
            tokens.push(Token::Name {
                text: part(name.span.start, name.span.end),
                defs: defs.get(plain(name.span)).cloned().unwrap_or_default(),
                is_def: name.is_declared,
            });
            from = name.span.end;
        }
        tokens.push(Token::Plain(part(from, code)));
        if code < end {
            tokens.push(Token::Comment(part(code, end)));
        }
        let places = at.get(&number).into_iter().flatten().copied();
        let mut places = places.collect::<Vec<_>>().into_iter();
        let place = places.next();
        let shape = if place.is_some() { Shape::Source } else { Shape::Other };
        all.push(Line { margin: number.to_string(), more: places.collect(), ..Line::new(shape, place, tokens) });
    }
}
