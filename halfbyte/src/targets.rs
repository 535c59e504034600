//! Sets of targets. Each entry of a set combines the parts that the crates implement for one instruction set.

use halfbyte_abi::{Sm, Target};
use halfbyte_emit::{Emitter, KernelCode, LayoutError, listing};
use halfbyte_ir::eval::{IntrinsicFn, Intrinsics};
use halfbyte_ir::{IntrinsicData, Kernel, Legality, Refusal, Rule, Type};
use halfbyte_isa::isa::Isa;
use halfbyte_isel::{AllocatedCode, Backend, Request, Scratch, Selected};
use halfbyte_runtime::{Engine, LoadError, Machine, Program};

#[cfg(any(feature = "halu", feature = "vp1", feature = "ptx"))]
use crate::intrinsics;

/// A function that returns the semantics of an intrinsic. It takes the instruction text, the types
/// of the operands, and the type of the result.
pub type Meaning = for<'a> fn(&'a str, &[Type], Type) -> Result<IntrinsicFn<'a>, String>;

/// The implementation of an instruction set, which consists of one part for each crate.
#[derive(Clone, Copy, Debug)]
pub struct Support {
    /// The description of the instruction set and of its code in objects.
    pub isa: &'static dyn Isa,
    /// The instruction selection.
    pub isel: &'static dyn Backend,
    /// The code layout and encoding.
    pub emit: &'static dyn Emitter,
    /// The execution of kernels.
    pub runtime: &'static dyn Machine,
    /// The semantics of the instructions as intrinsics, if the evaluator supports them.
    pub intrinsics: Option<Meaning>,
}

