//! Vector instructions: the table, and their encoding.

use super::row::Access::{Bytes, Full, FullOrBroadcast, Part};
use super::row::Class::{General, Mask, Vector};
use super::row::Encodings::{Both, Evex, Vex};
use super::row::Map::{M0F, M0F3A, M0F38, M5, M6};
use super::row::Prefix::{None as NP, P66, PF2, PF3};
use super::row::Shape::{Binary, Gather, ShiftByImmediate, Store, Unary};
use super::row::VectorWidth::{B128, B256, B512};
use super::row::{Access, Class, Encodings, Rounding, Row, VectorWidth};
use super::{Assembler, Memory, Operand};

/// Template of a row: `reg = f(vvvv, rm)` on vectors at every width.
const BASE: Row = Row {
    name: "",
    evex_name: None,
    encodings: Both,
    map: M0F,
    prefix: P66,
    opcode: 0,
    is_w: false,
    access: Full,
    shape: Binary,
    reg: Vector,
    rm: Vector,
    has_immediate: false,
    widths: [B128, B512],
};

/// Defines the rows and the list of all rows.
macro_rules! rows {
    ($($id:ident $name:literal $encodings:ident $map:ident $prefix:ident $opcode:literal $access:expr
       $(, $field:ident: $value:expr)*;)*) => {
        $(pub const $id: Row = Row {
            name: $name,
            encodings: $encodings,
            map: $map,
            prefix: $prefix,
            opcode: $opcode,
            access: $access,
            $($field: $value,)*
            ..BASE
        };)*

        /// All rows.
        #[cfg(test)]
        pub const ALL: &[Row] = &[$($id),*];
    };
}

