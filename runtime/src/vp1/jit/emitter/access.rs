//! Accesses to the data store and to fields of the machine state, in native code.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I8X16, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Type, Value};
use cranelift_codegen::isa::CallConv;
use halfbyte_isa::vp1::data_store::DATA_STORE_BYTES;
use halfbyte_isa::vp1::domain::Shape;

use super::super::host::{self, Host};
use super::super::machine::at;
use super::registers::machine_mem_flags;
use super::words::Word;
use super::{Bytes, Emitter};

/// Mask of the address bits that select a byte of the data store.
const ADDRESS: u32 = DATA_STORE_BYTES as u32 - 1;

/// Mask of the bits in an address register that hold the stride code.
const STRIDE: u32 = 3 << 30;

impl Emitter<'_, '_> {
    /// Loads a 32-bit field of the machine state. `offset` is the byte offset of the field.
    pub(crate) fn field(&mut self, offset: usize) -> Word {
        let value = self.b.ins().load(I32, machine_mem_flags(), self.machine, offset as i32);
        self.any(value)
    }

    pub(crate) fn set_field(&mut self, offset: usize, word: Word) {
        let value = self.value(word);
        self.b.ins().store(machine_mem_flags(), value, self.machine, offset as i32);
    }

    /// Emits a call of a host function with an address and a 32-bit word.
    fn call(&mut self, host: Host, address: Word, word: Word) {
        let signature = match self.host_signature {
            Some(signature) => signature,
            None => self.b.import_signature(host::signature(CallConv::PreserveAll)),
        };
        self.host_signature = Some(signature);
        let function = self.b.ins().iconst(I64, self.host.address(host));
        let (address, word) = (self.value(address), self.value(word));
        self.b.ins().call_indirect(signature, function, &[self.machine, address, word]);
    }

    /// Returns the base and the offset of a memory operand: the aligned block of `bytes` bytes that
    /// contains `address`. The stride code of the address is ignored. `bytes` is a power of two.
    fn place(&mut self, address: Word, bytes: u32) -> (Value, i32) {
        // A pointer that is aligned to the access size needs no masking.
        if let Word::StoreAddress { pointer, plus, align } = self.and_mask(address, 0xffff)
            && align >= bytes
        {
            return (pointer, (at::STORE + plus as usize) as i32);
        }
        let offset = match self.and_mask(address, ADDRESS & !(bytes - 1)) {
            Word::Const(offset) => return (self.machine, (at::STORE + offset as usize) as i32),
            offset => self.value(offset),
        };
        let offset = self.b.ins().uextend(I64, offset);
        (self.b.ins().iadd(self.machine, offset), at::STORE as i32)
    }

    /// Emits a branch on the stride code of an address: to `zero` for code 0, and to `other` for other codes. With a
    /// type `ty`, both emit a value of this type, and the function returns the merged value.
    fn by_stride(
        &mut self,
        address: Word,
        ty: Option<Type>,
        zero: impl FnOnce(&mut Self) -> Option<Value>,
        other: impl FnOnce(&mut Self) -> Option<Value>,
    ) -> Option<Value> {
        let stride = match self.and_mask(address, STRIDE) {
            Word::Const(0) => return zero(self),
            Word::Const(_) => return other(self),
            stride => self.value(stride),
        };
        let [usual, rare, done] = [(); 3].map(|()| self.b.create_block());
        self.b.set_cold_block(rare);
        let result = ty.map(|ty| self.b.append_block_param(done, ty));
        self.b.ins().brif(stride, rare, &[], usual, &[]);
        self.b.seal_block(usual);
        self.b.seal_block(rare);
        self.b.switch_to_block(usual);
        let value = zero(self).map(Into::into);
        self.b.ins().jump(done, value.as_ref());
        self.b.switch_to_block(rare);
        let value = other(self).map(Into::into);
        self.b.ins().jump(done, value.as_ref());
        self.b.seal_block(done);
        self.b.switch_to_block(done);
        result
    }

