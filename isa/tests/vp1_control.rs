//! Tests of the control flow of VP1 bundles, and of bundles that trap.

use halfbyte_isa::vp1::domain::{Jump, Next, Target, Unknown};
use halfbyte_isa::vp1::fields::{self as f, ALWAYS};
use halfbyte_isa::vp1::state::{Location, State};
use halfbyte_isa::vp1::{Bundle, Inst, Opcode};

fn step(state: &mut State, words: &[u32]) -> (Next<u32>, Vec<Location>) {
    let mut written = Vec::new();
    let next = state.step(&Bundle::new(words).unwrap(), |location| written.push(location));
    (next, written)
}

fn next(inst: Inst) -> Next<u32> {
    step(&mut State::default(), &[inst.word()]).0
}

#[test]
fn jumps() {
    let jump = |kind, taken, lines| Next::Jump { kind, taken, target: Target::Relative(lines) };
    let bra = Inst::new(Opcode::BRA).with(f::BTARG, -3i64 as u64);
    assert_eq!(next(bra.with(f::SLCT, ALWAYS)), jump(Jump::Branch, None, -3));
    assert_eq!(next(bra.with(f::SLCT, 14)), Next::Fall);
    assert_eq!(next(bra.with(f::SLCT, 1)), jump(Jump::Branch, Some(0), -3));
    let not = Inst::new(Opcode::CALL_NOT).with(f::BTARG, 0x3fff);
    assert_eq!(next(not.with(f::SLCT, ALWAYS)), Next::Fall);
    assert_eq!(next(not.with(f::SLCT, 11)), jump(Jump::Call, None, 0x3fff));
    assert_eq!(next(not.with(f::SLCT, 8)), jump(Jump::Call, Some(1), 0x3fff));
    let abra = Inst::new(Opcode::ABRA).with(f::ABTARG, 0xffff);
    assert_eq!(next(abra), Next::Jump { kind: Jump::Branch, taken: None, target: Target::Absolute(0xffff) });
    assert_eq!(next(Inst::new(Opcode::RET)), Next::Return);
    let exit = Inst::new(Opcode::EXIT).with(f::IMM16, 0xdead);
    assert_eq!(next(exit), Next::Exit { code: 0xdead, interrupt: false });
    assert_eq!(next(exit.with(f::INTR, 1)), Next::Exit { code: 0xdead, interrupt: true });
    assert_eq!(next(Inst::new(Opcode::VNOP)), Next::Fall);
}

/// Tests that a loop instruction uses the flags from before its bundle, even if the bundle changes
/// these flags.
#[test]
fn a_loop_tests_old_flags() {
    let mut state = State { c: [0x8000; 4], l: [1; 4], ..State::default() };
    let looped = Inst::new(Opcode::BRA_LOOP_NOT).with(f::LDST, 2).with(f::LSRC, 2).with(f::SLCT, 13);
    let word = f::CDST.set(looped.word().into(), 2) as u32;
    let (next, written) = step(&mut state, &[word]);
    assert!(matches!(next, Next::Jump { taken: Some(1), .. }));
    assert_eq!(written, [Location::L(2), Location::C(2)]);
    assert_eq!((state.l[2], state.c[2]), (0, 0xa000));
    let (next, _) = step(&mut state, &[word]);
    assert!(matches!(next, Next::Jump { taken: Some(0), .. }));
}

/// A bundle traps and leaves the state unchanged if one of its instructions has unknown semantics.
#[test]
fn unknown_effects_trap() {
    let set = Inst::new(Opcode::MOV_I).with(f::DST, 1).with(f::IMM19, 5).word();
    for (words, unknown) in [
        (vec![0xdb00_0000, set], Unknown::Instruction(0xdb00_0000)),
        (vec![Inst::new(Opcode::XDLD).word(), set], Unknown::Dma),
        (vec![Inst::new(Opcode::MOV_R_SR).word()], Unknown::RegisterFile(8)),
        (vec![Inst::new(Opcode::MOV_UC_R).with(f::DST, 15).word()], Unknown::RegisterFile(10)),
    ] {
        let mut state = State::default();
        assert_eq!(step(&mut state, &words), (Next::Trap(unknown), vec![]));
        assert_eq!(state, State::default());
    }
}

/// `$uccfg` is the register `$uc16`, in which three bits are writable.
#[test]
fn rounding_is_configured_through_uc16() {
    let mut state = State::default();
    state.r[3] = u32::MAX;
    let set = Inst::new(Opcode::MOV_UC_R).with(f::DST, 16).with(f::SRC1, 3);
    assert_eq!(step(&mut state, &[set.word()]), (Next::Fall, vec![Location::Uccfg]));
    assert_eq!(state.uccfg, 0x111);
    let get = Inst::new(Opcode::MOV_R_UC).with(f::DST, 4).with(f::SRC1, 16);
    step(&mut state, &[get.word()]);
    assert_eq!(state.r[4], 0x111);
}

/// Every bundle of random instruction words must either have effects or trap.
#[test]
fn every_word_has_an_outcome() {
    let mut random = crate::random::Random(7);
    let mut next = || random.next();
    let mut state = State::default();
    for _ in 0..100_000 {
        let word = |first: u64, opcodes: u64, random: u64| {
            ((first + (random >> 32) % opcodes) << 24 | random & 0xff_ffff) as u32
        };
        let words =
            [word(0xc0, 0x20, next()), word(0, 0x80, next()), word(0x80, 0x40, next()), word(0xe0, 0x20, next())];
        step(&mut state, &words);
    }
    assert!(state.va.iter().all(|x| (-(1 << 27)..1 << 27).contains(x)));
    assert!(state.c.iter().all(|c| c & 0xd800 == 0x8000));
}
