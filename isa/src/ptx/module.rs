//! PTX modules as data structures, which the parser creates and the printer prints.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use halfbyte_abi::Sm;

use super::inst::Inst;
use super::names::identifier;
use super::operand::{Label, Operand, Reg, Var};
use super::types::{Requirements, Space, Suffix, Type};
use halfbyte_abi::{self, Contents, ParamKind, Signature};

/// A PTX module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// `.version`: the PTX version, major and minor.
    pub version: (u8, u8),
    /// `.target`: the target name.
    pub target: TargetName,
    /// The module's variables, in order.
    pub variables: Variables,
    /// The functions, in order.
    pub functions: Functions,
    /// The kernels, in order. All kernels share the variables and functions of the module.
    pub entries: Vec<Entry>,
}

/// A module with a single kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// `.version`: the PTX version, major and minor.
    pub version: (u8, u8),
    /// `.target`: the target name.
    pub target: TargetName,
    /// The kernel.
    pub entry: Entry,
}

impl Kernel {
    /// Creates a module with a single kernel for an SM. Chooses the lowest PTX version and the
    /// least specific target that support all instructions of the kernel and its functions.
    pub fn for_sm(sm: Sm, entry: Entry) -> Kernel {
        let insts = entry.reached_bodies().flat_map(|body| &body.insts);
        let needs = insts.map(Inst::since).fold(Requirements::first(sm), Requirements::and);
        // Target names with the suffix `f` exist only from PTX 8.8 on.
        let is_family = needs.suffix == Some(Suffix::Family);
        let version = if is_family { needs.version.max((8, 8)) } else { needs.version };
        Kernel { version, target: TargetName { sm: sm.number(), suffix: needs.suffix }, entry }
    }
}

impl From<Kernel> for Module {
    fn from(Kernel { version, target, entry }: Kernel) -> Module {
        let (variables, functions) = (entry.variables.clone(), entry.functions.clone());
        Module { version, target, variables, functions, entries: vec![entry] }
    }
}

/// The variables of a module, by index.
pub type Variables = Arc<[Variable]>;

/// Maximum alignment, in bytes, of a variable or of the memory that a pointer parameter points to.
pub const MAX_ALIGN: u32 = 1 << 12;

/// First address of the stack in local memory. The address is not zero, so that no variable has a null address.
pub const LOCAL_START: u64 = MAX_ALIGN as u64;

/// A variable of a module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Variable {
    /// Name of the variable.
    pub name: String,
    /// The state space that holds the variable.
    pub space: Space,
    /// The linkage.
    pub linkage: Linkage,
    /// The type of the variable, or the element type of an array.
    pub ty: Type,
    /// The number of elements, or `None` if the variable is not an array.
    pub count: Option<u32>,
    /// The declared alignment in bytes, if any.
    pub align: Option<u32>,
    /// The initial contents of the variable, low bytes first.
    pub bytes: Contents,
    /// The addresses in the initial contents, which are resolved at launch. Their bytes in `bytes` are zero.
    pub addresses: Vec<AddressInitializer>,
}

/// A 64-bit address in the initial contents of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AddressInitializer {
    /// Byte offset in the variable at which the address is stored.
    pub at: u32,
    /// The symbol whose address is stored.
    pub of: Symbol,
    /// Byte offset that is added to the symbol's address.
    pub offset: i64,
    /// `true` for `generic(..)`, a generic address; `false` for an address in the state space of the symbol.
    pub is_generic: bool,
}

/// A symbol whose address can be stored in a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Symbol {
    /// A variable.
    Variable(Var),
    /// The function with this index.
    Function(u32),
}

impl Variable {
    /// Returns `true` if variables of this type are supported.
    pub const fn admits(ty: Type) -> bool {
        use Type::*;
        matches!(ty, B8 | B16 | B32 | B64 | U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 | F32 | F64)
    }

    /// Returns the alignment of the variable in bytes, a power of two.
    pub fn alignment(&self) -> u32 {
        self.align.unwrap_or(self.ty.bits() / 8)
    }
}