rows! {
    // Integer arithmetic.
    VPADDB "vpaddb" Both M0F P66 0xFC Full;
    VPADDW "vpaddw" Both M0F P66 0xFD Full;
    VPADDD "vpaddd" Both M0F P66 0xFE FullOrBroadcast;
    VPSUBB "vpsubb" Both M0F P66 0xF8 Full;
    VPSUBW "vpsubw" Both M0F P66 0xF9 Full;
    VPSUBD "vpsubd" Both M0F P66 0xFA FullOrBroadcast;
    VPADDSB "vpaddsb" Both M0F P66 0xEC Full;
    VPADDSW "vpaddsw" Both M0F P66 0xED Full;
    VPADDUSB "vpaddusb" Both M0F P66 0xDC Full;
    VPADDUSW "vpaddusw" Both M0F P66 0xDD Full;
    VPSUBSB "vpsubsb" Both M0F P66 0xE8 Full;
    VPSUBSW "vpsubsw" Both M0F P66 0xE9 Full;
    VPSUBUSB "vpsubusb" Both M0F P66 0xD8 Full;
    VPSUBUSW "vpsubusw" Both M0F P66 0xD9 Full;
    VPMINSB "vpminsb" Both M0F38 P66 0x38 Full;
    VPMINSW "vpminsw" Both M0F P66 0xEA Full;
    VPMINSD "vpminsd" Both M0F38 P66 0x39 FullOrBroadcast;
    VPMINUB "vpminub" Both M0F P66 0xDA Full;
    VPMINUW "vpminuw" Both M0F38 P66 0x3A Full;
    VPMINUD "vpminud" Both M0F38 P66 0x3B FullOrBroadcast;
    VPMAXSB "vpmaxsb" Both M0F38 P66 0x3C Full;
    VPMAXSW "vpmaxsw" Both M0F P66 0xEE Full;
    VPMAXSD "vpmaxsd" Both M0F38 P66 0x3D FullOrBroadcast;
    VPMAXUB "vpmaxub" Both M0F P66 0xDE Full;
    VPMAXUW "vpmaxuw" Both M0F38 P66 0x3E Full;
    VPMAXUD "vpmaxud" Both M0F38 P66 0x3F FullOrBroadcast;
    VPAVGB "vpavgb" Both M0F P66 0xE0 Full;
    VPAVGW "vpavgw" Both M0F P66 0xE3 Full;
    VPMULLW "vpmullw" Both M0F P66 0xD5 Full;
    VPMULLD "vpmulld" Both M0F38 P66 0x40 FullOrBroadcast;
    // Logic. The EVEX encoding names the element that a mask selects.
    VPAND "vpand" Both M0F P66 0xDB FullOrBroadcast, evex_name: Some("vpandd");
    VPOR "vpor" Both M0F P66 0xEB FullOrBroadcast, evex_name: Some("vpord");
    VPXOR "vpxor" Both M0F P66 0xEF FullOrBroadcast, evex_name: Some("vpxord");
    VPTERNLOGD "vpternlogd" Evex M0F3A P66 0x25 FullOrBroadcast, has_immediate: true;
    // Shifts.
    VPSLLVD "vpsllvd" Both M0F38 P66 0x47 FullOrBroadcast;
    VPSRLVD "vpsrlvd" Both M0F38 P66 0x45 FullOrBroadcast;
    VPSRAVD "vpsravd" Both M0F38 P66 0x46 FullOrBroadcast;
    VPSRLW_IMM "vpsrlw" Vex M0F P66 0x71 Full, shape: ShiftByImmediate(2), has_immediate: true, widths: [B128, B256];
    VPSRAW_IMM "vpsraw" Vex M0F P66 0x71 Full, shape: ShiftByImmediate(4), has_immediate: true, widths: [B128, B256];
    VPSLLW_IMM "vpsllw" Vex M0F P66 0x71 Full, shape: ShiftByImmediate(6), has_immediate: true, widths: [B128, B256];
    VPSRLD_IMM "vpsrld" Both M0F P66 0x72 FullOrBroadcast, shape: ShiftByImmediate(2), has_immediate: true;
    VPSRAD_IMM "vpsrad" Both M0F P66 0x72 FullOrBroadcast, shape: ShiftByImmediate(4), has_immediate: true;
    VPSLLD_IMM "vpslld" Both M0F P66 0x72 FullOrBroadcast, shape: ShiftByImmediate(6), has_immediate: true;
    // Comparisons. The result is a vector in VEX encodings, and a mask in EVEX encodings.
    VPCMPEQD "vpcmpeqd" Vex M0F P66 0x76 Full, widths: [B128, B256];
    VPCMPGTD "vpcmpgtd" Vex M0F P66 0x66 Full, widths: [B128, B256];
    VCMPPS "vcmpps" Vex M0F NP 0xC2 Full, has_immediate: true, widths: [B128, B256];
    VCMPPS_MASK "vcmpps" Evex M0F NP 0xC2 FullOrBroadcast, reg: Mask, has_immediate: true;
    VPCMPD_MASK "vpcmpd" Evex M0F3A P66 0x1F FullOrBroadcast, reg: Mask, has_immediate: true;
    VPCMPUD_MASK "vpcmpud" Evex M0F3A P66 0x1E FullOrBroadcast, reg: Mask, has_immediate: true;
    VPTESTMD "vptestmd" Evex M0F38 P66 0x27 FullOrBroadcast, reg: Mask;
    // Masks and selection.
    VPMOVM2D "vpmovm2d" Evex M0F38 PF3 0x38 Full, shape: Unary, rm: Mask;
    VPMOVD2M "vpmovd2m" Evex M0F38 PF3 0x39 Full, shape: Unary, reg: Mask;
    VPBLENDMD "vpblendmd" Evex M0F38 P66 0x64 FullOrBroadcast;
    VPBLENDVB "vpblendvb" Vex M0F3A P66 0x4C Full, has_immediate: true, widths: [B128, B256];
    KMOVW_FROM_GENERAL "kmovw" Vex M0F NP 0x92 Full, shape: Unary, reg: Mask, rm: General, widths: [B128, B128];
    KMOVW_TO_GENERAL "kmovw" Vex M0F NP 0x93 Full, shape: Unary, reg: General, rm: Mask, widths: [B128, B128];
    // Floating-point arithmetic.
    VADDPS "vaddps" Both M0F NP 0x58 FullOrBroadcast;
    VMULPS "vmulps" Both M0F NP 0x59 FullOrBroadcast;
    VDIVPS "vdivps" Both M0F NP 0x5E FullOrBroadcast;
    VSQRTPS "vsqrtps" Both M0F NP 0x51 FullOrBroadcast, shape: Unary;
    VFMADD213PS "vfmadd213ps" Both M0F38 P66 0xA8 FullOrBroadcast;
    VFMADD231PS "vfmadd231ps" Both M0F38 P66 0xB8 FullOrBroadcast;
    // Arithmetic on binary16, of AVX512-FP16.
    VADDPH "vaddph" Evex M5 NP 0x58 Full;
    VMULPH "vmulph" Evex M5 NP 0x59 Full;
    VFMADD213PH "vfmadd213ph" Evex M6 P66 0xA8 Full;
    VFMADD231PH "vfmadd231ph" Evex M6 P66 0xB8 Full;
    // Conversions.
    VCVTDQ2PS "vcvtdq2ps" Both M0F NP 0x5B FullOrBroadcast, shape: Unary;
    VCVTUDQ2PS "vcvtudq2ps" Evex M0F PF2 0x7A FullOrBroadcast, shape: Unary;
    VCVTPH2PS "vcvtph2ps" Both M0F38 P66 0x13 Part(1), shape: Unary;
    VCVTPS2PH "vcvtps2ph" Both M0F3A P66 0x1D Part(1), shape: Store, has_immediate: true;
    VPACKUSDW "vpackusdw" Both M0F38 P66 0x2B FullOrBroadcast;
    VPACKUSWB "vpackuswb" Both M0F P66 0x67 Full;
    // Permutations.
    VPSHUFB "vpshufb" Both M0F38 P66 0x00 Full;
    VPSHUFD "vpshufd" Both M0F P66 0x70 FullOrBroadcast, shape: Unary, has_immediate: true;
    VPERMQ "vpermq" Both M0F3A P66 0x00 Full, is_w: true, shape: Unary, has_immediate: true, widths: [B256, B512];
    VPERMD "vpermd" Both M0F38 P66 0x36 FullOrBroadcast, widths: [B256, B512];
    VPERMT2D "vpermt2d" Evex M0F38 P66 0x7E FullOrBroadcast;
    VINSERTI32X4 "vinserti32x4" Evex M0F3A P66 0x38 Bytes(16), has_immediate: true, widths: [B256, B512];
    // Arithmetic on other elements, as VEX instructions of up to 256 bits.
    VPADDQ "vpaddq" Vex M0F P66 0xD4 Full, widths: [B128, B256];
    VPSUBQ "vpsubq" Vex M0F P66 0xFB Full, widths: [B128, B256];
    VPMULUDQ "vpmuludq" Vex M0F P66 0xF4 Full, widths: [B128, B256];
    VPMULDQ "vpmuldq" Vex M0F38 P66 0x28 Full, widths: [B128, B256];
    VPMADDWD "vpmaddwd" Vex M0F P66 0xF5 Full, widths: [B128, B256];
    VPMADDUBSW "vpmaddubsw" Vex M0F38 P66 0x04 Full, widths: [B128, B256];
    VPANDN "vpandn" Vex M0F P66 0xDF Full, widths: [B128, B256];
    VPSRLQ_IMM "vpsrlq" Vex M0F P66 0x73 Full, shape: ShiftByImmediate(2), has_immediate: true, widths: [B128, B256];
    VPSLLQ_IMM "vpsllq" Vex M0F P66 0x73 Full, shape: ShiftByImmediate(6), has_immediate: true, widths: [B128, B256];
    VPCMPEQB "vpcmpeqb" Vex M0F P66 0x74 Full, widths: [B128, B256];
    VPCMPEQW "vpcmpeqw" Vex M0F P66 0x75 Full, widths: [B128, B256];
    VPCMPGTB "vpcmpgtb" Vex M0F P66 0x64 Full, widths: [B128, B256];
    VPCMPGTW "vpcmpgtw" Vex M0F P66 0x65 Full, widths: [B128, B256];
    VSUBPS "vsubps" Vex M0F NP 0x5C Full, widths: [B128, B256];
    VMAXPS "vmaxps" Vex M0F NP 0x5F Full, widths: [B128, B256];
    VADDPD "vaddpd" Vex M0F P66 0x58 Full, widths: [B128, B256];
    VSUBPD "vsubpd" Vex M0F P66 0x5C Full, widths: [B128, B256];
    VMULPD "vmulpd" Vex M0F P66 0x59 Full, widths: [B128, B256];
    VDIVPD "vdivpd" Vex M0F P66 0x5E Full, widths: [B128, B256];
    VMAXPD "vmaxpd" Vex M0F P66 0x5F Full, widths: [B128, B256];
    VCMPPD "vcmppd" Vex M0F P66 0xC2 Full, has_immediate: true, widths: [B128, B256];
    VCVTTPS2DQ "vcvttps2dq" Vex M0F PF3 0x5B Full, shape: Unary, widths: [B128, B256];
    VCVTPS2PD "vcvtps2pd" Vex M0F NP 0x5A Part(1), shape: Unary, widths: [B128, B256];
    VCVTPD2PS "vcvtpd2ps" Vex M0F P66 0x5A Full, shape: Unary, widths: [B128, B256];
    VPACKSSDW "vpackssdw" Vex M0F P66 0x6B Full, widths: [B128, B256];
    VPACKSSWB "vpacksswb" Vex M0F P66 0x63 Full, widths: [B128, B256];
    VPUNPCKLBW "vpunpcklbw" Vex M0F P66 0x60 Full, widths: [B128, B256];
    VPUNPCKLWD "vpunpcklwd" Vex M0F P66 0x61 Full, widths: [B128, B256];
    VPUNPCKLDQ "vpunpckldq" Vex M0F P66 0x62 Full, widths: [B128, B256];
    VPUNPCKHBW "vpunpckhbw" Vex M0F P66 0x68 Full, widths: [B128, B256];
    VPUNPCKHWD "vpunpckhwd" Vex M0F P66 0x69 Full, widths: [B128, B256];
    VPUNPCKHDQ "vpunpckhdq" Vex M0F P66 0x6A Full, widths: [B128, B256];
    VPUNPCKLQDQ "vpunpcklqdq" Vex M0F P66 0x6C Full, widths: [B128, B256];
    VPUNPCKHQDQ "vpunpckhqdq" Vex M0F P66 0x6D Full, widths: [B128, B256];
    VSHUFPS "vshufps" Vex M0F NP 0xC6 Full, has_immediate: true, widths: [B128, B256];
    VPBLENDD "vpblendd" Vex M0F3A P66 0x02 Full, has_immediate: true, widths: [B128, B256];
    VPERM2I128 "vperm2i128" Vex M0F3A P66 0x46 Full, has_immediate: true, widths: [B256, B256];
    VINSERTI128 "vinserti128" Vex M0F3A P66 0x38 Bytes(16), has_immediate: true, widths: [B256, B256];
    VEXTRACTI128 "vextracti128" Vex M0F3A P66 0x39 Bytes(16), shape: Store, has_immediate: true, widths: [B256, B256];
    VPMOVZXDQ "vpmovzxdq" Vex M0F38 P66 0x35 Part(1), shape: Unary, widths: [B128, B256];
    VPMOVSXDQ "vpmovsxdq" Vex M0F38 P66 0x25 Part(1), shape: Unary, widths: [B128, B256];
    VPBROADCASTQ "vpbroadcastq" Vex M0F38 P66 0x59 Bytes(8), shape: Unary, widths: [B128, B256];
    VMOVMSKPS "vmovmskps" Vex M0F NP 0x50 Full, shape: Unary, reg: General, widths: [B128, B256];
    VMOVMSKPD "vmovmskpd" Vex M0F P66 0x50 Full, shape: Unary, reg: General, widths: [B128, B256];
    VPTEST "vptest" Vex M0F38 P66 0x17 Full, shape: Unary, widths: [B128, B256];
    VPEXTRD "vpextrd" Vex M0F3A P66 0x16 Bytes(4), shape: Store, rm: General, has_immediate: true, widths: [B128, B128];
    // Gathers: `reg = memory[rm]` of the elements whose sign bit of `vvvv` is set. The index of `rm` is a vector.
    VPGATHERDD "vpgatherdd" Vex M0F38 P66 0x90 Bytes(4), shape: Gather, widths: [B256, B256];
    VPGATHERQD "vpgatherqd" Vex M0F38 P66 0x91 Bytes(4), shape: Gather, widths: [B256, B256];
    // Moves between vectors, memory and general registers.
    VMOVAPS "vmovaps" Both M0F NP 0x28 Full, shape: Unary;
    VMOVDQU_LOAD "vmovdqu" Both M0F PF3 0x6F Full, evex_name: Some("vmovdqu32"), shape: Unary;
    VMOVDQU_STORE "vmovdqu" Both M0F PF3 0x7F Full, evex_name: Some("vmovdqu32"), shape: Store;
    VMOVDQU16_LOAD "vmovdqu16" Evex M0F PF2 0x6F Full, is_w: true, shape: Unary;
    VMOVQ_STORE "vmovq" Vex M0F P66 0xD6 Bytes(8), shape: Store, widths: [B128, B128];
    VPMOVZXBW "vpmovzxbw" Both M0F38 P66 0x30 Part(1), shape: Unary;
    VPMOVZXBD "vpmovzxbd" Both M0F38 P66 0x31 Part(2), shape: Unary;
    VPMOVZXWD "vpmovzxwd" Both M0F38 P66 0x33 Part(1), shape: Unary;
    VPMOVSXBW "vpmovsxbw" Both M0F38 P66 0x20 Part(1), shape: Unary;
    VPMOVSXBD "vpmovsxbd" Both M0F38 P66 0x21 Part(2), shape: Unary;
    VPMOVSXWD "vpmovsxwd" Both M0F38 P66 0x23 Part(1), shape: Unary;
    VPMOVDB "vpmovdb" Evex M0F38 PF3 0x31 Part(2), shape: Store;
    VPMOVDW "vpmovdw" Evex M0F38 PF3 0x33 Part(1), shape: Store;
    VPBROADCASTD "vpbroadcastd" Both M0F38 P66 0x58 Bytes(4), shape: Unary;
    VPBROADCASTD_GENERAL "vpbroadcastd" Evex M0F38 P66 0x7C Full, shape: Unary, rm: General;
    VMOVD_FROM_GENERAL "vmovd" Both M0F P66 0x6E Bytes(4), shape: Unary, rm: General, widths: [B128, B128];
    VMOVD_TO_GENERAL "vmovd" Both M0F P66 0x7E Bytes(4), shape: Store, rm: General, widths: [B128, B128];
    VPINSRD "vpinsrd" Both M0F3A P66 0x22 Bytes(4), rm: General, has_immediate: true, widths: [B128, B128];
}

