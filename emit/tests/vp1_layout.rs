//! Tests of the layout of VP1 functions.

use halfbyte_abi::{Param, ParamKind, Signature, Type};
use halfbyte_emit::{Emitter, KernelCode, LayoutError, OpError, listing};
use halfbyte_isa::object::Loc;
use halfbyte_isa::stream::{AccessSite, Affine, Stream, StreamContents, Tiles};
use halfbyte_isa::vp1::{BundleError, Inst, Unit, bundles, read_word};
use halfbyte_isel::Vp1;
use halfbyte_isel::mach::{MachBlock, MachFunc, MachInst};
use halfbyte_isel::vp1::{Extra, Group};

fn inst(line: &str) -> Inst {
    Inst::decode(read_word(line, 0).unwrap()).unwrap()
}

fn stream() -> Stream {
    Stream {
        buffer: Some(0),
        holds: StreamContents::Elements,
        bytes: 16,
        align: 16,
        uniform: false,
        scale: 16.into(),
        index: Affine::default(),
        offset: 0,
        steps: Vec::new(),
        guard: None,
        site: AccessSite { word: u32::MAX, written: false },
    }
}

/// Parses a function from blocks with lines of assembly. A line is an operation: instructions
/// separated by `;`, then `@ 1` if the operation accesses stream 1, then `-> 2` if it branches to
/// block 2. The source location of an operation is the number of its line, counted from 1.
fn func(streams: usize, blocks: &[&[&str]]) -> MachFunc<halfbyte_isel::Vp1> {
    let mut line = 0;
    let mut group = |text: &&str| {
        line += 1;
        let (text, target) = text.split_once("->").map_or((*text, None), |(text, block)| (text, Some(block)));
        let (text, number) = text.split_once('@').map_or((text, None), |(text, number)| (text, Some(number)));
        let insts = text.split(';').map(|text| inst(text.trim())).collect();
        MachInst {
            inst: Group { insts, stream: number.map(|number| number.trim().parse().unwrap()) },
            target: target.map(|block| block.trim().parse().unwrap()),
            loc: Loc { line, column: 1 },
        }
    };
    let elem = Type::from_name("i32").unwrap();
    let params = vec![Param { name: "n".into(), kind: ParamKind::Scalar(elem) }];
    let tiles = Tiles { items: 4, group_branch: None, image: vec![1; 16], streams: vec![stream(); streams] };
    MachFunc {
        signature: Signature::new("k", params).unwrap(),
        blocks: blocks
            .iter()
            .map(|block| MachBlock { insts: block.iter().map(&mut group).collect(), parts: Vec::new() })
            .collect(),
        local_bytes: 16,
        registers: 2,
        spills: 0,
        extra: Extra { tiles, group_latch: None },
    }
}

fn laid_out(blocks: &[&[&str]]) -> KernelCode {
    Vp1.layout(Box::new(func(0, blocks))).unwrap()
}

fn words_of(code: &KernelCode) -> &[u32] {
    let halfbyte_isa::vp1::Vp1Code(words) = code.words.downcast_ref().unwrap();
    words
}

fn text(blocks: &[&[&str]]) -> Vec<String> {
    laid_out(blocks).words.disassemble().lines().map(str::to_owned).collect()
}

fn error(blocks: &[&[&str]]) -> LayoutError {
    Vp1.layout(Box::new(func(1, blocks))).unwrap_err()
}

#[test]
fn independent_operations_share_a_bundle() {
    let found = text(&[&["vadd u $v1 $v2 $v3", "add $r1 $r2 0x1", "ldavh $v4 $a1 0x10", "mov $r3 0x5", "exit 0x0"]]);
    assert_eq!(
        found,
        ["ldavh $v4 $a1 0x10", "add $r1 $r2 0x1", "vadd u $v1 $v2 $v3", "bnop", "mov $r3 0x5", "exit 0x0"]
    );
}

