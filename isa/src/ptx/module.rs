//! A PTX file as a value: what is read from text and printed as text.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use halfbyte_abi::Sm;

use super::inst::Inst;
use super::names::identifier;
use super::operand::{Callee, Label, Operand, Reg, Var};
use super::types::{Since, Space, Suffix, Type};
use halfbyte_abi::{self, Contents, ParamKind, Signature};

/// A file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// `.version`: the PTX version, major and minor.
    pub version: (u8, u8),
    /// `.target`
    pub target: TargetName,
    /// The variables, in order.
    pub variables: Variables,
    /// The functions, in order.
    pub functions: Functions,
    /// The kernels, in order, each with all the variables and functions.
    pub entries: Vec<Entry>,
}

/// A file of one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// `.version`
    pub version: (u8, u8),
    /// `.target`
    pub target: TargetName,
    /// The kernel.
    pub entry: Entry,
}

impl Kernel {
    /// A kernel for an SM, with the lowest version and the widest target that have all of its instructions, and of its functions'.
    pub fn for_sm(sm: Sm, entry: Entry) -> Kernel {
        let insts = entry.reached_bodies().flat_map(|body| &body.insts);
        let needs = insts.map(Inst::since).fold(Since::first(sm), Since::and);
        // A family has names from this version on.
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

/// Variables by number.
pub type Variables = Arc<[Variable]>;

/// The greatest alignment of a variable, or of what a parameter is the address of, in bytes.
pub const MAX_ALIGN: u32 = 1 << 12;

/// The first address of local memory, so that address zero is none.
pub const LOCAL_START: u64 = MAX_ALIGN as u64;

/// A variable of a file, which no kernel writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub space: Space,
    /// Whether others see it.
    pub linkage: Linkage,
    /// Its type, or that of an array's elements.
    pub ty: Type,
    /// Of an array, how many elements.
    pub count: Option<u32>,
    /// The alignment, where it is written.
    pub align: Option<u32>,
    /// What it holds, low bytes first: as many bytes as it has.
    pub bytes: Contents,
    /// The addresses in it, which are known when it is launched; in `bytes` there are zeros.
    pub addresses: Vec<AddressIn>,
}

/// An address of 64 bits in a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressIn {
    /// Where in the variable, in bytes.
    pub at: u32,
    /// Whose address.
    pub of: AddressOf,
    /// Bytes behind that.
    pub offset: i64,
    /// `generic(..)`: an address without a space, not one in the space of the variable.
    pub is_generic: bool,
}

/// What has an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressOf {
    /// The variable.
    Variable(Var),
    /// The function of that number.
    Function(u32),
}

impl Variable {
    /// Whether a type is one that variables have here.
    pub const fn admits(ty: Type) -> bool {
        use Type::*;
        matches!(ty, B8 | B16 | B32 | B64 | U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 | F32 | F64)
    }

    /// Its alignment in bytes, a power of two.
    pub fn alignment(&self) -> u32 {
        self.align.unwrap_or(self.ty.bits() / 8)
    }

    /// Whether two are the same but for their names.
    pub(super) fn is_like(&self, other: &Variable) -> bool {
        let of = |v: &Variable| (v.space, v.linkage, v.ty, v.count, v.align);
        of(self) == of(other) && self.bytes == other.bytes && self.addresses == other.addresses
    }
}

/// The variables that parameters with contents are in a kernel of its own, by names that neither the kernel nor its parameters
/// have.
pub fn variables_of(signature: &Signature) -> Variables {
    if signature.contents().is_empty() {
        return Variables::default();
    }
    let given = signature.given();
    let mut taken: HashSet<String> = given.iter().map(|param| identifier(&param.name).into_owned()).collect();
    taken.insert(identifier(signature.name()).into_owned());
    let params = signature.params().iter().skip(given.len()).zip(signature.contents());
    let variable = |(param, bytes): (&halfbyte_abi::Param, &Contents)| {
        let align = match param.kind {
            ParamKind::Buffer { align, .. } => Some(align),
            ParamKind::Scalar(_) => None,
        };
        let (name, count) = (unused(&mut taken, &identifier(&param.name)), Some(bytes.len() as u32));
        let (space, linkage) = (Space::Global, Linkage::Plain);
        let addresses = Vec::new();
        Variable { name, space, linkage, ty: Type::B8, count, align, bytes: bytes.clone(), addresses }
    };
    params.map(variable).collect()
}

