//! The support matrix as a Markdown page.

use std::fmt::Write;

use halfbyte::Target;
use halfbyte::ir::Op;

use super::kernels::{OpForm, Variant};
use super::{Cell, Measured, measure};

const HEAD: &str = "# Target support

The code of every op on every type for each target, written by `halfbyte support`. The command compiles the smallest
kernel of each op and type and counts the instructions that are selected for the op, without register moves and spills.
`halfbyte support --op fmul` prints the rows of one op, `--target vp1` one column.

| entry | meaning |
|---|---|
| `HADD2` | one instruction, with this mnemonic |
| 3 | a sequence of this many instructions, exact to the last bit |
| none | no instruction of its own: the value is in a register already, or the instruction that uses it includes the op |
| 2 for 16 items | VP1 computes the op for this many work items at once |
| refused (a) | the target does not support the op on the type; the note under the table gives the reason and an alternative |

If the code for PTX differs between SMs, the entry names the first SM of each variant. In `S -> T`, S is the type that is
converted. A comparison is measured together with the expansion of its mask to integers; `select` and branches often
include the comparison, and VP1's `select` is counted with its comparison. Each modifier and condition is measured on its
own. Every target supports `br`, `br_if`, `switch`, `ret` and constants; an `intrinsic` belongs to the target that it
names. Values of i16x16 and i32x16 are intermediates between vectors of bytes: HALU and PTX compute their lanes
separately, and VP1 computes on the vectors of their bytes, with sums of products in its accumulator.
";

/// A group of ops that share one table of the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OpGroup {
    Integers,
    Saturating,
    Shifts,
    Bits,
    Choice,
    Across,
    Widths,
    Floats,
    FloatModifiers,
    FloatComparisons,
    FloatConversions,
    Lanes,
    Memory,
    Places,
    Meeting,
    Atomic,
}

const FAMILIES: [(OpGroup, &str); 16] = [
    (OpGroup::Integers, "Integer arithmetic"),
    (OpGroup::Saturating, "Saturating arithmetic, averages, differences"),
    (OpGroup::Shifts, "Shifts"),
    (OpGroup::Bits, "Bits"),
    (OpGroup::Choice, "Comparison and selection"),
    (OpGroup::Across, "Reductions across lanes"),
    (OpGroup::Widths, "Integer widths and masks"),
    (OpGroup::Floats, "Floating-point arithmetic"),
    (OpGroup::FloatModifiers, "Rounding and other modifiers"),
    (OpGroup::FloatComparisons, "Floating-point comparison"),
    (OpGroup::FloatConversions, "Floating-point conversion"),
    (OpGroup::Lanes, "Lanes and parts"),
    (OpGroup::Memory, "Memory"),
    (OpGroup::Places, "Indices of the work item"),
    (OpGroup::Meeting, "Collective operations"),
    (OpGroup::Atomic, "Atomic memory access"),
];

