//! What selection and allocation are to everyone who does not care for which machine: the interface that each machine implements.

use std::any::Any;
use std::fmt::{Debug, Display};

use halfbyte_abi::{Poll, Target};
use halfbyte_ir::{Attr, InstData, Kernel, Legality, Refusal, Rule, Span};
use halfbyte_isa::object::Loc;

use crate::reasons;
use crate::regalloc::{self, AllocError, Allocator};
use crate::trace::Trace;

/// Selection for the targets of an instruction set.
pub trait Backend: Debug + Sync {
    /// What a target can do, for the passes before selection.
    fn legality(&self, target: Target) -> Legality;

    /// The rules, by the number that they leave in [`Selected::fired`].
    fn rules(&self) -> &'static [Rule] {
        &[]
    }

    /// The intrinsics of a kernel that are no instructions of the target: all, where it has none. Asked before the passes, which
    /// drop unused ones.
    fn check_intrinsics(&self, kernel: &Kernel, target: Target) -> Vec<Refusal> {
        let insts =
            kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts).map(|&inst| &kernel.insts[inst]);
        let refusal = |data: &InstData| {
            let Attr::Intrinsic(text) = data.attr else { return None };
            let reason = kernel.intrinsics.get(text).map(|text| reasons::of_another(&text.target));
            Some(Refusal { op: Some((data.op, data.ty)), span: data.span, target: target.name(), reason })
        };
        insts.filter_map(refusal).collect()
    }

    /// Selects the machine instructions of a verified kernel, and tells of it step by step where that is asked.
    ///
    /// # Errors
    /// Every op that no rule of the target matches, in the order of the text.
    fn select(&self, request: Request<'_>, scratch: &mut Scratch) -> Result<Selected, Vec<Refusal>>;

    /// Whether selected code holds instructions that stand for sequences, which [`SelectedCode::expand`] puts in their place.
    fn expands(&self) -> bool {
        false
    }
}

/// What is to be selected.
pub struct Request<'k> {
    /// The kernel, verified and lowered.
    pub kernel: &'k Kernel,
    /// One of the backend's targets.
    pub target: Target,
    /// The items of a group along x, y and z, where the kernel is lowered for launches that have no other groups.
    pub block: Option<[u32; 3]>,
    /// Finds the line and column of a place in the text.
    pub locate: &'k dyn Fn(Span) -> Loc,
    /// What is told of the selection.
    pub trace: Option<&'k mut Trace>,
    /// Whether selection is to end early; its result is dropped then.
    pub poll: Poll<'k>,
}

impl<'k> Request<'k> {
    /// For launches with groups of any size, without a trace, and never ended early.
    pub fn new(kernel: &'k Kernel, target: Target, locate: &'k dyn Fn(Span) -> Loc) -> Request<'k> {
        Request { kernel, target, block: None, locate, trace: None, poll: Poll::default() }
    }
}

/// Memory that a backend keeps from one kernel to the next.
#[derive(Default)]
pub struct Scratch(Option<Box<dyn Any + Send>>);

impl Scratch {
    /// What was kept, or a new one.
    pub fn take<T: Default + Send + 'static>(&mut self) -> Box<T> {
        self.0.take().and_then(|kept| kept.downcast().ok()).unwrap_or_default()
    }

    /// Keeps something for the next kernel.
    pub fn keep<T: Send + 'static>(&mut self, kept: Box<T>) {
        self.0 = Some(kept);
    }
}

/// A kernel's machine instructions, and how they came about.
#[derive(Debug)]
pub struct Selected {
    /// The instructions, on virtual registers.
    pub code: Box<dyn SelectedCode>,
    /// The numbers of the rules that were taken, in the order in which they were: places in [`Backend::rules`].
    pub fired: Vec<u32>,
}

/// A kernel's instructions on virtual registers. Shown, they are text for people.
pub trait SelectedCode: Any + Debug + Display {
    /// Puts sequences in the place of instructions that stand for them.
    ///
    /// # Errors
    /// What is wrong with the table of sequences.
    fn expand(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Gives it hardware registers, or takes it out of SSA form where the target's text names as many registers as it likes.
    ///
    /// # Errors
    /// Code that breaks the rules of its form, that is too large, or whose registers have no room.
    fn allocate(
        self: Box<Self>,
        allocator: &mut Allocator,
        options: &regalloc::Options<'_>,
    ) -> Result<Box<dyn AllocatedCode>, AllocError>;

    /// The instructions as assembly, without what they read and write.
    fn instructions(&self) -> Vec<String>;

    /// Where each of these comes from, in the same order; nothing where that is not kept.
    fn locs(&self) -> Vec<Loc> {
        Vec::new()
    }
}

/// A kernel's instructions with registers, in the order of the layout: what emission reads. Shown, they are text for people.
pub trait AllocatedCode: Any + Debug + Display {
    /// Stores of values that no register was left for.
    fn spills(&self) -> u32;
}

impl dyn SelectedCode {
    /// The code as what its target's own rooms know it as.
    pub fn downcast_ref<C: SelectedCode>(&self) -> Option<&C> {
        (self as &dyn Any).downcast_ref()
    }
}

impl dyn AllocatedCode {
    /// The code as what its target's own rooms know it as.
    pub fn downcast_ref<C: AllocatedCode>(&self) -> Option<&C> {
        (self as &dyn Any).downcast_ref()
    }

    /// The same, to keep.
    pub fn downcast<C: AllocatedCode>(self: Box<Self>) -> Option<Box<C>> {
        (self as Box<dyn Any>).downcast().ok()
    }
}
