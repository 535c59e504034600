//! Tests of damaged and hostile VP1 objects. Loading must return a typed error, or a program whose
//! launches end or trap.

use crate::common::MACHINES;
use crate::common::vp1::{
    ADD, ADD_SITES, BRIGHTEN, BRIGHTEN_SITES, add, brighten, code, guard, object, param, reads, step, tiles, writes,
};
use halfbyte_abi::ParamKind;
use halfbyte_emit::KernelCode;
use halfbyte_isa::object::{KernelInfo, Loc};
use halfbyte_isa::stream::{Affine, AffineVariable, Stream, Tiles, TripCount};
use halfbyte_isa::vp1::{Inst, Opcode};
use halfbyte_runtime::{Arg, Kernel, Launch, LoadError, Program};
use proptest::prelude::*;

/// Returns the code of a kernel with every kind of stream.
fn kernel() -> KernelCode {
    let [branch, load, store] = ADD_SITES;
    let trips = TripCount::Of { count: param(0, 1), signed: true, at_least: 1 };
    let steps = vec![step(2, trips, 4), step(4, TripCount::Const(2), 8)];
    let index = Affine { constant: 4, terms: vec![(AffineVariable::Param(0), 4), (AffineVariable::ItemCount, 1)] };
    let streams = vec![
        Stream { index, steps: steps.clone(), align: 1, ..reads(1, 4, load) },
        Stream { steps, ..guard(1) },
        Stream { uniform: true, scale: 0.into(), ..reads(1, 16, load) },
        writes(2, 4, store),
        guard(4),
        Stream { guard: Some(4), offset: -4, ..writes(2, 4, store) },
    ];
    let tiles = Tiles { image: (0..20).collect(), ..tiles(4, branch, streams) };
    code("n: i32, x: in i32, y: inout i32", 32, tiles, ADD)
}

/// Launches a kernel with arguments that fit its signature. Every launch must return.
fn exercise(kernel: &Kernel) {
    let params = kernel.signature().params();
    let mut buffers = vec![[0x80u8; 16]; params.len()];
    let mut args: Vec<Arg<'_>> = Vec::new();
    for (param, buffer) in params.iter().zip(&mut buffers) {
        args.push(match param.kind {
            ParamKind::Scalar(_) => Arg::Scalar(1),
            ParamKind::Buffer { .. } => Arg::Buffer(buffer),
        });
    }
    for items in [0, 1, 2, 100] {
        if let Err(error) = kernel.launch(Launch { budget: 50, ..Launch::new(items, &mut args) }) {
            assert!(!error.to_string().is_empty());
        }
    }
}

#[test]
fn every_truncation_is_refused() {
    let bytes = object(&[kernel()]);
    Program::load(&bytes, &MACHINES).unwrap().kernels().iter().for_each(exercise);
    for length in 0..bytes.len() {
        let error = Program::load(&bytes[..length], &MACHINES).unwrap_err();
        assert!(!error.to_string().is_empty(), "{length} bytes");
    }
}

#[test]
fn every_bit_matters_or_does_no_harm() {
    let bytes = object(&[kernel()]);
    for bit in 0..8 * bytes.len() {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(program) = Program::load(&bytes, &MACHINES) {
            program.kernels().iter().for_each(exercise);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn flipped_bytes(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12)) {
        let mut bytes = object(&[kernel()]);
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(program) = Program::load(&bytes, &MACHINES) {
            program.kernels().iter().for_each(exercise);
        }
    }

    /// Replaces each field in the record of a kernel by values near the limits of the field.
    #[test]
    fn changed_records(at in any::<prop::sample::Index>(), value in prop::sample::select(vec![
        0, 1, 2, 3, 4, 15, 16, 17, 255, 2047, 2048, 4095, 8191, 8192, 8193, 65535, 1 << 16, i32::MAX as u32, 1 << 31, u32::MAX,
    ])) {
        let mut changed = kernel();
        let mut record = changed.info.to_bytes(changed.words.target());
        let at = at.index(record.len() - 3);
        record[at..at + 4].copy_from_slice(&value.to_le_bytes());
        if let Ok(info) = KernelInfo::from_bytes(changed.words.target(), &record) {
            changed.info = info;
            if let Ok(program) = Program::load(&object(&[changed]), &MACHINES) {
                program.kernels().iter().for_each(exercise);
            }
        }
    }

    #[test]
    fn any_instructions(seed: u64, count in 1usize..40) {
        // One instruction word in eight has arbitrary bits.
        let mut state = seed | 1;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            state >> 32 ^ state << 16
        };
        let mut word = || match next() % 8 {
            0 => next() as u32,
            _ => Inst::random(Opcode::ALL[next() as usize % Opcode::ALL.len()], &mut next).word(),
        };
        let mut code = kernel();
        code.words = halfbyte_isa::vp1::Vp1Code((0..count).map(|_| word()).collect()).into();
        code.locs = vec![Loc::default(); count];
        let tiles = code.info.tiles.as_mut().unwrap();
        tiles.group_branch = Some(count as u32 / 2);
        tiles.streams.iter_mut().for_each(|stream| stream.site.word = 0);
        let program = Program::load(&object(&[code]), &MACHINES).unwrap();
        program.kernels().iter().for_each(exercise);
    }
}

