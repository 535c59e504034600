//! Tests of the layout of HALU functions, of listings, and of the bytes of objects.

use halfbyte_abi::{Direction, Param, ParamKind, Signature, Type};
use halfbyte_emit::{Emitter, KernelCode, LayoutError, listing, write_object};
use halfbyte_isa::halu::fields::{R32, RD};
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isa::object::{E_MACHINE, Header, Loc, PartialAccess};
use halfbyte_isel::mach::{MachBlock, MachFunc, MachInst};
use halfbyte_isel::vcode::BlockIndex;
use halfbyte_isel::{Halu, HaluExtra};

/// Parses a function from blocks with lines of assembly. The operand of `BRA` is a block number.
fn func(blocks: &[&[&str]]) -> MachFunc<Halu> {
    let mut line = 0;
    let mut inst = |text: &&str| {
        line += 1;
        let loc = Loc { line, column: 3 };
        match text.split_once("BRA ") {
            None => MachInst { inst: text.parse().unwrap(), target: None, loc },
            Some((guard, block)) => {
                let inst = format!("{guard}BRA .+1 ;").parse().unwrap();
                MachInst { inst, target: Some(block.parse().unwrap()), loc }
            }
        }
    };
    let elem = Type::from_name("i32").unwrap();
    let kind = ParamKind::Buffer { direction: Direction::InOut, elem, align: 4, may_alias: false };
    let params = vec![Param { name: "n".into(), kind: ParamKind::Scalar(elem) }, Param { name: "y".into(), kind }];
    MachFunc {
        signature: Signature::new("k", params).unwrap(),
        blocks: blocks
            .iter()
            .map(|block| MachBlock { insts: block.iter().map(&mut inst).collect(), parts: Vec::new() })
            .collect(),
        local_bytes: 8,
        registers: 3,
        spills: 0,
        extra: HaluExtra::default(),
    }
}

/// Returns the disassembly of the laid-out function.
fn text(blocks: &[&[&str]]) -> String {
    Halu.layout(Box::new(func(blocks))).unwrap().words.disassemble()
}

#[test]
fn branches_go_to_their_blocks() {
    let text =
        text(&[&["@P0 BRA 2"], &["NOP ;", "BRA 1"], &["@!P1 BRA 0", "@P1 BRA 2", "BRA 4"], &["NOP ;"], &["EXIT ;"]]);
    let expected = "\
L0:
    @P0 BRA L3 ;
L1:
    NOP ;
    BRA L1 ;
L3:
    @!P1 BRA L0 ;
    @P1 BRA L3 ;
    BRA L7 ;
    NOP ;
L7:
    EXIT ;
";
    assert_eq!(text, expected);
}

#[test]
fn omits_branches_to_the_next_block() {
    // Branches to the following block are omitted, also past empty blocks and past blocks that
    // become empty. If a block ends in two branches, both can be omitted.
    let blocks: &[&[&str]] =
        &[&["NOP ;", "@P0 BRA 1", "BRA 4"], &["BRA 2"], &[], &["@!P0 BRA 4"], &["NOP ;", "BRA 5"], &["BRA 5"]];
    assert_eq!(text(blocks), "    NOP ;\n    NOP ;\nL2:\n    BRA L2 ;\n");
    // A branch is kept if instructions follow it in its block, or if instructions are between the
    // branch and its target.
    let blocks: &[&[&str]] = &[&["BRA 1", "NOP ;", "BRA 2"], &["NOP ;"], &["EXIT ;"]];
    let expected = "    BRA L3 ;\n    NOP ;\n    BRA L4 ;\nL3:\n    NOP ;\nL4:\n    EXIT ;\n";
    assert_eq!(text(blocks), expected);
}

#[test]
fn parts_follow_their_words() {
    let blocks: &[&[&str]] =
        &[&["NOP ;", "BRA 1"], &["BRA 2"], &["NOP ;", "LDG.64 R0, [R2.U32+UR0] ;", "BRA 3"], &["EXIT ;"]];
    let part = |word, offset| PartialAccess { word, offset, bytes: 4, loc: Loc { line: 9, column: 1 } };
    let mut func = func(blocks);
    func.blocks[0].parts = vec![part(0, 0)];
    func.blocks[2].parts = vec![part(1, 0), part(1, 4)];
    let code = Halu.layout(Box::new(func)).unwrap();
    assert_eq!(code.parts, [part(0, 0), part(2, 0), part(2, 4)]);
}

