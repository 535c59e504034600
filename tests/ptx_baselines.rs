//! The baseline kernels as people write them in PTX: they read as they print, and run on the interpreter they give the bits
//! that the evaluator gives for the same kernels in IR, for sm_90 and for sm_75.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use halfbyte::generate::elements;
use halfbyte::ir::eval::{Arg, Launch, Prepared};
use halfbyte::ir::witness::Random;
use halfbyte::ir::{Direction, ParamKind, text};
use halfbyte::isa::abi::buffer_base;
use halfbyte::isa::ptx::text::read;
use halfbyte::runtime::ptx;

const GRID: u32 = 4;
const BLOCK: u32 = 64;
const LAUNCHES: u64 = 8;
/// Elements of a buffer that an item reads or writes at most.
const ELEMENTS: u32 = 16;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Arguments of one kind of number: normal halves of a middling size, of both signs.
fn ordinary(mut bytes: Vec<u8>) -> Vec<u8> {
    for half in bytes.as_chunks_mut().0 {
        let bits = u16::from_le_bytes(*half);
        let exponent = 12 + (bits >> 10) % 7;
        *half = (bits & 0x83FF | exponent << 10).to_le_bytes();
    }
    bytes
}

/// Runs a file and the kernel of the same name in IR on the same random arguments, those of halves with edges among them.
fn check(path: &Path) {
    let name = path.file_stem().unwrap().to_str().unwrap();
    let source = std::fs::read_to_string(path).unwrap();
    let parsed = read(&source).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let printed = read(&parsed.module.to_string()).unwrap();
    assert!(printed.module == parsed.module, "{name}");
    let kernel = ptx::Kernel::load(&printed, name, name).unwrap();

    let ir = std::fs::read_to_string(root().join("examples/baseline").join(format!("{name}.hb"))).unwrap();
    let ir = text::read(&ir).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let [ir] = ir.kernels.as_slice() else { panic!("{name}: one kernel") };
    let prepared = Prepared::new(ir);

    // Where a machine has no minimum and maximum the files take a compare, of which NaN and -0 come out otherwise.
    let by_compare = source.contains(" set.");
    for launch in 0..LAUNCHES {
        let mut random = Random(launch);
        let before: Vec<Vec<u8>> = ir
            .params
            .iter()
            .map(|param| {
                let mut draw = |ty, count| {
                    let bytes = elements(ty, count, &mut random);
                    if by_compare { ordinary(bytes) } else { bytes }
                };
                match param.kind {
                    ParamKind::Scalar(ty) => draw(ty, 1),
                    ParamKind::Buffer { elem, direction: Direction::Out, .. } => {
                        vec![0; (GRID * BLOCK * ELEMENTS * elem.bytes()) as usize]
                    }
                    ParamKind::Buffer { elem, .. } => draw(elem, GRID * BLOCK * ELEMENTS),
                }
            })
            .collect();
        let is_buffer = |i: usize| matches!(ir.params[i].kind, ParamKind::Buffer { .. });

        let mut expected = before.clone();
        let mut args: Vec<Arg<'_>> = expected
            .iter_mut()
            .enumerate()
            .map(|(i, bytes)| match is_buffer(i) {
                true => Arg::Buffer { base: buffer_base(i), bytes },
                false => Arg::scalar(u32::from_le_bytes(bytes.as_slice().try_into().unwrap()).into()),
            })
            .collect();
        prepared.run(&Launch::new(GRID * BLOCK), &mut args).unwrap_or_else(|fault| panic!("{name}: {fault}"));

        let mut found = before.clone();
        let mut args: Vec<ptx::Arg<'_>> = found
            .iter_mut()
            .enumerate()
            .map(|(i, bytes)| if is_buffer(i) { ptx::Arg::Buffer(bytes) } else { ptx::Arg::Value(bytes) })
            .collect();
        kernel.launch(ptx::Launch::new(GRID, BLOCK, &mut args)).unwrap_or_else(|error| panic!("{name}: {error}"));

        assert!(expected != before, "{name}: nothing is written");
        for (i, (expected, found)) in expected.iter().zip(&found).enumerate() {
            let differs = expected.chunks(4).zip(found.chunks(4)).position(|(a, b)| a != b);
            if let Some(word) = differs {
                let at = 4 * word..4 * word + 4;
                panic!(
                    "{name}, launch {launch}: word {word} of `{}` is {:02x?}, not {:02x?}",
                    ir.params[i].name,
                    &found[at.clone()],
                    &expected[at]
                );
            }
        }
    }
}

fn check_folder(folder: &str) -> usize {
    let entries = root().join(folder).read_dir().unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "ptx")).collect();
    files.iter().for_each(|path| check(path));
    files.len()
}

#[test]
fn on_sm_90() {
    assert_eq!(check_folder("tests/ptx/baseline"), 14);
}

#[test]
fn on_sm_75() {
    assert_eq!(check_folder("tests/ptx/baseline/sm75"), 13);
}
