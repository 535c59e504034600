//! Native code for the host, compiled by Cranelift.

use std::mem::ManuallyDrop;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::OnceLock;

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{Signature, types::I64};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable, Flags};
use cranelift_codegen::{CodegenError, Context};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError, ModuleReloc, default_libcall_names};

use super::NativeError;

impl From<ModuleError> for NativeError {
    fn from(error: ModuleError) -> NativeError {
        match error {
            ModuleError::Compilation(CodegenError::CodeTooLarge | CodegenError::ImplLimitExceeded) => {
                NativeError::TooLarge
            }
            error => NativeError::Code(error.to_string()),
        }
    }
}

/// Register allocation algorithm for the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allocation {
    /// For code with loops: values stay in registers.
    Backtracking,
    /// For code that runs once a call: compilation takes much less time, and most values lie in memory.
    SinglePass,
}

/// Returns Cranelift's target for the host. Cranelift does not optimise, because worthwhile optimisations have already
/// been applied to the machine code. Further ones would cost more time than they save.
fn host(allocation: Allocation) -> Result<OwnedTargetIsa, NativeError> {
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    let algorithm = match allocation {
        Allocation::Backtracking => "backtracking",
        Allocation::SinglePass => "single_pass",
    };
    let set = [
        ("opt_level", "none"),
        ("regalloc_algorithm", algorithm),
        ("is_pic", "false"),
        ("unwind_info", "false"),
        // Frames may exceed the guard page below a stack.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("enable_verifier", verify),
    ];
    for (name, value) in set {
        flags.set(name, value).map_err(|error| NativeError::Host(error.to_string()))?;
    }
    let builder = cranelift_native::builder().map_err(|error| NativeError::Host(error.to_owned()))?;
    let isa = builder.finish(Flags::new(flags)).map_err(|error| NativeError::Host(error.to_string()))?;
    if isa.pointer_type() == I64 {
        Ok(isa)
    } else {
        Err(NativeError::Host("its pointers are not of 64 bits".to_owned()))
    }
}

/// Returns the target for the host, which is looked up only once.
fn known_host(allocation: Allocation) -> Result<OwnedTargetIsa, NativeError> {
    static KNOWN: [OnceLock<Result<OwnedTargetIsa, NativeError>>; 2] = [OnceLock::new(), OnceLock::new()];
    let [backtracking, single_pass] = &KNOWN;
    let known = match allocation {
        Allocation::Backtracking => backtracking,
        Allocation::SinglePass => single_pass,
    };
    known.get_or_init(|| host(allocation)).clone()
}

/// Builder of native functions.
pub struct NativeBuilder {
    isa: OwnedTargetIsa,
    module: NativeModule,
    context: Context,
    frontend: FunctionBuilderContext,
    functions: Vec<FuncId>,
    bytes: usize,
}

/// Number of a function in a [`NativeCode`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FunctionId(u32);

impl NativeBuilder {
    /// Returns a builder for the host.
    ///
    /// # Errors
    /// There is no native code for this computer.
    pub fn new() -> Result<NativeBuilder, NativeError> {
        let isa = known_host(Allocation::Backtracking)?;
        let module = JITModule::new(JITBuilder::with_isa(isa.clone(), default_libcall_names()));
        let context = module.make_context();
        Ok(NativeBuilder {
            isa,
            module: NativeModule::new(module),
            context,
            frontend: FunctionBuilderContext::new(),
            functions: Vec::new(),
            bytes: 0,
        })
    }

    /// Returns the calling convention of `extern "C"` functions.
    pub fn call_conv(&self) -> CallConv {
        self.isa.default_call_conv()
    }

