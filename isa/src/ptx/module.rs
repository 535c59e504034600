//! A PTX file as a value: what is read from text and printed as text.

use std::fmt;

use super::inst::{Inst, Reg};
use super::types::{Since, Type};

/// A file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// `.version`: the PTX version, major and minor.
    pub version: (u8, u8),
    /// `.target`
    pub target: TargetName,
    /// The kernels, in order.
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

/// The lowest version and the widest target that have all of an SM's instructions that kernels use.
fn head(sm: u16, entries: &[Entry]) -> ((u8, u8), TargetName) {
    let insts = entries.iter().flat_map(|entry| &entry.insts);
    let needs = insts.map(Inst::since).fold(Since::first(sm), Since::and);
    let suffix = needs.specific.then_some(Suffix::Family);
    // A family has names from this version on.
    let version = if needs.specific { needs.version.max((8, 8)) } else { needs.version };
    (version, TargetName { sm, suffix })
}

impl Kernel {
    /// A kernel for an SM, with what of version and target its instructions need.
    pub fn for_sm(sm: u16, entry: Entry) -> Kernel {
        let (version, target) = head(sm, std::slice::from_ref(&entry));
        Kernel { version, target, entry }
    }
}

impl From<Kernel> for Module {
    fn from(Kernel { version, target, entry }: Kernel) -> Module {
        Module { version, target, entries: vec![entry] }
    }
}

/// The name of a machine: `sm_90`, `sm_90a`, `sm_120f`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TargetName {
    /// The number.
    pub sm: u16,
    /// What follows it: `a` for what one architecture alone has, `f` for what its family has.
    pub suffix: Option<Suffix>,
}

/// What the name of a machine ends with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Suffix {
    /// `a`
    Architecture,
    /// `f`
    Family,
}

impl fmt::Display for TargetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.suffix {
            None => "",
            Some(Suffix::Architecture) => "a",
            Some(Suffix::Family) => "f",
        };
        write!(f, "sm_{}{suffix}", self.sm)
    }
}

/// Whether others see a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linkage {
    /// Nothing is said.
    Plain,
    /// `.visible`
    Visible,
    /// `.weak`
    Weak,
}

/// A kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Whether others see it.
    pub linkage: Linkage,
    /// Its parameters, in order.
    pub params: Vec<Param>,
    /// Its registers.
    pub registers: Registers,
    /// Its instructions.
    pub insts: Vec<Inst>,
    /// Its labels, by where they stand.
    pub labels: Vec<LabelName>,
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
    /// The first one.
    pub first: Reg,
}

/// Registers that a kernel may declare.
pub const MAX_REGISTERS: u32 = 1 << 20;

impl Registers {
    /// Declares registers: one, or `count` of them. `None` where these are more than [`MAX_REGISTERS`] in all.
    pub fn declare(&mut self, name: impl Into<String>, ty: Type, count: Option<u32>) -> Option<Reg> {
        let first = Reg(self.count);
        let total = self.count.checked_add(count.unwrap_or(1)).filter(|&total| total <= MAX_REGISTERS)?;
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

    /// The type of a register.
    pub fn ty(&self, reg: Reg) -> Option<Type> {
        self.family(reg).map(|family| family.ty)
    }
}

/// An instruction that the target of its module does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// The kernel, by number.
    pub entry: usize,
    /// The instruction, by number.
    pub inst: usize,
    /// What it needs.
    pub since: Since,
}

impl Module {
    /// Kernels for an SM, with what of version and target their instructions need.
    pub fn for_sm(sm: u16, entries: Vec<Entry>) -> Module {
        let (version, target) = head(sm, &entries);
        Module { version, target, entries }
    }

    /// Whether version and target are enough for what needs so much.
    pub fn provides(&self, since: Since) -> bool {
        self.version >= since.version && self.target.sm >= since.sm && (!since.specific || self.target.suffix.is_some())
    }

    /// Every instruction that needs more than version and target provide, in order.
    pub fn missing(&self) -> impl Iterator<Item = Missing> {
        self.entries.iter().enumerate().flat_map(move |(entry, kernel)| {
            let since = kernel.insts.iter().map(Inst::since).enumerate();
            since.filter(|&(_, since)| !self.provides(since)).map(move |(inst, since)| Missing { entry, inst, since })
        })
    }
}