fn family(form: &OpForm) -> Option<OpGroup> {
    Some(match form.op {
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::MulHiS
        | Op::MulHiU
        | Op::MulWideS
        | Op::MulWideU
        | Op::DivS
        | Op::DivU
        | Op::RemS
        | Op::RemU
        | Op::MinS
        | Op::MinU
        | Op::MaxS
        | Op::MaxU
        | Op::Neg
        | Op::Abs => OpGroup::Integers,
        Op::AddSatS | Op::AddSatU | Op::SubSatS | Op::SubSatU | Op::AvgS | Op::AvgU | Op::AbsDiffS | Op::AbsDiffU => {
            OpGroup::Saturating
        }
        Op::Shl | Op::ShrS | Op::ShrU | Op::RoundShrS | Op::RoundShrU | Op::Rotl | Op::Rotr => OpGroup::Shifts,
        Op::And | Op::Or | Op::Xor | Op::Not | Op::Popcount | Op::Clz | Op::Ctz | Op::BitReverse => OpGroup::Bits,
        Op::Icmp | Op::Select => OpGroup::Choice,
        Op::SadS
        | Op::SadU
        | Op::Dot4S
        | Op::Dot4U
        | Op::Dot4SU
        | Op::Dot2S
        | Op::Dot2U
        | Op::Dot2SU
        | Op::ReduceAddS
        | Op::ReduceAddU
        | Op::ReduceMinS
        | Op::ReduceMinU
        | Op::ReduceMaxS
        | Op::ReduceMaxU
        | Op::Any
        | Op::All => OpGroup::Across,
        Op::Sext | Op::Zext | Op::Trunc | Op::NarrowSatS | Op::NarrowSatU | Op::NarrowSatUU | Op::MaskExpand => {
            OpGroup::Widths
        }
        Op::Fadd
        | Op::Fsub
        | Op::Fmul
        | Op::Ffma
        | Op::Fneg
        | Op::Fabs
        | Op::Fmin
        | Op::Fmax
        | Op::Fdiv
        | Op::Fsqrt
        | Op::Fexp2
        | Op::Flog2
        | Op::Frsqrt
        | Op::Fsin
        | Op::Fcos
        | Op::Ftanh => {
            if form.variant == Variant::Plain {
                OpGroup::Floats
            } else {
                OpGroup::FloatModifiers
            }
        }
        Op::Fcmp | Op::Fset => OpGroup::FloatComparisons,
        Op::Fcvt | Op::FcvtFromS | Op::FcvtFromU | Op::FcvtToS | Op::FcvtToU => OpGroup::FloatConversions,
        Op::Splat | Op::Shuffle | Op::Swizzle | Op::Extract | Op::Insert | Op::Concat | Op::Split | Op::Bitcast => {
            OpGroup::Lanes
        }
        Op::Load | Op::Store | Op::PtrAdd => OpGroup::Memory,
        Op::ItemId | Op::ItemCount | Op::LocalId | Op::GroupId | Op::GroupSize | Op::GroupCount => OpGroup::Places,
        Op::SubgroupId | Op::LaneId => OpGroup::Places,
        Op::Barrier
        | Op::BarrierArrive
        | Op::BarrierCount
        | Op::BarrierAll
        | Op::BarrierAny
        | Op::SubgroupBarrier
        | Op::Fence
        | Op::SubgroupShuffle
        | Op::SubgroupShuffleUp
        | Op::SubgroupShuffleDown
        | Op::SubgroupShuffleXor
        | Op::VoteAll
        | Op::VoteAny
        | Op::VoteUniform
        | Op::Ballot
        | Op::MatchAny
        | Op::MatchAll
        | Op::SubgroupReduceAdd
        | Op::SubgroupReduceMinS
        | Op::SubgroupReduceMinU
        | Op::SubgroupReduceMaxS
        | Op::SubgroupReduceMaxU
        | Op::SubgroupReduceAnd
        | Op::SubgroupReduceOr
        | Op::SubgroupReduceXor
        | Op::Elect
        | Op::ActiveMask => OpGroup::Meeting,
        Op::AtomicLoad
        | Op::AtomicStore
        | Op::AtomicAdd
        | Op::AtomicSub
        | Op::AtomicMinS
        | Op::AtomicMinU
        | Op::AtomicMaxS
        | Op::AtomicMaxU
        | Op::AtomicAnd
        | Op::AtomicOr
        | Op::AtomicXor
        | Op::AtomicInc
        | Op::AtomicDec
        | Op::AtomicExchange
        | Op::AtomicCompareExchange
        | Op::AtomicFadd => OpGroup::Atomic,
        Op::Const | Op::Intrinsic | Op::Br | Op::BrIf | Op::Switch | Op::Ret => return None,
    })
}

