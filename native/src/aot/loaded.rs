//! The functions of an object in the memory of this process.

use std::fmt;

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, FuncOrDataId, Linkage, Module, default_libcall_names};
use halfbyte_abi::{Arg, Param, ParamKind, Shape};

use super::error::Error;
use super::machine::Machine;
use super::memory::here;
use super::status::Status;
use super::{Function, Kernel, Options, add_all};
use crate::clif::NativeModule;

/// Functions that can be called.
pub struct Loaded {
    /// Descriptions of the functions, in the requested order.
    pub functions: Vec<Function>,
    /// Entry of each function. The entry takes the address of the arguments, which are words of 64 bits.
    entries: Vec<*const u8>,
    _module: NativeModule,
}

// SAFETY: finished code does not change, and it has no state.
unsafe impl Send for Loaded {}
// SAFETY: as for `Send`.
unsafe impl Sync for Loaded {}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("functions", &self.functions).finish_non_exhaustive()
    }
}

/// Reason why a function did not complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trapped {
    /// Status that the function returned.
    pub status: Status,
    /// The item that trapped, or the number of the invalid argument's parameter.
    pub item: u32,
    /// Line of the kernel's text, or 0 if the line is unknown.
    pub line: u32,
    /// Number of the instruction.
    pub word: u32,
    /// The accessed address, or the address of the invalid buffer.
    pub address: u64,
}

impl fmt::Display for Trapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trapped { status, item, line, word, address } = self;
        match status.is_of_arguments() {
            true => write!(f, "argument {item}: {}", status.summary()),
            false => write!(f, "item {item}, word {word:#x}, line {line}: {}, at {address:#x}", status.summary()),
        }
    }
}

impl std::error::Error for Trapped {}

/// Trap record that a function writes if it does not complete.
#[repr(C)]
#[derive(Default)]
struct Record {
    kind: u32,
    item: u32,
    line: u32,
    word: u32,
    address: u64,
}

/// Compiles kernels to functions in the memory of this process, each with a name. The code equals that of an object.
///
/// # Errors
/// As for [`object()`](super::object).
pub fn load(kernels: &[(&str, &impl Kernel)], options: &Options) -> Result<Loaded, Error> {
    let machine = Machine::in_memory()?;
    let mut module = JITModule::new(JITBuilder::with_isa(machine.isa.clone(), default_libcall_names()));
    let functions = add_all(&mut module, &machine, kernels, options)?;
    let mut entered = Vec::new();
    for function in &functions {
        if let Some(FuncOrDataId::Func(id)) = module.get_name(&function.symbol) {
            entered.push(entry(&mut module, id, &function.symbol)?);
        }
    }
    module.finalize_definitions()?;
    let entries = entered.into_iter().map(|id| module.get_finalized_function(id)).collect();
    Ok(Loaded { functions, entries, _module: NativeModule::new(module) })
}

/// Defines a function that loads arguments from memory and calls another function with them.
fn entry(module: &mut JITModule, id: FuncId, name: &str) -> Result<FuncId, Error> {
    let called = module.declarations().get_function_decl(id).signature.clone();
    let mut signature = module.make_signature();
    signature.params.push(AbiParam::new(I64));
    signature.returns.push(AbiParam::new(I32));
    let entry = module.declare_function(&format!("enter.{name}"), Linkage::Local, &signature)?;
    let mut context = module.make_context();
    context.func.signature = signature;
    let mut frontend = cranelift_frontend::FunctionBuilderContext::new();
    let mut b = cranelift_frontend::FunctionBuilder::new(&mut context.func, &mut frontend);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    let params: Vec<_> = b.block_params(block).to_vec();
    let args: Vec<_> = (0..)
        .zip(&called.params)
        .filter_map(|(k, param)| Some(b.ins().load(param.value_type, here(), *params.first()?, 8 * k)))
        .collect();
    let callee = module.declare_func_in_func(id, b.func);
    let call = b.ins().call(callee, &args);
    let results: Vec<_> = b.inst_results(call).to_vec();
    b.ins().return_(&results);
    b.seal_all_blocks();
    b.finalize(module.target_config());
    module.define_function(entry, &mut context)?;
    Ok(entry)
}