#[test]
fn operations_with_port_conflicts_get_separate_bundles() {
    let found = text(&[&["mov $r1 $v3 0x0", "stvh $v5 $a1 0x0", "exit 0x0"]]);
    assert_eq!(found.len(), 3);
    // In the order `stvh, mov, exit`, the store and the move would be in one bundle, in which they conflict.
    assert_eq!(found[0], "mov $r1 $v3 0x0");
    assert_eq!(found[1], "stvh $v5 $a1 0x0");
    // An unrelated scalar instruction must not share a bundle with a vector instruction that receives a scalar operand.
    let found = text(&[&["add $r1 $r2 0x1", "vmad2 u mask rd int -0x1 lo $v6 u $v4d u $v10", "exit 0x0"]]);
    assert!(found[..3] != ["add $r1 $r2 0x1", "vmad2 u mask rd int -0x1 lo $v6 u $v4d u $v10", "exit 0x0"]);
    let pair = "bvec $r3 $vc1 sf 0x0; vmad2 u factor rd int -0x1 lo $v6 u $v4d u $v10";
    let found = text(&[&["add $r1 $r2 0x1", pair, "exit 0x0"]]);
    let at = found.iter().position(|line| line.starts_with("bvec")).unwrap();
    assert!(found[at + 1].starts_with("vmad2"));
}

#[test]
fn branches_go_to_lines_and_take_what_they_can_into_their_delay_slots() {
    let blocks: &[&[&str]] = &[
        &["add $r1 $c0 $r1 0x1", "add $r2 $r2 0x1", "add $r3 $r3 0x1", "bra $c0 zf 0x0 -> 2"],
        &["add $r4 $r4 0x1"],
        &["exit 0x0"],
    ];
    let code = laid_out(blocks);
    let found: Vec<String> = code.words.disassemble().lines().map(str::to_owned).collect();
    let at = |line: &str| found.iter().position(|found| found.starts_with(line)).unwrap();
    // The branch is placed after the operation that sets its flags, and the last sum fills its delay slot.
    let branch = at("bra $c0 zf");
    assert!(at("add $r1") < branch && at("add $r2") < branch, "{found:?}");
    let delayed = bundles(words_of(&code)).find(|(at, _)| *at as usize == branch + 1).unwrap().1;
    assert_eq!(delayed.inst(Unit::Scalar).map(ToString::to_string).as_deref(), Some("add $r3 $r3 0x1"));
    assert_eq!(found[branch], format!("bra $c0 zf {:#x}", at("exit")));
    assert_eq!(at("exit") % 4, 0);
    // If no operation can fill the delay slot, a nop does.
    let found = text(&[&["bra 0x0 -> 1"], &["add $r1 $r1 0x1", "bra 0x0 -> 1"]]);
    assert_eq!(found, ["add $r1 $r1 0x1", "bra 0x0", "anop"]);
}

#[test]
fn streams_and_the_branch_of_groups_are_found() {
    let mut func = func(
        2,
        &[
            &["mov $r5 0x3"],
            &[
                "ldavh $v1 $a1 0x10 @ 1",
                "vadd u $v2 $v1 0x10",
                "stavh $v2 $a0 0x10 @ 0",
                "sub $r5 $c0 $r5 0x1",
                "bra $c0 zf 0x0 -> 3",
            ],
            &["bra 0x0 -> 1"],
            &["exit 0x0"],
        ],
    );
    func.extra.group_latch = Some(2);
    let code = Vp1.layout(Box::new(func)).unwrap();
    let lines: Vec<String> = code.words.disassemble().lines().map(str::to_owned).collect();
    let tiles = code.info.tiles.unwrap();
    let branch = tiles.group_branch.unwrap() as usize;
    assert!(lines[branch].starts_with("bra not $c0 zf"), "{lines:?}");
    assert!(lines[tiles.streams[1].site.word as usize].starts_with("ldavh"));
    assert!(lines[tiles.streams[0].site.word as usize].starts_with("stavh"));
    assert_eq!(tiles.image, [1; 16]);
    assert_eq!(code.info.local_bytes, 16);
    // The register count includes the registers of the pipelined loop.
    assert_eq!(code.info.registers, 6);
    // Every instruction word has a source location. A nop takes that of a neighbouring instruction word.
    assert_eq!(code.locs.len(), lines.len());
    assert!(code.locs.iter().all(|loc| (1..=8).contains(&loc.line)));
    assert_eq!(code.locs[branch].line, 6);
    let stats = code.stats.iter().find(|stats| stats.pipelined).unwrap();
    assert_eq!((stats.block, stats.bundles, stats.bound, stats.words), (1, 2, 2, [2, 1, 1, 1]));
}