/// Returns a Markdown page with the support of all ops.
pub fn page(targets: &[Target]) -> String {
    let measured = measure(Op::ALL, targets);
    let mut page = HEAD.to_owned();
    for (family, title) in FAMILIES {
        let rows: Vec<&Measured> = measured.iter().filter(|row| self::family(&row.form) == Some(family)).collect();
        if !rows.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(page, "\n## {title}\n\n{}", rows_of(&rows, &measured, targets));
        }
    }
    page
}

/// Returns a Markdown table with the support of some ops, and the notes below the table.
pub fn table(ops: &[Op], targets: &[Target]) -> String {
    let measured = measure(ops, targets);
    rows_of(&measured.iter().collect::<Vec<_>>(), &measured, targets)
}

/// A column of the table: one target, or PTX with one or more SM versions. Each target has its
/// index among the cells of a row.
struct Column {
    name: &'static str,
    targets: Vec<(usize, Target)>,
}

fn columns(targets: &[Target]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for (number, &target) in targets.iter().enumerate() {
        match columns.iter_mut().find(|column| column.name == target.name()) {
            Some(column) => column.targets.push((number, target)),
            None => columns.push(Column { name: target.name(), targets: vec![(number, target)] }),
        }
    }
    columns
}

/// A row of the table: ops, types, and one cell per column.
struct Row {
    ops: Vec<String>,
    types: Vec<String>,
    cells: Vec<String>,
}

fn rows_of(rows: &[&Measured], all: &[Measured], targets: &[Target]) -> String {
    let columns = columns(targets);
    let mut notes = Vec::new();
    let mut of_ops: Vec<Row> = Vec::new();
    for row in rows {
        let cells: Vec<String> =
            columns.iter().map(|column| column_cell(row, column, all, targets, &mut notes)).collect();
        let (name, types) = (row.form.name(), row.form.types());
        match of_ops.iter_mut().find(|other| other.ops == [name.as_str()] && other.cells == cells) {
            Some(other) => other.types.push(types),
            None => of_ops.push(Row { ops: vec![name], types: vec![types], cells }),
        }
    }
    let mut folded: Vec<Row> = Vec::new();
    for row in of_ops {
        match folded.iter_mut().find(|other| other.types == row.types && other.cells == row.cells) {
            Some(other) => other.ops.extend(row.ops),
            None => folded.push(row),
        }
    }
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let mut table = format!("| op | types | {} |\n|---|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for Row { ops, types, cells } in folded {
        let ops: Vec<String> = ops.iter().map(|op| code(op)).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| {} | {} | {} |", ops.join(" "), sources(&types), cells.join(" | "));
    }
    if !notes.is_empty() {
        table += "\nRefused:\n\n";
        for (number, (target, note)) in notes.iter().enumerate() {
            let _ = writeln!(table, "* ({}) {target}: {note}", letter(number));
        }
    }
    table
}

/// Formats the name of an op in code font, with the description of its variant in plain text.
fn code(name: &str) -> String {
    match name.split_once(' ') {
        Some((op, rest)) => format!("`{op}` {rest}"),
        None => format!("`{name}`"),
    }
}

/// Formats a list of types. Conversions with the same source types or the same result type are merged.
fn sources(types: &[String]) -> String {
    let mut pairs: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for text in types {
        let Some((from, to)) = text.split_once(" -> ") else { return types.join(" ") };
        match pairs.last_mut().filter(|(_, other)| *other == [to]) {
            Some((of, _)) => of.push(from),
            None => pairs.push((vec![from], vec![to])),
        }
    }
    let mut together: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for (from, to) in pairs {
        match together.iter_mut().find(|(other, _)| *other == from) {
            Some((_, all)) => all.extend(to),
            None => together.push((from, to)),
        }
    }
    together.iter().map(|(from, to)| format!("{} -> {}", from.join(" "), to.join(" "))).collect::<Vec<_>>().join("; ")
}

/// Returns the label of note `number`: a, b, .. z, aa, ab, ..
fn letter(number: usize) -> String {
    let last = char::from(b'a' + (number % 26) as u8);
    match number / 26 {
        0 => last.to_string(),
        more => letter(more - 1) + &last.to_string(),
    }
}