/// Returns the module variables that hold the kernel parameters with constant contents, for a module with one kernel.
/// The names of the variables differ from those of the kernel and its parameters.
pub fn variables_of(signature: &Signature) -> Variables {
    if signature.contents().is_empty() {
        return Variables::default();
    }
    let given = signature.given();
    let names = given.iter().map(|param| &*param.name).chain([signature.name()]);
    let mut used: UsedNames = names.map(|name| identifier(name).into_owned()).collect();
    let params = signature.params().iter().skip(given.len()).zip(signature.contents());
    let variable = |(param, bytes): (&halfbyte_abi::Param, &Contents)| {
        let align = match param.kind {
            ParamKind::Buffer { align, .. } => Some(align),
            ParamKind::Scalar(_) => None,
        };
        let (name, count) = (used.unused(&identifier(&param.name)), Some(bytes.len() as u32));
        let (space, linkage) = (Space::Global, Linkage::Plain);
        let addresses = Vec::new();
        Variable { name, space, linkage, ty: Type::B8, count, align, bytes: bytes.clone(), addresses }
    };
    params.map(variable).collect()
}

/// The names in use in a module.
#[derive(Default)]
pub(super) struct UsedNames {
    names: HashSet<String>,
    /// For each requested name that was in use, the last numeric suffix that was tried.
    suffixes: HashMap<String, u32>,
}

impl FromIterator<String> for UsedNames {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> UsedNames {
        UsedNames { names: names.into_iter().collect(), suffixes: HashMap::new() }
    }
}

impl UsedNames {
    /// Returns `name`, or `name` with a numeric suffix if `name` is in use. Records the returned
    /// name as in use.
    pub(super) fn unused(&mut self, name: &str) -> String {
        let mut unused = name.to_owned();
        while !self.names.insert(unused.clone()) {
            let suffix = self.suffixes.entry(name.to_owned()).or_default();
            *suffix += 1;
            unused = format!("{name}_{suffix}");
        }
        unused
    }
}

/// A target name, such as `sm_90`, `sm_90a` or `sm_120f`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TargetName {
    /// The SM version, such as 90.
    pub sm: u16,
    /// The suffix, if any: `a` for features of one architecture, `f` for features of its family.
    pub suffix: Option<Suffix>,
}

/// SM versions that a PTX file may target, but for which the compiler generates no code, each with
/// the first PTX version that has the target.
const OTHERS: [(u16, (u8, u8)); 21] = [
    (10, (1, 0)),
    (11, (1, 0)),
    (12, (1, 2)),
    (13, (1, 2)),
    (20, (2, 0)),
    (21, (2, 0)),
    (30, (3, 0)),
    (32, (4, 0)),
    (35, (3, 1)),
    (37, (4, 1)),
    (50, (4, 0)),
    (52, (4, 1)),
    (53, (4, 2)),
    (60, (5, 0)),
    (61, (5, 0)),
    (62, (5, 0)),
    (70, (6, 0)),
    (72, (6, 1)),
    (88, (9, 0)),
    (101, (8, 6)),
    (107, (9, 4)),
];

/// The versions of PTX: for each major version, the lowest and the highest minor version.
const VERSIONS: [(u8, u8, u8); 9] =
    [(1, 4, 5), (2, 0, 3), (3, 0, 2), (4, 0, 3), (5, 0, 1), (6, 0, 5), (7, 0, 8), (8, 0, 8), (9, 0, 5)];

/// The newest known version of PTX.
pub const NEWEST_VERSION: (u8, u8) = (9, 5);

/// Returns `true` if PTX has a version with this number, from 1.4 on.
pub fn is_version((major, minor): (u8, u8)) -> bool {
    VERSIONS.iter().any(|&(of, low, high)| of == major && (low..=high).contains(&minor))
}

impl TargetName {
    /// Parses the part of a target name after `sm_`, such as `90`, `90a` or `120f`. Does not check
    /// that the target exists.
    pub fn from_number(number: &str) -> Option<TargetName> {
        let (number, suffix) = match (number.strip_suffix('a'), number.strip_suffix('f')) {
            (Some(number), _) => (number, Some(Suffix::Architecture)),
            (_, Some(number)) => (number, Some(Suffix::Family)),
            _ => (number, None),
        };
        let sm = number.parse().ok().filter(|_| number.bytes().all(|b| b.is_ascii_digit()))?;
        Some(TargetName { sm, suffix })
    }