#[test]
fn records_that_disagree() {
    let refused = |change: &dyn Fn(&mut KernelCode)| {
        let mut kernel = kernel();
        change(&mut kernel);
        Program::load(&object(&[kernel]), &MACHINES).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&|code| code.words = halfbyte_isa::vp1::Vp1Code(Vec::new()).into()),
        "section `.text.k` has 0 bytes; expected a positive multiple of 4"
    );
    assert_eq!(
        refused(&|code| code.locs.truncate(1)),
        "section `.loc.k` has 8 bytes; expected 320, plus 16 for each access part"
    );
    let tiles = |code: &mut KernelCode, change: fn(&mut Tiles)| change(code.info.tiles.as_mut().unwrap());
    assert_eq!(
        refused(&|code| tiles(code, |tiles| tiles.streams[3].site.word = 40)),
        "section `.info.k` refers to instruction word 40, but the kernel has 40 instruction words"
    );
    assert_eq!(
        refused(&|code| tiles(code, |tiles| tiles.group_branch = Some(u32::MAX - 1))),
        "section `.info.k` refers to instruction word 4294967294, but the kernel has 40 instruction words"
    );
    assert_eq!(
        refused(&|code| tiles(code, |tiles| tiles.items = 0)),
        "section `.info.k`: a group has 0 items; expected 1, 4 or 16"
    );
    assert_eq!(
        refused(&|code| code.info.local_bytes = 2049),
        "section `.info.k`: the image and the spilled registers take 2049 bytes; at most 2048 are possible"
    );
}

#[test]
fn many_loops_take_no_long_time() {
    // The streams have 32 nested loops with a trip count of 1. One more stream has loops with huge
    // trip counts around a loop with trip count 0.
    let mut kernel = kernel();
    let tiles = kernel.info.tiles.as_mut().unwrap();
    let deep: Vec<_> = (0..32).map(|number| step(number, TripCount::Const(1), 0)).collect();
    tiles.streams = vec![Stream { steps: deep, ..reads(1, 4, 0) }; 30];
    let empty = vec![
        step(90, TripCount::Const(u32::MAX), 1),
        step(91, TripCount::Const(u32::MAX), 1),
        step(92, TripCount::Const(0), 1),
    ];
    tiles.streams[7].steps = empty;
    Program::load(&object(&[kernel]), &MACHINES).unwrap().kernels().iter().for_each(exercise);
}

#[test]
fn an_object_of_another_target_is_refused() {
    let mut other = object(&[kernel()]);
    // The first section is the header record. The changed byte is the number of the target.
    let header = [2, 0, 0, 0, 6, 0, 0, 0];
    let at = other.windows(8).position(|window| *window == header).unwrap();
    other[at] = 1;
    assert!(matches!(Program::load(&other, &MACHINES), Err(LoadError::Record { .. })));
    other[at] = 3;
    assert!(matches!(Program::load(&other, &MACHINES), Err(LoadError::Record { .. })));
}

#[test]
fn a_kernel_is_what_its_object_says() {
    let written = kernel();
    let program = Program::load(&object(std::slice::from_ref(&written)), &MACHINES).unwrap();
    let kernel = program.kernel("k").unwrap();
    assert_eq!(
        (kernel.info(), kernel.words(), kernel.locs()),
        (&written.info, &written.words, written.locs.as_slice())
    );
    exercise(brighten().kernel("k").unwrap());
    exercise(add(|_| {}).kernel("k").unwrap());
}

/// Checks that the seed objects of the fuzzer have the current layout version. With
/// `HALFBYTE_BLESS=1`, the test writes the seed objects for VP1.
#[test]
fn the_fuzzers_seeds_load() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/seeds/objects");
    let [branch, load, store] = BRIGHTEN_SITES;
    let streams = vec![reads(0, 1, load), writes(1, 1, store)];
    let bytewise = code("x: in i8, y: out i8", 0, tiles(16, branch, streams), BRIGHTEN);
    for (name, code) in [("vp1_brighten.o", bytewise), ("vp1_streams.o", kernel())] {
        let (path, bytes) = (format!("{folder}/{name}"), object(&[code]));
        if std::env::var_os("HALFBYTE_BLESS").is_some() {
            std::fs::write(&path, &bytes).unwrap();
        }
        assert!(std::fs::read(&path).unwrap() == bytes, "{name} is not what is made here");
    }
    for seed in std::fs::read_dir(folder).unwrap() {
        let path = seed.unwrap().path();
        let program = Program::load(&std::fs::read(&path).unwrap(), &MACHINES);
        program.unwrap_or_else(|error| panic!("{}: {error}", path.display())).kernels().iter().for_each(exercise);
    }
}
