//! Checks that the bit fields of packed-half instructions have the positions that seed 001 (the HALU reference) gives.

use std::collections::{BTreeMap, BTreeSet};

use halfbyte_isa::halu::Opcode;
use halfbyte_isa::halu::fields::{M_CMP, M_RND};
use halfbyte_isa::row::{Operand, OperandKind, Suffix};

/// The bit fields in seed 001. Each line holds an opcode and `lo,width,name` for each of its fields.
const SEED: &str = include_str!("../vectors/halu-fields.txt");

/// Returns the fields that the row of a mnemonic has in addition to those of seed 001, as pairs of
/// a low bit and a width. The additional fields are the rounding mode, which is commented out in
/// the seed, and `.F32`.
fn ours(mnemonic: &str) -> &'static [(u8, u8)] {
    match mnemonic {
        "HADD2" => &[(78, 2), (92, 1)],
        "HMUL2" | "HFMA2" => &[(78, 2)],
        _ => &[],
    }
}

/// Bit positions of the fields of a source operand: register, sign, absolute value, half selector.
type SourceFields = [Option<u8>; 4];

fn source(operand: &Operand) -> SourceFields {
    let place = match operand.kind {
        OperandKind::Reg { field, .. } | OperandKind::HalfPair { field, .. } => Some(field.lo),
        OperandKind::Const { offset, .. } => Some(offset.lo),
        _ => None,
    };
    let select = match operand.suffix {
        Suffix::Choice(modifier) => Some(modifier.field.lo),
        _ => None,
    };
    [place, operand.neg.map(|f| f.lo), operand.abs.map(|f| f.lo), select]
}

#[test]
fn fields_are_where_the_seed_has_them() {
    let mut opcodes = 0;
    for line in SEED.lines().filter(|line| !line.starts_with('#')) {
        let (name, fields) = line.split_once(": ").unwrap();
        let opcode = *Opcode::ALL.iter().find(|opcode| opcode.name() == name).unwrap();
        let row = opcode.row();
        let mut seed = BTreeSet::new();
        let mut sources: BTreeMap<&str, SourceFields> = BTreeMap::new();
        for field in fields.split(' ') {
            let [lo, width, name] = field.split(',').collect::<Vec<_>>()[..] else { panic!("{field}") };
            let (lo, width) = (lo.parse::<u8>().unwrap(), width.parse::<u8>().unwrap());
            // Seed 001 describes constant memory as one field of 22 bits: offset, bank, and a zero bit.
            if width == 22 {
                seed.extend([(lo, 16), (lo + 16, 5)]);
            } else {
                seed.insert((lo, width));
            }
            let (operand, part) = name.split_once('.').unwrap_or((name, "place"));
            let index = ["place", "neg", "abs", "hsel2"].iter().position(|p| *p == part);
            if let Some(index) = index {
                sources.entry(operand).or_default()[index] = Some(lo);
            }
        }
        seed.extend(ours(row.mnemonic));
        let found: BTreeSet<(u8, u8)> = row.fields().map(|field| (field.lo, field.width)).collect();
        assert_eq!(found, seed, "{name}");
        for operand in row.operands {
            let source = source(operand);
            assert!(sources.values().any(|seed| *seed == source), "{name} {}: {source:?}", operand.name);
        }
        opcodes += 1;
    }
    assert_eq!(opcodes, 27);
}

#[test]
fn only_branches_have_a_target() {
    let opcodes = |is: fn(Opcode) -> bool| Opcode::ALL.iter().copied().filter(|&op| is(op)).collect::<Vec<_>>();
    assert_eq!(opcodes(|op| op.target().is_some()), [Opcode::BRA]);
    assert_eq!(opcodes(Opcode::has_all_preds), [Opcode::P2R, Opcode::R2P]);
}

#[test]
fn modifiers_accept_only_their_spellings() {
    const TOWARDS_ZERO: Option<u64> = M_RND.value("RZ");
    assert_eq!(TOWARDS_ZERO, Some(3));
    for (spelling, value) in M_CMP.choices {
        assert_eq!(M_CMP.value(spelling), Some(*value));
    }
    for other in ["", "R", "RZZ", "rz", "RU"] {
        assert_eq!(M_RND.value(other), None, "{other}");
    }
}
