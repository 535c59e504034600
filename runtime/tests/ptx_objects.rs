//! Tests of objects that contain PTX text. A faulty object gives an error that names the problem,
//! and no input makes the loader panic.

use crate::common::MACHINES;
use halfbyte_abi::Target;
use halfbyte_abi::{Direction, Param, ParamKind, Signature, Type};
use halfbyte_emit::{KernelCode, write_object};
use halfbyte_isa::isa::Isa;
use halfbyte_isa::object::{Header, KernelInfo, Loc, PartialAccess};
use halfbyte_isa::ptx::Ptx;
use halfbyte_runtime::{Arg, Launch, LaunchError, Program, TrapKind};
use proptest::prelude::*;

const PTX: Target = halfbyte_isa::ptx::target(halfbyte_abi::Sm::SM_90);

/// PTX text of a kernel in which each item stores two 32-bit words.
const TEXT: &str = ".version 7.8\n.target sm_90\n.address_size 64\n\n.visible .entry k(.param .b32 a, .param .u64 .ptr .global .align 8 y)\n{\n    \
                    .reg .b32 %r<3>;\n    .reg .b64 %rd<3>;\n    ld.param.b32 %r0, [a];\n    ld.param.u64 %rd0, [y];\n    mov.u32 %r1, %tid.x;\n    \
                    mul.wide.u32 %rd1, %r1, 8;\n    add.u64 %rd2, %rd0, %rd1;\n    st.global.v2.b32 [%rd2], {%r0, %r1};\n    ret;\n}\n";

/// Index of the store instruction in the kernel of [`TEXT`].
const STORE: u32 = 5;

fn signature() -> Signature {
    let elem = Type::from_name("i32").unwrap();
    let params = vec![
        Param { name: "a".to_owned(), kind: ParamKind::Scalar(elem) },
        Param {
            name: "y".to_owned(),
            kind: ParamKind::Buffer { direction: Direction::InOut, elem, align: 8, may_alias: false },
        },
    ];
    Signature::new("k", params).unwrap()
}

fn code(text: &str) -> KernelCode {
    let words = Ptx.machine_code(PTX, text.as_bytes()).unwrap();
    let locs = (1..=words.len() as u32).map(|line| Loc { line, column: 1 }).collect();
    let info = KernelInfo {
        signature: signature(),
        local_bytes: 0,
        registers: 6,
        tiles: None,
        max_items: 100,
        shared_bytes: None,
        scratch_bytes: 0,
        along_x: false,
    };
    KernelCode { info, words, locs, parts: Vec::new(), stats: Vec::new() }
}

fn object(code: &KernelCode) -> Vec<u8> {
    let header = Header { target: PTX, source: "k.hb".to_owned() };
    write_object(&header, std::slice::from_ref(code)).unwrap()
}

fn refused(code: &KernelCode) -> String {
    Program::load(&object(code), &MACHINES).unwrap_err().to_string()
}

#[test]
fn a_kernel_runs_and_counts_what_it_does() {
    let program = Program::load(&object(&code(TEXT)), &MACHINES).unwrap();
    let kernel = &program.kernels()[0];
    assert_eq!((kernel.words(), kernel.info().max_items), (&code(TEXT).words, 100));
    let mut bytes = [0; 24];
    let stats = kernel.launch(Launch::new(3, &mut [Arg::Scalar(7), Arg::Buffer(&mut bytes)])).unwrap();
    assert_eq!((stats.issued, stats.backward_branches), (21, 0));
    let words: Vec<u32> = bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    assert_eq!(words, [7, 0, 7, 1, 7, 2]);
}

#[test]
fn a_part_of_an_access_traps_in_its_place() {
    let mut code = code(TEXT);
    let part = |offset, line| PartialAccess { word: STORE, offset, bytes: 4, loc: Loc { line, column: 9 } };
    code.parts = vec![part(4, 70), part(0, 60)];
    let program = Program::load(&object(&code), &MACHINES).unwrap();
    let trap = |bytes: &mut [u8]| {
        let error = program.kernels()[0].launch(Launch::new(2, &mut [Arg::Scalar(7), Arg::Buffer(bytes)])).unwrap_err();
        let LaunchError::Trap(trap) = error else { panic!("{error}") };
        (trap.item, trap.loc.line, trap.kind)
    };
    // The second word that item 1 stores is out of bounds.
    let (item, line, kind) = trap(&mut [0; 12]);
    assert_eq!((item, line), (1, 70));
    assert!(matches!(kind, TrapKind::OutOfBounds { bytes: 4, .. }), "{kind}");
    // If both parts of the merged store are out of bounds, the trap reports the part that is listed
    // first. In this object it is the part with the higher word.
    assert_eq!(trap(&mut [0; 8]).1, 70);
}