/// A list of instruction sets with their targets. To add a custom target, create a list of
/// [`BUILT_IN`] and the custom instruction set.
#[derive(Clone, Copy, Debug)]
pub struct TargetSet(&'static [Support]);

/// The built-in instruction sets.
#[rustfmt::skip]
pub const BUILT_IN: &[Support] = &[
    #[cfg(feature = "halu")]
    Support { isa: &halfbyte_isa::halu::Halu, isel: &halfbyte_isel::Halu, emit: &halfbyte_isel::Halu, runtime: &halfbyte_runtime::Halu, intrinsics: Some(intrinsics::halu::resolve) },
    #[cfg(feature = "vp1")]
    Support { isa: &halfbyte_isa::vp1::Vp1,   isel: &halfbyte_isel::Vp1,  emit: &halfbyte_isel::Vp1,  runtime: &halfbyte_runtime::Vp1,  intrinsics: Some(intrinsics::vp1::resolve) },
    #[cfg(feature = "ptx")]
    Support { isa: &halfbyte_isa::ptx::Ptx,   isel: &halfbyte_isel::Ptx,  emit: &halfbyte_isel::Ptx,  runtime: &halfbyte_runtime::Ptx,  intrinsics: Some(intrinsics::ptx::resolve) },
];

/// The default set, with all built-in targets.
pub static TARGETS: TargetSet = TargetSet(BUILT_IN);

impl TargetSet {
    /// Creates a set. The names of the targets must be distinct. The numbers that identify the targets in objects must
    /// also be distinct.
    pub const fn new(all: &'static [Support]) -> TargetSet {
        TargetSet(all)
    }

    /// Returns the support for a target, or `None` if the set does not contain the target.
    pub fn support(&self, target: Target) -> Option<&'static Support> {
        self.0.iter().find(|support| support.isa.targets().contains(&target))
    }

    /// Returns the default target of each instruction set, in the order of the list. The default
    /// target applies if no SM version is given.
    pub fn defaults(&self) -> impl Iterator<Item = Target> {
        self.0.iter().map(|support| support.isa.default_target())
    }

    /// Returns all targets.
    pub fn all(&self) -> impl Iterator<Item = Target> {
        self.0.iter().flat_map(|support| support.isa.targets().iter().copied())
    }

    /// Returns the default target of the instruction set with the given name, if any.
    pub fn named(&self, name: &str) -> Option<Target> {
        self.defaults().find(|target| target.name() == name)
    }

    /// Returns targets of the same instruction set that together have all variants of its instructions.
    pub fn representatives(&self, target: Target) -> Vec<Target> {
        self.support(target).map_or(Vec::new(), |support| support.isa.representatives())
    }

    /// Returns the target of the same instruction set for an SM version, or `None` if there is no such target.
    pub fn for_sm(&self, target: Target, sm: Sm) -> Option<Target> {
        let targets = self.support(target)?.isa.targets();
        targets.iter().copied().find(|target| target.sm() == Some(sm))
    }

    /// Lists the names of all targets for a message, as in `halu, vp1 or ptx`.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.defaults().map(Target::name).collect();
        match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    /// Returns the selection rules of a target. Returns no rules if the set does not contain the target.
    pub fn rules(&self, target: Target) -> &'static [Rule] {
        self.support(target).map_or(&[], |support| support.isel.rules())
    }

    /// Returns the description of a target's legal ops for the passes. No op is legal if the set
    /// does not contain the target.
    pub fn legality(&self, target: Target) -> Legality {
        let nothing = || Legality::new(target.name(), [], |_, _| None);
        self.support(target).map_or_else(nothing, |support| support.isel.legality(target))
    }

    /// Returns the intrinsics of a kernel that are not instructions of a target.
    pub fn check_intrinsics(&self, kernel: &Kernel, target: Target) -> Vec<Refusal> {
        self.support(target).map_or(Vec::new(), |support| support.isel.check_intrinsics(kernel, target))
    }

    /// Selects machine instructions for a verified and lowered kernel.
    ///
    /// # Errors
    /// Returns every op that no rule of the target matches, or an error if the set does not contain the target.
    pub fn select(&self, request: Request<'_>) -> Result<Selected, Vec<Refusal>> {
        let Some(support) = self.support(request.target) else {
            let reason = Some(halfbyte_ir::Reason::new("the target is not in the list of targets"));
            let (span, target) = (request.kernel.span, request.target.name());
            return Err(vec![Refusal { op: None, span, target, reason }]);
        };
        support.isel.select(request, &mut Scratch::default())
    }

    /// Lays out and encodes a machine function.
    ///
    /// # Errors
    /// Returns an error if the function breaks an invariant of allocated code, or if the set does
    /// not contain the target.
    pub fn layout(&self, target: Target, func: Box<dyn AllocatedCode>) -> Result<KernelCode, LayoutError> {
        self.support(target).ok_or(LayoutError::Backend)?.emit.layout(func)
    }

    /// Returns a listing of instruction words with their assembly and source text. See [`halfbyte_emit::listing`].
    pub fn listing(&self, code: &KernelCode, source: &str, text: Option<&str>) -> String {
        let support = self.support(code.words.target());
        support.map_or(String::new(), |support| listing(support.emit, code, source, text))
    }

    /// Returns `true` if an engine supports a target.
    pub fn runs(&self, engine: Engine, target: Target) -> bool {
        self.support(target).is_some_and(|support| support.runtime.runs(engine))
    }

    /// Loads an object for one of the targets.
    ///
    /// # Errors
    /// Returns an error if the bytes are not an object of this layout version for one of the targets.
    pub fn load(&self, object: &[u8]) -> Result<Program, LoadError> {
        let machines: Vec<&dyn Machine> = self.0.iter().map(|support| support.runtime).collect();
        Program::load(object, &machines)
    }

    /// Returns the function that gives the semantics of intrinsics for the target with the given
    /// name. Returns `None` if there is no such target, or if the evaluator does not support its
    /// intrinsics.
    pub fn meaning(&self, name: &str) -> Option<Meaning> {
        let of_name = |support: &&Support| support.isa.targets().iter().any(|target| target.name() == name);
        self.0.iter().find(of_name)?.intrinsics
    }
}

