//! Tests of damaged and hostile objects. Loading must return a typed error, or a program whose launches end or trap.

use crate::common::MACHINES;
use crate::common::{code, launch, object, trap};
use halfbyte_abi::ParamKind;
use halfbyte_emit::{KernelCode, ObjectError, write_object};
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isa::object::{E_FLAGS, E_MACHINE, Header, Loc, PartialAccess, RecordError};
use halfbyte_runtime::{Arg, Engine, Kernel, Launch, LoadError, Program, TrapKind};
use proptest::prelude::*;

fn kernels() -> Vec<KernelCode> {
    let asm = "
    S2R R0, SR_ITEM ;
    ULDC.64 UR0, c[0x0][0x168] ;
    SHF.L.U32 R0, R0, 0x2, RZ ;
loop:
    LDG R1, [R0.U32+UR0] ;
    HADD2 R1, R1, c[0x0][0x160] ;
    STG [R0.U32+UR0], R1 ;
    ISETP.LT.U32.AND P0, PT, R1, 0x5, PT ;
    @P0 BRA loop ;
    EXIT ;
";
    vec![code("first", "a: f16x2, x: inout i32", 0x20, asm), code("second", "", 0, "    EXIT ;")]
}

/// Launches a kernel with arguments that fit its signature. Every launch must return. If items
/// cannot affect each other, both engines must give the same result.
fn exercise(kernel: &Kernel) {
    let params = kernel.signature().params();
    let mut buffers = vec![[0u8; 16]; params.len()];
    let mut args: Vec<Arg<'_>> = Vec::new();
    for (param, buffer) in params.iter().zip(&mut buffers) {
        args.push(match param.kind {
            ParamKind::Scalar(_) => Arg::Scalar(1),
            ParamKind::Buffer { .. } => Arg::Buffer(buffer),
        });
    }
    let _ = launch(kernel, 100, 1, &mut args);
    for engine in [Engine::Interp, Engine::JIT] {
        let _ = kernel.launch(Launch { budget: 100, engine, ..Launch::new(20, &mut args) });
    }
}

#[test]
fn every_truncation_is_refused() {
    let bytes = object(&kernels());
    assert!(Program::load(&bytes, &MACHINES).is_ok());
    for length in 0..bytes.len() {
        let error = Program::load(&bytes[..length], &MACHINES).unwrap_err();
        assert!(!error.to_string().is_empty(), "{length} bytes");
    }
}

#[test]
fn survives_a_change_of_any_byte() {
    let bytes = object(&kernels());
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            if let Ok(program) = Program::load(&bytes, &MACHINES) {
                program.kernels().iter().for_each(exercise);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn flipped_bytes(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12)) {
        let mut bytes = object(&kernels());
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(program) = Program::load(&bytes, &MACHINES) {
            program.kernels().iter().for_each(exercise);
        }
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Program::load(&bytes, &MACHINES).is_err());
    }

    #[test]
    fn any_instructions(seed: u64, count in 1usize..24) {
        // One instruction word in eight has arbitrary bits.
        let mut state = seed | 1;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            state >> 32 ^ state << 16
        };
        let mut word = || match next() % 8 {
            0 => u128::from(next()) << 64 | u128::from(next()),
            _ => Inst::random(Opcode::ALL[next() as usize % Opcode::ALL.len()], &mut next).word(),
        };
        let mut code = kernels().remove(0);
        code.words = halfbyte_isa::halu::HaluCode((0..count).map(|_| word()).collect()).into();
        code.locs = vec![Loc::default(); count];
        let program = Program::load(&object(&[code]), &MACHINES).unwrap();
        program.kernels().iter().for_each(exercise);
    }
}

#[test]
fn other_machines_versions_and_targets() {
    let bytes = object(&kernels());
    let with = |at: usize, value: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        Program::load(&bytes, &MACHINES).unwrap_err()
    };
    assert!(matches!(with(0, b"\x7fELG"), LoadError::Elf(_)));
    // The changed bytes are the ELF fields EI_CLASS, EI_DATA, e_machine and e_flags.
    assert!(matches!(with(4, &[1]), LoadError::Elf(_)));
    assert!(matches!(with(5, &[2]), LoadError::Elf(_)));
    assert_eq!(with(18, &62u16.to_le_bytes()), LoadError::Machine(62));
    assert_eq!(
        with(18, &62u16.to_le_bytes()).to_string(),
        format!("the object is for ELF machine 0x3e; expected {E_MACHINE:#x}")
    );
    assert_eq!(with(48, &(E_FLAGS + 1).to_le_bytes()), LoadError::Version(E_FLAGS + 1));
}

#[test]
fn records_that_disagree() {
    let refused = |change: &dyn Fn(&mut KernelCode)| {
        let mut kernels = kernels();
        change(&mut kernels[1]);
        Program::load(&object(&kernels), &MACHINES).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&|code| code.words = halfbyte_isa::halu::HaluCode(Vec::new()).into()),
        "section `.text.second` has 0 bytes; expected a positive multiple of 16"
    );
    assert_eq!(
        refused(&|code| code.locs.clear()),
        "section `.loc.second` has 0 bytes; expected 8, plus 16 for each access part"
    );
    assert_eq!(
        refused(&|code| code.info.local_bytes = u32::MAX),
        "section `.info.second`: a work item uses 4294967295 bytes of local memory; the maximum is 16777216"
    );

    // Changing a name in the string table renames a section.
    let renamed = |from: &str, to: &str| {
        let mut bytes = object(&kernels());
        let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        Program::load(&bytes, &MACHINES).unwrap_err().to_string()
    };
    assert_eq!(renamed(".info.second", ".info.Second"), "missing section `.info.second`");
    assert_eq!(renamed(".halfbyte", ".halfbite"), "missing section `.halfbyte`");
    assert_eq!(renamed(".loc.second", ".loc.secund"), "missing section `.loc.second`");
    assert_eq!(renamed(".text.second", ".text.secand"), "missing section `.info.secand`");
}

