//! The functions of an object on their way, with those that others call.

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

/// Returns the signature of a function of gangs: it takes a table and a number of items, and returns the number of items
/// that are done.
fn gang_signature() -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params = vec![AbiParam::new(I64); 2];
    signature.returns = vec![AbiParam::new(I64)];
    signature
}

/// Of functions of more instructions of Cranelift's registers are allocated in one pass.
const MOST_INSTRUCTIONS: usize = 1 << 15;

/// An object on its way.
pub(super) struct Library<'m> {
    pub module: &'m mut dyn Module,
    /// What the machine has.
    pub features: Features,
    one_pass: OwnedTargetIsa,
    /// The soft functions that something calls, in the order in which they were met.
    functions: Vec<(Soft, FuncId)>,
    /// How many of them have been made.
    made: usize,
    /// Data, counted for their names.
    data: usize,
    /// Functions of gangs, likewise.
    gangs: usize,
    /// What went wrong where nothing can be returned.
    error: Option<NoCode>,
}

impl<'m> Library<'m> {
    pub fn new(module: &'m mut dyn Module, machine: &Machine) -> Library<'m> {
        let (features, one_pass) = (machine.features(), machine.one_pass.clone());
        Library { module, features, one_pass, functions: Vec::new(), made: 0, data: 0, gangs: 0, error: None }
    }

    /// A soft function; none where the module refuses it, which [`Library::finish`] then says.
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

    /// Adds a function of gangs. Returns `None` if the module refuses it.
    pub fn gang_function(&mut self, code: &[u8]) -> Option<FuncId> {
        /// Alignment of the code: a line of decoded instructions.
        const ALIGN: u64 = 32;
        let name = format!("gang.{}", self.gangs);
        self.gangs += 1;
        let made = self.module.declare_function(&name, Linkage::Local, &gang_signature());
        let made = made.map_err(NoCode::from).and_then(|id| {
            self.module.define_function_bytes(id, ALIGN, code, &[])?;
            Ok(id)
        });
        match made {
            Ok(id) => Some(id),
            Err(error) => {
                self.error.get_or_insert(error);
                None
            }
        }
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

    /// Adds a function that others may call by its name.
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
        if context.func.dfg.num_insts() <= MOST_INSTRUCTIONS {
            return Ok(self.module.define_function(id, &mut context)?);
        }
        context.compile(self.one_pass.as_ref(), &mut ControlPlane::default()).map_err(ModuleError::from)?;
        let Some(code) = context.compiled_code() else { return Ok(()) };
        let relocs = code.buffer.relocs().iter();
        let relocs: Vec<_> = relocs.map(|reloc| ModuleReloc::from_mach_reloc(reloc, &context.func, id)).collect();
        Ok(self.module.define_function_bytes(id, code.buffer.alignment.into(), code.code_buffer(), &relocs)?)
    }

    /// Data that nobody writes, aligned.
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

    /// Makes the soft functions that are called, and those that these call.
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
