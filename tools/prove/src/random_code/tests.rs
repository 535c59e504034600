#![allow(clippy::unwrap_used, clippy::panic)]
use std::num::NonZero;

use halfbyte_abi::{Direction, Type};
use halfbyte_isa::halu::assemble;

use super::*;
use crate::prove::Shard;

/// Number of programs for each machine that the tests run.
const SAMPLE: u64 = 400;

fn plan(target: Target, programs: u64) -> Plan {
    Plan {
        seed: 22,
        programs: 0..programs,
        shard: Shard::WHOLE,
        targets: vec![target],
        threads: NonZero::new(2).unwrap(),
        enough: 1,
    }
}

fn sample(target: Target) {
    let summary = run(&plan(target, SAMPLE), &mut |_| {}).unwrap();
    if let Some(finding) = summary.findings.first() {
        panic!("{}\n{}", finding.difference, finding.text);
    }
    assert_eq!(summary.programs, SAMPLE);
    // The sample contains both programs that complete and programs that trap.
    assert!(3 * summary.done > SAMPLE && summary.trapped > 10, "{summary:?}");
}

#[test]
fn engines_agree_on_halu_words() {
    sample(halfbyte::HALU);
}

#[test]
fn engines_agree_on_vp1_words() {
    sample(halfbyte::VP1);
}

#[test]
fn programs_depend_on_seed_and_number_alone() {
    for target in [halfbyte::HALU, halfbyte::VP1] {
        let draw = |seed, number| Case::draw(target, &mut Draws::of_seed(seed, number)).unwrap();
        assert_eq!(draw(1, 7), draw(1, 7));
        assert_ne!(draw(1, 7), draw(1, 8));
        assert_ne!(draw(1, 7), draw(2, 7));
    }
    let ptx = halfbyte::ptx(halfbyte::Sm::DEFAULT);
    assert_eq!(Case::draw(ptx, &mut Draws::of_seed(1, 1)), None);
}

/// The input of a fuzzer may be any bytes, even none.
#[test]
fn any_bytes_make_a_program() {
    let trial = Trial::new().unwrap();
    for target in [halfbyte::HALU, halfbyte::VP1] {
        for number in 0..12_u32 {
            let bytes: Vec<u8> = (0..number * 40).map(|k| (k * k * 31 + k * number) as u8).collect();
            let case = Case::draw(target, &mut Draws::of_bytes(&bytes)).unwrap();
            assert_eq!(case, Case::draw(target, &mut Draws::of_bytes(&bytes)).unwrap());
            trial.run(&case).unwrap();
        }
    }
}

#[test]
fn shards_cover_all_programs() {
    let whole = run(&plan(halfbyte::VP1, 20), &mut |_| {}).unwrap();
    let parts = ["1/2", "2/2"]
        .map(|shard| run(&Plan { shard: shard.parse().unwrap(), ..plan(halfbyte::VP1, 20) }, &mut |_| {}).unwrap());
    assert_eq!(parts.iter().map(|part| part.programs).sum::<u64>(), 20);
    assert_eq!(parts.iter().map(|part| part.trapped).sum::<u64>(), whole.trapped);
}

/// A program with a race: item i stores to the bytes that item i + 1 loads. The loaded value
/// depends on the order in which the engine executes the items.
const RACE: &str = "
    S2R R0, SR_ITEM ;
    SHF.L.U32 R0, R0, 0x2, RZ ;
    IADD3 R9, R9, 0x1, RZ ;
    ULDC.64 UR0, c[0x0][0x160] ;
    LDG R1, [R0.U32+UR0] ;
    IADD3 R1, R1, 0x1, RZ ;
    IADD3 R9, R9, 0x1, RZ ;
    STG [R0.U32+UR0+0x4], R1 ;
    EXIT ;
";

#[test]
fn a_difference_is_found_and_made_smaller() {
    let trial = Trial::new().unwrap();
    let elem = Type::I32;
    let buffer =
        param("x".to_owned(), ParamKind::Buffer { direction: Direction::InOut, elem, align: 4, may_alias: false });
    let case = Case {
        words: halfbyte_isa::halu::HaluCode(assemble(RACE).unwrap().words).into(),
        info: info(vec![buffer], 0, None).unwrap(),
        items: 33,
        args: vec![Argument::Buffer(vec![0; 4 * 34])],
        budget: 10,
    };
    let difference = trial.run(&case).unwrap_err();
    assert!(difference.reason.contains("buffer 0 is 0x"), "{difference}");
    let least = trial.reduce(&case);
    trial.run(&least).unwrap_err();
    let text = least.to_string();
    assert!(text.contains("STG") && !text.contains("R9"), "{text}");
    assert!(text.contains("33 items, budget 10") && text.contains("x: inout i32 of 136 bytes"), "{text}");
    // In a launch with a single item, there is no race.
    assert_eq!(trial.run(&Case { items: 1, ..case }), Ok(Outcome::Done));
}

#[test]
fn all_engines_refuse_an_invalid_launch() {
    let trial = Trial::new().unwrap();
    let case = Case::draw(halfbyte::HALU, &mut Draws::of_seed(0, 0)).unwrap();
    let case = Case { args: Vec::new(), ..case };
    assert_eq!(trial.run(&case), Ok(Outcome::Refused));
}
