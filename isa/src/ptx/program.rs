//! A kernel and the functions that it calls, prepared for the interpreter.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use crate::ptx::meaning::{WarpInst, strength};
use crate::ptx::module::{Body, Builtin, Entry, Function, FunctionCode, Kernel, Targets};
use crate::ptx::operand::Label;
use crate::ptx::types::{Space, Special, Type};
use crate::ptx::{Inst, Opcode, Operand};
use halfbyte_abi::cooperative::post_dominators;

/// A module variable, as it is placed for a launch.
#[derive(Clone, Copy, Debug)]
pub struct PlacedVariable {
    /// Generic address of the variable, as `cvta` returns it.
    pub address: u64,
    /// The state space that holds the variable.
    pub space: Space,
}

/// The variables that a kernel uses, by their indices in the module.
pub type PlacedVariables = BTreeMap<u32, PlacedVariable>;

/// A kernel and the functions that it calls, prepared for execution. The instructions of the kernel
/// and of all reachable functions are numbered consecutively.
pub struct Program<'a> {
    /// The kernel as the module declares it.
    pub entry: &'a Entry,
    /// The body of the kernel, prepared for execution.
    pub kernel: FunctionBody<'a>,
    /// The reachable functions, by their indices in the module.
    functions: BTreeMap<u32, Callable<'a>>,
    is_of_groups: bool,
    /// `true` if the kernel addresses the reserved shared memory.
    pub has_reserved_memory: bool,
    /// The warp-level instructions, by their instruction number in the program.
    pub collectives: BTreeMap<usize, WarpInst>,
}

/// The target of a call.
pub enum Callable<'a> {
    /// A function that is not reachable, or has no definition.
    None,
    /// A function with a body.
    Code(FunctionBody<'a>, &'a FunctionCode),
    /// A function that the interpreter implements.
    Builtin(Builtin),
}

/// The body of a kernel or function, prepared for execution.
pub struct FunctionBody<'a> {
    /// The declarations and instructions of the body.
    pub body: &'a Body,
    /// `true` for a function of the device runtime, which the text only declares.
    pub is_provided: bool,
    /// The number in the program of the body's first instruction.
    pub first: usize,
    /// The type that each register index of the body holds.
    pub types: Vec<Type>,
    /// Byte offset of each frame variable in the stack frame.
    pub places: Vec<u32>,
    /// Size of the stack frame in bytes.
    pub frame_bytes: u32,
    /// Alignment of the stack frame in bytes.
    pub frame_align: u32,
    /// The reconvergence point of each instruction at which items can diverge, computed on first
    /// use. `None` stands for the return of the function.
    joins: OnceLock<BTreeMap<usize, Option<usize>>>,
}

impl<'a> FunctionBody<'a> {
    fn new(body: &'a Body, first: usize) -> FunctionBody<'a> {
        let families = body.registers.families().iter();
        let types = families.flat_map(|family| family.numbers().map(|_| family.held())).collect();
        let (places, frame_bytes) = body.layout();
        let frame_align = body.frame.iter().map(|variable| variable.alignment()).max().unwrap_or(1);
        FunctionBody {
            body,
            is_provided: false,
            first,
            types,
            places,
            frame_bytes,
            frame_align,
            joins: OnceLock::new(),
        }
    }
}

impl FunctionBody<'_> {
    /// Returns the reconvergence point of the items that diverge at the instruction `inst`: the
    /// index of an instruction, or `Some(None)` for the return of the function. Returns `None` if
    /// items cannot diverge at `inst`.
    pub fn join_of(&self, inst: usize) -> Option<Option<usize>> {
        self.joins.get_or_init(|| self.joins()).get(&inst).copied()
    }

    /// Returns `true` if only unguarded branches lie on the path from an instruction to the return.
    pub fn only_returns(&self, mut inst: usize) -> bool {
        // The limit ends the search in a cycle of branches.
        for _ in 0..=self.body.labels.len() {
            let Some(of) = self.body.insts.get(inst) else { return true };
            match (of.row().mnemonic, of.guard, of.operands.first()) {
                ("ret" | "exit", None, _) => return true,
                ("bra", None, Some(&Operand::Label(label))) => inst = self.at(label),
                _ => return false,
            }
        }
        false
    }

    fn at(&self, label: Label) -> usize {
        self.body.labels.get(label.0 as usize).map_or(self.body.insts.len(), |label| label.at as usize)
    }

    /// Returns the possible next instructions of a branch, return, trap or indirect call, and of a
    /// guarded barrier or call. Returns `None` for any other instruction, which continues with the
    /// next one.
    fn successors(&self, inst: usize) -> Option<Vec<usize>> {
        let (of, end) = (self.body.insts.get(inst)?, self.body.insts.len());
        let leads_to = match (of.row().mnemonic, of.operands.as_slice()) {
            ("bra", &[Operand::Label(label), ..]) => vec![self.at(label)],
            ("brx", &[_, Operand::Table(table), ..]) => match self.body.tables.get(table as usize).map(|of| &of.of) {
                Some(Targets::Labels(labels)) => labels.iter().map(|&label| self.at(label)).collect(),
                _ => Vec::new(),
            },
            ("ret" | "exit" | "trap", _) => vec![end],
            ("bar" | "barrier", _) if of.guard.is_some() => Vec::new(),
            ("call", _) if of.guard.is_some() || of.opcode == Opcode::CALL_INDIRECT => Vec::new(),
            _ => return None,
        };
        let falls = of.guard.is_some() || leads_to.is_empty();
        Some(leads_to.into_iter().chain(falls.then_some(inst + 1)).collect())
    }

