//! Tests of the toy target: compilation, encoding, decoding, and execution compared with the evaluator.
#![allow(clippy::unwrap_used, clippy::panic)]

use halfbyte::Module;
use halfbyte::launch::evaluate;
use halfbyte::pipeline::{Options, compile};
use halfbyte_isa::isa::{Isa, MachineCode};
use halfbyte_isa::row_isa::Inst;
use halfbyte_runtime::{Arg, Launch, LaunchError};
use halfbyte_toy::isa::{EXIT, ISA, TARGET};
use halfbyte_toy::{SUPPORT, TARGETS};

const AXPY: &str = "
kernel @axpy(%a: i32, %x: in i32, %y: inout i32) {
^entry:
  %i = item_id
  %xi = load %x[%i]
  %yi = load %y[%i]
  %ax = mul.i32 %a, %xi
  %r = add.i32 %ax, %yi
  store %r, %y[%i]
  ret
}
";

fn build(text: &str) -> Result<halfbyte::Binary, String> {
    let module = Module::parse(text).unwrap();
    let options = Options { targets: &TARGETS, ..Options::new(TARGET) };
    let compiled = compile(&module, &module.ir().kernels, &options, &mut |_| ());
    compiled.map_err(|error| error.diagnostics().iter().map(|error| format!("{}\n", error.message)).collect())
}

#[test]
fn a_kernel_is_compiled_listed_and_run() {
    let binary = build(AXPY).unwrap();
    let code = &binary.code[0];
    let expected = "    item r0\n    load r1, #1, r0\n    load r2, #2, r0\n    arg r3, #0\n    mul r1, r3, r1\n    \
                    add r1, r1, r2\n    store #2, r0, r1\n    exit\n";
    assert_eq!(code.words.disassemble(), expected);
    let listing = TARGETS.listing(code, "axpy.hb", Some(AXPY));
    assert!(
        listing.starts_with("// kernel @axpy of axpy.hb: 8 words, 4 registers\n0000  0x00000000  item r0"),
        "{listing}"
    );

    let program = TARGETS.load(&binary.object).unwrap();
    assert_eq!(program.header().target, TARGET);
    let x: Vec<u8> = [1, 2, 3].map(u32::to_le_bytes).concat();
    let mut y: Vec<u8> = [10, 20, u32::MAX].map(u32::to_le_bytes).concat();
    let mut by_hand = vec![7u32.to_le_bytes().to_vec(), x.clone(), y.clone()];
    evaluate(&Module::parse(AXPY).unwrap().ir().kernels[0], 3, &mut by_hand).unwrap();
    let mut args = [Arg::Scalar(7), Arg::In(&x), Arg::Buffer(&mut y)];
    let stats = program.kernels()[0].launch(Launch::new(3, &mut args)).unwrap();
    assert_eq!((stats.issued, &y), (24, &by_hand[2]));
    assert_eq!(y, [17, 34, 20].map(u32::to_le_bytes).concat());
}

#[test]
fn a_trap_names_its_line_and_its_buffer() {
    let program = TARGETS.load(&build(AXPY).unwrap().object).unwrap();
    let (x, mut y) = ([0; 8], [0; 4]);
    let mut args = [Arg::Scalar(7), Arg::In(&x), Arg::Buffer(&mut y)];
    let Err(LaunchError::Trap(trap)) = program.kernels()[0].launch(Launch::new(2, &mut args)) else { panic!() };
    let expected = "kernel `axpy`, item 1, word 0x2 `load r2, #2, r0` (<text>:6:3): load of 4 bytes at global address \
                    0xd00200000100004 is out of bounds: byte 4 of buffer `y`, which has 4 bytes";
    assert_eq!(trap.to_string(), expected);
}

#[test]
fn what_it_cannot_do_is_refused_by_name() {
    let text = AXPY.replace("mul.i32 %a, %xi", "sub.i32 %a, %xi");
    assert_eq!(build(&text).unwrap_err(), "toy cannot do `sub.i32`: the target has no such instruction\n");
    let squares: String = (0..20).map(|n| format!("  %v{} = mul.i32 %v{n}, %v{n}\n", n + 1)).collect();
    let stores: String = (0..20).map(|n| format!("  store %v{n}, %y[%v{n}]\n")).collect();
    let text = format!("kernel @k(%y: out i32) {{\n^entry:\n  %v0 = item_id\n{squares}{stores}  ret\n}}\n");
    assert!(build(&text).unwrap_err().contains("registers are live at once"), "{}", build(&text).unwrap_err());
}

#[test]
fn words_and_text_are_read_back() {
    for opcode in 0..ISA.rows.len() as u32 {
        for seed in 0..=u16::MAX {
            let fields = u32::from(seed).wrapping_mul(0x9e37_79b9) & 0x00ff_ffff;
            let word = opcode << 24 | fields;
            assert_eq!(ISA.parse(&ISA.text(word)), Some(word));
            assert!(ISA.decode(word).is_none_or(|inst| ISA.encode(inst) == Some(word)));
        }
    }
    assert_eq!(ISA.decode(0xff00_0000), None);
    assert_eq!(ISA.decode(0x0700_0001), None, "bits that no operand names");
    let exit = ISA.encode(Inst { opcode: EXIT, operands: [0; 4] }).unwrap();
    let code = ISA.code(vec![0xff00_0000, exit]);
    assert_eq!(code.disassemble(), "    .word 0xff000000\n    exit\n");
    assert!(ISA.machine_code(TARGET, &code.to_bytes()[1..]).is_none());
    assert!(ISA.machine_code(TARGET, &code.to_bytes()).unwrap() == code.into());
}

#[test]
fn it_stands_beside_the_others() {
    assert_eq!(TARGETS.names(), "halu, vp1, ptx or toy");
    assert_eq!(TARGETS.named("toy"), Some(TARGET));
    assert_eq!(SUPPORT.isa.mnemonics().len(), 8);
    let halu = Module::parse(AXPY).unwrap().compile(halfbyte::HALU).unwrap();
    assert!(TARGETS.load(&halu.object).is_ok());
    assert!(halfbyte::TARGETS.load(&build(AXPY).unwrap().object).is_err(), "only who has the target reads its objects");
}
