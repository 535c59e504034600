//! A kernel and the functions that it calls, prepared for the interpreter.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use crate::ptx::meaning::{WarpInst, strength};
use crate::ptx::module::{Body, Builtin, Entry, FunctionCode, Kernel, Targets};
use crate::ptx::operand::Label;
use crate::ptx::types::{Space, Type};
use crate::ptx::{Inst, Opcode, Operand};
use halfbyte_abi::cooperative::post_dominators;

/// The placement of a module-scope variable in a launch.
#[derive(Clone, Copy, Debug)]
pub struct PlacedVariable {
    /// Its address as `cvta` gives it; zero where the kernel does not name it.
    pub address: u64,
    /// The space that it is declared in.
    pub space: Space,
}

/// A kernel and its functions.
pub struct Program<'a> {
    /// The kernel's entry.
    pub entry: &'a Entry,
    /// The kernel's own body.
    pub kernel: FunctionBody<'a>,
    /// The functions, indexed by number; `Callable::None` if unreachable.
    functions: Vec<Callable<'a>>,
    is_of_groups: bool,
    /// The warp-level instructions, keyed by their number in the program.
    pub collectives: BTreeMap<usize, WarpInst>,
}

/// The target of a call.
pub enum Callable<'a> {
    /// A missing or unreachable function.
    None,
    /// A function with a body.
    Code(FunctionBody<'a>, &'a FunctionCode),
    /// A function that the interpreter implements.
    Builtin(Builtin),
}

/// A function body.
pub struct FunctionBody<'a> {
    /// The instructions.
    pub body: &'a Body,
    /// Number of the first instruction in the program.
    pub first: usize,
    /// The type of each register.
    pub types: Vec<Type>,
    /// Offset of each variable in the frame, in bytes.
    pub places: Vec<u32>,
    /// Size of the frame in bytes.
    pub frame_bytes: u32,
    /// Alignment of the frame in bytes.
    pub frame_align: u32,
    /// The reconvergence point of each divergent instruction, computed on first use.
    joins: OnceLock<BTreeMap<usize, Option<usize>>>,
}

impl<'a> FunctionBody<'a> {
    fn new(body: &'a Body, first: usize) -> FunctionBody<'a> {
        let families = body.registers.families().iter();
        let types = families.flat_map(|family| family.numbers().map(|_| family.held())).collect();
        let (places, frame_bytes) = body.layout();
        let frame_align = body.frame.iter().map(|variable| variable.alignment()).max().unwrap_or(1);
        FunctionBody { body, first, types, places, frame_bytes, frame_align, joins: OnceLock::new() }
    }
}

impl FunctionBody<'_> {
    /// Returns the reconvergence point of an instruction. The outer `None` means that items cannot
    /// diverge there; the inner one means that they reconverge only at the return.
    pub fn join_of(&self, inst: usize) -> Option<Option<usize>> {
        self.joins.get_or_init(|| self.joins()).get(&inst).copied()
    }

    /// Returns `true` if only unguarded branches lie between an instruction and the return.
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

    /// Returns the successors of a branch, a guarded barrier or a guarded call; `None` for other instructions.
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
        // An unguarded branch to a label does not diverge.
        let parts = |inst: &usize| {
            let of = insts.get(*inst);
            of.is_some_and(|of| of.guard.is_some() || matches!(of.row().mnemonic, "brx" | "call"))
        };
        branches.keys().copied().filter(parts).map(|inst| (inst, join(inst))).collect()
    }
}

impl<'a> Program<'a> {
    /// Prepares a kernel.
    pub fn new(Kernel { entry, target, .. }: &'a Kernel) -> Program<'a> {
        let kernel = FunctionBody::new(&entry.body, 0);
        let mut functions: Vec<Callable<'a>> = entry.functions.iter().map(|_| Callable::None).collect();
        for (number, first) in firsts(entry) {
            let (Some(function), Some(place)) =
                (entry.functions.get(number as usize), functions.get_mut(number as usize))
            else {
                continue;
            };
            *place = match (&function.code, Builtin::of(function)) {
                (Some(code), _) => Callable::Code(FunctionBody::new(&code.body, first), code),
                (None, Some(builtin)) => Callable::Builtin(builtin),
                (None, None) => Callable::None,
            };
        }
        let meets = |inst: &Inst| inst.is_collective() || strength(inst).is_some();
        let is_of_groups = entry.variables.iter().any(|variable| variable.space == Space::Shared)
            || entry.reached_bodies().flat_map(|body| &body.insts).any(meets);
        let codes = functions.iter().filter_map(|function| match function {
            Callable::Code(code, _) => Some(code),
            _ => None,
        });
        let of_code = |code: &FunctionBody<'a>| {
            let insts = (code.first..).zip(&code.body.insts).filter(|(_, inst)| inst.is_warp_level());
            insts.map(|(number, inst)| (number, WarpInst::new(inst, target.sm))).collect::<Vec<_>>()
        };
        let collectives = [&kernel].into_iter().chain(codes).flat_map(of_code).collect();
        Program { entry, kernel, functions, is_of_groups, collectives }
    }

    /// Returns `true` if the kernel runs in groups: its items synchronise, share memory, or read
    /// memory that other items may write at the same time.
    pub fn is_of_groups(&self) -> bool {
        self.is_of_groups
    }

    /// Returns the function with the given number.
    pub fn function(&self, number: u32) -> &Callable<'a> {
        self.functions.get(number as usize).unwrap_or(&Callable::None)
    }
}

/// Returns the reachable functions of a kernel, each with the number of its first instruction in
/// the program.
fn firsts(entry: &Entry) -> Vec<(u32, usize)> {
    let mut next = entry.body.insts.len();
    let first = |number: u32| {
        let code = entry.functions.get(number as usize).and_then(|function| function.code.as_ref());
        let first = next;
        next += code.map_or(0, |code| code.body.insts.len());
        (number, first)
    };
    entry.reached_functions().into_iter().map(first).collect()
}

/// Returns the function that contains an instruction of the program, and the instruction's index in
/// its body. The function is `None` for the kernel's own body.
pub fn locate(entry: &Entry, address: usize) -> (Option<u32>, usize) {
    if address < entry.body.insts.len() {
        return (None, address);
    }
    let found = firsts(entry).into_iter().rfind(|(_, first)| *first <= address);
    found.map_or((None, address), |(number, first)| (Some(number), address - first))
}

/// Returns the text of an instruction of the program.
pub fn text_of(entry: &Entry, address: usize) -> String {
    let (function, place) = locate(entry, address);
    let scope = match function {
        None => Some(entry.scope()),
        Some(number) => entry.scope_of(number),
    };
    let text = |inst: &Inst| scope.map(|scope| crate::ptx::text::inst_text_in(inst, scope));
    scope.and_then(|scope| scope.body.insts.get(place)).and_then(text).unwrap_or_default()
}