/// Takes a name, or where it is taken the name with a number.
pub(super) fn unused(taken: &mut HashSet<String>, name: &str) -> String {
    let mut names = std::iter::once(name.to_owned()).chain((1u32..).map(|number| format!("{name}_{number}")));
    names.find(|name| taken.insert(name.clone())).unwrap_or_default()
}

/// The name of a machine: `sm_90`, `sm_90a`, `sm_120f`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TargetName {
    /// The number.
    pub sm: u16,
    /// What follows it: `a` for what one architecture alone has, `f` for what its family has.
    pub suffix: Option<Suffix>,
}

/// The machines that there are besides those of [`Sm`], by number: PTX may be for them, but nothing is compiled for them.
const OTHERS: [u16; 16] = [20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 88, 101];

impl TargetName {
    /// By what stands after `sm_`: `90`, `90a`, `120f`. There need not be such a machine.
    pub fn from_number(number: &str) -> Option<TargetName> {
        let (number, suffix) = match (number.strip_suffix('a'), number.strip_suffix('f')) {
            (Some(number), _) => (number, Some(Suffix::Architecture)),
            (_, Some(number)) => (number, Some(Suffix::Family)),
            _ => (number, None),
        };
        let sm = number.parse().ok().filter(|_| number.bytes().all(|b| b.is_ascii_digit()))?;
        Some(TargetName { sm, suffix })
    }

    /// Whether there is a machine of this name.
    pub fn is_known(self) -> bool {
        let least = match self.suffix {
            None => 0,
            Some(Suffix::Architecture) => 90,
            Some(Suffix::Family) => 100,
        };
        (Sm::new(self.sm).is_some() || OTHERS.contains(&self.sm)) && self.sm >= least
    }

    /// Whether what is for this target runs on a machine: on this and later ones, where it is for what a family has on those of
    /// it, and where it is for what one architecture has on that alone.
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

/// Whether others see a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Linkage {
    /// Nothing is said.
    #[default]
    Plain,
    /// `.visible`
    Visible,
    /// `.weak`
    Weak,
    /// `.common`: a variable that each of several files may define.
    Common,
    /// `.extern`: shared memory of which the launch says how much there is.
    Extern,
}

/// A kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Whether others see it.
    pub linkage: Linkage,
    /// Its parameters, in order.
    pub params: Vec<Param>,
    /// The blocks that it may be launched with.
    pub blocks: Blocks,
    /// What it says to the assembler alone, as `.maxnreg 32` and `.pragma "nounroll";`.
    pub hints: Vec<String>,
    /// What it does.
    pub body: Body,
    /// The variables of its file.
    pub variables: Variables,
    /// The functions of its file.
    pub functions: Functions,
}

/// The blocks of threads that a kernel may be launched with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Blocks {
    /// Nothing is said.
    #[default]
    Any,
    /// `.maxntid`: of as many threads in all as these at most.
    AtMost([u32; 3]),
    /// `.reqntid`: of so many threads along each axis.
    Exactly([u32; 3]),
}

impl Blocks {
    /// Whether a block may be one of them.
    pub fn admits(self, block: [u32; 3]) -> bool {
        let threads = |of: [u32; 3]| of.into_iter().map(u64::from).fold(1, u64::saturating_mul);
        match self {
            Blocks::Any => true,
            Blocks::AtMost(most) => threads(block) <= threads(most),
            Blocks::Exactly(all) => block == all,
        }
    }
}

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, [x, y, z]) = match self {
            Blocks::Any => return Ok(()),
            Blocks::AtMost(counts) => (".maxntid", counts),
            Blocks::Exactly(counts) => (".reqntid", counts),
        };
        write!(f, "{word} {x}, {y}, {z}")
    }
}