    /// Adds a function. `build` creates its blocks; this function seals and finalises them.
    pub fn define<R>(
        &mut self,
        signature: Signature,
        allocation: Allocation,
        build: impl FnOnce(&mut FunctionBuilder<'_>) -> R,
    ) -> Result<(FunctionId, R), NativeError> {
        self.define_as_built(signature, |b| (allocation, build(b)))
    }

    /// Adds a function whose `build` also chooses the register allocation.
    pub fn define_as_built<R>(
        &mut self,
        signature: Signature,
        build: impl FnOnce(&mut FunctionBuilder<'_>) -> (Allocation, R),
    ) -> Result<(FunctionId, R), NativeError> {
        let module: &mut JITModule = &mut self.module.0;
        module.clear_context(&mut self.context);
        self.context.func.signature = signature;
        let mut b = FunctionBuilder::new(&mut self.context.func, &mut self.frontend);
        let (allocation, made) = build(&mut b);
        b.seal_all_blocks();
        b.finalize(self.isa.frontend_config());
        let id = module.declare_anonymous_function(&self.context.func.signature)?;
        let isa = known_host(allocation)?;
        self.context.compile(isa.as_ref(), &mut ControlPlane::default()).map_err(ModuleError::from)?;
        if let Some(code) = self.context.compiled_code() {
            let relocs = code.buffer.relocs().iter();
            let relocs: Vec<_> =
                relocs.map(|reloc| ModuleReloc::from_mach_reloc(reloc, &self.context.func, id)).collect();
            module.define_function_bytes(id, code.buffer.alignment.into(), code.code_buffer(), &relocs)?;
            self.bytes += code.code_buffer().len();
        }
        self.functions.push(id);
        Ok((FunctionId(self.functions.len() as u32 - 1), made))
    }

    /// Adds a function by its machine code, which refers to nothing outside it.
    pub fn define_code(&mut self, code: &[u8]) -> Result<FunctionId, NativeError> {
        /// Alignment of a function: a line of decoded instructions.
        const ALIGN: u64 = 32;
        let module: &mut JITModule = &mut self.module.0;
        let id = module.declare_anonymous_function(&Signature::new(CallConv::SystemV))?;
        module.define_function_bytes(id, ALIGN, code, &[])?;
        self.bytes += code.len();
        self.functions.push(id);
        Ok(FunctionId(self.functions.len() as u32 - 1))
    }

    /// Makes all functions callable.
    pub fn finish(self) -> Result<NativeCode, NativeError> {
        let NativeBuilder { mut module, functions, bytes, .. } = self;
        module.0.finalize_definitions()?;
        let functions = functions.into_iter().map(|id| module.0.get_finalized_function(id)).collect();
        Ok(NativeCode { functions, bytes, _module: module })
    }
}

/// Native code, which is freed when this value is dropped.
pub struct NativeCode {
    functions: Vec<*const u8>,
    /// Number of bytes of all functions.
    pub bytes: usize,
    _module: NativeModule,
}

// SAFETY: finished code does not change, and the module is kept only to be freed.
unsafe impl Send for NativeCode {}
// SAFETY: likewise.
unsafe impl Sync for NativeCode {}

// Only the module could be observed half changed, and no caller sees the module.
impl UnwindSafe for NativeCode {}
impl RefUnwindSafe for NativeCode {}

impl NativeCode {
    /// Returns the address of a function, or `None` if the function is not part of this code. The caller casts the
    /// address to the type of the function's signature. The address is valid for as long as the code exists.
    pub fn address(&self, function: FunctionId) -> Option<*const u8> {
        self.functions.get(function.0 as usize).copied()
    }

    /// Returns the number of functions.
    pub fn functions(&self) -> usize {
        self.functions.len()
    }
}

/// A module that frees its memory, which a [`JITModule`] alone does not.
pub(crate) struct NativeModule(ManuallyDrop<JITModule>);

impl NativeModule {
    /// Wraps a module. Addresses of its functions must not be called after this value is dropped.
    pub fn new(module: JITModule) -> NativeModule {
        NativeModule(ManuallyDrop::new(module))
    }
}

impl Drop for NativeModule {
    fn drop(&mut self) {
        // SAFETY: this is the only place that takes the module, and it does so once.
        let module = unsafe { ManuallyDrop::take(&mut self.0) };
        // SAFETY: an owner that hands out addresses of functions keeps this value for as long as they may be called.
        unsafe { module.free_memory() };
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use cranelift_codegen::ir::types::I32;
    use cranelift_codegen::ir::{AbiParam, InstBuilder};

    use super::*;

    fn signature(builder: &NativeBuilder) -> Signature {
        let mut signature = Signature::new(builder.call_conv());
        signature.params.push(AbiParam::new(I32));
        signature.returns.push(AbiParam::new(I32));
        signature
    }

    fn plus(b: &mut FunctionBuilder<'_>, addend: i64) {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let addend = b.ins().iconst(I32, addend);
        let x = b.block_params(entry)[0];
        let sum = b.ins().iadd(x, addend);
        b.ins().return_(&[sum]);
    }

    #[test]
    fn functions_can_be_called() {
        let mut builder = NativeBuilder::new().unwrap();
        let ways = [(3, Allocation::Backtracking), (40, Allocation::SinglePass)];
        let ids = ways.map(|(addend, allocation)| {
            let signature = signature(&builder);
            builder.define(signature, allocation, |b| plus(b, addend)).unwrap().0
        });
        let code = builder.finish().unwrap();
        assert_eq!(code.functions(), 2);
        assert!(code.bytes > 0);
        let call = |id: FunctionId| {
            let address = code.address(id).unwrap();
            // SAFETY: the function was made with this signature.
            unsafe { std::mem::transmute::<*const u8, extern "C" fn(u32) -> u32>(address)(2) }
        };
        assert_eq!(ids.map(call), [5, 42]);
        assert_eq!(code.address(FunctionId(2)), None);
    }

    #[test]
    fn memory_is_given_back() {
        // If the memory were kept, there would be more mappings than a process may have.
        for _ in 0..70_000 / 8 {
            let mut builder = NativeBuilder::new().unwrap();
            let signature = signature(&builder);
            builder.define(signature, Allocation::SinglePass, |b| plus(b, 1)).unwrap();
            drop(builder.finish().unwrap());
        }
    }

    #[test]
    fn code_that_does_not_verify_is_an_error() {
        let mut builder = NativeBuilder::new().unwrap();
        let signature = signature(&builder);
        let wrong = |b: &mut FunctionBuilder<'_>| {
            let entry = b.create_block();
            b.switch_to_block(entry);
            b.ins().return_(&[]);
        };
        if cfg!(debug_assertions) {
            assert!(matches!(builder.define(signature, Allocation::Backtracking, wrong), Err(NativeError::Code(_))));
        }
    }
}