    /// Returns the first PTX version that has the target, or `None` if NVIDIA has no target with this name.
    pub fn first_version(self) -> Option<(u8, u8)> {
        let other = || OTHERS.iter().find(|(sm, _)| *sm == self.sm).map(|(_, version)| *version);
        let of_sm = Sm::new(self.sm).map(Sm::ptx_version).or_else(other)?;
        match self.suffix {
            None => Some(of_sm),
            Some(Suffix::Architecture) if self.sm == 90 => Some((8, 0)),
            Some(Suffix::Architecture) => Some(of_sm).filter(|_| self.sm > 90),
            Some(Suffix::Family) => Some(of_sm.max((8, 8))).filter(|_| self.sm >= 100),
        }
    }

    /// Returns `true` if code for this target runs on `machine`. Code without a suffix runs on this SM and later SMs.
    /// Code with `f` runs only within the family, and code with `a` only on this SM.
    pub fn runs_on(self, machine: TargetName) -> bool {
        match self.suffix {
            None => self.sm <= machine.sm,
            Some(Suffix::Family) => self.sm <= machine.sm && self.sm / 10 == machine.sm / 10,
            Some(Suffix::Architecture) => self.sm == machine.sm,
        }
    }
}

impl fmt::Display for TargetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = self.suffix.map_or("", Suffix::letter);
        write!(f, "sm_{}{suffix}", self.sm)
    }
}

/// Linkage of a kernel, function or variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Linkage {
    /// No linkage directive.
    #[default]
    Plain,
    /// `.visible`
    Visible,
    /// `.weak`
    Weak,
    /// `.common`: a variable that several files may define.
    Common,
    /// `.extern`: shared memory whose size the launch determines.
    Extern,
}

/// A kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Entry {
    /// Name of the kernel.
    pub name: String,
    /// The linkage.
    pub linkage: Linkage,
    /// The parameters of the kernel, in order.
    pub params: Vec<Param>,
    /// The block sizes with which the kernel may be launched.
    pub blocks: BlockLimit,
    /// Directives that are hints for the assembler only, such as `.maxnreg 32` and `.pragma "nounroll";`.
    pub hints: Vec<String>,
    /// The kernel's body.
    pub body: Body,
    /// The variables of the module.
    pub variables: Variables,
    /// The functions of the module.
    pub functions: Functions,
}

/// The block sizes with which a kernel may be launched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BlockLimit {
    /// No restriction.
    #[default]
    Any,
    /// `.maxntid`: blocks with at most as many threads as the product of these dimensions.
    AtMost([u32; 3]),
    /// `.reqntid`: blocks of exactly these dimensions.
    Exactly([u32; 3]),
}

impl BlockLimit {
    /// Returns `true` if a block of these dimensions is valid.
    pub fn admits(self, block: [u32; 3]) -> bool {
        let threads = |of: [u32; 3]| of.into_iter().map(u64::from).fold(1, u64::saturating_mul);
        match self {
            BlockLimit::Any => true,
            BlockLimit::AtMost(most) => threads(block) <= threads(most),
            BlockLimit::Exactly(all) => block == all,
        }
    }
}

impl fmt::Display for BlockLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, [x, y, z]) = match self {
            BlockLimit::Any => return Ok(()),
            BlockLimit::AtMost(counts) => (".maxntid", counts),
            BlockLimit::Exactly(counts) => (".reqntid", counts),
        };
        write!(f, "{word} {x}, {y}, {z}")
    }
}

/// The declarations to which the indices in an instruction's operands refer.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The parameters of the kernel. Empty in a function, whose parameters are frame variables or registers.
    pub params: &'a [Param],
    /// The body that contains the instruction.
    pub body: &'a Body,
    /// The variables of the module.
    pub variables: &'a [Variable],
    /// The functions of the module.
    pub functions: &'a [Function],
}

/// The body of a kernel or function: its declarations and instructions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Body {
    /// The registers that the body declares.
    pub registers: Registers,
    /// The variables in the stack frame. Each call of the function has its own frame.
    pub frame: Vec<FrameVariable>,
    /// The instructions, in order.
    pub insts: Vec<Inst>,
    /// The labels, ordered by position.
    pub labels: Vec<LabelName>,
    /// The target lists and prototypes of indirect branches and calls.
    pub tables: Vec<TargetList>,
    /// The pragmas of the body, ordered by position. For example, a pragma can forbid the unrolling of a loop.
    pub pragmas: Vec<Pragma>,
}

/// A `.pragma` directive in a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pragma {
    /// The text between `.pragma` and the `;`, such as `"nounroll"`.
    pub text: String,
    /// Index of the instruction after the pragma. At the end of the body, the number of instructions.
    pub at: u32,
}

