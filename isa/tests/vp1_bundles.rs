//! Tests of the grouping of VP1 instruction words into bundles.

use halfbyte_isa::vp1::{Bundle, BundleError, Inst, Opcode, Unit, UnitSlot, bundles};

const NOPS: [Opcode; 4] = [Opcode::ANOP, Opcode::SNOP, Opcode::VNOP, Opcode::BNOP];

/// Returns the nop of the unit with index `rank`; the units are in bundle order.
fn nop(rank: usize) -> u32 {
    Inst::new(NOPS[rank]).word()
}

#[test]
fn nops_are_the_canonical_words() {
    assert_eq!([0, 1, 2, 3].map(nop), [0xdfff_ffff, 0x4fff_ffff, 0xbfff_ffff, 0xefff_ffff]);
}

#[test]
fn units_are_ranges_of_the_opcode() {
    let ranges = [
        (0x00, 0x7f, Unit::Scalar),
        (0x80, 0xbf, Unit::Vector),
        (0xc0, 0xdf, Unit::Address),
        (0xe0, 0xff, Unit::Branch),
    ];
    for (first, last, unit) in ranges {
        for opcode in first..=last {
            assert_eq!(Unit::of_word(opcode << 24 | 0x0012_3456), unit);
        }
    }
    for &op in Opcode::ALL {
        assert_eq!(op.unit(), Inst::new(op).unit(), "{}", op.name());
    }
}

/// Tests every sequence of eight instruction words of the four units: 4^8 programs.
#[test]
fn every_order_of_eight_words_splits_by_the_rank_rule() {
    for pattern in 0..1 << 16 {
        let ranks: Vec<usize> = (0..8).map(|i| pattern >> (2 * i) & 3).collect();
        let program: Vec<u32> = ranks.iter().map(|&r| nop(r)).collect();
        let begins = |i: usize| i.is_multiple_of(4) || ranks[i] <= ranks[i - 1];
        let starts: Vec<usize> = (0..8).filter(|&i| begins(i)).collect();
        let found: Vec<(u32, Bundle)> = bundles(&program).collect();
        assert_eq!(found.iter().map(|b| b.0 as usize).collect::<Vec<_>>(), starts, "{ranks:?}");
        for (i, (start, bundle)) in found.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(8);
            let words = *start as usize..end;
            assert_eq!(bundle.words() as usize, words.len());
            for unit in Unit::ALL {
                let word = words.clone().find(|&w| ranks[w] == unit as usize).map(|w| program[w]);
                assert_eq!(bundle.inst(unit).map(Inst::word), word, "{ranks:?}");
            }
        }
    }
}

#[test]
fn a_bundle_may_begin_anywhere() {
    let [a, s, v, b] = [0, 1, 2, 3].map(nop);
    let program = [a, s, v, b, a, b];
    let words = |start| Bundle::at(&program, start).map(|bundle| bundle.words());
    assert_eq!(
        [0, 1, 2, 3, 4, 5, 6, u32::MAX].map(words),
        [Some(4), Some(3), Some(2), Some(1), Some(2), Some(1), None, None]
    );
    let bundle = Bundle::at(&program, 4).unwrap();
    assert_eq!(bundle.slot(Unit::Scalar), &UnitSlot::Empty);
    assert_eq!(bundle.undefined(), None);
}

#[test]
fn rejects_invalid_bundles() {
    let [a, s, v, b] = [0, 1, 2, 3].map(nop);
    assert_eq!(Bundle::new(&[]), Err(BundleError::Empty));
    assert_eq!(Bundle::new(&[a, s, s]), Err(BundleError::Order(2)));
    assert_eq!(Bundle::new(&[b, v]), Err(BundleError::Order(1)));
    assert_eq!(Bundle::new(&[a, s, v, b, b]), Err(BundleError::Order(4)));
    let undefined = Bundle::new(&[0xdb00_0001, s]).unwrap();
    assert_eq!(undefined.slot(Unit::Address), &UnitSlot::Undefined(0xdb00_0001));
    assert_eq!(undefined.undefined(), Some(0xdb00_0001));
    assert_eq!(undefined.inst(Unit::Address), None);
}