/// Vector instruction with operands.
#[derive(Clone, Copy, Debug)]
pub struct VectorInst {
    row: &'static Row,
    width: VectorWidth,
    first: u8,
    second: u8,
    last: Operand,
    mask: u8,
    zeroes: bool,
    is_broadcast: bool,
    rounding: Option<Rounding>,
    immediate: u8,
}

impl VectorInst {
    /// Creates an instruction with the operands `[reg, vvvv]` and `rm`. `vvvv` is 0 if the
    /// instruction has two operands.
    pub fn new(row: &'static Row, width: VectorWidth, [first, second]: [u8; 2], last: Operand) -> VectorInst {
        debug_assert!(matches!(row.shape, Binary | Gather) || second == 0, "{}", row.name);
        VectorInst {
            row,
            width,
            first,
            second,
            last,
            mask: 0,
            zeroes: false,
            is_broadcast: false,
            rounding: None,
            immediate: 0,
        }
    }

    /// Creates `result = shift(last, count)`.
    pub fn shift(row: &'static Row, width: VectorWidth, result: u8, last: Operand, count: u8) -> VectorInst {
        let digit = if let ShiftByImmediate(digit) = row.shape { digit } else { 0 };
        VectorInst { second: result, immediate: count, ..VectorInst::new(row, width, [digit, 0], last) }
    }

