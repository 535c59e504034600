//! Tests of the structure of the program that is selected for a kernel.

use halfbyte_isa::stream::{M_TILE_ITEMS, Stream};
use halfbyte_isa::vp1::Opcode;
use halfbyte_isa::vp1::fields::*;
use halfbyte_isel::Vp1;
use halfbyte_isel::vcode::{Terminator, VCode};

use super::machine::{both, on_vectors, read, selected, taken};

fn code(kernel: &halfbyte_ir::Kernel) -> VCode<Vp1> {
    selected(kernel).code.downcast_ref::<VCode<Vp1>>().unwrap().clone()
}

fn opcodes(code: &VCode<Vp1>, block: usize) -> Vec<Opcode> {
    let range = &code.blocks[block].insts;
    let insts = &code.insts[range.start as usize..range.end as usize];
    insts.iter().flat_map(|inst| &inst.inst.insts).map(|inst| inst.opcode()).collect()
}

/// Uniform code comes first. The loop over the groups of items is a single block.
#[test]
fn a_loop_over_groups() {
    use Opcode::*;
    let kernel = read(
        "kernel @brighten(%x: in i8x4, %by: i8, %y: out i8x4) groups 4 {
  stream %x_0: in i8x16 of %x, 4 bytes at 4 * item
  stream %y_1: out i8x16 of %y, 4 bytes at 4 * item
^entry:
  %g = item_id
  %a = load %x_0[%g]
  %d = splat.i8x16 %by
  %r = add_sat_u.i8x16 %a, %d
  store %r, %y_1[%g]
  ret
}",
    );
    let code = code(&kernel);
    assert_eq!(code.blocks.len(), 4);
    assert_eq!(opcodes(&code, 1), [LDAVH_I, VADD_U_RR, STAVH_I, SUB_RI]);
    let Terminator::Branch { inst, then, otherwise } = &code.blocks[1].terminator else { panic!("no branch") };
    assert_eq!(inst.inst.insts[0].opcode(), BRA_NOT);
    assert_eq!(inst.inst.insts[0].get(CDST), NO_FLAGS);
    assert_eq!((then.block, otherwise.block, code.extra.group_latch), (2, 3, Some(2)));
    let Terminator::Jump(back) = &code.blocks[2].terminator else { panic!("no jump") };
    assert_eq!((back.block, code.list(&back.args).len(), code.list(&code.blocks[1].params).len()), (1, 1, 1));
    // The block before the loop sets a zero vector for the splat, the cursors from `$m1` on, the
    // number of groups in the tile, and the parameter.
    let prologue = opcodes(&code, 0);
    let moves = [VMOV_I, MOV_R_M, MOV_A_R, MOV_R_M, MOV_A_R, MOV_R_M, ADD_RI, SHR_RI, MOV_R_M, MOV_V_R, VSWZ];
    assert_eq!(prologue, moves);
    let count = &code.insts[5].inst.insts[0];
    assert_eq!(count.get(SRC1) | count.get(MHIGH) << 5, u64::from(M_TILE_ITEMS));
    let streams: Vec<Option<u32>> = code.insts.iter().filter_map(|inst| inst.inst.stream.map(Some)).collect();
    assert_eq!(streams, [Some(0), Some(1)]);
    let tiles = &code.extra.tiles;
    assert_eq!((tiles.items, tiles.image.len()), (4, 0));
    let scalar = |stream: &Stream| (stream.buffer, stream.site.written, stream.bytes, stream.scale.clone());
    assert_eq!(
        tiles.streams.iter().map(scalar).collect::<Vec<_>>(),
        [(Some(0), false, 4, 4.into()), (Some(2), true, 4, 4.into())]
    );
}

/// A kernel that reads the group number or the item count gets them in registers.
#[test]
fn reads_the_group_number_and_the_item_count() {
    let kernel = read(
        "kernel @numbers(%y: out i32) groups 1 {
  stream %y_0: out i32 of %y, 4 bytes at 4 * item
^entry:
  %g = item_id
  %n = item_count
  %r = add.i32 %g, %n
  store %r, %y_0[%g]
  ret
}",
    );
    let items = 300;
    let [expected, found] = both(&kernel, items, &[vec![0; 4 * items]]);
    assert_eq!(expected, found);
    assert_eq!(found[0][4 * 299..], (299u32 + 300).to_le_bytes());
}

/// Equal constants are loaded once. Equal constants that are not splats are in the data image once.
#[test]
fn constants_are_shared() {
    let list = "const.i8x16 [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]";
    let code = code(&on_vectors(&format!(
        "%k = {list}\n%l = {list}\n%s = const.i8x16 7\n%t = const.i8x16 7\n%d = absdiff_u.i8x16 %a, %k\n\
         %e = absdiff_u.i8x16 %b, %l\n%f = absdiff_u.i8x16 %d, %s\n%h = absdiff_u.i8x16 %e, %t\n%c = xor.i8x16 %f, %h"
    )));
    assert_eq!(code.extra.tiles.image, (1..=16).collect::<Vec<u8>>());
    let prologue = opcodes(&code, 0);
    let loads = |opcode| prologue.iter().filter(|&&other| other == opcode).count();
    assert_eq!((loads(Opcode::LDVH), loads(Opcode::VMOV_I)), (1, 1));
}

/// A comparison that is used only by selects is folded into them, without a mask.
#[test]
fn comparisons_are_folded() {
    let kernel = on_vectors(
        "%m = icmp.lt_u.i8x16 %a, %b\n%d = select.i8x16 %m, %a, %b\n%e = select.i8x16 %m, %b, %a\n%c = avg_u.i8x16 %d, %e",
    );
    let rules = taken(&selected(&kernel));
    assert_eq!(rules.iter().filter(|&&rule| rule == "select_by_comparison").count(), 2);
    assert!(!rules.contains(&"mask_of_flags"));
}

/// Loads and stores advance the cursors of their streams, and no instruction computes an address.
#[test]
fn addresses_are_not_computed() {
    let code = code(&on_vectors("%c = xor.i8x16 %a, %b"));
    assert_eq!(
        opcodes(&code, 1),
        [Opcode::LDAVH_I, Opcode::LDAVH_I, Opcode::VBITOP_RR, Opcode::STAVH_I, Opcode::SUB_RI]
    );
}
