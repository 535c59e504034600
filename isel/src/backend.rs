//! Interface of instruction selection and register allocation, which each instruction set implements.

use std::any::Any;
use std::fmt::{Debug, Display};

use halfbyte_abi::{Poll, Target};
use halfbyte_ir::{Attr, InstData, Kernel, Legality, Refusal, Rule, Span};
use halfbyte_isa::object::Loc;

use crate::reasons;
use crate::regalloc::{self, AllocError, Allocator};
use crate::trace::Trace;

/// Instruction selection for the targets of one instruction set.
pub trait Backend: Debug + Sync {
    /// Returns the operations that a target supports, for the passes before selection.
    fn legality(&self, target: Target) -> Legality;

    /// Returns the rules. [`Selected::fired`] holds indices into this table.
    fn rules(&self) -> &'static [Rule] {
        &[]
    }

    /// Returns a refusal for every intrinsic of the kernel that is not an instruction of the target. The default
    /// refuses all intrinsics. The check runs before the passes, because they drop unused intrinsics.
    fn check_intrinsics(&self, kernel: &Kernel, target: Target) -> Vec<Refusal> {
        let insts =
            kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts).map(|&inst| &kernel.insts[inst]);
        let refusal = |data: &InstData| {
            let Attr::Intrinsic(text) = data.attr else { return None };
            let reason = kernel.intrinsics.get(text).map(|text| reasons::wrong_target(&text.target));
            Some(Refusal { op: Some((data.op, data.ty)), span: data.span, target: target.name(), reason })
        };
        insts.filter_map(refusal).collect()
    }

    /// Selects the machine instructions of a verified kernel, and records a trace if the request asks for one.
    ///
    /// # Errors
    /// Returns every op that no rule of the target matches, in source order.
    fn select(&self, request: Request<'_>, scratch: &mut Scratch) -> Result<Selected, Vec<Refusal>>;

    /// Returns `true` if selected code can contain pseudo-instructions, which
    /// [`SelectedCode::expand`] replaces by sequences of instructions.
    fn has_pseudo_instructions(&self) -> bool {
        false
    }
}

/// Kernel to select instructions for, with the target and the options of selection.
pub struct Request<'k> {
    /// The verified and lowered kernel.
    pub kernel: &'k Kernel,
    /// Target to compile for, which must be a target of the backend.
    pub target: Target,
    /// Group size along x, y and z, if the kernel is compiled for exactly this size.
    pub block: Option<[u32; 3]>,
    /// Converts a span of the source to a line and column.
    pub locate: &'k dyn Fn(Span) -> Loc,
    /// Receiver of the selection trace, if any.
    pub trace: Option<&'k mut Trace>,
    /// Poll for cancellation. A cancelled selection returns an empty list of refusals.
    pub poll: Poll<'k>,
}

impl<'k> Request<'k> {
    /// Creates a request for groups of any size, without a trace and without cancellation.
    pub fn new(kernel: &'k Kernel, target: Target, locate: &'k dyn Fn(Span) -> Loc) -> Request<'k> {
        Request { kernel, target, block: None, locate, trace: None, poll: Poll::default() }
    }
}

/// Memory that a backend reuses from one kernel to the next.
#[derive(Default)]
pub struct Scratch(Option<Box<dyn Any + Send>>);

impl Scratch {
    /// Returns the value that was stored for reuse, or a default value if none of type `T` is stored.
    pub fn take<T: Default + Send + 'static>(&mut self) -> Box<T> {
        self.0.take().and_then(|kept| kept.downcast().ok()).unwrap_or_default()
    }

    /// Stores a value for reuse in the selection of the next kernel.
    pub fn keep<T: Send + 'static>(&mut self, kept: Box<T>) {
        self.0 = Some(kept);
    }
}

/// Result of selection: the machine instructions of a kernel, and the rules that selected them.
#[derive(Debug)]
pub struct Selected {
    /// Machine instructions on virtual registers.
    pub code: Box<dyn SelectedCode>,
    /// Indices into [`Backend::rules`] of the rules that fired, in the order in which they fired.
    pub fired: Vec<u32>,
}

/// Machine instructions of a kernel on virtual registers. `Display` prints them as readable text.
pub trait SelectedCode: Any + Debug + Display {
    /// Replaces pseudo-instructions by the sequences that implement them.
    ///
    /// # Errors
    /// Returns a message if the table of sequences is malformed.
    fn expand(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Assigns hardware registers to the virtual registers. PTX code may name any number of
    /// registers, so for PTX this function takes the code out of SSA form instead.
    ///
    /// # Errors
    /// Fails if the code breaks an invariant, is too large, or needs more registers and spill
    /// memory than the target has.
    fn allocate(
        self: Box<Self>,
        allocator: &mut Allocator,
        options: &regalloc::Options<'_>,
    ) -> Result<Box<dyn AllocatedCode>, AllocError>;

    /// Returns the instructions as assembly, without the virtual registers of their operands.
    fn instructions(&self) -> Vec<String>;

    /// Returns the source location of each instruction, in the order of
    /// [`SelectedCode::instructions`]. The result is empty if locations are not kept.
    fn locs(&self) -> Vec<Loc> {
        Vec::new()
    }
}

/// Machine instructions of a kernel after register allocation, in layout order, which the emission
/// of objects reads. `Display` prints them as readable text.
pub trait AllocatedCode: Any + Debug + Display {
    /// Returns the number of spill stores.
    fn spills(&self) -> u32;
}

impl dyn SelectedCode {
    /// Returns the selected code as the type `C` of one target, or `None` if it is of another target.
    pub fn downcast_ref<C: SelectedCode>(&self) -> Option<&C> {
        (self as &dyn Any).downcast_ref()
    }
}

impl dyn AllocatedCode {
    /// Returns the allocated code as the type `C` of one target, or `None` if it is of another target.
    pub fn downcast_ref<C: AllocatedCode>(&self) -> Option<&C> {
        (self as &dyn Any).downcast_ref()
    }

    /// Converts the allocated code into the type `C` of one target, or returns `None` if the code is of another target.
    pub fn downcast<C: AllocatedCode>(self: Box<Self>) -> Option<Box<C>> {
        (self as Box<dyn Any>).downcast().ok()
    }
}
