//! The opcodes of HALU, grouped by the module of their rows. The list gives the semantics of each opcode as a method
//! call on the context of [`super::meaning`]. The opcodes of a mnemonic differ only in the kinds of their sources.

/// Passes the list of opcodes to the macro that is named as an argument. `m` is the variable that
/// holds the evaluation context.
macro_rules! opcodes {
    ($with:ident) => {
        $with! {
            m:
                half {
                    HADD2_RR HADD2_RU HADD2_RI HADD2_RC => m.half(HalfKind::Add);
                    HMUL2_RR HMUL2_RU HMUL2_RI HMUL2_RC => m.half(HalfKind::Mul);
                    HFMA2_RRR HFMA2_RRI HFMA2_RIR HFMA2_RRU HFMA2_RUR HFMA2_RRC HFMA2_RCR => m.half(HalfKind::Fma);
                    HMNMX2_RR HMNMX2_RU HMNMX2_RI HMNMX2_RC => m.half_minmax();
                    HSETP2_RR HSETP2_RU HSETP2_RI HSETP2_RC => m.half_set_pred();
                    HSET2_RR HSET2_RU HSET2_RI HSET2_RC => m.half_set();
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
                }
                base {
                    MOV_R MOV_I MOV_U MOV_C => m.mov();
                    SEL_RR SEL_RI SEL_RU SEL_RC => m.sel();
                    S2R => m.s2r();
                    R2UR => m.r2ur();
                    PLOP3 => m.plop3();
                    P2R => m.p2r();
                    R2P => m.r2p();
                    BRA => m.effects.next = ControlFlow::Branch(m.inst.get_signed(f::IMM32) as i32);
                    EXIT => m.effects.next = ControlFlow::Exit;
                    NOP => {};
                }
                integer {
                    IADD3_RRR IADD3_RIR IADD3_RUR IADD3_RCR => m.iadd3();
                    IMAD_RRR IMAD_RIR IMAD_RRI IMAD_RUR IMAD_RCR => m.imad();
                    IMAD_WIDE_RRR IMAD_WIDE_RIR IMAD_WIDE_RUR IMAD_WIDE_RCR => m.imad_wide();
                    IDIV_RR => m.divide(false);
                    IREM_RR => m.divide(true);
                    IDIV_WIDE_RR => m.divide_wide(false);
                    IREM_WIDE_RR => m.divide_wide(true);
                    LEA => m.lea();
                    LOP3_RRR LOP3_RIR LOP3_RUR LOP3_RCR => m.lop3();
                    SHF_RRR SHF_RIR => m.shf();
                    PRMT_RRR PRMT_RIR => m.prmt();
                    POPC_R => m.popc();
                    FLO_R => m.flo();
                    BREV_R => m.brev();
                    IDP_4A => m.idp_4a();
                    IDP_2A => m.idp_2a();
                    ISETP_RR ISETP_RI ISETP_RU ISETP_RC => m.isetp();
                }
                float {
                    FADD_RR FADD_RI FADD_RU FADD_RC => m.float_arithmetic(FloatKind::Add);
                    FMUL_RR FMUL_RI FMUL_RU FMUL_RC => m.float_arithmetic(FloatKind::Mul);
                    FFMA_RRR FFMA_RIR FFMA_RRI FFMA_RUR FFMA_RCR => m.float_arithmetic(FloatKind::Fma);
                    FMNMX_RR FMNMX_RI FMNMX_RU FMNMX_RC => m.fmnmx();
                    FSETP_RR FSETP_RI FSETP_RU FSETP_RC => m.fsetp();
                    FDIV_RR => m.float_arithmetic(FloatKind::Div);
                    FSQRT_R => m.float_arithmetic(FloatKind::Sqrt);
                    MUFU_R => m.mufu();
                    I2F_R => m.i2f();
                    F2I_R => m.f2i();
                    F2F_F16_F32 => m.narrow(Format::F16);
                    F2F_BF16_F32 => m.narrow(Format::Bf16);
                    F2F_F32_F16 => m.widen(Format::F16);
                    F2F_F32_BF16 => m.widen(Format::Bf16);
                    F2FP_RR => m.f2fp();
                }
                double {
                    DADD_RR => m.double_arithmetic(FloatKind::Add);
                    DMUL_RR => m.double_arithmetic(FloatKind::Mul);
                    DFMA_RRR => m.double_arithmetic(FloatKind::Fma);
                    DDIV_RR => m.double_arithmetic(FloatKind::Div);
                    DSQRT_R => m.double_arithmetic(FloatKind::Sqrt);
                    DMNMX_RR => m.dmnmx();
                    DSETP_RR => m.dsetp();
                    F2F_F64_F32 => m.widen_to_double(NumberFormat::F32);
                    F2F_F64_F16 => m.widen_to_double(NumberFormat::F16);
                    F2F_F32_F64 => m.narrow_double(NumberFormat::F32);
                    F2F_F16_F64 => m.narrow_double(NumberFormat::F16);
                    I2F_F64 => m.word_to_double();
                    I2F_F64_WIDE => m.pair_to_double();
                    F2I_F64 => m.double_to_word();
                    F2I_F64_WIDE => m.double_to_pair();
                }
                memory {
                    LDG_U_U8 => m.load(Width::B8, false);
                    LDG_U_S8 => m.load(Width::B8, true);
                    LDG_U_U16 => m.load(Width::B16, false);
                    LDG_U_S16 => m.load(Width::B16, true);
                    LDG_U_32 => m.load(Width::B32, false);
                    LDG_U_64 => m.load(Width::B64, false);
                    LDG_U_128 => m.load(Width::B128, false);
                    LDG_W_U8 => m.load(Width::B8, false);
                    LDG_W_S8 => m.load(Width::B8, true);
                    LDG_W_U16 => m.load(Width::B16, false);
                    LDG_W_S16 => m.load(Width::B16, true);
                    LDG_W_32 => m.load(Width::B32, false);
                    LDG_W_64 => m.load(Width::B64, false);
                    LDG_W_128 => m.load(Width::B128, false);
                    STG_U_8 => m.store(Width::B8);
                    STG_U_16 => m.store(Width::B16);
                    STG_U_32 => m.store(Width::B32);
                    STG_U_64 => m.store(Width::B64);
                    STG_U_128 => m.store(Width::B128);
                    STG_W_8 => m.store(Width::B8);
                    STG_W_16 => m.store(Width::B16);
                    STG_W_32 => m.store(Width::B32);
                    STG_W_64 => m.store(Width::B64);
                    STG_W_128 => m.store(Width::B128);
                    LDL_32 => m.load(Width::B32, false);
                    LDL_64 => m.load(Width::B64, false);
                    LDL_128 => m.load(Width::B128, false);
                    STL_32 => m.store(Width::B32);
                    STL_64 => m.store(Width::B64);
                    STL_128 => m.store(Width::B128);
                    LDC_U8 => m.load(Width::B8, false);
                    LDC_S8 => m.load(Width::B8, true);
                    LDC_U16 => m.load(Width::B16, false);
                    LDC_S16 => m.load(Width::B16, true);
                    LDC_32 => m.load(Width::B32, false);
                    LDC_64 => m.load(Width::B64, false);
                    ULDC_32 => m.uldc::<1>();
                    ULDC_64 => m.uldc::<2>();
                }
                shared {
                    LDS_U8 LD_U8 LDL_X_U8 => m.load(Width::B8, false);
                    LDS_U16 LD_U16 LDL_X_U16 => m.load(Width::B16, false);
                    LDS_32 LD_32 LDL_X_32 => m.load(Width::B32, false);
                    LDS_64 LD_64 LDL_X_64 => m.load(Width::B64, false);
                    LDS_128 LD_128 LDL_X_128 => m.load(Width::B128, false);
                    STS_8 ST_8 STL_X_8 => m.store(Width::B8);
                    STS_16 ST_16 STL_X_16 => m.store(Width::B16);
                    STS_32 ST_32 STL_X_32 => m.store(Width::B32);
                    STS_64 ST_64 STL_X_64 => m.store(Width::B64);
                    STS_128 ST_128 STL_X_128 => m.store(Width::B128);
                }
                atomic {
                    ATOMG_U_32 ATOMG_W_32 ATOMS_32 ATOM_32 => m.integer_atomic(Width::B32);
                    ATOMG_U_64 ATOMG_W_64 ATOMS_64 ATOM_64 => m.integer_atomic(Width::B64);
                    ATOMG_U_CAS_16 ATOMG_W_CAS_16 ATOMS_CAS_16 ATOM_CAS_16 => m.atomic(Width::B16, AtomicOp::CompareSwap);
                    ATOMG_U_CAS_32 ATOMG_W_CAS_32 ATOMS_CAS_32 ATOM_CAS_32 => m.atomic(Width::B32, AtomicOp::CompareSwap);
                    ATOMG_U_CAS_64 ATOMG_W_CAS_64 ATOMS_CAS_64 ATOM_CAS_64 => m.atomic(Width::B64, AtomicOp::CompareSwap);
                    ATOMG_U_F16 ATOMG_W_F16 ATOMS_F16 ATOM_F16
                        => m.atomic(Width::B16, AtomicOp::AddHalf(Format::F16));
                    ATOMG_U_BF16 ATOMG_W_BF16 ATOMS_BF16 ATOM_BF16
                        => m.atomic(Width::B16, AtomicOp::AddHalf(Format::Bf16));
                    ATOMG_U_F16X2 ATOMG_W_F16X2 ATOMS_F16X2 ATOM_F16X2
                        => m.atomic(Width::B32, AtomicOp::AddHalf(Format::F16));
                    ATOMG_U_BF16X2 ATOMG_W_BF16X2 ATOMS_BF16X2 ATOM_BF16X2
                        => m.atomic(Width::B32, AtomicOp::AddHalf(Format::Bf16));
                    ATOMG_U_F32 ATOMG_W_F32 ATOMS_F32 ATOM_F32 => m.atomic(Width::B32, AtomicOp::AddSingle);
                    ATOMG_U_F64 ATOMG_W_F64 ATOMS_F64 ATOM_F64 => m.atomic(Width::B64, AtomicOp::AddDouble);
                    ATOMG_U_128 ATOMG_W_128 ATOMS_128 ATOM_128 => m.atomic(Width::B128, AtomicOp::Exchange);
                    ATOMG_U_CAS_128 ATOMG_W_CAS_128 ATOMS_CAS_128 ATOM_CAS_128
                        => m.atomic(Width::B128, AtomicOp::CompareSwap);
                    MEMBAR => {};
                }
                collective {
                    BAR_SYNC_R BAR_SYNC_I BAR_SYNC_RN BAR_SYNC_IN => m.meet();
                    BAR_ARV_RN BAR_ARV_IN => m.meet();
                    BAR_POPC_R BAR_POPC_I BAR_POPC_RN BAR_POPC_IN => m.meet();
                    BAR_RED_R BAR_RED_I BAR_RED_RN BAR_RED_IN => m.meet();
                    WARPSYNC_R WARPSYNC_I => m.meet();
                    SHFL_R SHFL_I => m.meet();
                    VOTE_R VOTE_I BALLOT_R BALLOT_I ACTIVE => m.meet();
                    MATCH_R MATCH_I MATCH_64_R MATCH_64_I => m.meet();
                    REDUX_R REDUX_I => m.meet();
                    ELECT_R ELECT_I => m.meet();
                }
        }
    };
}
pub(crate) use opcodes;