#[test]
fn a_listing_has_every_word() {
    let code = laid_out(&[&["add $r1 $r2 0x1", "exit 0x0"]]);
    let listing = listing(&Vp1, &code, "k.hb", None);
    assert!(listing.contains("add $r1 $r2 0x1") && listing.contains("exit 0x0"), "{listing}");
}

#[test]
fn rejects_malformed_functions() {
    let message = |blocks: &[&[&str]]| error(blocks).to_string();
    assert_eq!(message(&[&["bra 0x0"]]), "kernel `k`: BRA has no branch target");
    assert_eq!(message(&[&["exit 0x0 -> 0"]]), "kernel `k`: EXIT cannot have a branch target");
    assert_eq!(message(&[&["vadd u $v1 $v2 $v3 -> 0"]]), "kernel `k`: VADD_U_RR cannot have a branch target");
    assert_eq!(message(&[&["bra 0x0 -> 1"]]), "kernel `k`: branch to block 1, but there are only 1 blocks");
    for early in ["exit 0x0", "bra $c0 zf 0x0 -> 0"] {
        let error = error(&[&[early, "add $r1 $r1 0x1"]]);
        assert!(matches!(error, LayoutError::Control { loc: Loc { line: 1, .. }, .. }), "{error}");
    }
    assert!(matches!(error(&[&["exit 0x0", "bra 0x0 -> 0"]]), LayoutError::Control { opcode: "EXIT", .. }));
    assert!(matches!(error(&[&["call 0x0 -> 0"]]), LayoutError::Control { opcode: "CALL", .. }));
    assert!(matches!(error(&[&["ret"]]), LayoutError::Control { opcode: "RET", .. }));
    let two = error(&[&["add $r1 $r1 0x1; mov $r2 0x5", "exit 0x0"]]);
    assert!(matches!(two, LayoutError::Operation { error: OpError::Bundle(BundleError::Order(1)), .. }), "{two}");
    assert_eq!(
        message(&[&["exit 0x0"], &["xdwait st 0x2 0x2"]]),
        "kernel `k`: the effect of DMA instructions is unknown"
    );
    let mut func = func(0, &[&["exit 0x0"]]);
    func.blocks[0].insts[0].inst.insts.clear();
    let none = Vp1.layout(Box::new(func)).unwrap_err();
    assert!(matches!(none, LayoutError::Operation { error: OpError::Bundle(BundleError::Empty), .. }));
}

#[test]
fn rejects_branches_that_are_too_long() {
    let long = |count: usize| {
        let mut func = func(0, &[&["bra $c0 zf 0x0 -> 2"], &["add $r1 $r1 0x1"], &["exit 0x0"]]);
        let line = func.blocks[1].insts[0].clone();
        func.blocks[1].insts = vec![line; count];
        Vp1.layout(Box::new(func))
    };
    assert!(long(65_000).is_ok());
    let error = long(66_000).unwrap_err();
    assert!(matches!(error, LayoutError::TooLong { limit: 65532, .. }), "{error}");
    assert!(error.is_limit(), "{error}");
}
