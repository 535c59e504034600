//! Generation of the HTML page.

use halfbyte_abi::{KernelFormat, Target};
use halfbyte_isa::row::Row;

use super::markup::Html;
use super::model::{Entry, Line, Shape, Snapshot, Token};
use super::whole::View;
use super::{Refused, charts, embed, head};

/// The files of the style sheet, in order.
const STYLES: [&str; 4] = [
    include_str!("page/base.css"),
    include_str!("page/panes.css"),
    include_str!("page/panels.css"),
    include_str!("page/layout.css"),
];

/// The files of the script, in order: later files use declarations of earlier ones.
const SCRIPTS: [&str; 9] = [
    include_str!("page/state.js"),
    include_str!("page/passes.js"),
    include_str!("page/light.js"),
    include_str!("page/why.js"),
    include_str!("page/about.js"),
    include_str!("page/search.js"),
    include_str!("page/toggles.js"),
    include_str!("page/choose.js"),
    include_str!("page/events.js"),
];

/// The content security policy: the page loads nothing and runs only its own script.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// Returns the HTML page for a kernel file.
pub(super) fn page(file: &str, views: &[View], refused: &[Refused<'_>]) -> String {
    let mut out = Html::default();
    out.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .raw(format_args!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n"))
        .raw("<link rel=\"icon\" href=\"data:,\">\n<title>")
        .text(file)
        .raw(" · halfbyte</title>\n<style>\n");
    for style in STYLES {
        out.raw(style);
    }
    out.raw("</style>\n</head>\n<body>\n");
    head::header(&mut out, file, views);
    out.raw("<main>\n");
    views.iter().for_each(|view| one(&mut out, view));
    out.raw("</main>\n");
    head::refusals(&mut out, refused);
    head::footer(&mut out);
    docs(&mut out, views);
    let passes: Vec<Vec<Vec<String>>> = views.iter().map(passes).collect();
    out.raw("<script type=\"application/json\" id=\"data\">").raw(embed::json(views, &passes)).raw("</script>\n");
    out.raw("<script>\n(() => {\n'use strict';\n\n");
    for script in SCRIPTS {
        out.raw(script).raw("\n");
    }
    out.raw("})();\n</script>\n</body>\n</html>\n");
    out.finish()
}

/// Returns the lines of the kernel after each pass except the last. The script shows these lines on request.
fn passes(view: &View) -> Vec<Vec<String>> {
    let lines = |snapshot: &Snapshot| {
        let line = |line: &Line| {
            let mut out = Html::default();
            item(&mut out, line, view);
            out.finish()
        };
        snapshot.lines.iter().map(line).collect()
    };
    let (_, earlier) = view.passes.split_last().unzip();
    earlier.unwrap_or_default().iter().map(lines).collect()
}

/// Writes the view of a kernel for a target.
fn one(out: &mut Html, view: &View) {
    let (target, stats) = (view.target.name(), &view.stats);
    out.raw("<article class=\"view\" data-kernel=\"").text(&view.kernel);
    out.raw(format_args!("\" data-target=\"{target}\">\n<h2>@"))
        .text(&view.kernel)
        .raw(format_args!(" for {target}</h2>\n"));
    let bundles = view.slots.as_ref().map_or(String::new(), |slots| format!(" in {} bundles", slots.bundles.len()));
    let code = if view.target.form() == KernelFormat::Text { "lines" } else { "instructions" };
    let meets = match view.meets.len() {
        0 => String::new(),
        1 => ", <b>1</b> collective op".to_owned(),
        count => format!(", <b>{count}</b> collective ops"),
    };
    out.raw(format_args!(
        "<p class=\"counts\"><b>{}</b> ops in the source, <b>{}</b> after the passes, <b>{}</b> {code}{bundles}, \
         <b>{}</b> registers, <b>{}</b> spills, <b>{}</b> bytes of local memory{meets}</p>\n",
        stats.ops, stats.lowered, stats.words, stats.registers, stats.spills, stats.local_bytes
    ));
    out.raw("<nav class=\"jumps\" aria-label=\"Stages\">");
    for (id, name) in STAGES {
        out.raw(format_args!("<button type=\"button\" value=\"{id}\">{name}</button>"));
    }
    out.raw("</nav>\n<div class=\"strip\">\n");
    for (id, name) in STAGES {
        out.raw(format_args!("<section class=\"stage\" data-stage=\"{id}\" aria-label=\"{name}\">\n<h3>{name}"));
        if id == "lowered" {
            choice_of_pass(out, view);
        }
        out.raw("<output></output>");
        out.raw(format_args!("<button type=\"button\" class=\"copy\" aria-label=\"Copy {name}\">Copy</button></h3>\n"));
        match id {
            "text" => list(out, &view.text, view, ""),
            "lowered" => {
                let lines = view.passes.last().map(|last| last.lines.as_slice()).unwrap_or_default();
                list(out, lines, view, &format!(" data-pass=\"{}\"", view.passes.len().saturating_sub(1)));
            }
            "selected" => list(out, &view.selected, view, ""),
            "allocated" => list(out, &view.allocated, view, ""),
            _ => list(out, &view.words, view, ""),
        }
        out.raw("</section>\n");
    }
    out.raw("</div>\n");
    charts::lifetimes(out, &view.lifetimes);
    if let Some(slots) = &view.slots {
        charts::slots(out, slots);
    }
    out.raw("</article>\n");
}

/// The compiler stages on the page: the name that the script uses, and the title.
const STAGES: [(&str, &str); 5] = [
    ("text", "Source"),
    ("lowered", "Lowered"),
    ("selected", "Selected"),
    ("allocated", "Allocated"),
    ("words", "Machine code"),
];

/// Writes the lists from which a reader chooses the pass to show and a pass to compare with. Only
/// passes that changed the kernel are listed.
fn choice_of_pass(out: &mut Html, view: &View) {
    let (Some(_), 2..) = (view.passes.last(), view.passes.len()) else { return };
    let last = view.passes.len() - 1;
    let name = |number: usize, snapshot: &Snapshot| {
        if number == last { "after all".to_owned() } else { snapshot.name.clone() }
    };
    out.raw(" <select class=\"pass\" aria-label=\"After pass\" title=\"After pass\">");
    for (number, snapshot) in view.passes.iter().enumerate() {
        let selected = if number == last { " selected" } else { "" };
        out.raw(format_args!("<option value=\"{number}\"{selected}>")).text(&name(number, snapshot)).raw("</option>");
    }
    out.raw("</select><select class=\"base\" aria-label=\"Compare with\" title=\"Compare with\"><option value=\"\">diff…</option>");
    for (number, snapshot) in view.passes.iter().enumerate() {
        out.raw(format_args!("<option value=\"{number}\">vs ")).text(&name(number, snapshot)).raw("</option>");
    }
    out.raw("</select>");
}

fn list(out: &mut Html, lines: &[Line], view: &View, attributes: &str) {
    out.raw(format_args!("<ol{attributes}>\n"));
    lines.iter().for_each(|line| item(out, line, view));
    out.raw("</ol>\n");
}

fn item(out: &mut Html, line: &Line, view: &View) {
    let shape = match line.shape {
        Shape::Other => "other",
        Shape::Label => "label",
        Shape::Inst => "inst",
        Shape::Source => "inst source",
    };
    let opens = if line.opens { " opens" } else { "" };
    let is_note = |token: &Token| match token {
        Token::Comment(_) => true,
        Token::Plain(text) => text.trim().is_empty(),
        _ => false,
    };
    let note = if line.digits.is_none() && line.tokens.iter().all(is_note) { " note" } else { "" };
    let party = line
        .places()
        .filter(|_| matches!(line.shape, Shape::Inst | Shape::Source))
        .find_map(|place| view.meets.get(place));
    let meets = if party.is_some() { " meets" } else { "" };
    out.raw(format_args!("<li class=\"{shape}{opens}{note}{meets}\"")).places("data-k", line.places());
    if let Some(step) = line.step {
        out.raw(format_args!(" data-s=\"{step}\""));
    }
    if let Some(party) = party {
        out.raw(format_args!(" title=\"collective operation of a {}\"", party.name()));
    }
    out.raw("><i>").text(&line.margin).raw("</i>");
    let wide = |digits: &&String| digits.len() > 10;
    if let Some(digits) = line.digits.as_ref().filter(|digits| !wide(digits)) {
        out.raw(format_args!("<span class=\"x\">{digits}</span>"));
    }
    out.raw("<code>");
    for token in &line.tokens {
        self::token(out, token, view.target.name());
    }
    out.raw("</code>");
    if let Some(digits) = line.digits.as_ref().filter(wide) {
        out.raw(format_args!("<span class=\"x wide\">{digits}</span>"));
    }
    if let Some(rule) = line.rule {
        out.raw(format_args!("<span class=\"r\">{rule}</span>"));
    }
    out.raw("</li>\n");
}

fn token(out: &mut Html, token: &Token, target: &str) {
    match token {
        Token::Plain(text) => out.text(text),
        Token::Comment(text) => out.raw("<span class=\"c\">").text(text).raw("</span>"),
        Token::Op(text, entry) => {
            out.raw("<b");
            if let Some(entry) = entry {
                out.raw(format_args!(" data-m=\"{target}.{}\"", entry.opcode));
            }
            out.raw(">").text(text).raw("</b>")
        }
        Token::Name { text, defs, is_def } => {
            let class = if *is_def { "n def" } else { "n" };
            out.raw(format_args!("<span class=\"{class}\"")).places("data-d", defs).raw(">").text(text).raw("</span>")
        }
    };
}

/// Writes the descriptions of all instructions on the page.
fn docs(out: &mut Html, views: &[View]) {
    let mut known: Vec<(Target, &str)> = Vec::new();
    out.raw("<div id=\"docs\" hidden>\n");
    for view in views {
        let lines = view.selected.iter().chain(&view.allocated).chain(&view.words);
        let entries = lines.flat_map(|line| &line.tokens).filter_map(|token| match token {
            Token::Op(_, entry) => *entry,
            _ => None,
        });
        for Entry { opcode, row } in entries {
            if known.contains(&(view.target, opcode)) {
                continue;
            }
            known.push((view.target, opcode));
            out.raw(format_args!("<p data-m=\"{}.{opcode}\">", view.target.name()));
            description(out, row);
            out.raw("</p>\n");
        }
    }
    out.raw("</div>\n");
}

/// Writes the mnemonic of an instruction and the first paragraph of its documentation. Text in
/// backquotes becomes a `code` element.
fn description(out: &mut Html, row: &Row) {
    out.raw("<b>").text(row.mnemonic).raw("</b> ");
    let meaning = row.doc.lines().next().unwrap_or_default();
    for (number, part) in meaning.split('`').enumerate() {
        let (open, close) = if number % 2 == 1 { ("<code>", "</code>") } else { ("", "") };
        out.raw(open).text(part).raw(close);
    }
}