impl Body {
    /// Returns the byte offset of each frame variable in the stack frame, and the frame size in bytes.
    pub fn layout(&self) -> (Vec<u32>, u32) {
        let mut end = 0u32;
        let place = |variable: &FrameVariable| {
            let at = end.next_multiple_of(variable.alignment());
            end = at.saturating_add(variable.bytes());
            at
        };
        let places = self.frame.iter().map(place).collect();
        (places, end)
    }
}

/// Layout of a kernel's shared variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SharedLayout {
    /// Byte offset of each shared variable that the kernel uses, by the variable's index in the module.
    pub places: BTreeMap<u32, u64>,
    /// Total size in bytes of the variables of fixed size.
    pub fixed: u64,
    /// Maximum alignment in bytes of the variables of fixed size.
    pub align: u32,
    /// Maximum alignment in bytes of the variables whose size the launch determines; `None` if
    /// there are no such variables.
    pub open_align: Option<u32>,
    /// Byte offset of the shared memory whose size the launch determines.
    pub bytes: u64,
}

impl SharedLayout {
    /// Returns `true` if the kernel has no shared variables.
    pub fn is_empty(&self) -> bool {
        self.fixed == 0 && self.open_align.is_none()
    }
}

/// A variable of a stack frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FrameVariable {
    /// Name of the variable.
    pub name: String,
    /// The state space: `.local`, or `.param` for a variable that passes an argument or result of a call.
    pub space: Space,
    /// The type of the variable, or the element type of an array.
    pub ty: Type,
    /// The number of elements, or `None` if the variable is not an array.
    pub count: Option<u32>,
    /// The declared alignment in bytes, if any.
    pub align: Option<u32>,
}

impl FrameVariable {
    /// Returns the size of the variable in bytes.
    pub fn bytes(&self) -> u32 {
        (self.ty.bits() / 8).saturating_mul(self.count.unwrap_or(1))
    }

    /// Returns the alignment of the variable in bytes, a power of two.
    pub fn alignment(&self) -> u32 {
        self.align.unwrap_or(self.ty.bits() / 8).max(1)
    }
}

/// A named target list or prototype of an indirect branch or call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetList {
    /// Name of the target list or prototype.
    pub name: String,
    /// The possible targets.
    pub of: Targets,
}

/// The possible targets of an indirect branch or call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Targets {
    /// `.branchtargets`: the indices of labels.
    Labels(Vec<Label>),
    /// `.calltargets`: the indices of functions.
    Functions(Vec<u32>),
    /// `.callprototype`: any function with this prototype.
    Prototype(Prototype),
}

/// The signature of a function: the types of its results and parameters.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Prototype {
    /// The results.
    pub results: Vec<Formal>,
    /// The parameters.
    pub params: Vec<Formal>,
}

impl Prototype {
    /// Returns `true` if a caller with this prototype may call a function with the prototype `other`.
    pub fn is_compatible(&self, other: &Prototype) -> bool {
        let same = |ours: &[Formal], theirs: &[Formal]| {
            let bytes = |formals: &[Formal]| formals.iter().map(Formal::bytes).collect::<Vec<_>>();
            bytes(ours) == bytes(theirs)
        };
        same(&self.results, &other.results) && same(&self.params, &other.params)
    }
}

/// A parameter or result in a function's signature.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Formal {
    /// `true` for `.param`, a value that is passed in memory; `false` for `.reg`.
    pub in_memory: bool,
    /// The type of the value, or the element type of an array.
    pub ty: Type,
    /// The number of elements, or `None` if the value is not an array.
    pub count: Option<u32>,
    /// The declared alignment in bytes, if any.
    pub align: Option<u32>,
}

impl Formal {
    /// Returns the size of the value in bytes.
    pub fn bytes(&self) -> u32 {
        (self.ty.bits() / 8).saturating_mul(self.count.unwrap_or(1))
    }
}

/// The functions of a module, by index.
pub type Functions = Arc<[Function]>;

/// A function of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Name of the function.
    pub name: String,
    /// The linkage.
    pub linkage: Linkage,
    /// The types of the results and parameters.
    pub prototype: Prototype,
    /// `true` if the function has `.noreturn`.
    pub no_return: bool,
    /// The function's code, or `None` if the function is only declared. The parser rejects kernels
    /// that call a function without code, unless the function is a builtin or of the device runtime.
    pub code: Option<FunctionCode>,
}