    /// Sets the immediate.
    pub fn with_immediate(self, immediate: u8) -> VectorInst {
        VectorInst { immediate, ..self }
    }

    /// Writes only the elements that mask register k1 to k7 selects. The others keep their contents.
    pub fn masked(self, mask: u8) -> VectorInst {
        VectorInst { mask, ..self }
    }

    /// Writes only the elements that mask register k1 to k7 selects. The others become zero.
    pub fn zero_masked(self, mask: u8) -> VectorInst {
        VectorInst { mask, zeroes: true, ..self }
    }

    /// Broadcasts the 32-bit word of the memory operand to all elements.
    pub fn broadcast(self) -> VectorInst {
        VectorInst { is_broadcast: true, ..self }
    }

    /// Rounds in a mode of its own. The width is 512 bits, and all operands are registers.
    pub fn rounded(self, rounding: Rounding) -> VectorInst {
        VectorInst { rounding: Some(rounding), ..self }
    }

    /// Returns `true` if the instruction needs an EVEX prefix.
    fn needs_evex(&self) -> bool {
        let has_high = |class: Class, register: u8| class == Class::Vector && register >= 16;
        match self.row.encodings {
            Encodings::Vex => false,
            Encodings::Evex => true,
            Encodings::Both => {
                self.width == VectorWidth::B512
                    || self.mask != 0
                    || self.is_broadcast
                    || self.rounding.is_some()
                    || has_high(self.row.reg, self.first)
                    || self.second >= 16
                    || matches!(self.last, Operand::Register(register) if has_high(self.row.rm, register))
            }
        }
    }
}

