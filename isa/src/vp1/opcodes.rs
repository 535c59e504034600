//! The opcodes of VP1, grouped by the module of their rows. The list gives the semantics of each opcode as a method
//! call on the context of [`super::meaning`]. The opcodes of a mnemonic differ only in the kinds of their sources.

/// Passes the list of opcodes to the macro that is named as an argument. `m` is the variable that
/// holds the evaluation context.
macro_rules! opcodes {
    ($with:ident) => {
        $with! {
            m:
                scalar {
                    MUL_RR MUL_RI => m.multiply_low();
                    MIN_RR MIN_RI => m.arithmetic(scalar::min);
                    MAX_RR MAX_RI => m.arithmetic(scalar::max);
                    ABS => m.arithmetic(scalar::abs);
                    NEG => m.negate();
                    ADD_RR ADD_RI => m.arithmetic(D::add);
                    SUB_RR SUB_RI => m.arithmetic(D::sub);
                    SAR_RR SAR_RI => m.arithmetic(|d, a, n| scalar::shift_right(d, D::sar, a, n));
                    SHR_RR SHR_RI => m.arithmetic(|d, a, n| scalar::shift_right(d, D::shr, a, n));
                    BITOP_RR => m.bitwise(Logic::of_table(m.reg(f::BITOP)));
                    AND_RI => m.bitwise(Logic::AND);
                    XOR_RI => m.bitwise(Logic::XOR);
                    OR_RI => m.bitwise(Logic::OR);
                    MOV_I => m.load_constant();
                    SETHI => m.set_high();
                    BMIN_S_RR BMIN_S_RI => m.bytewise(ByteKind::Min, true);
                    BMIN_U_RR BMIN_U_RI => m.bytewise(ByteKind::Min, false);
                    BMAX_S_RR BMAX_S_RI => m.bytewise(ByteKind::Max, true);
                    BMAX_U_RR BMAX_U_RI => m.bytewise(ByteKind::Max, false);
                    BABS_S => m.bytewise(ByteKind::Abs, true);
                    BABS_U => m.bytewise(ByteKind::Abs, false);
                    BNEG_S => m.bytewise(ByteKind::Neg, true);
                    BNEG_U => m.bytewise(ByteKind::Neg, false);
                    BADD_S_RR BADD_S_RI => m.bytewise(ByteKind::Add, true);
                    BADD_U_RR BADD_U_RI => m.bytewise(ByteKind::Add, false);
                    BSUB_S_RR BSUB_S_RI => m.bytewise(ByteKind::Sub, true);
                    BSUB_U_RR BSUB_U_RI => m.bytewise(ByteKind::Sub, false);
                    BSHR_S_RR BSHR_S_RI => m.bytewise(ByteKind::ShiftRight, true);
                    BSHR_U_RR BSHR_U_RI => m.bytewise(ByteKind::ShiftRight, false);
                    BAND_RI => m.bytewise_logic(Logic::AND);
                    BOR_RI => m.bytewise_logic(Logic::OR);
                    BXOR_RI => m.bytewise_logic(Logic::XOR);
                    BMUL_S_RR BMUL_S_RI => m.byte_multiply(true);
                    BMUL_U_RR BMUL_U_RI => m.byte_multiply(false);
                    BMULA_S_RR BMULA_S_RI => m.byte_multiply(true);
                    BMULA_U_RR BMULA_U_RI => m.byte_multiply(false);
                    BVECMAD => m.forward_positioned();
                    BVECMADSEL => m.forward_selected();
                    BVEC => m.forward_bytes();
                    VEC => m.forward_constants();
                    VECMS => m.forward_bits();
                    SNOP => Outcome::default();
                    S_CLEAR => m.clear_flags();
                    S_NONE => Outcome::default();
                }
                transfer {
                    MOV_V_R => m.move_out(RegFile::V)?;
                    MOV_SR_R => m.move_out(RegFile::Sr)?;
                    MOV_MI_R => m.move_out(RegFile::Mi)?;
                    MOV_UC_R => m.move_out(RegFile::Uc)?;
                    MOV_L_R => m.move_out(RegFile::L)?;
                    MOV_A_R => m.move_out(RegFile::A)?;
                    MOV_M_R => m.move_out(RegFile::M)?;
                    MOV_D_R => m.move_out(RegFile::D)?;
                    MOV_F_R => m.move_out(RegFile::F)?;
                    MOV_X_R => m.move_out(RegFile::X)?;
                    MOV_V2_R => m.move_out(RegFile::V)?;
                    MOV_NONE_R => m.clear_flags();
                    MOV_R_V => m.move_in(RegFile::V)?;
                    MOV_R_SR => m.move_in(RegFile::Sr)?;
                    MOV_R_MI => m.move_in(RegFile::Mi)?;
                    MOV_R_UC => m.move_in(RegFile::Uc)?;
                    MOV_R_L => m.move_in(RegFile::L)?;
                    MOV_R_A => m.move_in(RegFile::A)?;
                    MOV_R_C => m.move_in(RegFile::C)?;
                    MOV_R_M => m.move_in(RegFile::M)?;
                    MOV_R_D => m.move_in(RegFile::D)?;
                    MOV_R_F => m.move_in(RegFile::F)?;
                    MOV_R_X => m.move_in(RegFile::X)?;
                    MOV_R_NONE => m.clear_flags();
                }
                vector {
                    VMIN_S_RR VMIN_S_RI => m.components(ByteKind::Min, true);
                    VMIN_U_RR VMIN_U_RI => m.components(ByteKind::Min, false);
                    VMAX_S_RR VMAX_S_RI => m.components(ByteKind::Max, true);
                    VMAX_U_RR VMAX_U_RI => m.components(ByteKind::Max, false);
                    VABS_S => m.components(ByteKind::Abs, true);
                    VABS_U => m.components(ByteKind::Abs, false);
                    VNEG_S => m.components(ByteKind::Neg, true);
                    VADD_S_RR VADD_S_RI => m.components(ByteKind::Add, true);
                    VADD_U_RR VADD_U_RI => m.components(ByteKind::Add, false);
                    VSUB_S_RR => m.components(ByteKind::Sub, true);
                    VSUB_U_RR VSUB_U_RI => m.components(ByteKind::Sub, false);
                    VADD9 => m.add_nine_bits();
                    VCLIP => m.clip();
                    VMINABS => m.min_abs();
                    VSHR_S_RR VSHR_S_RI => m.components(ByteKind::ShiftRight, true);
                    VSHR_U_RR VSHR_U_RI => m.components(ByteKind::ShiftRight, false);
                    VBITOP_RR => m.components_logic(Logic::of_table(m.reg(f::BITOP)));
                    VAND_RI => m.components_logic(Logic::AND);
                    VXOR_RI => m.components_logic(Logic::XOR);
                    VOR_RI => m.components_logic(Logic::OR);
                    VMOV_I => m.vector_constant();
                    MOV_V => m.vector_copy();
                    MOV_VC => m.vector_of_flags();
                    VSWZ => m.swizzle();
                    VCMPAD => m.compare_difference();
                    VMUL_S_RR VMUL_S_RI => m.multiply(true, false, Results::Both);
                    VMUL_U_RR VMUL_U_RI => m.multiply(false, false, Results::Both);
                    VMUL_S_RR_VA VMUL_S_RI_VA => m.multiply(true, false, Results::Sum);
                    VMUL_U_RI_VA => m.multiply(false, false, Results::Sum);
                    VMAC_S_RR VMAC_S_RI => m.multiply(true, true, Results::Both);
                    VMAC_U_RR VMAC_U_RI => m.multiply(false, true, Results::Both);
                    VMAC_S_RR_VA => m.multiply(true, true, Results::Sum);
                    VMAC_U_RR_VA => m.multiply(false, true, Results::Sum);
                    VMAC_S_RI_VA => m.multiply(true, true, Results::Sum);
                    VMAD2_S => m.multiply_two(true, Inputs::PairAndBase, Results::Both);
                    VMAD2_U => m.multiply_two(false, Inputs::PairAndBase, Results::Both);
                    VMAD2_S_VA => m.multiply_two(true, Inputs::PairAndBase, Results::Sum);
                    VMAC2_S => m.multiply_two(true, Inputs::Pair, Results::Both);
                    VMAC2_U => m.multiply_two(false, Inputs::Pair, Results::Both);
                    VMAC2_S_VA => m.multiply_two(true, Inputs::Pair, Results::Sum);
                    VMAC2_S_RR => m.multiply_two(true, Inputs::Two, Results::Both);
                    VMAC2_S_RR_VA => m.multiply_two(true, Inputs::Two, Results::Sum);
                    VMAC2_U_RR_VA => m.multiply_two(false, Inputs::Two, Results::Sum);
                    VLRP => m.interpolate();
                    VLRP2 => m.interpolate_two();
                    VLRP4A => m.interpolate_first();
                    VLRPF => m.interpolate_factors();
                    VLRP4B_U => m.interpolate_last(false);
                    VLRP4B_S => m.interpolate_last(true);
                    VNOP => Outcome::default();
                }
                address {
                    LDAVH_R => m.load(Shape::Horizontal, AddressUpdate::Step);
                    LDAVV_R => m.load(Shape::Vertical, AddressUpdate::Step);
                    LDAS_R => m.load_word(AddressUpdate::Step);
                    LDAVH_I => m.load(Shape::Horizontal, AddressUpdate::Step);
                    LDAVV_I => m.load(Shape::Vertical, AddressUpdate::Step);
                    LDAS_I => m.load_word(AddressUpdate::Step);
                    STAVH_R => m.store(Shape::Horizontal, AddressUpdate::Step);
                    STAVV_R => m.store(Shape::Vertical, AddressUpdate::Step);
                    STAS_R => m.store_word(AddressUpdate::Step);
                    STAVH_I => m.store(Shape::Horizontal, AddressUpdate::Step);
                    STAVV_I => m.store(Shape::Vertical, AddressUpdate::Step);
                    STAS_I => m.store_word(AddressUpdate::Step);
                    LDVH => m.load(Shape::Horizontal, AddressUpdate::Stay);
                    LDVV => m.load(Shape::Vertical, AddressUpdate::Stay);
                    LDS => m.load_word(AddressUpdate::Stay);
                    STVH => m.store(Shape::Horizontal, AddressUpdate::Stay);
                    STVV => m.store(Shape::Vertical, AddressUpdate::Stay);
                    STS => m.store_word(AddressUpdate::Stay);
                    LDAXH => m.load_extra(Shape::Horizontal);
                    LDAXV => m.load_extra(Shape::Vertical);
                    LDR => m.gather();
                    STAR => m.store_banks();
                    AADD => m.step();
                    ADD_A => m.add_addresses();
                    BITOP_A => m.combine_addresses();
                    SETLO_A => m.set_half(0xffff);
                    SETHI_A => m.set_half(0xffff_0000);
                    XDLD_I XDLD XDST_I XDST XDBAR_R XDBAR_I XDWAIT_R XDWAIT_I => return Err(Unknown::Dma);
                    ANOP => Outcome::default();
                }
                branch {
                    BRA => m.jump(Jump::Branch, When::Set);
                    BRA_LOOP => m.counted_jump(Jump::Branch, When::Set);
                    BRA_NOT => m.jump(Jump::Branch, When::Clear);
                    BRA_LOOP_NOT => m.counted_jump(Jump::Branch, When::Clear);
                    CALL => m.jump(Jump::Call, When::Set);
                    CALL_LOOP => m.counted_jump(Jump::Call, When::Set);
                    CALL_NOT => m.jump(Jump::Call, When::Clear);
                    CALL_LOOP_NOT => m.counted_jump(Jump::Call, When::Clear);
                    RET => m.branch_outcome(Next::Return);
                    ABRA => m.absolute_jump();
                    MOV_L_I => m.load_counter();
                    EXIT => m.exit();
                    BNOP => Outcome::default();
                    B_NONE => m.branch_outcome(Next::Fall);
                }
        }
    };
}
pub(crate) use opcodes;