/// A function that the CUDA driver provides on a GPU, and that the engines provide instead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Builtin {
    /// `vprintf`: prints formatted text. Its arguments are the format and the address of the values.
    Print,
    /// `__assertfail`: ends the launch. Its first four arguments are the failed condition, the
    /// file, the line and the function.
    AssertFail,
    /// `malloc`: allocates a block of the heap. Its argument is the size in bytes.
    Allocate,
    /// `__cuda_syscall_aligned_malloc`: allocates a block of the heap. Its arguments are the size
    /// and the alignment in bytes.
    AllocateAligned,
    /// `free`: frees a block of the heap. Its argument is the address of the block.
    Free,
}

impl Builtin {
    /// Returns the builtin for a function without code. The builtin is determined by the function's
    /// name and by the sizes of its results and parameters.
    pub fn of(function: &Function) -> Option<Builtin> {
        let (of, results, params): (Builtin, &[u32], &[u32]) = match function.name.as_str() {
            "vprintf" => (Builtin::Print, &[4], &[8, 8]),
            "__assertfail" => (Builtin::AssertFail, &[], &[8, 8, 4, 8, 8]),
            "malloc" => (Builtin::Allocate, &[8], &[8]),
            "__cuda_syscall_aligned_malloc" => (Builtin::AllocateAligned, &[8], &[8, 8]),
            "free" => (Builtin::Free, &[], &[8]),
            _ => return None,
        };
        let has = |formals: &[Formal], bytes: &[u32]| formals.iter().map(Formal::bytes).eq(bytes.iter().copied());
        let Prototype { results: has_results, params: has_params } = &function.prototype;
        let is_it = function.code.is_none() && has(has_results, results) && has(has_params, params);
        is_it.then_some(of)
    }
}

/// The definition of a function: its body, and the locations of its results and parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionCode {
    /// The body.
    pub body: Body,
    /// The locations of the results in the body, in the order of the prototype.
    pub results: Vec<FormalLocation>,
    /// The locations of the parameters in the body, in the order of the prototype.
    pub params: Vec<FormalLocation>,
}

/// The location of a parameter or result in the body of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FormalLocation {
    /// In this register.
    Register(Reg),
    /// In the frame variable with this index.
    Frame(u32),
}

impl Entry {
    /// Returns the declarations to which the kernel's instructions refer.
    pub fn scope(&self) -> Scope<'_> {
        Scope { params: &self.params, body: &self.body, variables: &self.variables, functions: &self.functions }
    }

    /// Returns the declarations to which the instructions of a function refer. `function` is the index of the function.
    pub fn scope_of(&self, function: u32) -> Option<Scope<'_>> {
        let body = &self.functions.get(function as usize)?.definition()?.body;
        Some(Scope { params: &[], body, variables: &self.variables, functions: &self.functions })
    }

    /// Returns the layout of the shared variables that the kernel uses. Variables of fixed size
    /// come first, in the order of the module, each at a multiple of its alignment. The variables
    /// whose size the launch determines follow, all at the same address.
    pub fn shared_layout(&self) -> SharedLayout {
        let used = self.used_variables();
        let named = |is_open: bool| {
            let of = used.iter().filter_map(|&number| Some((number, self.variables.get(number as usize)?)));
            of.filter(move |(_, of)| of.space == Space::Shared && (of.linkage == Linkage::Extern) == is_open)
        };
        let mut layout = SharedLayout::default();
        let mut end = 0u64;
        for (number, of) in named(false) {
            let start = end.next_multiple_of(of.alignment().into());
            layout.places.insert(number, start);
            end = start + of.bytes.len() as u64;
            layout.align = layout.align.max(of.alignment());
        }
        layout.fixed = end;
        layout.open_align = named(true).map(|(_, of)| of.alignment()).max();
        layout.bytes = end.next_multiple_of(layout.open_align.unwrap_or(1).into());
        layout.places.extend(named(true).map(|(number, _)| (number, layout.bytes)));
        layout
    }

    /// Returns the indices of the variables that the kernel or a reachable function uses, in the order of the module.
    pub fn used_variables(&self) -> Vec<u32> {
        let operands = self.reached_bodies().flat_map(|body| &body.insts).flat_map(|inst| &inst.operands);
        let mut used: BTreeSet<u32> = operands.filter_map(Operand::variable).map(|var| var.number).collect();
        // A variable is also used if a used variable stores its address.
        let mut work: Vec<u32> = used.iter().copied().collect();
        while let Some(number) = work.pop() {
            let held = self.variables.get(number as usize).map_or(&[][..], |variable| &variable.addresses);
            for address in held {
                if let Symbol::Variable(var) = address.of
                    && used.insert(var.number)
                {
                    work.push(var.number);
                }
            }
        }
        used.into_iter().collect()
    }
}

