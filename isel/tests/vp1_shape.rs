//! Tests of the register fields of VP1's instructions.

use halfbyte_isa::row::{OperandRole, RegFile};
use halfbyte_isa::vp1::fields::R_ZERO;
use halfbyte_isa::vp1::footprint::{Footprint, Locations};
use halfbyte_isa::vp1::{Bundle, Inst, Opcode};

use shape::{TupleShape, slots};

/// The module is private to the crate, so this test includes its file. It depends on no other module.
#[allow(dead_code)]
#[path = "../src/regalloc/vp1/shape.rs"]
mod shape;

#[test]
fn numbers_and_registers() {
    let shapes = [
        TupleShape::Single,
        TupleShape::Given(9),
        TupleShape::Pair,
        TupleShape::Choice,
        TupleShape::Ring,
        TupleShape::Four,
    ];
    for shape in shapes {
        for number in (0..32).filter(|&number| shape.admits(number, false)) {
            let registers: Vec<_> = (0..shape.parts()).map(|part| shape.register(number, part)).collect();
            assert!(registers.iter().all(|register| register / shape.parts() == number / shape.parts()), "{shape:?}");
            for (part, &register) in (0..).zip(&registers) {
                assert!(part > 0 && shape == TupleShape::Pair || shape.number(register, part) == number);
                assert!(registers.iter().filter(|&&other| other == register).count() == 1, "{shape:?} {number}");
            }
        }
    }
    assert!(TupleShape::Pair.admits(5, true) && !TupleShape::Pair.admits(4, true));
    assert_eq!((TupleShape::Pair.register(5, 0), TupleShape::Pair.register(5, 1)), (5, 5));
}

/// Every register that the semantics of an instruction access is in one of the instruction's register fields.
#[test]
fn register_fields_cover_all_accessed_registers() {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state ^ state >> 29
    };
    let files = [RegFile::R, RegFile::V, RegFile::C, RegFile::Vc];
    for &opcode in Opcode::ALL {
        for _ in 0..200 {
            let inst = Inst::random(opcode, &mut next);
            let Ok(footprint) = Footprint::of(&Bundle::new(&[inst.word()]).unwrap(), None) else { continue };
            let named = |written: bool| {
                let slots = slots(&inst).filter(|slot| match slot.role {
                    OperandRole::Def => written,
                    OperandRole::Use => !written,
                    OperandRole::Update => true,
                });
                // A register that is chosen at run time can be any of an aligned group of four.
                let registers = slots.flat_map(|slot| {
                    let number = inst.get(slot.field) as u8;
                    let chosen = matches!(slot.shape, TupleShape::Choice | TupleShape::Ring | TupleShape::Four);
                    let parts = if chosen { 4 } else { slot.shape.parts() };
                    let register =
                        move |part| if chosen { number & !3 | part } else { slot.shape.register(number, part) };
                    (0..parts).map(move |part| Locations::register(slot.file, register(part)))
                });
                registers.fold(Locations::EMPTY, Locations::union)
            };
            let of_files = |all: Locations| {
                let ours = files.iter().flat_map(|&file| (0..32).map(move |n| Locations::register(file, n)));
                let ours = ours.fold(Locations::EMPTY, Locations::union);
                all.numbers().filter(|&place| ours.numbers().any(|other| other == place)).collect::<Vec<_>>()
            };
            let allowed: Vec<_> = named(false).numbers().collect();
            for place in of_files(footprint.reads) {
                // Without a transfer from the scalar unit, a vector instruction reads the `$vc` that it names.
                let own = (0..4).any(|n| Locations::register(RegFile::Vc, n).numbers().any(|vc| vc == place));
                let zero = Locations::register(RegFile::R, R_ZERO).numbers().any(|r31| r31 == place);
                assert!(own || zero || allowed.contains(&place), "{inst} reads {place}");
            }
            let allowed: Vec<_> = named(true).numbers().collect();
            for place in of_files(footprint.writes) {
                assert!(allowed.contains(&place), "{inst} writes {place}");
            }
        }
    }
}
