//! Templates: the instructions from which the search builds sequences.

use halfbyte_isa::halu::domain::Lanes;
use halfbyte_isa::ptx::row::OperandKind;
use halfbyte_isa::ptx::types::Token;
use halfbyte_isa::ptx::{Inst, Operand};
use halfbyte_isel::ptx::expand::{OPERANDS, VideoForm, assemble};

/// A step of a sequence: one PTX instruction, or two that NVIDIA's assembler fuses.
pub(super) struct Template {
    /// The instructions, with the registers that the sequence table uses.
    pub(super) insts: Vec<Inst>,
    /// The number of operands.
    pub(super) arity: usize,
    /// `true` if the first two operands may be swapped.
    pub(super) commutes: bool,
    /// For each operand, `true` if it may be a constant.
    pub(super) takes_number: [bool; 3],
}

/// Templates of arithmetic and bitwise instructions, with `true` if the first two operands may be swapped.
const COMMON: &[(&str, bool)] = &[
    ("add.u32 d, a, b;", true),
    ("sub.u32 d, a, b;", false),
    ("and.b32 d, a, b;", true),
    ("or.b32 d, a, b;", true),
    ("xor.b32 d, a, b;", true),
    ("lop3.b32 d, a, b, 0, 0x30;", false),
    ("not.b32 d, a;", false),
    ("shr.u32 d, a, 1;", false),
    ("sub.u32 t0, a, b; sub.u32 d, t0, c;", false),
    ("add.u32 t0, a, b; sub.u32 d, t0, c;", true),
    ("add.u32 t0, a, b; add.u32 d, t0, c;", true),
    ("shr.u32 t0, a, 1; add.u32 d, t0, b;", false),
];

/// Templates with lane masks: in `ONE` the lowest bit of each lane is set, in `TOP` the highest.
/// The flag is `true` if the first two operands may be swapped.
const MASKED: &[(&str, bool)] = &[
    ("lop3.b32 d, a, b, ONE, 0x28;", true),
    ("lop3.b32 d, a, b, ONE, 0x82;", true),
    ("lop3.b32 d, a, b, ONE, 0xe8;", true),
    ("lop3.b32 d, a, b, ONE, 0x14;", true),
    ("lop3.b32 d, a, b, TOP, 0x28;", true),
    ("lop3.b32 d, a, b, TOP, 0xc0;", true),
    ("lop3.b32 d, a, b, TOP, 0xe4;", false),
    ("lop3.b32 d, a, b, TOP, 0x81;", true),
];

const BYTES: &[(&str, bool)] = &[
    ("prmt.b32 d, a, 0, 0xba98;", false),
    ("shr.u32 d, a, 7;", false),
    ("shl.b32 d, a, 8;", false),
    ("vabsdiff4.u32.u32.u32 d, a, b, zero;", true),
    ("vabsdiff4.u32.s32.s32 d, a, b, zero;", true),
    ("add.u8x4 d, a, b;", true),
    ("sub.u8x4 d, a, b;", false),
    ("add.sat.u8x4 d, a, b;", true),
    ("add.sat.s8x4 d, a, b;", true),
    ("sub.sat.u8x4 d, a, b;", false),
    ("sub.sat.s8x4 d, a, b;", false),
    ("min.u8x4 d, a, b;", true),
    ("max.u8x4 d, a, b;", true),
    ("min.s8x4 d, a, b;", true),
    ("max.s8x4 d, a, b;", true),
];

const BYTE_SUMS: &[(&str, bool)] = &[
    ("dp4a.u32.s32 d, a, 0x01010101, b;", false),
    ("dp4a.s32.s32 d, a, 0x01010101, b;", false),
    ("dp4a.u32.s32 d, a, 0xffffffff, b;", false),
    ("dp4a.s32.s32 d, a, 0xffffffff, b;", false),
    ("vabsdiff4.u32.u32.u32.add d, a, b, c;", true),
    ("vabsdiff4.u32.s32.s32.add d, a, b, c;", true),
    ("shr.s32 t0, a, 1; add.u32 d, t0, b;", false),
];

