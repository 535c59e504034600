//! Charts in SVG: the live ranges of registers, and the units that each bundle uses.

use super::lifetimes::Lifetimes;
use super::markup::{Html, list_of};
use super::registers::name;
use super::slots::Slots;

/// Width in pixels of a chart column. The width is even, because live ranges start and end in the middle of columns.
const COLUMN: usize = 12;
/// Height in pixels of a chart row.
const ROW: usize = 15;
/// Space in pixels above and below a bar.
const GAP: usize = 3;

/// Writes the chart of live ranges, with one row per register and one column per instruction.
pub(super) fn lifetimes(out: &mut Html, chart: &Lifetimes) {
    out.raw("<figure data-panel=\"lifetimes\">\n<figcaption><h3>Register lifetimes</h3> Rows are registers, columns are instructions of the allocated code. ");
    out.raw("A bar extends from a write of the register to the last read of the value. Thin bars are values that are never read.</figcaption>\n");
    let names: Vec<String> = chart.rows.iter().map(|(register, _)| name(*register)).collect();
    let (width, height) = (chart.columns.len() * COLUMN, names.len() * ROW);
    frame(out, &names, width, height, "Register lifetimes");
    for (number, place) in chart.columns.iter().enumerate() {
        let x = number * COLUMN;
        out.raw("<rect class=\"col\"").places("data-k", *place);
        out.raw(format_args!(" x=\"{x}\" y=\"0\" width=\"{COLUMN}\" height=\"{height}\"/>\n"));
    }
    for &block in chart.blocks.iter().filter(|&&block| block > 0) {
        out.raw(format_args!("<path class=\"edge\" d=\"M{} 0V{height}\"/>\n", block * COLUMN));
    }
    for (row, ((_, stretches), name)) in chart.rows.iter().zip(&names).enumerate() {
        for of in stretches {
            let (x, width) = (of.start * COLUMN / 2, (of.end - of.start) * COLUMN / 2);
            let (class, y, height) = match of.is_used {
                true => ("bar", row * ROW + GAP, ROW - 2 * GAP),
                false => ("bar idle", row * ROW + ROW / 2 - 1, 2),
            };
            out.raw(format_args!("<rect class=\"{class}\"")).places("data-k", &of.defs);
            out.raw(format_args!(" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"2\"><title>"));
            out.text(&format!("{name}, from {}", list_of(&of.defs))).raw("</title></rect>\n");
        }
    }
    out.raw("</svg></div>\n</figure>\n");
}

/// Names of the units, in the order of their instructions in a bundle.
const UNITS: [&str; 4] = ["address", "scalar", "vector", "branch"];

/// Writes the chart of VP1 bundles, with one row per unit and one column per bundle. A table below
/// shows how many instructions the bundles of each block contain.
pub(super) fn slots(out: &mut Html, chart: &Slots) {
    out.raw("<figure data-panel=\"slots\">\n<figcaption><h3>Bundles</h3> Rows are units, columns are bundles; hollow instructions are no-ops. ");
    out.raw("Brackets mark the bundles of loops. In the table, bold numbers are the instructions of the units that bound the length of a block.");
    out.raw("</figcaption>\n");
    // The names of the blocks are in the row above the rows of the units.
    let names: Vec<String> = std::iter::once("").chain(UNITS).map(str::to_owned).collect();
    let (width, height) = (chart.bundles.len() * COLUMN, (names.len() + 1) * ROW);
    frame(out, &names, width, height, "Bundles");
    let ends = chart.blocks.iter().skip(1).map(|block| block.start as usize).chain([chart.bundles.len()]);
    for (block, end) in chart.blocks.iter().zip(ends) {
        let (x, bundles) = (block.start as usize * COLUMN, end.saturating_sub(block.start as usize));
        out.raw(format_args!("<path class=\"edge\" d=\"M{x} 0V{}\"/>", 5 * ROW));
        if bundles > 1 {
            out.raw(format_args!("<text x=\"{}\" y=\"{}\">b{}</text>\n", x + 3, ROW - 4, block.block));
        }
    }
    for (number, bundle) in chart.bundles.iter().enumerate() {
        for (row, slot) in (1..).zip(bundle) {
            let Some(slot) = slot else { continue };
            let class = if slot.is_nop { "slot nop" } else { "slot" };
            out.raw(format_args!("<rect class=\"{class}\"")).places("data-k", slot.place);
            out.raw(format_args!(
                " x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\"><title>{:04x} ",
                number * COLUMN + 1,
                row * ROW + 2,
                COLUMN - 2,
                ROW - 4,
                slot.address
            ));
            out.text(&slot.text).raw("</title></rect>\n");
        }
    }
    for &(to, from) in &chart.loops {
        // The bracket of the loop includes the delay slot of the backward branch.
        let (left, right) = (to * COLUMN + 2, (from + 2).min(chart.bundles.len()) * COLUMN - 2);
        let (top, bottom) = (5 * ROW + 2, 5 * ROW + 8);
        out.raw(format_args!("<path class=\"loop\" d=\"M{left} {top}V{bottom}H{right}V{top}\"/>\n"));
    }
    out.raw("</svg></div>\n<table>\n<tr><th>block<th>bundles<th>at least");
    for unit in UNITS {
        out.raw(format_args!("<th>{unit}"));
    }
    out.raw("</tr>\n");
    for block in &chart.blocks {
        let each = if block.pipelined { " per iteration" } else { "" };
        out.raw(format_args!("<tr><th>b{}<td>{}{each}<td>{}", block.block, block.bundles, block.bound));
        for words in block.words {
            // The instruction count that determines the lower bound of the block is marked.
            let mark = if words == block.bound { " class=\"most\"" } else { "" };
            out.raw(format_args!("<td{mark}>{words}"));
        }
        out.raw("</tr>\n");
    }
    out.raw("</table>\n</figure>\n");
}

/// Opens a chart. The names of its rows stay visible when the chart scrolls.
fn frame(out: &mut Html, names: &[String], width: usize, height: usize, label: &str) {
    out.raw("<div class=\"chart\" tabindex=\"0\" role=\"group\" aria-label=\"").text(label).raw("\"><ul>");
    for name in names {
        out.raw("<li>").text(name).raw("</li>");
    }
    let (width, height) = (width.max(1), height.max(1));
    out.raw(format_args!(
        "</ul><svg role=\"img\" aria-label=\"{label}\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n"
    ));
}
