//! The targets that there are: the one list that ties together what each room has for them.

use halfbyte_abi::{Sm, Target};
use halfbyte_emit::{Code, Emitter, LayoutError, listing};
use halfbyte_ir::eval::{IntrinsicFn, Intrinsics};
use halfbyte_ir::{IntrinsicData, Kernel, Legality, Refusal, Rule, Type};
use halfbyte_isa::isa::Isa;
use halfbyte_isel::{AllocatedCode, Backend, Request, Scratch, Selected};
use halfbyte_runtime::{Engine, LoadError, Machine, Program};

#[cfg(any(feature = "halu", feature = "vp1"))]
use crate::intrinsics;

/// What an intrinsic computes, on operands and with a result of these types.
pub type Meaning = for<'a> fn(&'a str, &[Type], Type) -> Result<IntrinsicFn<'a>, String>;

/// An instruction set and everything that is done for its targets.
#[derive(Clone, Copy, Debug)]
pub struct Support {
    /// Its instructions, and how objects hold them.
    pub isa: &'static dyn Isa,
    /// How kernels are selected for it.
    pub isel: &'static dyn Backend,
    /// How they are laid out.
    pub emit: &'static dyn Emitter,
    /// What runs them.
    pub runtime: &'static dyn Machine,
    /// What its instructions mean as intrinsics, where they can be such.
    pub intrinsics: Option<Meaning>,
}