type Notes = Vec<(&'static str, String)>;

fn column_cell(row: &Measured, column: &Column, all: &[Measured], targets: &[Target], notes: &mut Notes) -> String {
    let mut parts: Vec<(String, Vec<u32>)> = Vec::new();
    for &(number, target) in &column.targets {
        let text = match row.cells.get(number) {
            Some(Cell::Made { instructions, items }) => made(instructions, *items),
            Some(Cell::Refused(reason)) => {
                let mut text = reason.clone();
                let way = alternatives(row, number, all, targets);
                if !way.is_empty() {
                    text += &format!(". {way}");
                }
                let note = (column.name, text);
                let place = notes.iter().position(|other| *other == note).unwrap_or_else(|| {
                    notes.push(note);
                    notes.len() - 1
                });
                format!("refused ({})", letter(place))
            }
            None => continue,
        };
        let sm = u32::from(target.code().1);
        match parts.last_mut().filter(|(other, _)| *other == text) {
            Some((_, sms)) => sms.push(sm),
            None => parts.push((text, vec![sm])),
        }
    }
    match parts.as_slice() {
        [(text, _)] => text.clone(),
        parts => {
            let part = |(text, sms): &(String, Vec<u32>)| format!("sm_{}: {text}", sms.first().copied().unwrap_or(0));
            parts.iter().map(part).collect::<Vec<_>>().join("; ")
        }
    }
}

fn made(instructions: &[String], items: u32) -> String {
    let count = match instructions {
        [] => return "none".into(),
        [one] => format!("`{one}`"),
        more => more.len().to_string(),
    };
    if items > 1 { format!("{count} for {items} items") } else { count }
}

/// Returns the alternatives to a refused op: other types or variants on the same target, or other targets.
fn alternatives(row: &Measured, number: usize, all: &[Measured], targets: &[Target]) -> String {
    let is_made = |other: &Measured, number: usize| matches!(other.cells.get(number), Some(Cell::Made { .. }));
    let here: Vec<&OpForm> = all
        .iter()
        .filter(|other| other.form.op == row.form.op && is_made(other, number))
        .map(|other| &other.form)
        .collect();
    let OpForm { variant, ty, from, .. } = row.form;
    let same = here.iter().filter(|form| form.variant == variant);
    // For a conversion, only source types that convert to the same result type are alternatives.
    let types: Vec<String> = same.filter(|form| from.is_none() || form.ty == ty).map(|form| form.types()).collect();
    let mut ways = Vec::new();
    if types.iter().any(|types| !types.is_empty()) {
        ways.push(format!("It supports the op on {}", sources(&types)));
    }
    if matches!(variant, Variant::Word(_))
        && here.iter().any(|form| form.variant == Variant::Plain && form.ty == ty && form.from == from)
    {
        ways.push("It supports the op without the modifier".into());
    }
    if variant == Variant::Plain && here.iter().any(|form| form.variant == Variant::ByConstant && form.ty == ty) {
        ways.push("It supports shifts of the type by a constant".into());
    }
    let mut others: Vec<String> = Vec::new();
    let own = targets.get(number).map_or("", |target| target.name());
    for (_, target) in targets.iter().enumerate().filter(|&(number, _)| is_made(row, number)) {
        let name =
            if target.name() == own { format!("{own} from sm_{} on", target.code().1) } else { target.name().into() };
        if !others.iter().any(|other| other.starts_with(target.name())) {
            others.push(name);
        }
    }
    match others.as_slice() {
        [] => {}
        [one] => ways.push(format!("{one} supports it")),
        more => ways.push(format!("{} support it", more.join(" and "))),
    }
    // "No target supports it" is only known if several targets were measured.
    let all_asked = targets.iter().any(|target| target.name() != own);
    if ways.is_empty() && all_asked { "No target supports it".into() } else { ways.join(". ") }
}
