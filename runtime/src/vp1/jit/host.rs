//! Host functions, which perform those accesses that native code does not perform inline.
//!
//! Calls of host functions are rare, but an ordinary call clobbers the vector registers of the surrounding code. Native
//! code therefore calls a thunk, which preserves all registers and calls the host function.

use std::sync::OnceLock;

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;

use super::machine::Machine;
use halfbyte_native::clif::{Allocation, NativeBuilder, NativeCode, NativeError};

/// A host function. Its arguments are the machine state, an address, and a 32-bit word to store.
/// All other operands and results are fields of the machine state.
type HostFunction = extern "C" fn(&mut Machine, u32, u32);

/// Identifier of a host function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Host {
    LoadRow,
    LoadColumn,
    LoadBanks,
    LoadWord,
    StoreRow,
    StoreColumn,
    StoreBanks,
    StoreWord,
    Gather,
}

impl Host {
    const ALL: [(Host, HostFunction); 9] = [
        (Host::LoadRow, Machine::load_row),
        (Host::LoadColumn, Machine::load_column),
        (Host::LoadBanks, Machine::load_banks),
        (Host::LoadWord, Machine::load_word),
        (Host::StoreRow, Machine::store_row),
        (Host::StoreColumn, Machine::store_column),
        (Host::StoreBanks, Machine::store_banks),
        (Host::StoreWord, Machine::store_word),
        (Host::Gather, Machine::gather),
    ];
}

/// Returns the Cranelift signature of host functions with a calling convention.
pub(super) fn signature(call_conv: CallConv) -> Signature {
    let mut signature = Signature::new(call_conv);
    signature.params.extend([I64, I32, I32].map(AbiParam::new));
    signature
}

/// Thunks that preserve all registers, one for each host function.
pub(super) struct HostFunctions {
    addresses: Vec<*const u8>,
    _code: NativeCode,
}

// SAFETY: the addresses refer to immutable code that lives as long as this value.
unsafe impl Send for HostFunctions {}
// SAFETY: the addresses refer to immutable code that lives as long as this value.
unsafe impl Sync for HostFunctions {}

impl HostFunctions {
    /// Returns the thunks, which all programs in this process share.
    pub(super) fn get() -> Result<&'static HostFunctions, NativeError> {
        static FUNCTIONS: OnceLock<Result<HostFunctions, NativeError>> = OnceLock::new();
        FUNCTIONS.get_or_init(HostFunctions::new).as_ref().map_err(Clone::clone)
    }

    fn new() -> Result<HostFunctions, NativeError> {
        let mut builder = NativeBuilder::new()?;
        let host = builder.call_conv();
        let mut ids = Vec::with_capacity(Host::ALL.len());
        for (_, function) in Host::ALL {
            let (id, ()) = builder
                .define(signature(CallConv::PreserveAll), Allocation::Backtracking, |b| forward(b, host, function))?;
            ids.push(id);
        }
        let code = builder.finish()?;
        Ok(HostFunctions { addresses: ids.into_iter().filter_map(|id| code.address(id)).collect(), _code: code })
    }

    /// Returns the address of the thunk for a host function. The calling convention of the thunk is
    /// [`CallConv::PreserveAll`].
    pub(super) fn address(&self, host: Host) -> i64 {
        self.addresses.get(host as usize).map_or(0, |&address| address as i64)
    }
}

/// Emits a thunk that passes its arguments to a host function.
fn forward(b: &mut FunctionBuilder<'_>, call_conv: CallConv, function: HostFunction) {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let args = b.block_params(entry).to_vec();
    let signature = b.import_signature(signature(call_conv));
    let callee = b.ins().iconst(I64, function as usize as i64);
    b.ins().call_indirect(signature, callee, &args);
    b.ins().return_(&[]);
}
