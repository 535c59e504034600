//! The page as HTML.

use halfbyte_abi::Target;
use halfbyte_isa::row::Row;

use super::Refused;
use super::charts;
use super::markup::Html;
use super::model::{Entry, Line, Shape, Token};
use super::whole::View;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page may load nothing, and runs only what it holds.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The page of a file.
pub(super) fn page(file: &str, views: &[View], refused: &[Refused<'_>]) -> String {
    let mut out = Html::default();
    out.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .raw(format_args!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n"))
        .raw("<link rel=\"icon\" href=\"data:,\">\n<title>")
        .text(file)
        .raw(" · halfbyte</title>\n<style>\n")
        .raw(STYLE)
        .raw("</style>\n</head>\n<body>\n");
    head(&mut out, file, views, refused);
    out.raw("<main>\n");
    views.iter().for_each(|view| one(&mut out, view));
    out.raw("</main>\n");
    out.raw(
        "<aside id=\"about\" aria-live=\"polite\"><p>Point at a value or a line, or tap it, to see what came of it. ",
    )
    .raw("A click holds it; Escape lets go. Arrow keys go from line to line and from stage to stage.</p></aside>\n");
    docs(&mut out, views);
    out.raw("<script>\n").raw(SCRIPT).raw("</script>\n</body>\n</html>\n");
    out.finish()
}

/// The title, and the kernels and targets to choose from.
fn head(out: &mut Html, file: &str, views: &[View], refused: &[Refused<'_>]) {
    out.raw("<header>\n<h1>").text(file).raw("</h1>\n");
    let mut kernels: Vec<&str> = views.iter().map(|view| view.kernel.as_str()).collect();
    kernels.dedup();
    let mut targets: Vec<Target> = Vec::new();
    for view in views {
        if !targets.contains(&view.target) {
            targets.push(view.target);
        }
    }
    out.raw("<div class=\"choice\" role=\"group\" aria-label=\"Kernel\">");
    for kernel in kernels {
        out.raw("<button type=\"button\" data-choose=\"kernel\" value=\"")
            .text(kernel)
            .raw("\">@")
            .text(kernel)
            .raw("</button>");
    }
    out.raw("</div>\n<div class=\"choice\" role=\"group\" aria-label=\"Target\">");
    for target in targets {
        let name = target.name();
        out.raw(format_args!("<button type=\"button\" data-choose=\"target\" value=\"{name}\">{name}</button>"));
    }
    out.raw("</div>\n");
    for refusal in refused {
        out.raw("<p class=\"refused\"><b>").raw(refusal.target.name()).raw("</b> does not take @").text(refusal.kernel);
        for (place, reason) in &refusal.reasons {
            out.raw(format_args!("<br>{place}: ")).text(reason);
        }
        out.raw("</p>\n");
    }
    out.raw("</header>\n");
}

/// A kernel for a target.
fn one(out: &mut Html, view: &View) {
    let (target, stats) = (view.target.name(), &view.stats);
    out.raw("<article class=\"view\" data-kernel=\"").text(&view.kernel);
    out.raw(format_args!("\" data-target=\"{target}\">\n<h2>@"))
        .text(&view.kernel)
        .raw(format_args!(" for {target}</h2>\n"));
    let bundles = view.slots.as_ref().map_or(String::new(), |slots| format!(" in {} bundles", slots.bundles.len()));
    out.raw(format_args!(
        "<p class=\"counts\"><b>{}</b> ops in the text, <b>{}</b> after the passes, <b>{}</b> words{bundles}; \
         <b>{}</b> registers, <b>{}</b> spills, <b>{}</b> bytes of local memory</p>\n",
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
        out.raw("<output></output></h3>\n");
        match id {
            "text" => list(out, &view.text, target, ""),
            "lowered" => {
                for (number, snapshot) in view.passes.iter().enumerate() {
                    let is_last = number + 1 == view.passes.len();
                    let hidden = if is_last { "" } else { " hidden" };
                    list(out, &snapshot.lines, target, &format!(" data-pass=\"{number}\"{hidden}"));
                }
            }
            "selected" => list(out, &view.selected, target, ""),
            "allocated" => list(out, &view.allocated, target, ""),
            _ => list(out, &view.words, target, ""),
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

/// The stages, by the names that the script and people know.
const STAGES: [(&str, &str); 5] = [
    ("text", "Text"),
    ("lowered", "Lowered"),
    ("selected", "Selected"),
    ("allocated", "Allocated"),
    ("words", "Words"),
];

/// The passes that changed the kernel, to choose from.
fn choice_of_pass(out: &mut Html, view: &View) {
    if view.passes.len() < 2 {
        return;
    }
    out.raw(" <select aria-label=\"After which pass\">");
    for (number, snapshot) in view.passes.iter().enumerate() {
        let is_last = number + 1 == view.passes.len();
        let (selected, name) = if is_last { (" selected", "all passes") } else { ("", snapshot.name.as_str()) };
        out.raw(format_args!("<option value=\"{number}\"{selected}>after {name}</option>"));
    }
    out.raw("</select>");
}

fn list(out: &mut Html, lines: &[Line], target: &str, attributes: &str) {
    out.raw(format_args!("<ol{attributes}>\n"));
    lines.iter().for_each(|line| item(out, line, target));
    out.raw("</ol>\n");
}

fn item(out: &mut Html, line: &Line, target: &str) {
    let shape = match line.shape {
        Shape::Other => "other",
        Shape::Label => "label",
        Shape::Inst => "inst",
    };
    let opens = if line.opens { " opens" } else { "" };
    out.raw(format_args!("<li class=\"{shape}{opens}\""))
        .places("data-k", line.place)
        .raw("><i>")
        .text(&line.margin)
        .raw("</i>");
    let wide = |digits: &&String| digits.len() > 10;
    if let Some(digits) = line.digits.as_ref().filter(|digits| !wide(digits)) {
        out.raw(format_args!("<span class=\"x\">{digits}</span>"));
    }
    out.raw("<code>");
    for token in &line.tokens {
        self::token(out, token, target);
    }
    out.raw("</code>");
    if let Some(digits) = line.digits.as_ref().filter(wide) {
        out.raw(format_args!("<span class=\"x wide\">{digits}</span>"));
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

/// The meaning of every instruction on the page.
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

/// A row's mnemonic and the first paragraph of its meaning; what stands between backquotes there is code.
fn description(out: &mut Html, row: &Row) {
    out.raw("<b>").text(row.mnemonic).raw("</b> ");
    let meaning = row.doc.lines().next().unwrap_or_default();
    for (number, part) in meaning.split('`').enumerate() {
        let (open, close) = if number % 2 == 1 { ("<code>", "</code>") } else { ("", "") };
        out.raw(open).text(part).raw(close);
    }
}