fn part(word: u32, offset: u16, bytes: u16) -> PartialAccess {
    PartialAccess { word, offset, bytes, loc: Loc { line: 1, column: 2 } }
}

#[test]
fn parts_of_accesses() {
    let refused = |parts: &[PartialAccess], more: usize| {
        let mut kernels = kernels();
        kernels[0].parts = parts.to_vec();
        let words = kernels[0].words.len() as u32;
        let mut bytes = object(&kernels);
        // The section header of the location section gets a smaller size.
        let headers = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
        let size = headers + 4 * 64 + 32;
        let all = u64::from_le_bytes(bytes[size..size + 8].try_into().unwrap());
        assert_eq!(all, u64::from(words) * 8 + 16 * parts.len() as u64);
        bytes[size..size + 8].copy_from_slice(&(all - more as u64).to_le_bytes());
        Program::load(&bytes, &MACHINES).unwrap_err()
    };
    let section = || ".loc.first".to_owned();
    let words = kernels()[0].words.len();
    for cut in [1, 8, 15] {
        let (bytes, expected) = (8 * words + 16 - cut, 8 * words);
        let error = LoadError::Locations { section: section(), bytes, expected };
        assert_eq!(refused(&[part(0, 0, 4)], cut), error);
    }
    let error = LoadError::Address { section: section(), address: words as u32, words };
    assert_eq!(refused(&[part(0, 0, 4), part(words as u32, 0, 4)], 0), error);
    assert_eq!(refused(&[part(1, 0, 4), part(0, 0, 4)], 0), LoadError::Order { section: section(), word: 0 });
    let error = RecordError::Part { word: 0, offset: 14, bytes: 4 };
    assert_eq!(refused(&[part(0, 14, 4)], 0), LoadError::Record { section: section(), error });
}

/// Parts of merged accesses that contradict the instruction do not change its trap.
#[test]
fn ignores_access_parts_that_contradict_the_instruction() {
    let access = "    LDG.128 R0, [RZ.U32+UR0+0x100] ;\n    EXIT ;";
    let without = code("k", "x: in i32", 0, access);
    let launched = |parts: &[PartialAccess]| {
        let code = KernelCode { parts: parts.to_vec(), ..without.clone() };
        let program = Program::load(&object(&[code]), &MACHINES).unwrap();
        assert_eq!(program.kernels()[0].parts(), parts);
        let traps = Engine::ALL.map(|engine| {
            let mut args = [Arg::In(&[0; 64])];
            trap(program.kernels()[0].launch(Launch { engine, ..Launch::new(1, &mut args) }))
        });
        assert_eq!(traps[0], traps[1]);
        let [trap, _] = traps;
        trap
    };
    // The base register is zero, so the address is not in any buffer.
    let whole = launched(&[]);
    assert!(matches!(whole.kind, TrapKind::OutOfBounds { address: 0x100, bytes: 16, near: None, .. }), "{whole}");
    assert_eq!(launched(&[part(1, 0, 4)]), whole);
    let narrow = launched(&[part(0, 3, 1), part(0, 0, 8)]);
    assert!(matches!(narrow.kind, TrapKind::OutOfBounds { address: 0x103, bytes: 1, .. }), "{narrow}");
    assert_eq!(narrow.loc, Loc { line: 1, column: 2 });
    let misaligned = launched(&[part(0, 2, 4)]);
    assert!(matches!(misaligned.kind, TrapKind::Misaligned { address: 0x102, bytes: 4, .. }), "{misaligned}");
}

#[test]
fn two_kernels_of_one_name() {
    let [first, _] = &kernels()[..] else { unreachable!() };
    let header = Header { target: halfbyte_isa::halu::TARGET, source: String::new() };
    let error = write_object(&header, &[first.clone(), first.clone()]).unwrap_err();
    assert_eq!(error, ObjectError::Duplicate("first".into()));
}

#[test]
fn sections_that_share_bytes_do_not_multiply() {
    // The text section of the second kernel is changed so that it covers the whole file.
    let mut bytes = object(&kernels());
    let headers = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    // The section header of the second kernel's text follows those of the null section, the header
    // section and three sections of kernel `first`. The changed fields are sh_offset and sh_size.
    let second = headers + 4 * 64 + 64;
    let length = bytes.len() as u64;
    bytes[second + 24..second + 32].copy_from_slice(&0u64.to_le_bytes());
    bytes[second + 32..second + 40].copy_from_slice(&length.to_le_bytes());
    assert_eq!(Program::load(&bytes, &MACHINES).unwrap_err(), LoadError::Overlap);
}

#[test]
fn a_kernel_named_with_the_prefix_of_a_section() {
    let kernels = ["a", "text.a", ".text.a", "größe 1"].map(|name| code(name, "", 0, "    NOP ;"));
    let program = Program::load(&object(&kernels), &MACHINES).unwrap();
    assert_eq!(program.kernels().len(), 4);
    for kernel in program.kernels() {
        let trap = trap(kernel.launch(Launch::new(1, &mut [])));
        assert_eq!(trap.kernel, kernel.signature().name());
    }
}