/// A label of a body, with its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LabelName {
    /// Name of the label.
    pub name: String,
    /// Index of the instruction after the label. At the end of the body, the number of instructions.
    pub at: u32,
}

/// A parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Name of the parameter.
    pub name: String,
    /// The type of the parameter, or the element type of an array.
    pub ty: Type,
    /// The number of elements, or `None` if the parameter is not an array.
    pub count: Option<u32>,
    /// The declared alignment in bytes, if any.
    pub align: Option<u32>,
    /// The memory to which the parameter points, if it is declared as a pointer by `.ptr`.
    pub pointer: Option<PointerTarget>,
}

/// The memory to which a pointer parameter points, as `.ptr` declares it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PointerTarget {
    /// The state space of the address, or `None` for a generic address.
    pub space: Option<Space>,
    /// The declared alignment of the memory in bytes, if any.
    pub align: Option<u32>,
}

impl PointerTarget {
    /// Returns `true` if the pointer may point to a buffer: it is generic or a pointer to global memory.
    pub fn is_of_buffer(self) -> bool {
        matches!(self.space, None | Some(Space::Global))
    }
}

impl Param {
    /// Returns the size of the parameter in bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.ty.bits() / 8) * u64::from(self.count.unwrap_or(1))
    }

    /// Returns the alignment of the parameter in bytes, a power of two.
    pub fn alignment(&self) -> u64 {
        self.align.unwrap_or(self.ty.bits() / 8).into()
    }

    /// Returns the byte offset of each parameter in parameter memory.
    pub fn offsets(params: &[Param]) -> Vec<u64> {
        let mut end = 0u64;
        let offset = |param: &Param| {
            let start = end.next_multiple_of(param.alignment().max(1));
            end = start.saturating_add(param.bytes());
            start
        };
        params.iter().map(offset).collect()
    }
}

/// The registers of a body, numbered in the order of their declarations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Registers {
    families: Vec<RegisterDeclaration>,
    count: u32,
}

/// A declaration of one register, or of a numbered range of registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegisterDeclaration {
    /// The name of the register, or the common prefix of the names in the range.
    pub name: String,
    /// The type of each declared register.
    pub ty: Type,
    /// The number of registers if the declaration is a range such as `%r<80>`, otherwise `None`.
    pub count: Option<u32>,
    /// The index of the first register. A 128-bit register has two indices; the first one is its low half.
    pub first: Reg,
}

impl RegisterDeclaration {
    /// Returns the number of indices of each declared register: two for 128 bits, otherwise one.
    pub(super) fn width(&self) -> u32 {
        width(self.ty)
    }

    /// Returns the indices of all registers of the declaration.
    pub fn numbers(&self) -> impl Iterator<Item = Reg> + use<> {
        (self.first.0..self.first.0 + self.count.unwrap_or(1) * self.width()).map(Reg)
    }

    /// Returns the type that one register index holds: `.b64` for a half of a `.b128` register,
    /// otherwise the declared type.
    pub fn held(&self) -> Type {
        held(self.ty)
    }
}

/// Returns the number of indices of a register of type `ty`: two for 128 bits, otherwise one.
pub(super) fn width(ty: Type) -> u32 {
    if ty == Type::B128 { 2 } else { 1 }
}

fn held(ty: Type) -> Type {
    if ty == Type::B128 { Type::B64 } else { ty }
}

/// Maximum number of register indices in a body.
pub const MAX_REGISTERS: u32 = 1 << 20;

impl Registers {
    /// Declares one register, or a range of `count` registers. Returns the index of the first
    /// register, or `None` if the total exceeds [`MAX_REGISTERS`].
    pub fn declare(&mut self, name: impl Into<String>, ty: Type, count: Option<u32>) -> Option<Reg> {
        let first = Reg(self.count);
        let total = self
            .count
            .checked_add(count.unwrap_or(1).checked_mul(width(ty))?)
            .filter(|&total| total <= MAX_REGISTERS)?;
        self.families.push(RegisterDeclaration { name: name.into(), ty, count, first });
        self.count = total;
        Some(first)
    }