#[test]
fn what_does_not_agree_is_refused() {
    let mut other = code(TEXT);
    other.info.signature = Signature::new("k", signature().params()[..1].to_vec()).unwrap();
    assert_eq!(refused(&other), "section `.text.k`: the kernel's parameters or variables differ from its signature");
    assert_eq!(
        refused(&code(&TEXT.replace("ld.param.b32 %r0, [a]", "ld.param.b32 %r0, [a+4]"))),
        "section `.text.k`: 1:1: `ld.param.b32 %r0, [a+4];` is out of bounds: `a` has 4 bytes"
    );
    let changed = |from: &str, to: &str| {
        let mut bytes = object(&code(TEXT));
        let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        Program::load(&bytes, &MACHINES).unwrap_err().to_string()
    };
    for (from, to) in [("sm_90", "sm_80"), ("mul.wide", "mul.wade"), ("%r<3>", "%r<1>"), (".visible", "visible.")] {
        assert_eq!(changed(from, to), "section `.text.k` is not the PTX text of one kernel for ptx sm_90", "{to}");
    }
}

/// Returns the kernel of [`TEXT`] with a module-scope table. The kernel loads from this table instead of the parameter.
fn with_table(table: &str, contents: &[u8]) -> KernelCode {
    let text = TEXT.replace("sm_90\n.address_size 64\n", &format!("sm_90\n.address_size 64\n{table}\n"));
    let mut code = code(&text.replace("ld.param.b32 %r0, [a]", "ld.global.nc.b32 %r0, [t+4]"));
    let elem = Type::from_name("i32").unwrap();
    let mut params = signature().params().to_vec();
    params.push(Param {
        name: "t".into(),
        kind: ParamKind::Buffer { direction: Direction::In, elem, align: 4, may_alias: false },
    });
    code.info.signature = Signature::new("k", params).unwrap().with_contents(vec![contents.into()]).unwrap();
    code
}

const TABLE: &str = ".global .align 4 .b8 t[8] = {1, 2, 3, 4, 5};";

#[test]
fn contents_are_bound_and_must_agree() {
    let program = Program::load(&object(&with_table(TABLE, &[1, 2, 3, 4, 5, 0, 0, 0])), &MACHINES).unwrap();
    let mut bytes = [0; 8];
    program.kernels()[0].launch(Launch::new(1, &mut [Arg::Scalar(7), Arg::Buffer(&mut bytes)])).unwrap();
    assert_eq!(bytes, [5, 0, 0, 0, 0, 0, 0, 0]);
    let error =
        program.kernels()[0].launch(Launch::new(1, &mut [Arg::Scalar(7), Arg::Buffer(&mut bytes), Arg::In(&[])]));
    assert_eq!(error.unwrap_err().to_string(), "kernel `k` takes 2 arguments; found 3");
    let wrong = "section `.text.k`: the kernel's parameters or variables differ from its signature";
    for (table, contents) in
        [(TABLE, &[1, 2, 3, 4, 6, 0, 0, 0][..]), (TABLE, &[1, 2, 3, 4]), (".global .b8 t[8], u;", &[0; 8])]
    {
        assert_eq!(refused(&with_table(table, contents)), wrong);
    }
    let mut other = with_table(TABLE, &[1, 2, 3, 4, 5, 0, 0, 0]);
    other.info.signature = signature();
    assert_eq!(refused(&other), wrong);
}

/// Loads an object with changed bytes. If it still loads, launches its kernels.
fn survives(mut bytes: Vec<u8>, changes: Vec<(prop::sample::Index, u8)>) {
    for (at, value) in changes {
        let at = at.index(bytes.len());
        bytes[at] = value;
    }
    let Ok(program) = Program::load(&bytes, &MACHINES) else { return };
    for kernel in program.kernels() {
        let mut buffer = [0; 16];
        let args = &mut [Arg::Scalar(1), Arg::Buffer(&mut buffer)];
        let _ = kernel.launch(Launch { budget: 100, ..Launch::new(2, args) });
    }
}

proptest! {
    #[test]
    fn changed_bytes(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        survives(object(&code(TEXT)), changes);
    }

    #[test]
    fn changed_bytes_with_contents(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        survives(object(&with_table(TABLE, &[1, 2, 3, 4, 5, 0, 0, 0])), changes);
    }
}
