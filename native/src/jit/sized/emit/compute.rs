//! Code for operations: vector instructions, and calls for operations without an instruction.

use halfbyte_isa::half::{Format, NAN_F32};
use halfbyte_isa::halu::domain::Width;

use super::{BYTES, Emitter, REGISTERS, SCRATCH};
use crate::jit::dataflow::{Op, Shape};
use crate::jit::sized::encode::*;
use crate::jit::sized::graph::{LANES, Node, Vector, word};
use crate::jit::wide::Predicate;
use crate::rows;
use crate::x86::Row;

impl Emitter<'_> {
    pub(super) fn compute(&mut self, at: u32, node: Node, args: &[Node]) -> Option<u8> {
        let step = *self.graph.step(node);
        Some(match (step.vector, args) {
            (Vector::Compute(op), _) => return self.operation(at, op, args),
            (Vector::Canonical, &[float]) => {
                let float = self.register(float);
                let result = self.result(at, args);
                let a = &mut self.assembler;
                a.lanes_with(&VCMPPS_MASK, 1, float, Operand::Register(float), Predicate::NAN.number());
                a.blend(result, float, Operand::PoolWord(NAN_F32));
                result
            }
            (Vector::Blend(mask), &[a, b]) => {
                let (second, last) = (self.register(b), self.operand(a));
                let result = self.result(at, args);
                self.assembler.set_mask(mask);
                self.assembler.blend(result, second, last);
                result
            }
            (Vector::Permute, &[from, numbers]) => {
                let (numbers, last) = (self.register(numbers), self.operand(from));
                // `vpermd` does not permute a broadcast memory operand.
                let last = if let Operand::Word(..) = last { Operand::Register(self.register(from)) } else { last };
                let result = self.result(at, args);
                self.assembler.lanes(&VPERMD, result, numbers, last);
                result
            }
            (Vector::Permute2, &[a, b, numbers]) => {
                let (first, numbers, last) = (self.register(a), self.register(numbers), self.operand(b));
                let a = &mut self.assembler;
                a.lanes(&VMOVDQU_LOAD, SCRATCH, 0, Operand::Register(first));
                a.lanes(&VPERMT2D, SCRATCH, numbers, last);
                let result = self.result(at, args);
                self.assembler.lanes(&VMOVDQU_LOAD, result, 0, Operand::Register(SCRATCH));
                result
            }
            (Vector::Ballot(masks, is_count), &[a, b]) => {
                let vectors = [self.register(a), self.register(b)];
                self.lanes(vectors[1], masks[1]);
                self.assembler.set(R8, 0);
                self.assembler.alu(Alu::Or, Size::Dword, R8, general(AX));
                self.assembler.shift_left(R8, 16);
                self.lanes(vectors[0], masks[0]);
                self.assembler.alu(Alu::Or, Size::Dword, AX, general(R8));
                if is_count {
                    self.assembler.count_ones(AX, AX);
                }
                let result = self.result(at, args);
                self.assembler.lanes(&VPBROADCASTD_GENERAL, result, 0, Operand::Register(AX));
                result
            }
            (Vector::Bank { offset, width, signed }, _) => {
                let result = self.allocate();
                let size = if width == Width::B16 { Size::Word } else { Size::Byte };
                self.assembler.load_extended(size, signed, AX, Address::at(CONSTANTS, offset.cast_signed()));
                self.assembler.lanes(&VPBROADCASTD_GENERAL, result, 0, Operand::Register(AX));
                result
            }
            (Vector::Load(place, signed) | Vector::Shared(_, place, signed), _) => self.load(at, &place, args, signed),
            _ => return None,
        })
    }

    /// Returns the instruction of an operation that is one instruction on two vectors.
    fn binary(op: Op) -> Option<&'static Row> {
        Some(match op {
            Op::And | Op::Both => &VPAND,
            Op::Or | Op::Either => &VPOR,
            Op::Xor | Op::Differ => &VPXOR,
            Op::Add => &VPADDD,
            Op::Sub => &VPSUBD,
            Op::Mul => &VPMULLD,
            Op::FAdd => &VADDPS,
            Op::FMul => &VMULPS,
            Op::FDiv => &VDIVPS,
            _ => return None,
        })
    }

    fn operation(&mut self, at: u32, op: Op, args: &[Node]) -> Option<u8> {
        if let (Some(row), &[a, b]) = (Self::binary(op), args) {
            let (second, last) = (self.register(a), self.operand(b));
            let result = self.result(at, args);
            self.assembler.lanes(row, result, second, last);
            return Some(result);
        }
        match (op, args) {
            (Op::Shl | Op::Shr | Op::Sar, &[a, by]) => {
                let row = match op {
                    Op::Shl => &VPSLLVD,
                    Op::Shr => &VPSRLVD,
                    _ => &VPSRAVD,
                };
                let second = self.register(a);
                let is_below = |known| self.graph.known(known).iter().all(|&by| by < 32);
                let last = match self.graph.step(by).vector {
                    Vector::Known(known) if is_below(known) => self.operand(by),
                    _ => {
                        let by = self.register(by);
                        self.assembler.lanes(&VPAND, SCRATCH, by, Operand::PoolWord(31));
                        Operand::Register(SCRATCH)
                    }
                };
                let result = self.result(at, args);
                self.assembler.lanes(row, result, second, last);
                Some(result)
            }
            (Op::Not | Op::Negate, &[a]) => {
                /// Truth table of the complement of the last operand.
                const NOT_LAST: u8 = 0x55;
                let a = self.register(a);
                let result = self.result(at, args);
                self.assembler.lanes_with(&VPTERNLOGD, result, a, Operand::Register(a), NOT_LAST);
                Some(result)
            }
            (Op::Equal | Op::Less(_) | Op::FCompare(_), &[a, b]) => {
                let (row, predicate) = match op {
                    Op::Equal => (&VPCMPD_MASK, 0),
                    Op::Less(true) => (&VPCMPD_MASK, 1),
                    Op::FCompare(compare) => (&VCMPPS_MASK, Predicate::of(compare).number()),
                    _ => (&VPCMPUD_MASK, 1),
                };
                let (second, last) = (self.register(a), self.operand(b));
                let result = self.result(at, args);
                self.assembler.lanes_with(row, 1, second, last, predicate);
                self.assembler.lanes(&VPMOVM2D, result, 0, Operand::Register(1));
                Some(result)
            }
            (Op::Select | Op::Choose, &[p, a, b]) => {
                let (p, second, last) = (self.register(p), self.register(b), self.operand(a));
                let result = self.result(at, args);
                self.assembler.lanes(&VPMOVD2M, 1, 0, Operand::Register(p));
                self.assembler.blend(result, second, last);
                Some(result)
            }
            (Op::Fma, &[a, b, c]) => {
                let (factor, sum, last) = (self.register(a), self.register(c), self.operand(b));
                let is_last_use =
                    self.uses.get(&c).is_none_or(|uses| uses.len() == 1) && !self.is_kept(c) && a != c && b != c;
                if is_last_use {
                    self.assembler.lanes(&VFMADD231PS, sum, factor, last);
                    self.release(at, args);
                    self.pinned |= 1 << sum;
                    return Some(sum);
                }
                self.assembler.lanes(&VMOVDQU_LOAD, SCRATCH, 0, Operand::Register(sum));
                self.assembler.lanes(&VFMADD231PS, SCRATCH, factor, last);
                let result = self.result(at, args);
                self.assembler.lanes(&VMOVDQU_LOAD, result, 0, Operand::Register(SCRATCH));
                Some(result)
            }
            (Op::FSqrt | Op::IntToFloat(_), &[a]) => {
                let row = match op {
                    Op::FSqrt => &VSQRTPS,
                    Op::IntToFloat(true) => &VCVTDQ2PS,
                    _ => &VCVTUDQ2PS,
                };
                let last = self.operand(a);
                let result = self.result(at, args);
                self.assembler.lanes(row, result, 0, last);
                Some(result)
            }
            (Op::Widen(Format::F16), &[a]) => {
                let a = self.register(a);
                let result = self.result(at, args);
                self.assembler.lanes(&VPMOVDW, a, 0, Operand::Register(SCRATCH));
                self.assembler.lanes(&VCVTPH2PS, result, 0, Operand::Register(SCRATCH));
                Some(result)
            }
            (Op::Bytes(bytes), &[a, b]) => {
                let (a, b) = (self.register(a), self.register(b));
                let result = self.result(at, args);
                let [low, high] = [0, 4].map(|first| selector(bytes, first));
                let asm = &mut self.assembler;
                asm.lanes(&VPSHUFB, SCRATCH, a, Operand::Pool(low));
                asm.lanes(&VPSHUFB, SCRATCH + 1, b, Operand::Pool(high));
                asm.lanes(&VPOR, result, SCRATCH, Operand::Register(SCRATCH + 1));
                Some(result)
            }
            _ => Some(self.call(at, op, args)),
        }
    }

    /// Emits a call of a function that computes the operation.
    fn call(&mut self, at: u32, op: Op, args: &[Node]) -> u8 {
        for (k, &arg) in (0..).zip(args) {
            let from = self.register(arg);
            let to = Operand::Memory(FRAME, self.layout.row(k));
            self.assembler.lanes(&VMOVDQU_STORE, from, 0, to);
        }
        self.release(at, args);
        // A call preserves no vector registers.
        for register in 0..REGISTERS {
            if let Some(node) = self.registers[register].take()
                && self.uses.get(&node).is_some_and(|uses| !uses.is_empty())
            {
                self.spill(node, register as u8);
            }
        }
        let row_op = op.wide_row_op().or_else(|| op.row_op([Shape::Varying; 6], true));
        let (function, op) = match row_op {
            Some(op) => {
                let (function, op) = (rows::function(&op), Box::new(op));
                let address = std::ptr::from_ref(&*op).addr();
                self.called.of_rows.push(op);
                ((function as *const ()).addr(), address)
            }
            None => {
                let op = Box::new(op);
                let address = std::ptr::from_ref(&*op).addr();
                self.called.others.push(op);
                ((each as OtherFn as *const ()).addr(), address)
            }
        };
        /// All three operands are rows with the size of a vector.
        const SPAN: u32 = BYTES as u32 | 0b111;
        let result = self.layout.row(3);
        let a = &mut self.assembler;
        a.address(DI, Address::at(FRAME, result));
        for (k, register) in (0..).zip([SI, DX, CX]) {
            a.address(register, Address::at(FRAME, self.layout.row(k)));
        }
        a.set(R8, SPAN);
        a.set_address(R9, op as u64);
        a.set_address(AX, function as u64);
        a.call_function(AX);
        let to = self.allocate();
        self.assembler.lanes(&VMOVDQU_LOAD, to, 0, Operand::Memory(FRAME, result));
        to
    }
}