#[test]
fn locations_follow_their_words() {
    let blocks: &[&[&str]] = &[&["NOP ;", "BRA 1"], &["EXIT ;"]];
    let code = Halu.layout(Box::new(func(blocks))).unwrap();
    assert_eq!(code.locs.iter().map(|loc| loc.line).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(code.info.local_bytes, 8);
    assert_eq!(code.info.registers, 3);
}

#[test]
fn rejects_malformed_functions() {
    let change = |change: &dyn Fn(&mut MachInst<Halu>)| {
        let mut func = func(&[&["NOP ;"], &["BRA 0"]]);
        func.blocks.iter_mut().flat_map(|block| &mut block.insts).for_each(change);
        Halu.layout(Box::new(func)).unwrap_err()
    };
    let error = change(&|inst| inst.target = inst.target.map(|_| 2 as BlockIndex));
    assert_eq!(error.to_string(), "kernel `k`: branch to block 2, but there are only 2 blocks");
    let error = change(&|inst| inst.target = None);
    assert_eq!(error.to_string(), "kernel `k`: BRA has no branch target");
    let error = change(&|inst| inst.target = Some(1));
    assert_eq!(error.to_string(), "kernel `k`: NOP cannot have a branch target");
    // The number of a register pair must be even.
    let pair = Inst::new(Opcode::LDG_W_64).with(RD, 3);
    let error = change(&|inst| (inst.inst, inst.target) = (pair, None));
    assert!(matches!(error, LayoutError::Invalid { opcode: "LDG_W_64", loc: Loc { line: 1, .. }, .. }));
    assert!(error.to_string().starts_with("kernel `k`: LDG_W_64 cannot be encoded: rd "), "{error}");
}

#[test]
fn a_listing() {
    let mut code = Halu.layout(Box::new(func(&[&["MOV R0, R2 ;"], &["@P0 BRA 1"], &["NOP ;", "EXIT ;"]]))).unwrap();
    let [first, second, third, fourth] = &mut code.locs[..] else { unreachable!() };
    (first.line, second.line, *third, fourth.line) = (2, 2, Loc::default(), 9);
    let source = "kernel @k(%n: i32, %y: inout i32) {\n  %i = add %n, %n\n";
    let move_word = Inst::new(Opcode::MOV_R).with(RD, 0).with(R32, 2).word();
    let words = &code.words;
    let expected = format!(
        "\
// kernel @k of k.hb: 4 words, 3 registers, 8 bytes of local memory
// c[0x0][0x160] n: i32
// c[0x0][0x168] y: inout i32
0000  {move_word:#034x}  MOV R0, R2 ;                                      // 2:3  %i = add %n, %n
L1:
0001  {}  @P0 BRA L1 ;                                      // 2:3
0002  {}  NOP ;
0003  {}  EXIT ;                                            // 9:3
",
        words.digits(1),
        words.digits(2),
        words.digits(3)
    );
    assert_eq!(listing(&Halu, &code, "k.hb", Some(source)), expected);
    let without = listing(&Halu, &code, "k.hb", None);
    assert_eq!(without, expected.replace("  %i = add %n, %n", ""));
}

#[test]
fn an_object_is_a_plain_elf_file() {
    let code = Halu.layout(Box::new(func(&[&["NOP ;", "EXIT ;"]]))).unwrap();
    let header = Header { target: halfbyte_isa::halu::TARGET, source: "k.hb".into() };
    let bytes = write_object(&header, std::slice::from_ref(&code)).unwrap();
    assert_eq!(bytes, write_object(&header, &[code]).unwrap());
    assert_eq!(bytes[..7], *b"\x7fELF\x02\x01\x01");
    assert_eq!(bytes[16..18], [1, 0], "ET_REL");
    assert_eq!(bytes[18..20], E_MACHINE.to_le_bytes());
    // Instruction words are aligned to their size of 16 bytes.
    let nop = Inst::new(Opcode::NOP).word().to_le_bytes();
    let at = bytes.windows(16).position(|window| *window == nop).unwrap();
    assert!(at.is_multiple_of(16));
}

#[test]
fn an_object_without_kernels_is_an_object() {
    let header = Header { target: halfbyte_isa::halu::TARGET, source: String::new() };
    let none: &[KernelCode] = &[];
    assert!(write_object(&header, none).is_ok());
}