/// The semantics of the intrinsics of all targets in a set.
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
        meaning.ok_or_else(|| format!("intrinsics of `{target}` cannot be evaluated"))?(text, args, result)
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

#[cfg(all(test, feature = "halu", feature = "vp1"))]
#[allow(clippy::unwrap_used)]
mod intrinsics_in_kernels {
    use halfbyte_ir::eval::{Intrinsics, Operand};
    use halfbyte_ir::{IntrinsicData, Type};

    use super::Meanings;

    fn run(text: &str, args: &[(Type, &[u64])], result: Type) -> Result<Vec<u64>, String> {
        run_on("halu", text, args, result)
    }

    fn run_on(target: &str, text: &str, args: &[(Type, &[u64])], result: Type) -> Result<Vec<u64>, String> {
        let intrinsic = IntrinsicData { target: target.into(), text: text.into() };
        let types: Vec<Type> = args.iter().map(|(ty, _)| *ty).collect();
        let operands: Vec<Operand<'_>> = args.iter().map(|&(ty, lanes)| Operand { ty, lanes }).collect();
        let mut out = vec![0; result.lanes()];
        Meanings::default().resolve(&intrinsic, &types, result)?(&operands, &mut out);
        Ok(out)
    }

    #[test]
    fn a_word_computes_on_lanes() {
        let (a, b, c) = ([1, 2, 250, 255], [1, 2, 10, 1], [9, 9, 9, 9]);
        fn bytes(lanes: &[u64]) -> (Type, &[u64]) {
            (Type::I8X4, lanes)
        }
        let sum = run("vadd4.u32.u32.u32.sat $d.b10, $0, $1, $2", &[bytes(&a), bytes(&b), bytes(&c)], Type::I8X4);
        assert_eq!(sum, Ok(vec![2, 4, 9, 9]));
        let halves: (Type, &[u64]) = (Type::F16X2, &[0x3c00, 0x4000]);
        assert_eq!(run("HADD2 $d, $0, $0", &[halves], Type::F16X2), Ok(vec![0x4000, 0x4400]));
        let truth: (Type, &[u64]) = (Type::I1, &[1]);
        let word: (Type, &[u64]) = (Type::I32, &[7]);
        assert_eq!(run("SEL $d, $1, RZ, $0", &[truth, word], Type::I32), Ok(vec![7]));
        assert_eq!(run("SEL $d, $1, RZ, !$0", &[truth, word], Type::I32), Ok(vec![0]));
        assert_eq!(
            run("IMAD.WIDE.U32 $d, $0, $0, RZ", &[(Type::I32, &[0xffff_ffff])], Type::I64),
            Ok(vec![0xffff_fffe_0000_0001])
        );
    }