/// What the numbers in an instruction stand for.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The parameters of the kernel; a function has its own in its frame.
    pub params: &'a [Param],
    /// The body that the instruction is of.
    pub body: &'a Body,
    /// The variables of the file.
    pub variables: &'a [Variable],
    /// The functions of the file.
    pub functions: &'a [Function],
}

/// What a kernel or a function does, and what it has to do it with.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Body {
    /// Its registers.
    pub registers: Registers,
    /// Its variables in memory, of which each call has its own.
    pub frame: Vec<FrameVariable>,
    /// Its instructions.
    pub insts: Vec<Inst>,
    /// Its labels, by where they stand.
    pub labels: Vec<LabelName>,
    /// What its indirect branches and calls may lead to.
    pub tables: Vec<Table>,
    /// What it says to the assembler of a place, such as that a loop is not to be unrolled, in order.
    pub pragmas: Vec<Pragma>,
}

/// A `.pragma` of a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pragma {
    /// What stands between the word and the `;`, such as `"nounroll"`.
    pub text: String,
    /// The instruction it stands before; their number if it stands at the end.
    pub at: u32,
}

impl Body {
    /// Where each variable lies in a frame, in bytes from its start, and the bytes of a frame.
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

/// Where the shared variables of a kernel lie.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SharedLayout {
    /// By number among those of the file.
    pub places: Vec<u64>,
    /// Bytes of those that have a size.
    pub fixed: u64,
    /// The greatest alignment of these.
    pub align: u32,
    /// The greatest alignment of the others, where there are such.
    pub open_align: Option<u32>,
    /// Bytes before those that the launch gives.
    pub bytes: u64,
}

impl SharedLayout {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.fixed == 0 && self.open_align.is_none()
    }
}

/// A variable of a frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FrameVariable {
    /// Its name.
    pub name: String,
    /// `.local`, or `.param` of what calls pass.
    pub space: Space,
    /// Its type, or that of an array's elements.
    pub ty: Type,
    /// Of an array, how many elements.
    pub count: Option<u32>,
    /// The alignment, where it is written.
    pub align: Option<u32>,
}

impl FrameVariable {
    /// Its size in bytes.
    pub fn bytes(&self) -> u32 {
        (self.ty.bits() / 8).saturating_mul(self.count.unwrap_or(1))
    }

    /// Its alignment in bytes, a power of two.
    pub fn alignment(&self) -> u32 {
        self.align.unwrap_or(self.ty.bits() / 8).max(1)
    }
}

/// What an indirect branch or call may lead to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// What stands there.
    pub of: Targets,
}

/// The targets of an indirect branch or call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Targets {
    /// `.branchtargets`: labels, by number.
    Labels(Vec<Label>),
    /// `.calltargets`: functions, by number.
    Functions(Vec<u32>),
    /// `.callprototype`: any function that is called so.
    Prototype(Prototype),
}

/// What a function is called with.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Prototype {
    /// What it returns.
    pub results: Vec<Formal>,
    /// What it takes.
    pub params: Vec<Formal>,
}

impl Prototype {
    /// Whether what is called as one says may be called as the other does.
    pub fn is_like(&self, other: &Prototype) -> bool {
        let same = |ours: &[Formal], theirs: &[Formal]| {
            let bytes = |formals: &[Formal]| formals.iter().map(Formal::bytes).collect::<Vec<_>>();
            bytes(ours) == bytes(theirs)
        };
        same(&self.results, &other.results) && same(&self.params, &other.params)
    }
}

/// A value that a call passes, as its function declares it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Formal {
    /// `.reg` or `.param`, where it is passed in memory.
    pub in_memory: bool,
    /// Its type, or that of an array's elements.
    pub ty: Type,
    /// Of an array, how many elements.
    pub count: Option<u32>,
    /// The alignment, where it is written.
    pub align: Option<u32>,
}