/// Returns a `vpshufb` control for four words in each 128-bit lane. The control selects the bytes of one operand, whose
/// numbers begin at `first`. All other bytes become zero.
fn selector(bytes: [u8; 4], first: u8) -> [u32; LANES] {
    std::array::from_fn(|lane| {
        let word = 4 * (lane as u8 % 4);
        u32::from_le_bytes(bytes.map(|byte| {
            let byte = byte & 7;
            if (first..first + 4).contains(&byte) { word + byte - first } else { 0x80 }
        }))
    })
}

/// Function with the signature of a row function, which computes an operation item by item.
type OtherFn = unsafe extern "C" fn(*mut u32, *const u32, *const u32, *const u32, usize, *const Op);

/// Computes an operation for sixteen items.
///
/// # Safety
/// `result`, `a`, `b` and `c` point to sixteen words each, and `op` points to an operation.
unsafe extern "C" fn each(result: *mut u32, a: *const u32, b: *const u32, c: *const u32, _: usize, op: *const Op) {
    for lane in 0..LANES {
        // SAFETY: the caller guarantees that all pointers are valid for sixteen words.
        unsafe {
            let words = [a, b, c].map(|row| row.add(lane).read());
            result.add(lane).write(word(*op, words).unwrap_or(0));
        }
    }
}
