//! The parts of the page around the stages: the header with its controls, the refusals, and the footer with its panels.

use halfbyte_abi::Target;

use super::Refused;
use super::markup::Html;
use super::whole::View;

/// Maximum number of kernels for which the header has buttons. For more kernels, it has a drop-down list.
const MOST_BUTTONS: usize = 4;

/// The toggle buttons of the page: the name in the page's address, the label, the tooltip, and the initial state.
const TOGGLES: [(&str, &str, &str, bool); 4] = [
    ("comments", "Comments", "Show comments and blank lines of the source", true),
    ("digits", "Digits", "Show addresses and encodings of machine code", true),
    ("rules", "Rules", "Show which rule selected each instruction", true),
    ("colours", "Colours", "Colour each line of the source and the code that is compiled from it", false),
];

/// Writes the header: the title, the choices of kernel and target, and the tools.
pub(super) fn header(out: &mut Html, file: &str, views: &[View]) {
    out.raw("<header>\n<h1>").text(file).raw("</h1>\n");
    let mut kernels: Vec<&str> = views.iter().map(|view| view.kernel.as_str()).collect();
    kernels.dedup();
    kernels_choice(out, &kernels);
    let mut targets: Vec<Target> = Vec::new();
    for view in views {
        if !targets.contains(&view.target) {
            targets.push(view.target);
        }
    }
    out.raw("<div class=\"choice\" role=\"group\" aria-label=\"Target\">");
    for target in targets {
        let name = target.name();
        out.raw(format_args!("<button type=\"button\" data-choose=\"target\" value=\"{name}\">{name}</button>"));
    }
    out.raw("</div>\n<div class=\"tools\">\n<div class=\"search\" role=\"search\">");
    out.raw("<input type=\"search\" id=\"search\" placeholder=\"Search  /\" aria-label=\"Search all panes\" autocomplete=\"off\" spellcheck=\"false\">");
    out.raw("<output id=\"found\"></output>");
    for (id, sign, label) in [("previous", "↑", "Previous"), ("next", "↓", "Next")] {
        out.raw(format_args!(
            "<button type=\"button\" data-find=\"{id}\" aria-label=\"{label}\" title=\"{label}\">{sign}</button>"
        ));
    }
    out.raw("</div>\n<div class=\"toggles\" role=\"group\" aria-label=\"Show\">");
    for (id, name, title, on) in TOGGLES {
        out.raw(format_args!(
            "<button type=\"button\" data-toggle=\"{id}\" aria-pressed=\"{on}\" title=\"{title}\">{name}</button>"
        ));
    }
    out.raw("</div>\n</div>\n</header>\n");
}

fn kernels_choice(out: &mut Html, kernels: &[&str]) {
    if kernels.len() > MOST_BUTTONS {
        out.raw("<select data-choose=\"kernel\" aria-label=\"Kernel\">");
        for kernel in kernels {
            out.raw("<option value=\"").text(kernel).raw("\">@").text(kernel).raw("</option>");
        }
        out.raw("</select>\n");
        return;
    }
    out.raw("<div class=\"choice\" role=\"group\" aria-label=\"Kernel\">");
    for kernel in kernels {
        out.raw("<button type=\"button\" data-choose=\"kernel\" value=\"").text(kernel).raw("\">@");
        out.text(kernel).raw("</button>");
    }
    out.raw("</div>\n");
}

/// Writes the targets' reasons for refusing the visible kernel, as collapsed elements.
pub(super) fn refusals(out: &mut Html, refused: &[Refused<'_>]) {
    for Refused { kernel, target, reasons } in refused {
        let places: std::collections::BTreeSet<_> = reasons.iter().flat_map(|(_, places)| places).collect();
        out.raw("<details class=\"refused\" data-kernel=\"").text(kernel).raw("\">\n<summary>");
        out.raw(target.name()).raw(" refuses @").text(kernel);
        out.raw(format_args!(": {} at {}", counted(reasons.len(), "reason"), counted(places.len(), "place")));
        out.raw("</summary>\n<ul>\n");
        for (reason, places) in reasons {
            out.raw("<li>").text(reason).raw(" <span>at ");
            for (number, place) in places.iter().enumerate() {
                let comma = if number == 0 { "" } else { ", " };
                out.raw(format_args!("{comma}<a href=\"#at={place}\">{place}</a>"));
            }
            out.raw("</span></li>\n");
        }
        out.raw("</ul>\n</details>\n");
    }
}

fn counted(count: usize, of: &str) -> String {
    format!("{count} {of}{}", if count == 1 { "" } else { "s" })
}

/// Writes the footer, which shows one panel at a time.
pub(super) fn footer(out: &mut Html) {
    out.raw("<aside id=\"about\" aria-live=\"polite\"><p>Point at a value or a line, or tap it, to see its compiled code and ");
    out.raw("the rules that produced it. A click pins it; Escape releases it. Arrow keys move between lines and stages, / searches.");
    out.raw("</p></aside>\n<footer><div class=\"tabs\" role=\"group\" aria-label=\"Panel\">");
    for (id, name) in [("about", "Explanation"), ("lifetimes", "Registers"), ("slots", "Bundles")] {
        out.raw(format_args!("<button type=\"button\" data-panel=\"{id}\" aria-pressed=\"false\">{name}</button>"));
    }
    out.raw("</div><p id=\"fates\"></p></footer>\n");
}