    fn vector_field(&mut self) -> Value {
        self.b.ins().load(I8X16, machine_mem_flags(), self.machine, at::VECTOR as i32)
    }

    fn set_vector_field(&mut self, bytes: Value) {
        self.b.ins().store(machine_mem_flags(), bytes, self.machine, at::VECTOR as i32);
    }

    fn called_load(&mut self, host: Host, address: Word) -> Value {
        self.call(host, address, Word::Const(0));
        self.vector_field()
    }

    fn called_store(&mut self, host: Host, address: Word, bytes: Value) {
        self.set_vector_field(bytes);
        self.call(host, address, Word::Const(0));
    }

    pub(crate) fn load_vector(&mut self, shape: Shape, address: Word) -> Bytes {
        let value = match shape {
            Shape::Horizontal => {
                let loaded = self.by_stride(
                    address,
                    Some(I8X16),
                    |e| {
                        let (place, offset) = e.place(address, 16);
                        Some(e.b.ins().load(I8X16, machine_mem_flags(), place, offset))
                    },
                    |e| Some(e.called_load(Host::LoadRow, address)),
                );
                match loaded {
                    Some(value) => value,
                    None => return Bytes::Const([0; 16]),
                }
            }
            Shape::Vertical => self.called_load(Host::LoadColumn, address),
            Shape::Banks => self.called_load(Host::LoadBanks, address),
        };
        Bytes::Value(value)
    }

    pub(crate) fn store_vector(&mut self, shape: Shape, address: Word, bytes: Bytes) {
        let bytes = self.bytes_value(bytes);
        match shape {
            Shape::Horizontal => {
                self.by_stride(
                    address,
                    None,
                    |e| {
                        let (place, offset) = e.place(address, 16);
                        e.b.ins().store(machine_mem_flags(), bytes, place, offset);
                        None
                    },
                    |e| {
                        e.called_store(Host::StoreRow, address, bytes);
                        None
                    },
                );
            }
            Shape::Vertical => self.called_store(Host::StoreColumn, address, bytes),
            Shape::Banks => self.called_store(Host::StoreBanks, address, bytes),
        }
    }

    pub(crate) fn load_word(&mut self, address: Word) -> Word {
        let loaded = self.by_stride(
            address,
            Some(I32),
            |e| {
                let (place, offset) = e.place(address, 4);
                Some(e.b.ins().load(I32, machine_mem_flags(), place, offset))
            },
            |e| {
                e.call(Host::LoadWord, address, Word::Const(0));
                Some(e.b.ins().load(I32, machine_mem_flags(), e.machine, at::WORD as i32))
            },
        );
        loaded.map_or(Word::Const(0), |value| self.any(value))
    }

    pub(crate) fn store_word(&mut self, address: Word, word: Word) {
        let value = self.value(word);
        self.by_stride(
            address,
            None,
            |e| {
                let (place, offset) = e.place(address, 4);
                e.b.ins().store(machine_mem_flags(), value, place, offset);
                None
            },
            |e| {
                e.call(Host::StoreWord, address, word);
                None
            },
        );
    }

    pub(crate) fn gather(&mut self, address: Word, rows: Bytes) -> Bytes {
        let rows = self.bytes_value(rows);
        self.set_vector_field(rows);
        Bytes::Value(self.called_load(Host::Gather, address))
    }

    /// Converts a 32-bit word to a truth value, which is 1 if the word is nonzero.
    pub(crate) fn truth(&mut self, word: Word) -> Value {
        match word {
            Word::Truth { value, .. } => value,
            Word::Const(value) => self.b.ins().iconst(I8, i64::from(value != 0)),
            word => {
                let value = self.value(word);
                self.b.ins().icmp_imm_u(IntCC::NotEqual, value, 0)
            }
        }
    }
}