impl Formal {
    /// Its size in bytes.
    pub fn bytes(&self) -> u32 {
        (self.ty.bits() / 8).saturating_mul(self.count.unwrap_or(1))
    }
}

/// Functions by number.
pub type Functions = Arc<[Function]>;

/// A function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whether others see it.
    pub linkage: Linkage,
    /// What it is called with.
    pub prototype: Prototype,
    /// Whether it says that it does not return.
    pub no_return: bool,
    /// What it does. One that is only declared has none, and no kernel that is taken calls it.
    pub code: Option<FunctionCode>,
}

/// A function that a machine's driver brings, and so does what runs kernels here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Builtin {
    /// `vprintf`: writes text, by a format and the address of what it formats.
    Print,
    /// `__assertfail`: ends the launch, with what does not hold, the file, the line and the function.
    AssertFail,
}

impl Builtin {
    /// What a function is that has no code.
    pub fn of(function: &Function) -> Option<Builtin> {
        let (of, results, params) = match function.name.as_str() {
            "vprintf" => (Builtin::Print, 1, 2),
            "__assertfail" => (Builtin::AssertFail, 0, 5),
            _ => return None,
        };
        let Prototype { results: has_results, params: has_params } = &function.prototype;
        let is_it = function.code.is_none() && has_results.len() == results && has_params.len() == params;
        is_it.then_some(of)
    }
}

/// What a function does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionCode {
    /// What it does.
    pub body: Body,
    /// Where its results are, in the order of the prototype.
    pub results: Vec<Passed>,
    /// Where its parameters are.
    pub params: Vec<Passed>,
}

/// Where a value that is passed lies in a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passed {
    /// In a register.
    Register(Reg),
    /// In the variable of that number in a frame.
    Frame(u32),
}

