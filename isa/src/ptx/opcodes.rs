//! The PTX opcodes, grouped by the file that holds their rows. Each opcode is listed with its
//! semantics, a method of the context in [`super::meaning`]. Opcodes with the same method and the
//! same arguments differ only in the kinds of their operands.

/// Passes the list of opcodes to the macro `$with`. `m` names the context in the listed methods.
macro_rules! opcodes {
    ($with:ident) => {
        $with! {
            m:
                integer {
                    ADD => m.integer(D::add, wide::add);
                    ADD_SAT => m.saturating(false);
                    SUB => m.integer(D::sub, wide::sub);
                    SUB_SAT => m.saturating(true);
                    ADD_CC => m.add_with_carry(false);
                    ADDC => m.add_with_carry(true);
                    SUB_CC => m.sub_with_carry(false);
                    SUBC => m.sub_with_carry(true);
                    MUL => m.mul(false);
                    MUL_WIDE => m.mul_wide(false);
                    MAD => m.mul(true);
                    MAD_WIDE => m.mul_wide(true);
                    MAD_SAT => m.mad_saturating();
                    MAD_CC => m.mad_with_carry(false);
                    MADC => m.mad_with_carry(true);
                    MUL24 => m.mul24(false);
                    MAD24 => m.mul24(true);
                    MAD24_SAT => m.mad24_saturating();
                    DIV => m.divide(false);
                    REM => m.divide(true);
                    MIN => m.extremum(true);
                    MAX => m.extremum(false);
                    MIN_RELU => m.extremum_relu(true);
                    MAX_RELU => m.extremum_relu(false);
                    ABS => m.abs();
                    NEG => m.neg();
                    SAD => m.sad();
                    DP4A => m.dp4a();
                    DP2A => m.dp2a();
                    ADD_X2 => m.packed(VideoKind::Add, Lanes::Two);
                    MIN_X2 => m.packed(VideoKind::Min, Lanes::Two);
                    MIN_RELU_X2 => m.packed_relu(VideoKind::Min);
                    MAX_X2 => m.packed(VideoKind::Max, Lanes::Two);
                    MAX_RELU_X2 => m.packed_relu(VideoKind::Max);
                    ADD_X4 => m.packed(VideoKind::Add, Lanes::Four);
                    SUB_X4 => m.packed(VideoKind::Sub, Lanes::Four);
                    MIN_X4 => m.packed(VideoKind::Min, Lanes::Four);
                    MAX_X4 => m.packed(VideoKind::Max, Lanes::Four);
                }
                bits {
                    AND => m.logic(D::both, D::and);
                    OR => m.logic(D::either, D::or);
                    XOR => m.logic(D::differ, D::xor);
                    NOT => m.not();
                    SHL => m.shl();
                    SHR => m.shr();
                    SHF => m.shf();
                    LOP3 => m.lop3();
                    LOP3_BOOL => m.lop3_bool();
                    CNOT => m.cnot();
                    PRMT => m.prmt();
                    PRMT_MODE => m.prmt_mode();
                    POPC => m.popc();
                    CLZ => m.clz();
                    BREV => m.brev();
                    BFE => m.bfe();
                    BFI => m.bfi();
                    BFIND => m.bfind();
                    FNS => m.fns();
                    BMSK => m.bmsk();
                    SZEXT => m.szext();
                }
                compare {
                    SETP_BITS SETP_INT SETP_UNSIGNED => m.set_pred_int();
                    SETP_F32 => m.set_pred_float();
                    SETP_F64 => m.set_pred_double();
                    SETP_F16 => m.set_pred_half(Format::F16);
                    SETP_BF16 => m.set_pred_half(Format::Bf16);
                    SETP_F16X2 => m.set_pred_halves(Format::F16);
                    SETP_BF16X2 => m.set_pred_halves(Format::Bf16);
                    SET_BITS SET_INT SET_UNSIGNED => m.set_int();
                    SET_F32 => m.set_float();
                    SET_F64 => m.set_double();
                    SET_F16 => m.set_half(Format::F16);
                    SET_BF16 => m.set_half(Format::Bf16);
                    SET_F16X2 => m.set_halves(Format::F16);
                    SET_BF16X2 => m.set_halves(Format::Bf16);
                    SELP => m.selp();
                    SLCT_INT => m.slct_int();
                    SLCT_F32 => m.slct_float();
                }
                video {
                    VADD2 => m.video(VideoKind::Add, Lanes::Two);
                    VSUB2 => m.video(VideoKind::Sub, Lanes::Two);
                    VAVRG2 => m.video(VideoKind::Avrg, Lanes::Two);
                    VABSDIFF2 => m.video(VideoKind::AbsDiff, Lanes::Two);
                    VMIN2 => m.video(VideoKind::Min, Lanes::Two);
                    VMAX2 => m.video(VideoKind::Max, Lanes::Two);
                    VADD4 => m.video(VideoKind::Add, Lanes::Four);
                    VSUB4 => m.video(VideoKind::Sub, Lanes::Four);
                    VAVRG4 => m.video(VideoKind::Avrg, Lanes::Four);
                    VABSDIFF4 => m.video(VideoKind::AbsDiff, Lanes::Four);
                    VMIN4 => m.video(VideoKind::Min, Lanes::Four);
                    VMAX4 => m.video(VideoKind::Max, Lanes::Four);
                    VSET2 => m.video_set(Lanes::Two);
                    VSET4 => m.video_set(Lanes::Four);
                }
                half {
                    ADD_F16 => m.half(HalfKind::Add, Format::F16);
                    ADD_BF16 => m.half(HalfKind::Add, Format::Bf16);
                    SUB_F16 => m.half_sub(Format::F16);
                    SUB_BF16 => m.half_sub(Format::Bf16);
                    MUL_F16 => m.half(HalfKind::Mul, Format::F16);
                    MUL_BF16 => m.half(HalfKind::Mul, Format::Bf16);
                    FMA_F16 => m.half(HalfKind::Fma, Format::F16);
                    FMA_BF16 => m.half(HalfKind::Fma, Format::Bf16);
                    MIN_F16 => m.half_minmax(true, Format::F16);
                    MIN_BF16 => m.half_minmax(true, Format::Bf16);
                    MAX_F16 => m.half_minmax(false, Format::F16);
                    MAX_BF16 => m.half_minmax(false, Format::Bf16);
                    MIN_XORSIGN_F16 => m.half_minmax_signed(true, Format::F16);
                    MIN_XORSIGN_BF16 => m.half_minmax_signed(true, Format::Bf16);
                    MAX_XORSIGN_F16 => m.half_minmax_signed(false, Format::F16);
                    MAX_XORSIGN_BF16 => m.half_minmax_signed(false, Format::Bf16);
                    NEG_F16 => m.half_sign(true, Format::F16);
                    NEG_BF16 => m.half_sign(true, Format::Bf16);
                    ABS_F16 => m.half_sign(false, Format::F16);
                    ABS_BF16 => m.half_sign(false, Format::Bf16);
                }
                float {
                    ADD_F32 => m.float(Arith::ADD);
                    SUB_F32 => m.float(Arith::SUB);
                    MUL_F32 => m.float(Arith::MUL);
                    FMA_F32 MAD_F32 => m.float(Arith::FMA);
                    DIV_F32 => m.float(Arith::DIV);
                    RCP_F32 => m.float(Arith::RCP);
                    SQRT_F32 => m.float(Arith::SQRT);
                    ADD_F32_HALF => m.float_of_half(Arith::ADD);
                    SUB_F32_HALF => m.float_of_half(Arith::SUB);
                    FMA_F32_HALF => m.float_of_half(Arith::FMA);
                    ADD_F32X2 => m.float_pair(Arith::ADD);
                    SUB_F32X2 => m.float_pair(Arith::SUB);
                    MUL_F32X2 => m.float_pair(Arith::MUL);
                    FMA_F32X2 => m.float_pair(Arith::FMA);
                    MIN_F32 => m.float_minmax(true);
                    MAX_F32 => m.float_minmax(false);
                    MIN_XORSIGN_F32 => m.float_minmax_signed(true);
                    MAX_XORSIGN_F32 => m.float_minmax_signed(false);
                    MIN3_F32 => m.float_minmax_of_three(true);
                    MAX3_F32 => m.float_minmax_of_three(false);
                    NEG_F32 => m.float_sign(true);
                    ABS_F32 => m.float_sign(false);
                    COPYSIGN => m.copy_sign();
                    TESTP => m.test_property();
                }
                double {
                    ADD_F64 => m.double(Arith::ADD);
                    SUB_F64 => m.double(Arith::SUB);
                    MUL_F64 => m.double(Arith::MUL);
                    FMA_F64 MAD_F64 => m.double(Arith::FMA);
                    DIV_F64 => m.double(Arith::DIV);
                    RCP_F64 => m.double(Arith::RCP);
                    SQRT_F64 => m.double(Arith::SQRT);
                    MIN_F64 => m.double_minmax(true);
                    MAX_F64 => m.double_minmax(false);
                    NEG_F64 => m.double_sign(true);
                    ABS_F64 => m.double_sign(false);
                }
                approx {
                    DIV_APPROX_F32 => m.approximate_quotient();
                    RCP_APPROX_F32 => m.float(Arith::RCP);
                    SQRT_APPROX_F32 => m.float(Arith::SQRT);
                    RSQRT_F32 => m.elementary(Function::Rsqrt);
                    RSQRT_F64 => m.approximate_root();
                    RCP_APPROX_F64 => m.approximate_high_word(false);
                    RSQRT_APPROX_F64 => m.approximate_high_word(true);
                    SIN_F32 => m.elementary(Function::Sin);
                    COS_F32 => m.elementary(Function::Cos);
                    LG2_F32 => m.elementary(Function::Lg2);
                    EX2_F32 => m.elementary(Function::Ex2);
                    EX2_F16 => m.elementary_halves(Function::Ex2, Format::F16);
                    EX2_BF16 => m.elementary_halves(Function::Ex2, Format::Bf16);
                    TANH_F32 => m.elementary(Function::Tanh);
                    TANH_F16 => m.elementary_halves(Function::Tanh, Format::F16);
                    TANH_BF16 => m.elementary_halves(Function::Tanh, Format::Bf16);
                }
                convert {
                    CVT_INT => m.int_to_int();
                    CVT_INT_SAT => m.int_to_int_saturating();
                    CVT_PACK => m.pack_clamped(false);
                    CVT_PACK_BYTES => m.pack_clamped(true);
                    CVT_F32_INT => m.int_to_float();
                    CVT_F16_INT => m.int_to_half(Format::F16);
                    CVT_BF16_INT => m.int_to_half(Format::Bf16);
                    CVT_INT_F32 => m.float_to_int();
                    CVT_INT_F16 => m.half_to_int(Format::F16);
                    CVT_INT_BF16 => m.half_to_int(Format::Bf16);
                    CVT_F16_F32 CVT_F16_F32_RELU CVT_F16_F32_LIMITED => m.narrow(Format::F16);
                    CVT_BF16_F32 CVT_BF16_F32_DIRECTED => m.narrow(Format::Bf16);
                    CVT_F32_F16 => m.widen(Format::F16);
                    CVT_F32_BF16 => m.widen(Format::Bf16);
                    CVT_F32_F32 => m.float_to_float();
                    CVT_F16_F16 => m.half_to_half(Format::F16);
                    CVT_BF16_BF16 => m.half_to_half(Format::Bf16);
                    CVT_BF16_F16 => m.half_to_other(Format::F16, Format::Bf16);
                    CVT_F16_BF16 => m.half_to_other(Format::Bf16, Format::F16);
                    CVT_F64_INT => m.int_to_double();
                    CVT_INT_F64 => m.double_to_int();
                    CVT_F32_F64 CVT_F32_F64_FLUSHED CVT_F16_F64 CVT_BF16_F64 => m.narrow_double();
                    CVT_F64_F32 CVT_F64_F16 CVT_F64_BF16 => m.widen_double();
                    CVT_F64_F64 => m.double_to_double();
                    CVT_TF32_AWAY CVT_TF32 => m.narrow_tf32();
                    CVT_MINI_F32 CVT_RANDOM_PAIR CVT_RANDOM_FOUR => m.minis_of_floats();
                    CVT_MINI_HALVES CVT_SMALLER_HALVES CVT_HALVES_MINI => m.convert_packed();
                    CVT_SCALE_F32 => m.scales_of_floats();
                    CVT_SCALE_BF16X2 => m.scales_of_halves();
                    CVT_BF16X2_SCALE => m.halves_of_scales();
                    CVT_F16X2_F32 => m.narrow_pair();
                    MOV => m.mov();
                    MOV_SPECIAL => m.mov_special();
                    MOV_PACK => m.pack();
                    MOV_UNPACK => m.unpack();
                    MOV_VECTOR => m.move_elements();
                    MOV_B128 => m.move_pair();
                    MOV_PACK_B128 => m.pack_pair();
                    MOV_UNPACK_B128 => m.unpack_pair();
                    MOV_ADDRESS => m.address_of(true);
                }
                memory {
                    LD_PARAM LD LD_VOLATILE LD_ORDERED LD_ORDERED_B128 LD_MMIO LD_WIDE LD_ORDERED_WIDE LD_VOLATILE_WIDE LD_NC LD_NC_CACHED LD_NC_WIDE LDU => m.load();
                    ST ST_VOLATILE ST_ORDERED ST_ORDERED_B128 ST_MMIO ST_WIDE ST_ORDERED_WIDE ST_VOLATILE_WIDE => m.store();
                    ST_PARAM => m.store();
                    ALLOCA => m.allocate(false);
                    ALLOCA_ALIGNED => m.allocate(true);
                    STACKSAVE => m.save_stack();
                    STACKRESTORE => m.restore_stack();
                    ISSPACEP ISSPACEP_WORD => m.is_in_space();
                    CVTA => m.convert_address();
                    CVTA_ADDRESS => m.address_of(false);
                }
                copy {
                    CP_ASYNC => m.copy_async(CopiedBytes::All);
                    CP_ASYNC_PART => m.copy_async(CopiedBytes::Bytes);
                    CP_ASYNC_UNLESS => m.copy_async(CopiedBytes::Unless);
                    CP_ASYNC_COMMIT => m.effects.access = Some(Access::CommitCopies);
                    CP_ASYNC_WAIT => m.wait_for_copies();
                    CP_ASYNC_WAIT_ALL => m.effects.access = Some(Access::AwaitCopies { but: None });
                }
                control {
                    BRA => m.branch();
                    BRX => m.branch_by();
                    CALL CALL_INDIRECT => m.call();
                    RET => m.effects.next = Next::Return;
                    EXIT => m.effects.next = Next::Exit;
                    TRAP BRKPT => m.effects.next = Next::Trap;
                }
                atomic {
                    ATOM_ADD ATOM_ADD_HALF ATOM_MINMAX ATOM_COUNT ATOM_BITS ATOM_EXCH ATOM_CAS ATOM_EXCH_B128 ATOM_CAS_B128 ATOM_VECTOR ATOM_VECTOR_HALF
                        => m.atomic(true);
                    RED_ADD RED_ADD_HALF RED_MINMAX RED_COUNT RED_BITS RED_VECTOR RED_VECTOR_HALF => m.atomic(false);
                }
                collective {
                    BAR_SYNC BAR_SYNC_OF BAR_ARRIVE BAR_POPC BAR_POPC_OF BAR_RED BAR_RED_OF BAR_WARP
                    BARRIER_SYNC BARRIER_SYNC_OF BARRIER_ARRIVE BARRIER_POPC BARRIER_POPC_OF BARRIER_RED BARRIER_RED_OF
                    SHFL SHFL_ALONE VOTE_SYNC VOTE_BALLOT SHFL_UNSAID SHFL_UNSAID_ALONE VOTE_UNSAID VOTE_UNSAID_BALLOT MATCH_ANY MATCH_ALL MATCH_ALL_ALONE REDUX REDUX_BITS REDUX_F32 ACTIVEMASK ELECT
                        => m.effects.next = Next::Collective;
                }
                matrix {
                    MMA_QUADS MMA_QUADS_HALVES MMA_F16 MMA_F16_HALVES MMA_BF16 MMA_TF32 MMA_FP8 MMA_FP8_HALVES MMA_BYTES MMA_NIBBLES MMA_BITS
                    LDMATRIX STMATRIX MOVMATRIX
                    WMMA_LOAD_A WMMA_LOAD_A_DENSE WMMA_LOAD_B WMMA_LOAD_B_DENSE WMMA_LOAD_C WMMA_LOAD_C_DENSE WMMA_STORE WMMA_STORE_DENSE
                    WMMA_F16 WMMA_F16_HALVES WMMA_BF16 WMMA_TF32 WMMA_BYTES WMMA_NIBBLES WMMA_BITS
                        => m.effects.next = Next::Collective;
                }
                warpgroup {
                    WGMMA_F16 WGMMA_F16_FRAGMENT WGMMA_BF16 WGMMA_BF16_FRAGMENT WGMMA_TF32 WGMMA_TF32_FRAGMENT WGMMA_FP8 WGMMA_FP8_FRAGMENT
                    WGMMA_BYTES WGMMA_BYTES_FRAGMENT WGMMA_MIXED WGMMA_MIXED_FRAGMENT WGMMA_BITS WGMMA_BITS_FRAGMENT
                        => m.effects.next = Next::Collective;
                    WGMMA_FENCE WGMMA_COMMIT WGMMA_WAIT => {};
                }
                hints {
                    PREFETCH PREFETCH_KEPT PREFETCHU APPLYPRIORITY DISCARD NANOSLEEP PMEVENT PMEVENT_MASK GRIDDEPCONTROL MEMBAR MEMBAR_PROXY FENCE_OF_ORDER FENCE_PROXY FENCE_PROXY_ASYNC => {};
                    CREATEPOLICY CREATEPOLICY_OF => m.no_policy();
                }
                scalar_video {
                    VADD VADD_MERGE => m.part_sum(wide::add);
                    VSUB VSUB_MERGE => m.part_sum(wide::sub);
                    VABSDIFF VABSDIFF_MERGE => m.part_distance();
                    VMIN VMIN_MERGE => m.part_extremum(true);
                    VMAX VMAX_MERGE => m.part_extremum(false);
                    VSHL VSHL_MERGE => m.part_shift(true);
                    VSHR VSHR_MERGE => m.part_shift(false);
                    VSET VSET_MERGE => m.part_set();
                    VMAD => m.part_mad();
                }
        }
    };
}
pub(crate) use opcodes;