impl Loaded {
    /// Calls a function by its number on the items of a shape. A function that takes no grid runs the items along x.
    ///
    /// # Errors
    /// An argument is invalid, or an item traps.
    pub fn call(&self, number: usize, shape: &Shape, args: &mut [Arg<'_>]) -> Result<(), Trapped> {
        let refused = |status: Status, item: u32| Trapped { status, item, line: 0, word: 0, address: 0 };
        let (Some(function), Some(&entry)) = (self.functions.get(number), self.entries.get(number)) else {
            return Err(refused(Status::Other, 0));
        };
        let mut words: Vec<u64> = Vec::new();
        let sizes = [shape.grid, shape.block];
        match function.takes_grid {
            true => words.extend(sizes.iter().map(|counts| counts.as_ptr() as u64)),
            false => words.push(shape.items().map_err(|_| refused(Status::Items, 0))?.into()),
        }
        // Scalars that are passed by address.
        let wide: Vec<[u64; 2]> = args
            .iter()
            .map(|arg| match *arg {
                Arg::Scalar(bits) => [bits as u64, (bits >> 64) as u64],
                _ => [0; 2],
            })
            .collect();
        let places: Vec<(u64, usize)> = args
            .iter_mut()
            .map(|arg| match arg {
                Arg::In(bytes) => (bytes.as_ptr() as u64, bytes.len()),
                Arg::Buffer(bytes) => (bytes.as_mut_ptr() as u64, bytes.len()),
                Arg::Scalar(_) | Arg::Alias { .. } => (0, 0),
            })
            .collect();
        if args.len() != function.parameters.len() {
            return Err(refused(Status::Other, args.len() as u32));
        }
        for (k, (arg, param)) in args.iter().zip(&function.parameters).enumerate() {
            match (param.kind, arg) {
                (ParamKind::Scalar(ty), Arg::Scalar(bits)) => words.push(match (ty.bytes(), wide.get(k)) {
                    (9.., Some(wide)) => wide.as_ptr() as u64,
                    _ => *bits as u64,
                }),
                (ParamKind::Buffer { .. }, Arg::Alias { of, offset }) => {
                    let Some(&(start, bytes)) = places.get(*of) else { return Err(refused(Status::Other, k as u32)) };
                    if param.kind.is_written() && !matches!(args.get(*of), Some(Arg::Buffer(_))) {
                        return Err(refused(Status::ReadOnly, k as u32));
                    }
                    let left = (bytes as u64).checked_sub(*offset).ok_or(refused(Status::Other, k as u32))?;
                    words.extend([start + offset, left / u64::from(elem_bytes(param))]);
                }
                (kind @ ParamKind::Buffer { .. }, Arg::In(_) | Arg::Buffer(_)) => {
                    if kind.is_written() && matches!(arg, Arg::In(_)) {
                        return Err(refused(Status::ReadOnly, k as u32));
                    }
                    let (start, bytes) = places.get(k).copied().unwrap_or_default();
                    words.extend([start, bytes as u64 / u64::from(elem_bytes(param))]);
                }
                _ => return Err(refused(Status::Other, k as u32)),
            }
        }
        let mut record = Record::default();
        words.push(std::ptr::from_mut(&mut record) as u64);
        // SAFETY: the entry was made with this signature. The number and the kinds of the arguments are those of the
        // parameters. Buffers are lent for the call, and written buffers are lent as mutable. The function accesses
        // nothing beyond the lengths of the buffers.
        let code = unsafe {
            let entry = std::mem::transmute::<*const u8, extern "C" fn(*const u64) -> i32>(entry);
            entry(words.as_ptr())
        };
        if code == 0 {
            return Ok(());
        }
        let status = Status::from_code(code).unwrap_or(Status::Other);
        let Record { item, line, word, address, .. } = record;
        Err(Trapped { status, item, line, word, address })
    }
}

fn elem_bytes(param: &Param) -> u32 {
    param.ty().bytes().max(1)
}