    fn joins(&self) -> BTreeMap<usize, Option<usize>> {
        let insts = &self.body.insts;
        let branches: BTreeMap<usize, Vec<usize>> =
            (0..insts.len()).filter_map(|inst| Some((inst, self.successors(inst)?))).collect();
        // A basic block begins at each branch target and after each branch.
        let starts = branches.iter().flat_map(|(inst, to)| to.iter().copied().chain([inst + 1])).chain([0]);
        let starts: BTreeSet<usize> = starts.filter(|&start| start < insts.len()).collect();
        let starts: Vec<usize> = starts.into_iter().collect();
        let block_of = |inst: usize| match inst < insts.len() {
            true => starts.partition_point(|&start| start <= inst) - 1,
            false => starts.len(),
        };
        let last = |block: usize| starts.get(block + 1).map_or(insts.len(), |&next| next) - 1;
        let successors = |block: usize| match branches.get(&last(block)) {
            Some(to) => to.iter().map(|&to| block_of(to)).collect(),
            None => vec![block_of(last(block) + 1)],
        };
        let graph: Vec<Vec<usize>> = (0..starts.len()).map(successors).collect();
        let dominators = post_dominators(&graph);
        let join = |inst: usize| {
            let block = dominators.get(block_of(inst)).copied().flatten()?;
            starts.get(block).copied().filter(|&start| !self.only_returns(start))
        };
        // Items diverge at guarded instructions, indirect branches and calls.
        let parts = |inst: &usize| {
            let of = insts.get(*inst);
            of.is_some_and(|of| of.guard.is_some() || matches!(of.row().mnemonic, "brx" | "call"))
        };
        branches.keys().copied().filter(parts).map(|inst| (inst, join(inst))).collect()
    }
}

impl<'a> Program<'a> {
    /// Prepares a kernel and the functions that it calls for execution.
    pub fn new(Kernel { entry, target, .. }: &'a Kernel) -> Program<'a> {
        let kernel = FunctionBody::new(&entry.body, 0);
        let callable = |(number, first): (u32, usize)| {
            let function = entry.functions.get(number as usize)?;
            let callable = match (function.definition(), Builtin::of(function)) {
                (Some(code), _) => {
                    let is_provided = function.code.is_none();
                    Callable::Code(FunctionBody { is_provided, ..FunctionBody::new(&code.body, first) }, code)
                }
                (None, Some(builtin)) => Callable::Builtin(builtin),
                (None, None) => Callable::None,
            };
            Some((number, callable))
        };
        let functions: BTreeMap<u32, Callable<'a>> = firsts(entry).into_iter().filter_map(callable).collect();
        let meets = |inst: &Inst| inst.is_collective() || strength(inst).is_some();
        let is_shared =
            |&number: &u32| entry.variables.get(number as usize).is_some_and(|of| of.space == Space::Shared);
        let reads_reserved = |inst: &Inst| inst.specials().any(Special::is_of_reserved_memory);
        let has_reserved_memory = entry.reached_bodies().flat_map(|body| &body.insts).any(reads_reserved);
        let is_of_groups = has_reserved_memory
            || entry.used_variables().iter().any(is_shared)
            || entry.reached_bodies().flat_map(|body| &body.insts).any(meets);
        let codes = functions.values().filter_map(|function| match function {
            Callable::Code(code, _) => Some(code),
            _ => None,
        });
        let of_code = |code: &FunctionBody<'a>| {
            let insts = (code.first..).zip(&code.body.insts).filter(|(_, inst)| inst.is_warp_level());
            insts.map(|(number, inst)| (number, WarpInst::new(inst, target.sm))).collect::<Vec<_>>()
        };
        let collectives = [&kernel].into_iter().chain(codes).flat_map(of_code).collect();
        Program { entry, kernel, functions, is_of_groups, has_reserved_memory, collectives }
    }

    /// Returns `true` if the items of a group must run together, because they synchronise, use
    /// shared memory, or make strong accesses to memory.
    pub fn is_of_groups(&self) -> bool {
        self.is_of_groups
    }

    /// Returns the function with index `number`.
    pub fn function(&self, number: u32) -> &Callable<'a> {
        self.functions.get(&number).unwrap_or(&Callable::None)
    }
}

/// Returns the indices of the functions that the kernel can reach, each with the number in the
/// program of the function's first instruction.
fn firsts(entry: &Entry) -> Vec<(u32, usize)> {
    let mut next = entry.body.insts.len();
    let first = |number: u32| {
        let code = entry.functions.get(number as usize).and_then(Function::definition);
        let first = next;
        next += code.map_or(0, |code| code.body.insts.len());
        (number, first)
    };
    entry.reached_functions().into_iter().map(first).collect()
}

/// Finds the instruction with the number `address` in the program. Returns the index of its
/// function (`None` for the kernel) and the instruction's index in the body.
pub fn locate(entry: &Entry, address: usize) -> (Option<u32>, usize) {
    if address < entry.body.insts.len() {
        return (None, address);
    }
    let found = firsts(entry).into_iter().rfind(|(_, first)| *first <= address);
    found.map_or((None, address), |(number, first)| (Some(number), address - first))
}

/// Returns the text of the instruction with the number `address` in the program.
pub fn text_of(entry: &Entry, address: usize) -> String {
    let (function, place) = locate(entry, address);
    let scope = match function {
        None => Some(entry.scope()),
        Some(number) => entry.scope_of(number),
    };
    let text = |inst: &Inst| scope.map(|scope| crate::ptx::text::inst_text_in(inst, scope));
    scope.and_then(|scope| scope.body.insts.get(place)).and_then(text).unwrap_or_default()
}