impl Assembler {
    /// Appends a vector instruction.
    pub fn vector(&mut self, inst: VectorInst) {
        let VectorInst { row, last, .. } = inst;
        let unit = if inst.needs_evex() {
            self.evex(&inst);
            debug_assert!(!inst.is_broadcast || row.access == Access::FullOrBroadcast, "{}", row.name);
            row.access_bytes(inst.width, inst.is_broadcast)
        } else {
            self.vex(&inst);
            1
        };
        self.operand(inst.first, last, unit, usize::from(row.has_immediate));
        if row.has_immediate {
            self.put(&[inst.immediate]);
        }
    }

    fn vex(&mut self, inst: &VectorInst) {
        let VectorInst { row, width, first, second, last, .. } = *inst;
        let (base, index) = base_and_index(last);
        // The prefix holds the inverted bits 3 of the register numbers.
        let high = |register: u8| !register >> 3 & 1;
        let fields = (!second & 0xF) << 3 | (width as u8) << 2 | row.prefix as u8;
        match (row.map, row.is_w, high(base) & high(index)) {
            (M0F, false, 1) => self.put(&[0xC5, high(first) << 7 | fields, row.opcode]),
            _ => {
                let registers = high(first) << 7 | high(index) << 6 | high(base) << 5;
                self.put(&[0xC4, registers | row.map as u8, u8::from(row.is_w) << 7 | fields, row.opcode]);
            }
        }
    }