    #[test]
    fn what_is_no_intrinsic_says_why() {
        let a: (Type, &[u64]) = (Type::I32, &[1]);
        for (text, reason) in [
            ("HADD2 $d, R7, $0", "register `R7` is not allowed"),
            ("HADD2 $d, $1, $0", "`$1` is not a valid placeholder"),
            ("FROB $d, $0", "unknown instruction"),
            ("EXIT", "which an intrinsic must not do"),
        ] {
            let error = run(text, &[a], Type::I32).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert!(
            run("MOV $d, $0", &[(Type::I16X16, &[0; 16])], Type::I32).unwrap_err().contains("no register holds i16x16")
        );
    }

    #[test]
    #[cfg(feature = "ptx")]
    fn instructions_of_ptx_compute() {
        let word: (Type, &[u64]) = (Type::F32, &[0xbfc0_0000]);
        assert_eq!(run_on("ptx", "cvt.rmi.f32.f32 $d, $0", &[word], Type::F32), Ok(vec![0xc000_0000]));
        let lanes: (Type, &[u64]) = (Type::I16X2, &[7, 0xffff]);
        assert_eq!(run_on("ptx", "prmt.b32 $d, $0, $0, 0x1032", &[lanes], Type::I16X2), Ok(vec![0xffff, 7]));
        let truth: (Type, &[u64]) = (Type::I1, &[1]);
        let wide: (Type, &[u64]) = (Type::I64, &[1 << 40]);
        assert_eq!(run_on("ptx", "selp.b64 $d, $1, 0, $0", &[truth, wide], Type::I64), Ok(vec![1 << 40]));
        let half: (Type, &[u64]) = (Type::F16, &[0x3c00]);
        assert_eq!(run_on("ptx", "setp.gt.f16 $d, $0, $0", &[half], Type::I1), Ok(vec![0]));
        for (text, result, reason) in [
            ("ex2.approx.f32 $d, $1", Type::F32, "$1"),
            ("cvt.rmi.f32.f32 $d, $0", Type::I8, "no register holds i8"),
            ("cvt.rmi.f32.f32 $d, $0", Type::I1X2, "no register holds i1x2"),
            ("bar.sync 0", Type::F32, "bar"),
            ("@$0 mov.b32 $d, 1", Type::F32, "$0"),
        ] {
            let error = run_on("ptx", text, &[word], result).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn bundles_compute_on_lanes() {
        let (a, b): ([u64; 16], [u64; 16]) = (std::array::from_fn(|i| 20 * i as u64 % 256), [100; 16]);
        let vectors = [(Type::I8X16, &a[..]), (Type::I8X16, &b[..])];
        let difference: Vec<u64> = a.iter().map(|&a| a.saturating_sub(100)).collect();
        assert_eq!(run_on("vp1", "vsub u $d $0 $1", &vectors, Type::I8X16), Ok(difference));
        // A mask result is the sign bit of each lane.
        let signs = a.iter().map(|&a| a >> 7).collect();
        assert_eq!(run_on("vp1", "mov $d $0", &vectors[..1], Type::I1X16), Ok(signs));
        let mask: (Type, &[u64]) = (Type::I1X4, &[1, 0, 0, 1]);
        assert_eq!(run_on("vp1", "or $d $0 0x0", &[mask], Type::I32), Ok(vec![0xff00_00ff]));
        assert_eq!(run_on("vp1", "sub $d 0x0 $0", &[(Type::I1, &[1])], Type::I32), Ok(vec![1]));
        assert_eq!(run_on("vp1", "sub $d 0x0 $0", &[(Type::I32, &[5])], Type::I1), Ok(vec![1]));
        // An operand narrower than its register is zero-extended.
        assert_eq!(run_on("vp1", "or $d $0 0x0", &[(Type::I16, &[0x8001])], Type::I32), Ok(vec![0x8001]));
        let twice = "vmul s rd int 0x0 lo # u $0 u $1; vmac u rd int 0x0 lo $d u $0 u $1";
        let products = a.iter().map(|&a| (200 * a) & 0xff).collect();
        assert_eq!(run_on("vp1", twice, &vectors, Type::I8X16), Ok(products));
    }

    #[test]
    fn what_is_no_bundle_says_why() {
        let a: (Type, &[u64]) = (Type::I32, &[1]);
        for (target, text, result, reason) in [
            ("vp1", "add $d $0 $r7", Type::I32, "register `$r7` is not allowed"),
            ("vp1", "add $d $0 $1", Type::I32, "`$1` is not a valid placeholder"),
            ("vp1", "add $d $0 0x1", Type::I64, "no register holds i64"),
            ("vp1", "add $d $0 0x1", Type::I1X2, "no register holds i1x2"),
            ("vp1", "add $d $0 0x1", Type::I8X16, "must be a `$r`"),
            ("vp2", "add $d $0 0x1", Type::I32, "intrinsics of `vp2` cannot be evaluated"),
        ] {
            let error = run_on(target, text, &[a], result).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
