//! Emission of an IR kernel from a PTX kernel, instruction by instruction.

use std::collections::{HashMap, HashSet};

use halfbyte_ir::{Block, Diagnostic, Kernel, Op, Space, Type, Value};
use halfbyte_isa::halu::domain::Domain;
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::meaning::{Reader, Write, meaning};
use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::text::inst_text;
use halfbyte_isa::ptx::types::{Special, Type as PtxType};
use halfbyte_isa::ptx::{Inst, NAME, Reg, Var, template};
use halfbyte_isa::row::OperandRole;

use crate::builder::Import;
use crate::domain::IrBuilder;
use crate::flow::End;
use crate::fuse::fusable;
use crate::options::{LineMap, Options, ir_name};
use crate::provenance::{Parameter, ParameterError, Parameters};
use crate::ssa::{Def, Function};
use crate::types::{Types, integer};
use crate::unsupported::unsupported;

/// Converts a PTX kernel to a kernel of the IR.
///
/// # Errors
/// Returns an error for each construct that the IR cannot express.
pub(crate) fn kernel(
    entry: &Entry,
    locs: &[Loc],
    places: &LineMap<'_>,
    options: Options,
) -> Result<Kernel, Vec<Diagnostic>> {
    let standing: Vec<Diagnostic> = unsupported(entry, locs, places).collect();
    if !standing.is_empty() {
        return Err(standing);
    }
    with_parameters(entry, locs, places, options, |mut import| {
        import.blocks();
        if !import.errors.is_empty() {
            return Err(import.errors);
        }
        let mut kernel = import.code.builder.finish();
        drop_unused(&mut kernel);
        kernel.span = locs.first().map_or_else(Default::default, |&first| places.span(first));
        Ok(kernel)
    })
}

/// Returns a kernel that has the imported parameters but no body, and the origin of each parameter
/// in the PTX.
///
/// # Errors
/// Returns an error for each address that derives from no parameter.
pub(crate) fn parameters(
    entry: &Entry,
    locs: &[Loc],
    places: &LineMap<'_>,
) -> Result<(Kernel, Vec<Parameter>), Vec<Diagnostic>> {
    with_parameters(entry, locs, places, Options::default(), |import| {
        Ok((import.code.builder.finish(), import.parameters.places.clone()))
    })
}

/// Returns the same as [`parameters`] for a kernel that is executed directly as PTX. In direct
/// execution, an address of unknown origin is no error.
pub(crate) fn direct_parameters(
    entry: &Entry,
    locs: &[Loc],
    places: &LineMap<'_>,
) -> Result<(Kernel, Vec<Parameter>), Vec<Diagnostic>> {
    let is_of_parameters =
        |wrong: &ParameterError| matches!(wrong, ParameterError::Overlap { .. } | ParameterError::Outside { .. });
    with_parameters_checked(is_of_parameters, entry, locs, places, Options::default(), |import| {
        Ok((import.code.builder.finish(), import.parameters.places.clone()))
    })
}