    fn evex(&mut self, inst: &VectorInst) {
        let VectorInst { row, first, second, last, .. } = *inst;
        let (base, mut index) = base_and_index(last);
        // Bit 4 of a register in `rm` is in the place of bit 3 of an index.
        if let Operand::Register(register) = last {
            index = register >> 1;
        }
        let bit = |register: u8, bit: u8| !register >> bit & 1;
        let length = inst.rounding.map_or(inst.width as u8, |rounding| rounding as u8);
        let is_broadcast_or_rounded = inst.is_broadcast || inst.rounding.is_some();
        self.put(&[
            0x62,
            bit(first, 3) << 7 | bit(index, 3) << 6 | bit(base, 3) << 5 | bit(first, 4) << 4 | row.map as u8,
            u8::from(row.is_w) << 7 | (!second & 0xF) << 3 | 1 << 2 | row.prefix as u8,
            u8::from(inst.zeroes) << 7
                | length << 5
                | u8::from(is_broadcast_or_rounded) << 4
                | bit(second, 4) << 3
                | inst.mask,
            row.opcode,
        ]);
    }
}

/// Returns the register in `rm` or the base, and the index. An absent register is 0.
fn base_and_index(operand: Operand) -> (u8, u8) {
    match operand {
        Operand::Register(register) => (register, 0),
        Operand::Memory(Memory { base, index, .. }) => (base, index.map_or(0, |(index, _)| index)),
        Operand::Constant(_) => (0, 0),
    }
}
