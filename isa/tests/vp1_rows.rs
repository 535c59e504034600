//! Checks that the rows of VP1 are consistent.

use halfbyte_isa::vp1::{self, Inst, Opcode};

#[test]
fn the_description_is_consistent() {
    if let Err(mistakes) = vp1::self_check() {
        panic!("{mistakes:#?}");
    }
}

#[test]
fn every_word_but_those_of_one_opcode_is_an_instruction() {
    for byte in 0..=0xff_u32 {
        for low in [0, 0xff_ffff, 0x12_3456, 0xa5_5a5a, 0x00_2001] {
            let word = byte << 24 | low;
            let inst = Inst::decode(word);
            assert_eq!(inst.is_some(), byte != 0xdb, "{word:#010x}");
            assert_eq!(inst.map_or(word, |i| i.word()), word);
        }
    }
    for &op in Opcode::ALL {
        assert_eq!(Inst::decode(Inst::new(op).word()), Some(Inst::new(op)), "{}", op.name());
    }
}