/// Declares the parameters and arrays of a new kernel of the IR, and calls `then` with the state of
/// the import.
fn with_parameters<T>(
    entry: &Entry,
    locs: &[Loc],
    places: &LineMap<'_>,
    options: Options,
    then: impl FnOnce(Import<'_>) -> Result<T, Vec<Diagnostic>>,
) -> Result<T, Vec<Diagnostic>> {
    with_parameters_checked(|_| true, entry, locs, places, options, then)
}

/// Does the same as [`with_parameters`], but ignores the errors for which `matters` returns
/// `false`.
fn with_parameters_checked<T>(
    matters: impl Fn(&ParameterError) -> bool,
    entry: &Entry,
    locs: &[Loc],
    places: &LineMap<'_>,
    options: Options,
    then: impl FnOnce(Import<'_>) -> Result<T, Vec<Diagnostic>>,
) -> Result<T, Vec<Diagnostic>> {
    let function = Function::new(entry);
    let mut wrong = Vec::new();
    let parameters = Parameters::new(&function, &mut wrong);
    wrong.retain(matters);
    if !wrong.is_empty() {
        return Err(wrong.iter().map(|wrong| diagnostic(wrong, entry, locs, places)).collect());
    }
    let types = Types::new(&function, &parameters);
    let fusable = if options.keep || options.contract { fusable(&function) } else { HashSet::new() };
    let mut import = Import::new(&function, &parameters, &types, fusable, options, (locs, places));
    import.declare();
    import.declare_arrays();
    then(import)
}

fn diagnostic(wrong: &ParameterError, entry: &Entry, locs: &[Loc], places: &LineMap<'_>) -> Diagnostic {
    let at = |inst: usize| places.span(locs.get(inst).copied().unwrap_or_default());
    match wrong {
        ParameterError::Overlap { inst, param } => {
            let name = entry.params.get(*param as usize).map_or("", |param| &param.name);
            let message = format!("this load partially overlaps another load from parameter `{name}`");
            Diagnostic::new(at(*inst), message)
                .expected("loads from a structure that are disjoint, or have the same offset and size")
        }
        ParameterError::Outside { inst } => {
            Diagnostic::new(at(*inst), "this load is misaligned or outside of its parameter")
                .expected("an offset in the parameter that is a multiple of the load's size")
        }
        ParameterError::Untraced { inst } => {
            Diagnostic::new(at(*inst), "this address cannot be traced back to a parameter")
                .expected("the sum of a 64-bit parameter or a variable and an offset")
        }
        ParameterError::Ambiguous { inst, names } => {
            let message = match names.as_slice() {
                [name] => format!("cannot tell whether {name} is an address"),
                names => format!("cannot tell which of {} is the address", names.join(", ")),
            };
            Diagnostic::new(at(*inst), message)
                .expected("`.ptr` in the declaration of the parameter, or `cvta` of the address")
        }
        ParameterError::Written { inst, name } => {
            let message = format!("a store to the module variable `{name}` is not supported");
            Diagnostic::new(at(*inst), message).expected("a buffer parameter in place of the variable")
        }
        ParameterError::StoredAddress { inst, name } => {
            let message = format!("the address in the initial contents of `{name}` has no counterpart in the IR");
            Diagnostic::new(at(*inst), message).expected("direct execution with `--target ptx`")
        }
        ParameterError::Space { inst, message, expected } => Diagnostic::new(at(*inst), *message).expected(*expected),
    }
}

impl Import<'_> {
    /// Emits the blocks in the order of the PTX kernel. If the first block has predecessors, a
    /// separate entry block branches to it.
    fn blocks(&mut self) {
        let function = self.function;
        let entry = self.code.builder.begin("entry", &[]);
        let is_first_alone = function.preds.first().is_none_or(Vec::is_empty);
        let mut blocks: Vec<Option<Block>> = vec![None; function.nodes.len()];
        let labels = self.labels();
        self.block_names.insert("entry".to_owned());
        for &node in &function.order {
            let block = if node == 0 && is_first_alone {
                entry
            } else {
                let name = labels.get(&node).cloned().unwrap_or_else(|| format!("b{node}"));
                let name = if self.block_names.contains(&name) { format!("{name}_b{node}") } else { name };
                let phis = function.phis.get(node).into_iter().flatten();
                let types: Vec<Type> = phis.map(|&phi| self.types.get(phi)).collect();
                let block = self.code.builder.block(&name, &types);
                self.block_names.insert(name);
                let params = self.code.builder.params(block).to_vec();
                for (&phi, param) in function.phis.get(node).into_iter().flatten().zip(params) {
                    self.set(phi, param);
                }
                block
            };
            if let Some(of) = blocks.get_mut(node) {
                *of = Some(block);
            }
        }
        if !is_first_alone && let Some(&Some(first)) = blocks.first() {
            self.code.go_to(entry);
            let args = self.arguments(0, 0);
            self.code.builder.br(first, &args);
        }
        for &node in &function.order {
            let (Some(of), Some(&Some(block))) = (function.nodes.get(node), blocks.get(node)) else { continue };
            self.code.go_to(block);
            self.indices.clear();
            for number in of.insts.clone() {
                self.number = number;
                self.code.builder.set_span(self.span(number));
                if let Some(inst) = function.inst(number) {
                    self.inst(inst);
                }
            }
            if let Some(number) = of.ended_by {
                self.code.builder.set_span(self.span(number));
            }
            self.end(node, of.end, &blocks);
        }
    }

    fn end(&mut self, node: usize, end: End, blocks: &[Option<Block>]) {
        let block = |to: usize| blocks.get(to).copied().flatten();
        match end {
            End::Exit => {
                self.code.builder.ret();
            }
            End::Jump(to) => {
                let args = self.arguments(to, self.edge(node, to, 0));
                if let Some(to) = block(to) {
                    self.code.builder.br(to, &args);
                }
            }
            End::Branch(guard, then, otherwise) => {
                let condition = self.function.conditions.get(&node).copied();
                let condition = match condition {
                    Some(val) => self.value(val),
                    None => self.code.truth(false),
                };
                let (first, second) = (self.edge(node, then, 0), self.edge(node, otherwise, 1));
                let (first, second) = (self.arguments(then, first), self.arguments(otherwise, second));
                let (Some(then), Some(otherwise)) = (block(then), block(otherwise)) else { return };
                let (then, otherwise) = ((then, first.as_slice()), (otherwise, second.as_slice()));
                let (yes, no) = if guard.not { (otherwise, then) } else { (then, otherwise) };
                self.code.builder.br_if(condition, yes, no);
            }
        }
    }

    /// Returns the index of an edge among the predecessors of block `to`. The edge leads from block
    /// `from` to its successor number `nth`.
    fn edge(&self, from: usize, to: usize, nth: usize) -> usize {
        let found = self.function.edges.get(from).and_then(|edges| edges.get(nth)).copied().unwrap_or(0);
        // The function entry is the implicit first predecessor of block 0.
        found + usize::from(to == 0)
    }

    /// Returns the values that an edge passes to the block parameters of block `to`.
    fn arguments(&mut self, to: usize, edge: usize) -> Vec<Value> {
        let function = self.function;
        let phis = function.phis.get(to).into_iter().flatten();
        phis.map(|&phi| {
            let val = match function.def(phi) {
                Def::Phi(vals) => vals.get(edge).copied(),
                _ => None,
            };
            let ty = self.types.get(phi);
            match val {
                Some(val) => {
                    let value = self.value(val);
                    self.convert(value, ty)
                }
                None => self.zero(ty),
            }
        })
        .collect()
    }

    /// Returns the name of the first label of each block that has a label.
    fn labels(&self) -> HashMap<usize, String> {
        let mut starts = HashMap::new();
        for (number, node) in self.function.nodes.iter().enumerate() {
            starts.entry(node.insts.start).or_insert(number);
        }
        let mut labels = HashMap::new();
        for label in &self.function.entry.body.labels {
            if let Some(&node) = starts.get(&(label.at as usize)) {
                labels.entry(node).or_insert_with(|| ir_name(&label.name));
            }
        }
        labels
    }

    fn inst(&mut self, inst: &Inst) {
        let done = self.memory(inst)
            || self.collective(inst)
            || self.private_address_inst(inst)
            || self.special_inst(inst)
            || self.integer(inst)
            || self.float(inst)
            || self.video(inst)
            || self.keeps_intrinsics && self.emit_intrinsic(inst);
        if !done {
            self.emit_meaning(inst);
        }
    }

    /// Imports an instruction that only computes as a PTX intrinsic. Returns `false` if this is not
    /// possible.
    fn emit_intrinsic(&mut self, inst: &Inst) -> bool {
        let registers = &self.function.entry.body.registers;
        let Some((text, read)) = template::of(inst, |reg| registers.ty(reg)) else { return false };
        let types = read.iter().map(|&reg| registers.ty(reg).and_then(of_register)).collect::<Option<Vec<Type>>>();
        let written = inst.registers().find(|(role, _)| *role == OperandRole::Def).map(|(_, reg)| reg);
        let result = written.and_then(|reg| registers.ty(reg)).and_then(of_register);
        let (Some(types), Some(written), Some(result)) = (types, written, result) else { return false };
        let args: Vec<Value> = read
            .into_iter()
            .zip(types)
            .map(|(reg, ty)| {
                let value = self.register(reg);
                // A value of any type with the right width is accepted, except a pointer.
                let fits = self.code.ty(value).bits() == ty.bits() && self.code.ty(value) != Type::PTR;
                if fits { value } else { self.convert(value, ty) }
            })
            .collect();
        let result = match self.function.writes(self.number).find(|(reg, _)| *reg == written) {
            Some((_, val)) if self.types.get(val).bits() == result.bits() && self.types.get(val) != Type::PTR => {
                self.types.get(val)
            }
            _ => result,
        };
        let value = self.code.builder.intrinsic(result, NAME, &text, &args);
        self.define(written, value);
        true
    }

    /// Imports an instruction by evaluating its semantics with the IR builder, which emits ops.
    fn emit_meaning(&mut self, inst: &Inst) {
        let mut view = OperandValues { values: Vec::new() };
        for (_, reg) in inst.registers() {
            if self.function.read(self.number, reg).is_some() {
                let value = self.register(reg);
                view.values.push((reg, value));
            }
        }
        let effects = meaning(inst, &mut self.code, &mut view);
        if effects.access.is_some() || effects.next != halfbyte_isa::ptx::meaning::Next::Fall {
            self.refuse(
                format!("`{}` has no counterpart in the IR", inst_text(inst, self.function.entry)),
                "another instruction",
            );
            return;
        }
        for write in effects.writes {
            match write {
                Write::Register(reg, [low, high]) => {
                    let bits = self.function.entry.body.registers.held(reg).map_or(32, PtxType::bits);
                    let value = match bits {
                        64 => self.code.whole([low, high], Type::I64),
                        bits => self.code.of_word(low, integer(bits)),
                    };
                    self.define(reg, value);
                }
                Write::Predicate(reg, p) => self.define(reg, p),
            }
        }
    }
}

/// Returns the IR type of a PTX register in an intrinsic, or `None` if intrinsics do not support
/// the type.
fn of_register(ty: PtxType) -> Option<Type> {
    match ty {
        PtxType::Pred => Some(Type::I1),
        ty if matches!(ty.bits(), 16 | 32 | 64) => Some(integer(ty.bits())),
        _ => None,
    }
}

/// Values of the registers that an instruction reads, for the evaluation of its semantics.
struct OperandValues {
    values: Vec<(Reg, Value)>,
}

impl OperandValues {
    fn get(&self, reg: Reg) -> Option<Value> {
        self.values.iter().find(|(read, _)| *read == reg).map(|(_, value)| *value)
    }
}

impl Reader<IrBuilder> for OperandValues {
    fn register(&mut self, code: &mut IrBuilder, reg: Reg) -> [Value; 2] {
        let zero = code.word(0);
        let Some(value) = self.get(reg) else { return [zero; 2] };
        if code.ty(value).bits() < 64 {
            return [code.word_of(value), zero];
        }
        let whole = code.cast(value, Type::I64);
        match code.known(whole) {
            Some(bits) => [code.word(bits as u32), code.word((bits >> 32) as u32)],
            None => [0, 1].map(|part| code.builder.lane(Op::Split, Type::I32, &[whole], part)),
        }
    }

    fn predicate(&mut self, code: &mut IrBuilder, reg: Reg) -> Value {
        self.get(reg).unwrap_or_else(|| code.truth(false))
    }

    fn special(&mut self, code: &mut IrBuilder, _: Special) -> [Value; 2] {
        // Unreachable: only moves read special registers, and moves are imported directly.
        [code.word(0); 2]
    }

    fn variable(&mut self, code: &mut IrBuilder, _: Var) -> [Value; 2] {
        // Unreachable: instructions that compute the address of a variable are imported directly.
        [code.word(0); 2]
    }
}

/// Removes instructions without side effects whose results have no uses, and unused scratch arrays.
fn drop_unused(kernel: &mut Kernel) {
    let mut used = vec![false; kernel.values.len()];
    let mut work: Vec<Value> = Vec::new();
    for &block in &kernel.layout {
        for &inst in &kernel.blocks[block].insts {
            if !kernel.insts[inst].op.is_pure() {
                work.extend(kernel.args(inst));
                work.extend(kernel.targets(inst).iter().flat_map(|call| kernel.call_args(call)));
            }
        }
    }
    while let Some(value) = work.pop() {
        if std::mem::replace(&mut used[cranelift_entity::EntityRef::index(value)], true) {
            continue;
        }
        if let Some(inst) = kernel.def_inst(value) {
            work.extend(kernel.args(inst));
        }
    }
    for number in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(number) else { continue };
        let mut insts = std::mem::take(&mut kernel.blocks[block].insts);
        insts.retain(|&inst| {
            let result = kernel.result(inst).map(cranelift_entity::EntityRef::index);
            !kernel.insts[inst].op.is_pure() || result.is_some_and(|result| used[result])
        });
        kernel.blocks[block].insts = insts;
    }
    // Scratch arrays are declared last. An array has no uses if the import converted its contents
    // to SSA values.
    while let Some(array) = kernel.arrays.last()
        && array.space == Space::Scratch
        && !used[cranelift_entity::EntityRef::index(array.value)]
    {
        kernel.arrays.pop();
    }
}
