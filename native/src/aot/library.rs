//! Builder of the functions of an object, including the functions that other functions call.

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, FuncRef, Function, InstBuilder, Signature, Value};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{DataDescription, DataId, FuncId, Linkage, Module, ModuleError, ModuleReloc};

use super::error::NoCode;
use super::machine::{Features, Machine};
use super::scalar::Scalar;
use super::soft::{self, Soft};
use crate::{clif, vir, x86};

/// Returns the signature of a function of gangs. The function takes a table and a number of items, and returns the
/// number of finished items.
fn gang_signature(convention: CallConv) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params = vec![AbiParam::new(I64); 2];
    signature.returns = vec![AbiParam::new(I64)];
    signature
}

/// Maximum number of Cranelift instructions of a function for which the slower register allocator is used. The
/// registers of larger functions are allocated in one pass.
const MOST_INSTRUCTIONS: usize = 1 << 15;

/// Builder of an object.
pub(super) struct Library<'m> {
    pub module: &'m mut dyn Module,
    /// Features of the machine.
    pub features: Features,
    one_pass: OwnedTargetIsa,
    /// The called soft functions, in the order of their first use.
    functions: Vec<(Soft, FuncId)>,
    /// Number of soft functions that have been defined.
    made: usize,
    /// Number of data objects, for their names.
    data: usize,
    /// Number of functions of gangs, for their names.
    gangs: usize,
    /// First error of a function that cannot return it.
    error: Option<NoCode>,
}

impl<'m> Library<'m> {
    pub fn new(module: &'m mut dyn Module, machine: &Machine) -> Library<'m> {
        let (features, one_pass) = (machine.features(), machine.one_pass.clone());
        Library { module, features, one_pass, functions: Vec::new(), made: 0, data: 0, gangs: 0, error: None }
    }

    /// Returns a soft function. Returns `None` if the module rejects the function; [`Library::finish`] returns the
    /// error.
    pub fn function(&mut self, soft: Soft) -> Option<FuncId> {
        if let Some((_, id)) = self.functions.iter().find(|(known, _)| *known == soft) {
            return Some(*id);
        }
        let signature = self.signature(soft);
        let name = format!("soft.{}", self.functions.len());
        match self.module.declare_function(&name, Linkage::Local, &signature) {
            Ok(id) => {
                self.functions.push((soft, id));
                Some(id)
            }
            Err(error) => {
                self.error.get_or_insert(error.into());
                None
            }
        }
    }

    /// Adds a function of gangs. Returns the function and the number of bytes of its table. Returns `None` if the
    /// function cannot be expressed in the vectors of the machine.
    pub fn gang_function(&mut self, function: &vir::Function) -> Option<(FuncId, u32)> {
        let made = if self.features.avx2 { self.gang_for_avx2(function) } else { self.gang_in_cranelift(function) };
        self.gangs += 1;
        match made {
            Ok(made) => made,
            Err(error) => {
                self.error.get_or_insert(error);
                None
            }
        }
    }

    fn declare_gang(&mut self, signature: &Signature) -> Result<FuncId, NoCode> {
        Ok(self.module.declare_function(&format!("gang.{}", self.gangs), Linkage::Local, signature)?)
    }

    fn gang_for_avx2(&mut self, function: &vir::Function) -> Result<Option<(FuncId, u32)>, NoCode> {
        /// Alignment of the code: a line of decoded instructions.
        const ALIGN: u64 = 32;
        let Some(code) = x86::emit::emit(function) else { return Ok(None) };
        let id = self.declare_gang(&gang_signature(CallConv::SystemV))?;
        self.module.define_function_bytes(id, ALIGN, &code.bytes, &[])?;
        Ok(Some((id, code.table)))
    }

    fn gang_in_cranelift(&mut self, function: &vir::Function) -> Result<Option<(FuncId, u32)>, NoCode> {
        let mut context = self.module.make_context();
        context.func.signature = gang_signature(self.module.target_config().default_call_conv);
        let mut frontend = FunctionBuilderContext::new();
        let mut b = FunctionBuilder::new(&mut context.func, &mut frontend);
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        if clif::emit::emit(&mut b, function, self.features.fma).is_none() {
            return Ok(None);
        }
        b.seal_all_blocks();
        b.finalize(self.module.target_config());
        let id = self.declare_gang(&context.func.signature)?;
        self.define_context(id, &mut context)?;
        Ok(Some((id, 8 * function.inputs.len() as u32)))
    }

    pub fn import(&mut self, id: FuncId, into: &mut Function) -> FuncRef {
        self.module.declare_func_in_func(id, into)
    }

    fn signature(&self, soft: Soft) -> Signature {
        let mut signature = self.module.make_signature();
        signature.params = vec![AbiParam::new(if soft == Soft::Zero { I64 } else { I32 }); soft.operands()];
        signature.returns = vec![AbiParam::new(I32); soft.results()];
        signature
    }

    /// Adds a function that other modules can call by its name.
    pub fn export(
        &mut self,
        name: &str,
        signature: Signature,
        build: impl FnOnce(&mut Scalar<'_, '_, 'm>),
    ) -> Result<(), NoCode> {
        let id = self.module.declare_function(name, Linkage::Export, &signature)?;
        self.define(id, signature, build)
    }

    fn define(
        &mut self,
        id: FuncId,
        signature: Signature,
        build: impl FnOnce(&mut Scalar<'_, '_, 'm>),
    ) -> Result<(), NoCode> {
        let mut context = self.module.make_context();
        context.func.signature = signature;
        let mut frontend = FunctionBuilderContext::new();
        let mut b = FunctionBuilder::new(&mut context.func, &mut frontend);
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        build(&mut Scalar::new(&mut b, self));
        b.seal_all_blocks();
        b.finalize(self.module.target_config());
        self.define_context(id, &mut context)
    }

    fn define_context(&mut self, id: FuncId, context: &mut Context) -> Result<(), NoCode> {
        if context.func.dfg.num_insts() <= MOST_INSTRUCTIONS {
            return Ok(self.module.define_function(id, context)?);
        }
        context.compile(self.one_pass.as_ref(), &mut ControlPlane::default()).map_err(ModuleError::from)?;
        let Some(code) = context.compiled_code() else { return Ok(()) };
        let relocs = code.buffer.relocs().iter();
        let relocs: Vec<_> = relocs.map(|reloc| ModuleReloc::from_mach_reloc(reloc, &context.func, id)).collect();
        Ok(self.module.define_function_bytes(id, code.buffer.alignment.into(), code.code_buffer(), &relocs)?)
    }

    /// Adds read-only data with an alignment.
    pub fn constant(&mut self, bytes: &[u8], align: u64) -> Result<DataId, NoCode> {
        let name = format!("data.{}", self.data);
        self.data += 1;
        let id = self.module.declare_data(&name, Linkage::Local, false, false)?;
        let mut data = DataDescription::new();
        data.define(bytes.into());
        data.set_align(align);
        self.module.define_data(id, &data)?;
        Ok(id)
    }

    /// Defines the called soft functions, and the soft functions that these call.
    pub fn finish(&mut self) -> Result<(), NoCode> {
        while let Some(&(soft, id)) = self.functions.get(self.made) {
            self.made += 1;
            let signature = self.signature(soft);
            self.define(id, signature, |scalar| {
                let entry = scalar.b.current_block();
                let args: Vec<Value> = entry.map_or(Vec::new(), |entry| scalar.b.block_params(entry).to_vec());
                let results = soft::body(scalar, soft, &args);
                scalar.b.ins().return_(&results);
            })?;
        }
        self.error.take().map_or(Ok(()), Err)
    }
}