impl Entry {
    /// What the numbers in its instructions stand for.
    pub fn scope(&self) -> Scope<'_> {
        Scope { params: &self.params, body: &self.body, variables: &self.variables, functions: &self.functions }
    }

    /// What the numbers in the instructions of one of its functions stand for.
    pub fn scope_of(&self, function: u32) -> Option<Scope<'_>> {
        let body = &self.functions.get(function as usize)?.code.as_ref()?.body;
        Some(Scope { params: &[], body, variables: &self.variables, functions: &self.functions })
    }

    /// The functions that it names, and those that these name, in the order of the file.
    pub fn reached_functions(&self) -> Vec<u32> {
        let mut found = vec![false; self.functions.len()];
        let mut work = vec![&self.body];
        while let Some(body) = work.pop() {
            let named = body.insts.iter().flat_map(|inst| &inst.operands).filter_map(Operand::function);
            let listed = body.tables.iter().flat_map(|table| match &table.of {
                Targets::Functions(all) => all.as_slice(),
                _ => &[],
            });
            // Which variables hold the addresses that are called is not known here.
            let is_indirect = |operand: &Operand| matches!(operand, Operand::Call { callee: Callee::Register(_), .. });
            let any = body.insts.iter().any(|inst| inst.operands.first().is_some_and(is_indirect));
            let held = self.variables.iter().filter(|_| any).flat_map(|variable| &variable.addresses);
            let held = held.filter_map(|address| match address.of {
                AddressOf::Function(number) => Some(number),
                AddressOf::Variable(_) => None,
            });
            for number in named.chain(listed.copied()).chain(held) {
                let Some(is_found) = found.get_mut(number as usize).filter(|is_found| !**is_found) else { continue };
                *is_found = true;
                let code = self.functions.get(number as usize).and_then(|function| function.code.as_ref());
                work.extend(code.map(|code| &code.body));
            }
        }
        (0..).zip(found).filter(|(_, is_found)| *is_found).map(|(number, _)| number).collect()
    }

    /// What it does, and what the functions do that it reaches.
    pub fn reached_bodies(&self) -> impl Iterator<Item = &Body> {
        std::iter::once(&self.body).chain(self.reached_functions().into_iter().filter_map(|number| {
            let function = self.functions.get(number as usize)?;
            Some(&function.code.as_ref()?.body)
        }))
    }

    /// Where the shared variables that it names lie: in the order of the file, each at its alignment, and behind them those of which the launch
    /// says how many bytes they have, all at one address.
    pub fn shared_layout(&self) -> SharedLayout {
        let used = self.used_variables();
        let named = |is_open: bool| {
            let of = used.iter().filter_map(|&number| Some((number as usize, self.variables.get(number as usize)?)));
            of.filter(move |(_, of)| of.space == Space::Shared && (of.linkage == Linkage::Extern) == is_open)
        };
        let mut layout = SharedLayout { places: vec![0; self.variables.len()], ..SharedLayout::default() };
        let mut end = 0u64;
        for (number, of) in named(false) {
            let start = end.next_multiple_of(of.alignment().into());
            if let Some(place) = layout.places.get_mut(number) {
                *place = start;
            }
            end = start + of.bytes.len() as u64;
            layout.align = layout.align.max(of.alignment());
        }
        layout.fixed = end;
        layout.open_align = named(true).map(|(_, of)| of.alignment()).max();
        let open = end.next_multiple_of(layout.open_align.unwrap_or(1).into());
        for (number, _) in named(true) {
            if let Some(place) = layout.places.get_mut(number) {
                *place = open;
            }
        }
        layout.bytes = open;
        layout
    }

    /// The variables that its instructions, or those of functions that it calls, name, in the order of the file.
    pub fn used_variables(&self) -> Vec<u32> {
        let operands = self.reached_bodies().flat_map(|body| &body.insts).flat_map(|inst| &inst.operands);
        let mut used: Vec<u32> = operands.filter_map(Operand::variable).map(|var| var.number).collect();
        // And those whose addresses they hold.
        let mut seen = 0;
        while let Some(&number) = used.get(seen) {
            seen += 1;
            let held = self.variables.get(number as usize).map_or(&[][..], |variable| &variable.addresses);
            for address in held {
                if let AddressOf::Variable(var) = address.of
                    && !used.contains(&var.number)
                {
                    used.push(var.number);
                }
            }
        }
        used.sort_unstable();
        used.dedup();
        used
    }
}

/// A label and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LabelName {
    /// Its name.
    pub name: String,
    /// The instruction it stands before; their number if it stands at the end.
    pub at: u32,
}

/// A parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type, or that of an array's elements.
    pub ty: Type,
    /// Of an array, how many elements.
    pub count: Option<u32>,
    /// The alignment, where it is written.
    pub align: Option<u32>,
    /// That it is the address of global memory, and of what alignment.
    pub pointer: Option<Option<u32>>,
}

impl Param {
    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.ty.bits() / 8) * u64::from(self.count.unwrap_or(1))
    }

    /// Its alignment in bytes, a power of two.
    pub fn alignment(&self) -> u64 {
        self.align.unwrap_or(self.ty.bits() / 8).into()
    }

    /// Returns the offset of each parameter in parameter memory.
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

/// The registers that a kernel declares, numbered in the order of their declarations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Registers {
    families: Vec<Family>,
    count: u32,
}

/// What one declaration declares: a register, or a number of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Family {
    /// The name, or what all names start with.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// Of a number of registers, how many: `%r<80>`.
    pub count: Option<u32>,
    /// The first one. One of 128 bits has two numbers, its low half the first.
    pub first: Reg,
}

impl Family {
    /// How many numbers a register of it has.
    pub(super) fn width(&self) -> u32 {
        width(self.ty)
    }

    /// The numbers of its registers.
    pub fn numbers(&self) -> impl Iterator<Item = Reg> + use<> {
        (self.first.0..self.first.0 + self.count.unwrap_or(1) * self.width()).map(Reg)
    }

    /// The type of what a number of it holds.
    pub fn held(&self) -> Type {
        held(self.ty)
    }
}