    /// Changes the name in the declaration with the index `declaration`.
    pub(super) fn rename(&mut self, declaration: usize, name: String) {
        if let Some(family) = self.families.get_mut(declaration) {
            family.name = name;
        }
    }

    /// Returns the register declarations, in order.
    pub fn families(&self) -> &[RegisterDeclaration] {
        &self.families
    }

    /// Returns the name of the register with an index, or `None` if the index is not declared.
    pub fn name(&self, reg: Reg) -> Option<String> {
        let family = self.family(reg)?;
        let number = (reg.0 - family.first.0) / family.width();
        Some(family.count.map_or_else(|| family.name.clone(), |_| format!("{}{number}", family.name)))
    }

    /// Returns the number of declared register indices.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the declaration that contains a register index, if any.
    pub fn family(&self, reg: Reg) -> Option<&RegisterDeclaration> {
        if reg.0 >= self.count {
            return None;
        }
        // A declaration of an empty range has the same first index as the declaration after it.
        let after = self.families.partition_point(|family| family.first <= reg);
        self.families.get(after.checked_sub(1)?)
    }

    /// Returns the declared type of a register, or `None` if the register is not declared. The
    /// carry flag is a predicate.
    pub fn ty(&self, reg: Reg) -> Option<Type> {
        if reg == Reg::CARRY {
            return Some(Type::Pred);
        }
        self.family(reg).map(|family| family.ty)
    }

    /// Returns the type that one register index holds: `.b64` for a half of a 128-bit register,
    /// otherwise the declared type.
    pub fn held(&self, reg: Reg) -> Option<Type> {
        self.ty(reg).map(held)
    }
}

/// The kernel or function whose body contains an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The kernel with this index.
    Entry(usize),
    /// The function with this index.
    Function(usize),
}

/// An instruction that the module's target does not support.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnsupportedInst {
    /// The kernel or function that contains the instruction.
    pub of: Owner,
    /// The index of the instruction in the body.
    pub inst: usize,
    /// The target requirements that the instruction has.
    pub since: Requirements,
}

impl Module {
    /// Returns `true` if the module's PTX version and target meet the requirements. A version or
    /// target below that of [`Requirements::ALWAYS`] counts as the one of `ALWAYS`.
    pub fn provides(&self, since: Requirements) -> bool {
        let Requirements { version: always, sm: always_sm, .. } = Requirements::ALWAYS;
        let version = self.version.max(always);
        let at = |(least, sm): ((u8, u8), u16)| version >= least && self.target.sm.max(always_sm) >= sm;
        (at((since.version, since.sm)) || since.earlier.is_some_and(at))
            && since.until.is_none_or(|until| self.version <= until || self.target.sm < 70)
            && since.last_sm.is_none_or(|last| self.target.sm <= last)
            && self.target.suffix >= since.suffix
            && (!since.one_family || self.target.sm / 10 == since.sm / 10)
    }

    /// Returns every instruction that the module's version or target does not support. The
    /// instructions of kernels come first, then those of all functions, called or not.
    pub fn missing(&self) -> impl Iterator<Item = UnsupportedInst> {
        let entries = self.entries.iter().enumerate().map(|(number, entry)| (Owner::Entry(number), &entry.body));
        let code = self.functions.iter().enumerate().filter_map(|(number, of)| Some((number, of.code.as_ref()?)));
        let functions = code.map(|(number, code)| (Owner::Function(number), &code.body));
        entries.chain(functions).flat_map(move |(of, body)| {
            let since = body.insts.iter().map(Inst::since).enumerate();
            since.filter(|&(_, since)| !self.provides(since)).map(move |(inst, since)| UnsupportedInst {
                of,
                inst,
                since,
            })
        })
    }

    /// Returns the instruction with index `inst` in the body of `of`, with the declarations to
    /// which its operands refer.
    pub fn inst(&self, of: Owner, inst: usize) -> Option<(&Inst, Scope<'_>)> {
        let scope = match of {
            Owner::Entry(number) => self.entries.get(number)?.scope(),
            Owner::Function(number) => {
                let body = &self.functions.get(number)?.code.as_ref()?.body;
                Scope { params: &[], body, variables: &self.variables, functions: &self.functions }
            }
        };
        Some((scope.body.insts.get(inst)?, scope))
    }
}
