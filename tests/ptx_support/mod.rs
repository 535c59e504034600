//! PTX kernels for tests, and random arguments for these kernels.

use std::path::{Path, PathBuf};

use halfbyte::ir::generate::elements;
use halfbyte::ir::witness::Random;
use halfbyte::ir::{Direction, Elem, Kernel, ParamKind, text};

use crate::common::root;

/// Maximum number of elements of a buffer that an item accesses.
const ELEMENTS: u32 = 16;

/// A baseline kernel, in PTX and in the IR.
pub struct Baseline {
    pub name: String,
    /// PTX text of the kernel.
    pub source: String,
    /// The same kernel, written by hand in the IR.
    pub ir: Kernel,
}

/// Returns the baseline kernels for sm_90 and for sm_75.
pub fn baselines() -> Vec<Baseline> {
    let folders = ["tests/ptx/baseline", "tests/ptx/baseline/sm75"];
    let baselines: Vec<Baseline> = folders.into_iter().flat_map(|folder| files(&root().join(folder))).map(of).collect();
    assert_eq!(baselines.len(), 27);
    baselines
}

/// Returns the PTX files in a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "ptx")).collect();
    files.sort();
    files
}

fn of(path: PathBuf) -> Baseline {
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let source = std::fs::read_to_string(path).unwrap();
    let ir = std::fs::read_to_string(root().join("examples/baseline").join(format!("{name}.hb"))).unwrap();
    let ir = text::read(&ir).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let [ir] = ir.kernels.as_slice() else { panic!("{name}: one kernel") };
    Baseline { name, source, ir: ir.clone() }
}

/// Returns random arguments, which include edge values. Scalar integers are small, because they are
/// often numbers of items.
pub fn arguments(kernel: &Kernel, items: u32, are_ordinary: bool, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random(seed);
    let argument = |param: &halfbyte::ir::Param| {
        let mut draw = |ty, count| {
            let bytes = elements(ty, count, &mut random);
            if are_ordinary { ordinary(bytes) } else { bytes }
        };
        match param.kind {
            ParamKind::Scalar(ty) if matches!(ty.elem(), Elem::I32 | Elem::I64) && ty.lanes() == 1 => {
                let small = draw(ty, 1)[0] % 9;
                let mut bytes = vec![0; ty.bytes() as usize];
                bytes[0] = small;
                bytes
            }
            ParamKind::Scalar(ty) => draw(ty, 1),
            ParamKind::Buffer { elem, direction: Direction::Out, .. } => {
                vec![0; (items * ELEMENTS * elem.bytes()) as usize]
            }
            ParamKind::Buffer { elem, .. } => draw(elem, items * ELEMENTS),
        }
    };
    kernel.given_params().iter().map(argument).collect()
}

/// Replaces halves by normal numbers of both signs that are neither very large nor very small.
fn ordinary(mut bytes: Vec<u8>) -> Vec<u8> {
    for half in bytes.as_chunks_mut().0 {
        let bits = u16::from_le_bytes(*half);
        let exponent = 12 + (bits >> 10) % 7;
        *half = (bits & 0x83FF | exponent << 10).to_le_bytes();
    }
    bytes
}