/// How many numbers a register of a type has.
pub(super) fn width(ty: Type) -> u32 {
    if ty == Type::B128 { 2 } else { 1 }
}

fn held(ty: Type) -> Type {
    if ty == Type::B128 { Type::B64 } else { ty }
}

/// Registers that a kernel may declare.
pub const MAX_REGISTERS: u32 = 1 << 20;

impl Registers {
    /// Declares registers: one, or `count` of them. `None` where these are more than [`MAX_REGISTERS`] in all.
    pub fn declare(&mut self, name: impl Into<String>, ty: Type, count: Option<u32>) -> Option<Reg> {
        let first = Reg(self.count);
        let total = self
            .count
            .checked_add(count.unwrap_or(1).checked_mul(width(ty))?)
            .filter(|&total| total <= MAX_REGISTERS)?;
        self.families.push(Family { name: name.into(), ty, count, first });
        self.count = total;
        Some(first)
    }

    /// Gives the declaration of that number another name.
    pub(super) fn rename(&mut self, declaration: usize, name: String) {
        if let Some(family) = self.families.get_mut(declaration) {
            family.name = name;
        }
    }

    /// The declarations, in order.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// The name of a register, if it is declared.
    pub fn name(&self, reg: Reg) -> Option<String> {
        let family = self.family(reg)?;
        let number = (reg.0 - family.first.0) / family.width();
        Some(family.count.map_or_else(|| family.name.clone(), |_| format!("{}{number}", family.name)))
    }

    /// How many registers there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The declaration of a register.
    pub fn family(&self, reg: Reg) -> Option<&Family> {
        if reg.0 >= self.count {
            return None;
        }
        // A family of no registers shares its first number with the next.
        let after = self.families.partition_point(|family| family.first <= reg);
        self.families.get(after.checked_sub(1)?)
    }

    /// The type of a register, the carry flag being one.
    pub fn ty(&self, reg: Reg) -> Option<Type> {
        if reg == Reg::CARRY {
            return Some(Type::Pred);
        }
        self.family(reg).map(|family| family.ty)
    }

    /// The type of what a number stands for: of a register of 128 bits it is one half.
    pub fn held(&self, reg: Reg) -> Option<Type> {
        self.ty(reg).map(held)
    }
}

/// What an instruction is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The kernel of that number.
    Entry(usize),
    /// The function of that number.
    Function(usize),
}

/// An instruction that the target of its module does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// Whose it is.
    pub of: Owner,
    /// The instruction, by number.
    pub inst: usize,
    /// What it needs.
    pub since: Since,
}

impl Module {
    /// Whether version and target are enough for what needs so much.
    pub fn provides(&self, since: Since) -> bool {
        let at = |(version, sm): ((u8, u8), u16)| self.version >= version && self.target.sm >= sm;
        (at((since.version, since.sm)) || since.earlier.is_some_and(at))
            && since.until.is_none_or(|until| self.version <= until)
            && since.last_sm.is_none_or(|last| self.target.sm <= last)
            && self.target.suffix >= since.suffix
            && (!since.one_family || self.target.sm / 10 == since.sm / 10)
    }

    /// Every instruction that needs more than version and target provide: those of kernels in order, then those of functions, whether
    /// or not a kernel calls them.
    pub fn missing(&self) -> impl Iterator<Item = Missing> {
        let entries = self.entries.iter().enumerate().map(|(number, entry)| (Owner::Entry(number), &entry.body));
        let code = self.functions.iter().enumerate().filter_map(|(number, of)| Some((number, of.code.as_ref()?)));
        let functions = code.map(|(number, code)| (Owner::Function(number), &code.body));
        entries.chain(functions).flat_map(move |(of, body)| {
            let since = body.insts.iter().map(Inst::since).enumerate();
            since.filter(|&(_, since)| !self.provides(since)).map(move |(inst, since)| Missing { of, inst, since })
        })
    }

    /// An instruction by its number, and what the numbers in it stand for.
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