/// A list of targets. A program that has one of its own adds it to those here, [`BUILT_IN`], in a list of its own.
#[derive(Clone, Copy, Debug)]
pub struct TargetSet(&'static [Support]);

/// What halfbyte itself has, a line an instruction set.
#[rustfmt::skip]
pub const BUILT_IN: &[Support] = &[
    #[cfg(feature = "halu")]
    Support { isa: &halfbyte_isa::halu::Halu, isel: &halfbyte_isel::Halu, emit: &halfbyte_isel::Halu, runtime: &halfbyte_runtime::Halu, intrinsics: Some(intrinsics::halu::resolve) },
    #[cfg(feature = "vp1")]
    Support { isa: &halfbyte_isa::vp1::Vp1,   isel: &halfbyte_isel::Vp1,  emit: &halfbyte_isel::Vp1,  runtime: &halfbyte_runtime::Vp1,  intrinsics: Some(intrinsics::vp1::resolve) },
    #[cfg(feature = "ptx")]
    Support { isa: &halfbyte_isa::ptx::Ptx,   isel: &halfbyte_isel::Ptx,  emit: &halfbyte_isel::Ptx,  runtime: &halfbyte_runtime::Ptx,  intrinsics: None },
];

/// The targets that are meant where nothing else is said.
pub static TARGETS: TargetSet = TargetSet(BUILT_IN);

impl TargetSet {
    /// A list of these. Names and numbers in objects are to differ.
    pub const fn new(all: &'static [Support]) -> TargetSet {
        TargetSet(all)
    }

    /// What there is for a target.
    pub fn support(&self, target: Target) -> Option<&'static Support> {
        self.0.iter().find(|support| support.isa.targets().contains(&target))
    }

    /// The target of each instruction set that is meant where no SM version is given, in the order of the list.
    pub fn defaults(&self) -> impl Iterator<Item = Target> {
        self.0.iter().map(|support| support.isa.default_target())
    }

    /// Every target.
    pub fn all(&self) -> impl Iterator<Item = Target> {
        self.0.iter().flat_map(|support| support.isa.targets().iter().copied())
    }

    /// The target of a name, which is meant where no SM version is given.
    pub fn named(&self, name: &str) -> Option<Target> {
        self.defaults().find(|target| target.name() == name)
    }

    /// Targets of the same instruction set as this one that together have every set of its instructions.
    pub fn representatives(&self, target: Target) -> Vec<Target> {
        self.support(target).map_or(Vec::new(), |support| support.isa.representatives())
    }

    /// The target of the same instruction set for an SM, where it has such.
    pub fn for_sm(&self, target: Target, sm: Sm) -> Option<Target> {
        let targets = self.support(target)?.isa.targets();
        targets.iter().copied().find(|target| target.sm() == Some(sm))
    }

    /// All names for a message: `halu, vp1 or ptx`.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.defaults().map(Target::name).collect();
        match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    /// The selection rules of a target; none of one that is not in the list.
    pub fn rules(&self, target: Target) -> &'static [Rule] {
        self.support(target).map_or(&[], |support| support.isel.rules())
    }

    /// What a target can do, for the passes; nothing where it is not in the list.
    pub fn legality(&self, target: Target) -> Legality {
        let nothing = || Legality::new(target.name(), [], |_, _| None);
        self.support(target).map_or_else(nothing, |support| support.isel.legality(target))
    }

    /// The intrinsics of a kernel that are no instructions of a target.
    pub fn check_intrinsics(&self, kernel: &Kernel, target: Target) -> Vec<Refusal> {
        self.support(target).map_or(Vec::new(), |support| support.isel.check_intrinsics(kernel, target))
    }

    /// Selects the machine instructions of a verified and lowered kernel.
    ///
    /// # Errors
    /// Every op that no rule of the target matches; a target that is not in the list.
    pub fn select(&self, request: Request<'_>) -> Result<Selected, Vec<Refusal>> {
        let Some(support) = self.support(request.target) else {
            let reason = Some("it is not in the list of targets".to_owned());
            let (span, target) = (request.kernel.span, request.target.name());
            return Err(vec![Refusal { op: None, span, target, reason }]);
        };
        support.isel.select(request, &mut Scratch::default())
    }

    /// Lays a machine function out.
    ///
    /// # Errors
    /// A function that breaks the rules of its form; a target that is not in the list.
    pub fn layout(&self, target: Target, func: Box<dyn AllocatedCode>) -> Result<Code, LayoutError> {
        self.support(target).ok_or(LayoutError::Backend)?.emit.layout(func)
    }

    /// Words beside their assembly and the text they come from; see [`halfbyte_emit::listing`].
    pub fn listing(&self, code: &Code, source: &str, text: Option<&str>) -> String {
        let support = self.support(code.words.target());
        support.map_or(String::new(), |support| listing(support.emit, code, source, text))
    }

    /// Whether an engine runs kernels for a target.
    pub fn runs(&self, engine: Engine, target: Target) -> bool {
        self.support(target).is_some_and(|support| support.runtime.runs(engine))
    }

    /// Reads an object for one of the targets.
    ///
    /// # Errors
    /// Bytes that are no object of this version for one of them.
    pub fn load(&self, object: &[u8]) -> Result<Program, LoadError> {
        let machines: Vec<&dyn Machine> = self.0.iter().map(|support| support.runtime).collect();
        Program::load(object, &machines)
    }

    /// What intrinsics of a target mean, by its name.
    pub fn meaning(&self, name: &str) -> Option<Meaning> {
        let of_name = |support: &&Support| support.isa.targets().iter().any(|target| target.name() == name);
        self.0.iter().find(of_name)?.intrinsics
    }
}

/// The meanings of all instructions that words of these targets stand for.
#[derive(Clone, Copy, Debug)]
pub struct Meanings(pub &'static TargetSet);

impl Default for Meanings {
    fn default() -> Meanings {
        Meanings(&TARGETS)
    }
}

impl Intrinsics for Meanings {
    fn resolve<'a>(
        &'a self,
        intrinsic: &'a IntrinsicData,
        args: &[Type],
        result: Type,
    ) -> Result<IntrinsicFn<'a>, String> {
        let IntrinsicData { target, text } = intrinsic;
        let meaning = self.0.meaning(target);
        meaning.ok_or_else(|| format!("instructions of `{target}` have no meaning here"))?(text, args, result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_differ() {
        let all: Vec<Target> = TARGETS.all().collect();
        for (n, a) in all.iter().enumerate() {
            assert!(all.iter().skip(n + 1).all(|b| a.code() != b.code() && a.to_string() != b.to_string()), "{a}");
            assert!(TARGETS.support(*a).is_some_and(|support| support.runtime.isa().targets().contains(a)), "{a}");
        }
        assert_eq!(TARGETS.names(), "halu, vp1 or ptx");
    }
}
