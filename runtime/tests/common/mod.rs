//! Test programs, which are assembled, written to an object, and loaded from the object.

pub mod vp1;

use halfbyte_abi::{DEFAULT_BUDGET, Direction, Param, ParamKind, Signature, Type};
use halfbyte_emit::{KernelCode, write_object};
use halfbyte_isa::halu::assemble;
use halfbyte_isa::object::{Header, KernelInfo, Loc};
use halfbyte_runtime::{Arg, Engine, Kernel, Launch, LaunchError, Program, Stats, Trap};

/// The machines for which the tests load objects.
pub const MACHINES: [&dyn halfbyte_runtime::Machine; 3] =
    [&halfbyte_runtime::Halu, &halfbyte_runtime::Vp1, &halfbyte_runtime::Ptx];

/// Parses parameters in the syntax of kernels, such as `a: f16x2`, `x: in i32` or `y: inout may_alias i32`.
pub fn params(text: &str) -> Vec<Param> {
    let param = |text: &str| {
        let (name, kind) = text.split_once(": ").unwrap();
        let kind = match kind.split_once(' ') {
            None => ParamKind::Scalar(Type::from_name(kind).unwrap()),
            Some((direction, elem)) => {
                let (may_alias, elem) = match elem.strip_prefix("may_alias ") {
                    Some(elem) => (true, elem),
                    None => (false, elem),
                };
                let elem = Type::from_name(elem).unwrap();
                let direction = match direction {
                    "in" => Direction::In,
                    "out" => Direction::Out,
                    "inout" => Direction::InOut,
                    other => panic!("{other} is no direction"),
                };
                ParamKind::Buffer { direction, elem, align: elem.bytes(), may_alias }
            }
        };
        Param { name: name.into(), kind }
    };
    text.split(", ").filter(|text| !text.is_empty()).map(param).collect()
}

/// Assembles a kernel. The source location of an instruction word is its line of the assembly, column 5.
pub fn code(name: &str, parameters: &str, local_bytes: u32, asm: &str) -> KernelCode {
    let program = assemble(asm).unwrap_or_else(|errors| panic!("{errors:?}"));
    let loc = |&line: &usize| Loc { line: line as u32, column: 5 };
    KernelCode {
        info: KernelInfo {
            signature: Signature::new(name, params(parameters)).unwrap(),
            local_bytes,
            registers: 16,
            tiles: None,
            max_items: u32::MAX,
            shared_bytes: None,
            scratch_bytes: 0,
            along_x: false,
        },
        words: halfbyte_isa::halu::HaluCode(program.words).into(),
        locs: program.lines.iter().map(loc).collect(),
        parts: Vec::new(),
        stats: Vec::new(),
    }
}

pub fn object(kernels: &[KernelCode]) -> Vec<u8> {
    let header = Header { target: halfbyte_isa::halu::TARGET, source: "test.s".into() };
    write_object(&header, kernels).unwrap()
}

/// Returns a program with one kernel, `k`.
pub fn program(parameters: &str, asm: &str) -> Program {
    Program::load(&object(&[code("k", parameters, 0x40, asm)]), &MACHINES).unwrap()
}

/// Launches kernel `k` in the interpreter. Checks that native code gives the same result.
pub fn run(program: &Program, items: u32, args: &mut [Arg<'_>]) -> Result<Stats, LaunchError> {
    launch(program.kernel("k").unwrap(), DEFAULT_BUDGET, items, args)
}

/// Launches a kernel in the interpreter with a maximum number of backward branches per item. Checks
/// that native code gives the same result.
pub fn launch(kernel: &Kernel, budget: u64, items: u32, args: &mut [Arg<'_>]) -> Result<Stats, LaunchError> {
    let mut copies: Vec<Option<Vec<u8>>> = args.iter().map(buffer).collect();
    let pairs = copies.iter_mut().zip(args.iter());
    let mut native: Vec<Arg<'_>> = pairs
        .map(|(copy, arg)| match (copy, arg) {
            (Some(copy), _) => Arg::Buffer(copy),
            (None, Arg::In(bytes)) => Arg::In(bytes),
            (None, Arg::Scalar(bits)) => Arg::Scalar(*bits),
            (None, &Arg::Alias { of, offset }) => Arg::Alias { of, offset },
            (None, Arg::Buffer(_)) => unreachable!("it was copied"),
        })
        .collect();
    let found = kernel.launch(Launch { budget, engine: Engine::JIT, ..Launch::new(items, &mut native) });
    let expected = kernel.launch(Launch { budget, ..Launch::new(items, args) });
    assert_eq!(found, expected);
    if expected.is_ok() {
        assert!(copies.iter().zip(&*args).all(|(copy, arg)| *copy == buffer(arg)), "native code stores other bytes");
    }
    expected
}

fn buffer(arg: &Arg<'_>) -> Option<Vec<u8>> {
    if let Arg::Buffer(bytes) = arg { Some(bytes.to_vec()) } else { None }
}

/// Returns the trap of a launch, which must have trapped.
pub fn trap(result: Result<Stats, LaunchError>) -> Trap {
    match result {
        Err(LaunchError::Trap(trap)) => *trap,
        other => panic!("expected a trap, found {other:?}"),
    }
}

pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