const HALFWORDS: &[(&str, bool)] = &[
    ("prmt.b32 d, a, 0, 0xbb99;", false),
    ("shr.u32 d, a, 15;", false),
    ("lop3.b32 d, a, b, 0xffff0000, 0xe4;", false),
    ("sad.u32 d, a, b, c;", true),
    ("sad.s32 d, a, b, c;", true),
    ("add.u16x2 d, a, b;", true),
    ("min.u16x2 d, a, b;", true),
    ("max.u16x2 d, a, b;", true),
    ("min.s16x2 d, a, b;", true),
    ("max.s16x2 d, a, b;", true),
    ("min.relu.s16x2 d, a, b;", true),
    ("max.relu.s16x2 d, a, b;", true),
];

const HALFWORD_SUMS: &[(&str, bool)] = &[
    ("dp2a.lo.u32.s32 d, a, 0x0101, b;", false),
    ("dp2a.lo.s32.s32 d, a, 0x0101, b;", false),
    ("dp2a.lo.u32.s32 d, a, 0xffff, b;", false),
    ("dp2a.lo.s32.s32 d, a, 0xffff, b;", false),
];

/// Returns a 32-bit word in which the lowest bit of each lane is set.
pub(super) fn ones(lanes: Lanes) -> u32 {
    match lanes {
        Lanes::Four => 0x0101_0101,
        Lanes::Two => 0x0001_0001,
    }
}

/// Returns a 32-bit word in which the highest bit of each lane is set.
pub(super) fn tops(lanes: Lanes) -> u32 {
    ones(lanes) << (lanes.bits() - 1)
}

/// Returns the templates for a video instruction and an SM version.
///
/// # Errors
/// Returns an error if a template is invalid, which does not occur.
pub(super) fn templates(form: VideoForm, sm: u16) -> Result<Vec<Template>, String> {
    let lanes = form.lanes();
    let (own, sums) = match lanes {
        Lanes::Four => (BYTES, BYTE_SUMS),
        Lanes::Two => (HALFWORDS, HALFWORD_SUMS),
    };
    let sums = if form.merge == Some(Token::Add) { sums } else { &[] };
    let [one, top] = [ones(lanes), tops(lanes)].map(|word| format!("{word:#x}"));
    let mut templates = Vec::new();
    for &(text, commutes) in [COMMON, MASKED, own, sums].concat().iter() {
        let insts =
            assemble(&text.replace("ONE", &one).replace("TOP", &top)).map_err(|what| format!("{text} {what}"))?;
        if insts.iter().all(|inst| inst.since().sm <= sm) {
            templates.push(Template::new(insts, commutes));
        }
    }
    Ok(templates)
}

impl Template {
    fn new(insts: Vec<Inst>, commutes: bool) -> Template {
        let reads = |reg| insts.iter().any(|inst| inst.registers().any(|(_, read)| read == reg));
        let takes = OPERANDS.map(|reg| insts.iter().all(|inst| takes_number(inst, &Operand::Register(reg))));
        let arity = OPERANDS.into_iter().take_while(|&reg| reads(reg)).count();
        Template { takes_number: takes, insts, arity, commutes }
    }

    /// Creates the template of LOP3 with the given table.
    pub(super) fn lop3(table: u8) -> Result<Template, String> {
        Ok(Template::new(assemble(&format!("lop3.b32 d, a, b, c, {table};"))?, false))
    }
}

/// Returns `true` if an operand may be a constant at every position where the instruction uses it.
fn takes_number(inst: &Inst, operand: &Operand) -> bool {
    let places = inst.operands_with_rows();
    places.filter(|(_, found)| *found == operand).all(|(o, _)| matches!(o.shape, OperandKind::Value(_)))
}
