//! Classification of a kernel's parameters as values or as addresses of buffers.
//!
//! A parameter in PTX is a sequence of bytes. A parameter that is loaded as a whole becomes one
//! parameter of the IR, and a structure becomes one parameter per loaded field. A parameter of 64
//! bits is a buffer if the address of an access derives from it by additions only. A module
//! variable that the kernel names becomes a buffer with constant contents.
//!
//! A value that the kernel loads from shared or local memory may be any generic address. A kernel with
//! an access at such an address is a *flat* kernel: the generic address of its shared and local memory
//! is the address that the target gives to the memory.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use halfbyte_isa::ptx::module::{Entry, Param, PointerTarget, Symbol};
use halfbyte_isa::ptx::row::named_space;
use halfbyte_isa::ptx::types::{Space, Token, Type};
use halfbyte_isa::ptx::{Base, Inst, Opcode, Operand, Reg, Var};
use halfbyte_isa::row::{InstClass, OperandRole};
use smallvec::SmallVec;

use crate::flow::loads_parameter;
use crate::options::ir_name;
use crate::ssa::{Def, Function, Val};

/// Number of a parameter of the IR.
pub(crate) type ParameterId = u32;

/// Parameters of the IR from which a value may derive, as an address or as an offset.
pub(crate) type Provenance = SmallVec<[ParameterId; 2]>;

/// Parameter of the IR kernel.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    /// Part of the PTX text from which the parameter originates.
    pub of: Origin,
    /// Byte offset of this parameter in the PTX parameter.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Name in the IR.
    pub name: String,
    /// Set if the parameter is the address of a buffer.
    pub is_buffer: bool,
}

/// The part of the PTX text from which a parameter of the IR originates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Origin {
    /// Number of a kernel parameter, which contains the parameter of the IR.
    Param(u32),
    /// Module variable.
    Variable(Var),
}

impl Origin {
    /// Returns the PTX parameter, or `None` if the origin is a module variable.
    pub(crate) fn param(self, entry: &Entry) -> Option<&Param> {
        match self {
            Origin::Param(number) => entry.params.get(number as usize),
            Origin::Variable(_) => None,
        }
    }
}

/// Bit set of the kinds of addresses that a value may be. [`IN_CONST`] is an address in constant
/// memory, and [`PLAIN`] a generic or global address.
type SpaceSet = u8;
const IN_CONST: SpaceSet = 1;
const PLAIN: SpaceSet = 2;
/// Bit for generic addresses that `cvta` computes from an address in shared memory. The next bit is
/// that of local memory.
const OF_SHARED: SpaceSet = 4;
const OF_LOCAL: SpaceSet = 8;
/// Bit for values of 64 bits that are loaded from shared or local memory, or from memory at such a value. Such a
/// value may be any address.
const LOADED: SpaceSet = 16;

/// Parameters of the IR kernel, and the provenance of each value.
pub(crate) struct Parameters {
    /// The parameters, sorted by origin and offset.
    pub places: Vec<Parameter>,
    /// The parameters from which each value may derive, indexed by the number of the value.
    of: Vec<Provenance>,
    /// The kinds of addresses that each value may be, indexed by the number of the value.
    spaces: Vec<SpaceSet>,
    /// Set if the memory that a generic access reaches is only known at run time.
    pub is_flat: bool,
}

/// Reason why a parameter or an address cannot be converted to the IR.
pub(crate) enum ParameterError {
    /// A load that partially overlaps another load from the same parameter.
    Overlap { inst: usize, param: u32 },
    /// A load beyond the bounds of its parameter.
    Outside { inst: usize },
    /// An address that derives from no parameter.
    Untraced { inst: usize },
    /// An access at a sum of two possible addresses, or a store of a parameter that may be an address.
    Ambiguous { inst: usize, names: Vec<String> },
    /// A store to a module variable.
    Written { inst: usize, name: String },
    /// A module variable whose initialiser contains the address of a module variable.
    StoredAddress { inst: usize, name: String },
    /// An address in constant memory where an address in another space is required, or the reverse.
    Space { inst: usize, message: &'static str, expected: &'static str },
}

impl Parameters {
    pub(crate) fn new(function: &Function<'_>, wrong: &mut Vec<ParameterError>) -> Parameters {
        let places = places(function, wrong);
        let (of, spaces) = (vec![Provenance::new(); function.defs.len()], vec![0; function.defs.len()]);
        let mut parameters = Parameters { places, of, spaces, is_flat: false };
        parameters.trace(function);
        parameters.find_buffers(function, wrong);
        parameters.check_variables(function, wrong);
        parameters
    }

    /// Returns the parameter of the IR that contains the byte at `offset` of a PTX parameter, if
    /// any.
    pub(crate) fn place(&self, param: u32, offset: u32) -> Option<(ParameterId, &Parameter)> {
        let after = self.places.partition_point(|place| (place.of, place.offset) <= (Origin::Param(param), offset));
        let found = after.checked_sub(1)?;
        let place = self.places.get(found).filter(|place| {
            place.of == Origin::Param(param) && (place.offset..place.offset + place.bytes).contains(&offset)
        })?;
        Some((found as u32, place))
    }

    /// Returns the parameter of the IR for a module variable, or `None` if the kernel does not use
    /// the variable.
    pub(crate) fn variable(&self, var: Var) -> Option<ParameterId> {
        self.places.binary_search_by_key(&Origin::Variable(var), |place| place.of).ok().map(|found| found as u32)
    }

    /// Returns the buffers to which a memory access may go.
    pub(crate) fn accessed(&self, function: &Function<'_>, number: usize, inst: &Inst) -> Provenance {
        if inst.row().class != InstClass::Memory || self.private_space(function, number, inst).is_some() {
            return Provenance::new();
        }
        if let Some(var) = inst.operands.iter().find_map(Operand::variable) {
            return self.variable(var).into_iter().collect();
        }
        let val = address(inst).and_then(|reg| function.read(number, reg));
        val.into_iter().flat_map(|val| self.buffers(val)).collect()
    }

    /// Returns `true` if the origin of a memory access's address is unknown, so that the access may
    /// go to any buffer. The IR cannot express such an access.
    pub(crate) fn is_untraced(&self, function: &Function<'_>, number: usize, inst: &Inst) -> bool {
        let is_elsewhere = || self.private_space(function, number, inst).is_some() || loads_parameter(inst);
        if inst.row().class != InstClass::Memory
            || inst.operands.iter().any(|o| o.variable().is_some())
            || is_elsewhere()
        {
            return false;
        }
        let val = address(inst).and_then(|reg| function.read(number, reg));
        let is_unknown = |val: Val| self.sources(val).is_empty() && !is_null(function, val) || self.is_loaded(val);
        val.is_some_and(is_unknown) && !inst.has(Token::Const)
    }

    /// Returns the space of a memory access if it is `.shared` or `.local`, else `None`.
    pub(crate) fn private_space(&self, function: &Function<'_>, number: usize, inst: &Inst) -> Option<Space> {
        if inst.row().class != InstClass::Memory {
            return None;
        }
        named(inst).or_else(|| {
            let of_none = named_space(&inst.modifiers).is_none();
            let val = address(inst).filter(|_| of_none).and_then(|reg| function.read(number, reg))?;
            self.space_of(val).filter(|space| matches!(space, Space::Shared | Space::Local))
        })
    }

    /// Returns the space to which a generic address points, if known. Returns `.global` only for an
    /// address in a buffer.
    pub(crate) fn space_of(&self, val: Val) -> Option<Space> {
        match (self.spaces(val), self.sources(val)) {
            (OF_SHARED, []) => Some(Space::Shared),
            (OF_LOCAL, []) => Some(Space::Local),
            (PLAIN, sources) if !sources.is_empty() && self.variables(sources).next().is_none() => Some(Space::Global),
            _ => None,
        }
    }

    /// Returns `true` if the value may be an address other than a loaded one.
    pub(crate) fn has_space(&self, val: Val) -> bool {
        self.spaces(val) & !LOADED != 0
    }

    /// Returns `true` if the value may be an address that was loaded from memory.
    fn is_loaded(&self, val: Val) -> bool {
        self.spaces(val) & LOADED != 0
    }

    /// Returns the parameters from which a value may derive.
    pub(crate) fn sources(&self, val: Val) -> &[ParameterId] {
        self.of.get(val.0 as usize).map_or(&[], SmallVec::as_slice)
    }

    /// Returns the buffers from which a value may derive.
    pub(crate) fn buffers(&self, val: Val) -> impl Iterator<Item = ParameterId> {
        let is_buffer = |source: &ParameterId| self.places.get(*source as usize).is_some_and(|place| place.is_buffer);
        self.sources(val).iter().copied().filter(is_buffer)
    }

    /// Returns `true` if a value may derive from the address of a buffer.
    pub(crate) fn is_address(&self, val: Val) -> bool {
        self.buffers(val).next().is_some()
    }

    /// Propagates the provenance of all values to a fixpoint.
    fn trace(&mut self, function: &Function<'_>) {
        loop {
            let mut changed = false;
            for &node in &function.order {
                let phis = function.phis.get(node).into_iter().flatten();
                for &phi in phis {
                    if let Def::Phi(vals) = function.def(phi) {
                        changed |= self.add(function, phi, vals);
                    }
                }
                let insts = function.nodes.get(node).map_or(0..0, |node| node.insts.clone());
                for number in insts {
                    let Some(inst) = function.inst(number) else { continue };
                    changed |= self.trace_inst(function, number, inst);
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn trace_inst(&mut self, function: &Function<'_>, number: usize, inst: &Inst) -> bool {
        if loads_parameter(inst) {
            return self.trace_load(function, number, inst);
        }
        if inst.row().class == InstClass::Memory {
            return self.trace_memory(function, number, inst);
        }
        let Some((_, val)) = function.writes(number).next() else { return false };
        let Def::Inst(_, old) = function.def(val) else { return false };
        if let Some(&Operand::Variable { var, .. }) = inst.operands.get(1)
            && var.space != Space::Shared
        {
            let space = if inst.opcode == Opcode::MOV_ADDRESS { in_space(var.space) } else { PLAIN };
            let mut changed = self.add(function, val, old.as_slice());
            changed |= self.may_be(val, space);
            return self.variable(var).is_some_and(|source| self.insert(val, source)) | changed;
        }
        if function.entry.body.registers.held(function.reg(val)).is_none_or(|ty| ty.bits() != 64) {
            return false;
        }
        if let (Opcode::CVTA_ADDRESS, Some(operand)) = (inst.opcode, inst.operands.get(1)) {
            return match operand {
                Operand::Variable { .. } => self.may_be(val, OF_SHARED),
                Operand::Frame { .. } => self.may_be(val, OF_LOCAL),
                _ => false,
            };
        }
        let operand = |i: usize| match inst.operands.get(i) {
            Some(&Operand::Register(reg)) => function.read(number, reg),
            _ => None,
        };
        let places: &[usize] = match inst.opcode {
            Opcode::MOV | Opcode::CVTA | Opcode::SUB => &[1],
            Opcode::ADD | Opcode::SELP | Opcode::SLCT_INT | Opcode::SLCT_F32 => &[1, 2],
            Opcode::MAD | Opcode::MAD_WIDE => &[3],
            // An AND with a mask rounds the address down, which preserves its provenance.
            Opcode::AND if matches!(inst.operands.get(2), Some(&Operand::Number(mask)) if mask >> 63 != 0) => &[1],
            // Compilers add a small offset by an OR if the address is a multiple of a larger number.
            Opcode::OR if matches!(inst.operands.get(2), Some(&Operand::Number(offset)) if offset >> 31 == 0) => &[1],
            _ => &[],
        };
        let mut from: SmallVec<[Val; 3]> = places.iter().filter_map(|&i| operand(i)).collect();
        // The sum of a known address and a loaded value is the sum of an address and an offset.
        let is_known = |val: Val| self.has_space(val) || !self.sources(val).is_empty();
        if inst.opcode == Opcode::ADD && from.iter().any(|&val| is_known(val)) {
            from.retain(|&mut val| is_known(val));
        }
        if inst.opcode == Opcode::CVTA {
            let space = match named_space(&inst.modifiers) {
                Some(Space::Const) if inst.has(Token::To) => IN_CONST,
                Some(Space::Shared | Space::Local) if inst.has(Token::To) => 0,
                Some(Space::Shared) => OF_SHARED,
                Some(Space::Local) => OF_LOCAL,
                _ => PLAIN,
            };
            let is_generic = matches!(named_space(&inst.modifiers), Some(Space::Global) | None);
            let loaded = if is_generic && from.iter().any(|&val| self.is_loaded(val)) { LOADED } else { 0 };
            let mut changed = self.may_be(val, space | loaded) | self.add_sources(function, val, &from);
            changed |= self.add(function, val, old.as_slice());
            return changed;
        }
        from.extend(*old);
        self.add(function, val, &from)
    }

    fn trace_load(&mut self, function: &Function<'_>, number: usize, inst: &Inst) -> bool {
        let mut changed = false;
        for (reg, param, offset) in loaded(inst) {
            let val = function.writes(number).find(|(written, _)| Some(*written) == reg);
            let (Some((_, val)), Some((source, place))) = (val, self.place(param, offset)) else { continue };
            if place.bytes == 8 && inst.element().bits() == 64 {
                let spaces = if place.is_buffer { PLAIN } else { 0 };
                changed |= self.insert(val, source) | self.may_be(val, spaces);
            }
        }
        changed
    }

    /// Traces the values that an access loads from memory other than parameters.
    fn trace_memory(&mut self, function: &Function<'_>, number: usize, inst: &Inst) -> bool {
        let base = address(inst).and_then(|reg| function.read(number, reg)).map_or(0, |val| self.spaces(val));
        let is_of_buffer = match named_space(&inst.modifiers) {
            None => named(inst).is_none() && base & (OF_SHARED | OF_LOCAL | LOADED) == 0,
            Some(_) => named(inst).is_none(),
        };
        let mut changed = false;
        for (reg, val) in function.writes(number).filter(|_| !is_of_buffer) {
            let bits = function.entry.body.registers.held(reg).map(Type::bits);
            if bits == Some(64) && inst.element().bits() == 64 {
                changed |= self.may_be(val, LOADED);
            }
            if let Def::Inst(_, Some(old)) = function.def(val) {
                changed |= self.add(function, val, &[*old]);
            }
        }
        changed
    }

    /// Adds kinds of addresses to those of a value. Returns `true` if the set changed.
    fn may_be(&mut self, val: Val, spaces: SpaceSet) -> bool {
        let Some(of) = self.spaces.get_mut(val.0 as usize) else { return false };
        let before = *of;
        *of |= spaces;
        *of != before
    }

    /// Returns the kinds of addresses that a value may be.
    fn spaces(&self, val: Val) -> SpaceSet {
        self.spaces.get(val.0 as usize).copied().unwrap_or(0)
    }

    fn add(&mut self, function: &Function<'_>, to: Val, from: &[Val]) -> bool {
        let mut changed = self.add_sources(function, to, from);
        for &val in from {
            changed |= self.may_be(to, self.spaces(function.resolve(val)));
        }
        changed
    }

    fn add_sources(&mut self, function: &Function<'_>, to: Val, from: &[Val]) -> bool {
        let mut changed = false;
        for &val in from {
            let found = self.of.get(function.resolve(val).0 as usize).cloned().unwrap_or_default();
            for source in found {
                changed |= self.insert(to, source);
            }
        }
        changed
    }

    fn insert(&mut self, to: Val, source: ParameterId) -> bool {
        let Some(of) = self.of.get_mut(to.0 as usize) else { return false };
        match of.binary_search(&source) {
            Ok(_) => false,
            Err(place) => {
                of.insert(place, source);
                true
            }
        }
    }

    /// Determines which parameters are buffers: those that are declared as pointers, and those from
    /// which the address of an access derives.
    ///
    /// If an address is a sum, one operand of the sum is an address. If it is not clear which one,
    /// the sum is tested again after other accesses have determined more buffers.
    fn find_buffers(&mut self, function: &Function<'_>, wrong: &mut Vec<ParameterError>) {
        for place in &mut self.places {
            let param = place.of.param(function.entry);
            place.is_buffer |=
                place.bytes == 8 && param.and_then(|param| param.pointer).is_some_and(PointerTarget::is_of_buffer);
        }
        let mut work: Vec<(Val, usize)> = Vec::new();
        for number in reached(function) {
            let Some(inst) = function.inst(number) else { continue };
            let reg = match (inst.opcode, inst.operands.get(1)) {
                (Opcode::CVTA, Some(&Operand::Register(reg))) => reg,
                _ if self.private_space(function, number, inst).is_some() => continue,
                _ => match address(inst) {
                    Some(reg) => reg,
                    None => continue,
                },
            };
            let Some(val) = function.read(number, reg) else { continue };
            let (is_loaded, is_traced) = (self.is_loaded(val), !self.sources(val).is_empty());
            if is_traced {
                work.push((val, number));
            }
            // A generic access of the IR also reaches shared and local memory, in which an access to global memory
            // traps.
            let is_reached = match named_space(&inst.modifiers) {
                None => is_traced || is_loaded,
                Some(_) => is_traced && !is_loaded,
            };
            if !is_reached && !is_null(function, val) && inst.opcode != Opcode::CVTA {
                wrong.push(ParameterError::Untraced { inst: number });
            }
        }
        let mut seen = vec![false; function.defs.len()];
        let mut unclear = Vec::new();
        loop {
            while let Some((val, access)) = work.pop() {
                match seen.get_mut(val.0 as usize) {
                    Some(seen) if !*seen => *seen = true,
                    _ => continue,
                }
                match function.def(val) {
                    Def::Zero => {}
                    Def::Phi(vals) => work.extend(vals.iter().map(|&val| (function.resolve(val), access))),
                    &Def::Inst(number, old) => {
                        work.extend(old.map(|old| (function.resolve(old), access)));
                        self.require_address(function, (val, number), access, &mut work, &mut unclear);
                    }
                }
            }
            let mut left = Vec::new();
            for (sides, access) in unclear.drain(..) {
                let [a, b]: [Val; 2] = sides;
                match (self.is_address(a), self.is_address(b)) {
                    (true, false) => work.push((a, access)),
                    (false, true) => work.push((b, access)),
                    _ => left.push((sides, access)),
                }
            }
            unclear = left;
            if work.is_empty() {
                break;
            }
        }
        for (sides, inst) in unclear {
            let sources = sides.iter().flat_map(|&side| self.sources(side));
            let names = sources.filter_map(|&source| self.places.get(source as usize)).map(|place| place.name.clone());
            let names: BTreeSet<String> = names.collect();
            wrong.push(ParameterError::Ambiguous { inst, names: names.into_iter().collect() });
        }
    }

    /// Checks that module variables are only read, and that addresses in constant memory are used
    /// only as such.
    fn check_variables(&mut self, function: &Function<'_>, wrong: &mut Vec<ParameterError>) {
        // The provenance is computed again, because only now all buffers are known.
        self.trace(function);
        // The first module variable whose address the kernel may store, and the first store at a loaded address.
        let (mut escaped, mut stored_at_loaded) = (None, None);
        // The first store of each parameter that is no buffer, and whether the kernel has an access at a loaded address.
        let (mut stored, mut has_loaded): (BTreeMap<ParameterId, usize>, bool) = Default::default();
        for number in reached(function) {
            let Some(inst) = function.inst(number) else { continue };
            let base = address(inst).and_then(|reg| function.read(number, reg));
            let is_generic = named_space(&inst.modifiers).is_none();
            self.is_flat |= is_generic && base.is_some_and(|val| self.is_loaded(val) || self.is_mixed(val));
            if base.is_some_and(|val| self.is_loaded(val)) {
                has_loaded = true;
                stored_at_loaded = stored_at_loaded.or(writes(inst).then_some(number));
            }
            let accessed = self.accessed(function, number, inst);
            let written = if writes(inst) { self.variables(&accessed).next() } else { None };
            if let Some(place) = written {
                wrong.push(ParameterError::Written { inst: number, name: place.name.clone() });
                continue;
            }
            let operands = inst.operands_with_rows().enumerate();
            let read = operands.filter(|(_, (o, _))| o.role != OperandRole::Def).flat_map(|(i, (_, operand))| {
                let is_base = matches!(operand, Operand::Memory(_));
                let vals = operand.registers().filter_map(|reg| function.read(number, reg));
                vals.map(move |val| (val, i, is_base))
            });
            let mut misused = None;
            for (val, i, is_base) in read {
                misused = misused.or_else(|| self.space_error(val, inst, i, is_base));
                if !is_base && inst.opcode != Opcode::CVTA && !moves_address(inst, i) && escaped.is_none() {
                    escaped = self.variables(self.sources(val)).next().map(|place| place.name.clone());
                }
                if !is_base && (writes(inst) || inst.opcode == Opcode::MOV_UNPACK) {
                    self.sources(val).iter().for_each(|&source| _ = stored.entry(source).or_insert(number));
                }
            }
            if let Some((message, expected)) = misused {
                wrong.push(ParameterError::Space { inst: number, message, expected });
            }
        }
        if let (Some(inst), Some(name)) = (stored_at_loaded, escaped) {
            wrong.push(ParameterError::Written { inst, name });
        }
        let is_unclear = |place: &&Parameter| has_loaded && !place.is_buffer;
        let place = |(source, inst)| Some((self.places.get(source as usize).filter(is_unclear)?, inst));
        if let Some((place, inst)) = stored.into_iter().find_map(place) {
            wrong.push(ParameterError::Ambiguous { inst, names: vec![place.name.clone()] });
        }
    }

    /// Returns `true` if the value may be an address in shared or local memory, and may be an address elsewhere.
    fn is_mixed(&self, val: Val) -> bool {
        let spaces = self.spaces(val);
        spaces & (OF_SHARED | OF_LOCAL) != 0 && (!self.sources(val).is_empty() || spaces.count_ones() > 1)
    }

    /// Returns the module variables among `sources`.
    fn variables(&self, sources: &[ParameterId]) -> impl Iterator<Item = &Parameter> {
        let places = sources.iter().filter_map(|&source| self.places.get(source as usize));
        places.filter(|place| matches!(place.of, Origin::Variable(_)))
    }

    /// Returns the error message and the expected form if an instruction uses an address of the
    /// wrong space.
    fn space_error(&self, val: Val, inst: &Inst, i: usize, is_base: bool) -> Option<(&'static str, &'static str)> {
        let is_constant = |place: &&Parameter| matches!(place.of, Origin::Variable(Var { space: Space::Const, .. }));
        let (spaces, sources) = (self.spaces(val), self.sources(val));
        if is_base && named_space(&inst.modifiers).is_some() && self.is_mixed(val) {
            let message = "the address space of this address is only known at run time";
            return Some((message, "direct execution with `--target ptx`"));
        }
        let converts = inst.opcode == Opcode::CVTA;
        let is_buffer = |&source: &ParameterId| self.places.get(source as usize).is_some_and(|place| place.is_buffer);
        let is_own = matches!(named_space(&inst.modifiers), Some(Space::Shared | Space::Local));
        if converts && is_own && sources.iter().any(is_buffer) {
            let message = "`cvta` treats this global address as an address in cluster shared memory";
            return Some((message, "`cvta.global` or `cvta.to.global`"));
        }
        let says = |token| (is_base || converts) && inst.has(token);
        let is_in_const = says(Token::Const) && !(converts && inst.has(Token::To));
        if is_in_const {
            return (spaces != IN_CONST).then_some((
                "this address is not known to be in constant memory",
                "the address of a `.const` variable",
            ));
        }
        if says(Token::Const) && self.variables(sources).filter(is_constant).count() != sources.len() {
            let message = "this is not known to be the address of a `.const` variable";
            return Some((message, "the result of `cvta.const`"));
        }
        if says(Token::Global) && self.variables(sources).any(|place| is_constant(&place)) {
            return Some(("this may be the address of a `.const` variable", "an address in global memory"));
        }
        let moves = !is_base && !converts && moves_address(inst, i);
        (spaces & IN_CONST != 0 && !moves).then_some((
            "an address in constant memory can only be added to, selected, converted and loaded from",
            "`ld.const`, or the result of `cvta.const`",
        ))
    }

    /// Processes an instruction whose result must be an address: adds the operands that must be
    /// addresses to `work`, or marks a loaded parameter as a buffer. Adds a sum of two candidates
    /// to `unclear`.
    fn require_address(
        &mut self,
        function: &Function<'_>,
        (val, number): (Val, usize),
        access: usize,
        work: &mut Vec<(Val, usize)>,
        unclear: &mut Vec<([Val; 2], usize)>,
    ) {
        let Some(inst) = function.inst(number) else { return };
        let operand = |i: usize| match inst.operands.get(i) {
            Some(&Operand::Register(reg)) => function.read(number, reg),
            _ => None,
        };
        let comes_of_some = |val: &Val| !self.sources(*val).is_empty();
        let operands = |places: &[usize]| -> SmallVec<[Val; 2]> {
            places.iter().filter_map(|&i| operand(i)).filter(comes_of_some).collect()
        };
        match inst.opcode {
            _ if loads_parameter(inst) => {
                let reg = Some(function.reg(val));
                let found = loaded(inst).into_iter().find(|(loaded, ..)| *loaded == reg);
                let found = found.and_then(|(_, param, offset)| self.place(param, offset)).map(|(source, _)| source);
                if let Some(place) = found.and_then(|source| self.places.get_mut(source as usize)) {
                    place.is_buffer = true;
                }
            }
            Opcode::ADD => match operands(&[1, 2]).as_slice() {
                &[a, b] => unclear.push(([a, b], access)),
                one => work.extend(one.iter().map(|&val| (val, access))),
            },
            Opcode::SELP | Opcode::SLCT_INT | Opcode::SLCT_F32 => {
                work.extend(operands(&[1, 2]).into_iter().map(|val| (val, access)));
            }
            Opcode::MAD | Opcode::MAD_WIDE => work.extend(operands(&[3]).into_iter().map(|val| (val, access))),
            _ => work.extend(operands(&[1]).into_iter().map(|val| (val, access))),
        }
    }
}

/// Returns `true` if the value is the constant 0, which is the address of no memory.
fn is_null(function: &Function<'_>, val: Val) -> bool {
    let &Def::Inst(number, None) = function.def(val) else { return false };
    let is_zero = |inst: &Inst| inst.opcode == Opcode::MOV && inst.operands.get(1) == Some(&Operand::Number(0));
    function.inst(number).is_some_and(is_zero)
}

fn in_space(space: Space) -> SpaceSet {
    match space {
        Space::Const => IN_CONST,
        Space::Global | Space::Local | Space::Param | Space::Shared => PLAIN,
    }
}

/// Returns `true` if the instruction is a store.
pub(crate) fn is_store(inst: &Inst) -> bool {
    inst.row().mnemonic == "st"
}

/// Returns `true` if the instruction writes memory.
pub(crate) fn writes(inst: &Inst) -> bool {
    matches!(inst.row().mnemonic, "st" | "atom" | "red" | "stmatrix") || inst.has(Token::Store)
}

/// Returns `true` if an address as the given operand makes the instruction's result an address.
pub(crate) fn moves_address(inst: &Inst, operand: usize) -> bool {
    matches!(
        (inst.opcode, operand),
        (Opcode::MOV | Opcode::SUB, 1)
            | (Opcode::ADD | Opcode::SELP | Opcode::SLCT_INT | Opcode::SLCT_F32, 1 | 2)
            | (Opcode::MAD | Opcode::MAD_WIDE, 3)
    )
}

/// Returns `true` if a load is aligned to its size and within the bounds of its parameter.
fn loads_within(inst: &Inst, params: &[Param]) -> bool {
    let Some(Operand::Memory(address)) = inst.operands.get(1) else { return false };
    let loads = loaded(inst);
    let param = loads.first().and_then(|(_, param, _)| params.get(*param as usize));
    let size = u64::from(inst.element().bits() / 8) * loads.len() as u64;
    let offset = u64::try_from(address.offset).unwrap_or(u64::MAX);
    param.is_some_and(|param| offset % size == 0 && offset.saturating_add(size) <= param.bytes())
}

/// Returns the destination register, parameter number and byte offset of each element that an
/// instruction loads from parameters.
pub(crate) fn loaded(inst: &Inst) -> SmallVec<[(Option<Reg>, u32, u32); 4]> {
    let Some(Operand::Memory(address)) = inst.operands.get(1) else { return SmallVec::new() };
    let (Base::Parameter(param), Ok(offset)) = (address.base, u32::try_from(address.offset)) else {
        return SmallVec::new();
    };
    let bytes = inst.element().bits() / 8;
    match inst.operands.first() {
        Some(&Operand::Register(reg)) => SmallVec::from_iter([(Some(reg), param, offset)]),
        Some(Operand::Vector(regs)) => {
            (0..).zip(regs.iter()).map(|(i, reg)| (reg, param, offset.saturating_add(i * bytes))).collect()
        }
        _ => SmallVec::new(),
    }
}

/// Returns `.shared` or `.local` if a memory access names that space or a variable in it, else
/// `None`.
pub(crate) fn named(inst: &Inst) -> Option<Space> {
    let of_base = inst.operands.iter().find_map(|operand| match operand {
        Operand::Memory(address) => match address.base {
            Base::Frame(_) => Some(Space::Local),
            Base::Variable(Var { space: Space::Shared, .. }) => Some(Space::Shared),
            _ => None,
        },
        _ => None,
    });
    of_base.or(named_space(&inst.modifiers)).filter(|space| matches!(space, Space::Shared | Space::Local))
}

/// Returns the register that holds the address of a memory access, if any.
pub(crate) fn address(inst: &Inst) -> Option<Reg> {
    if inst.row().class != InstClass::Memory {
        return None;
    }
    let memory = |operand: &Operand| match operand {
        Operand::Memory(address) => address.register(),
        _ => None,
    };
    inst.operands.iter().find_map(memory)
}

/// Returns the numbers of the reachable instructions in ascending order.
pub(crate) fn reached(function: &Function<'_>) -> impl Iterator<Item = usize> {
    let mut nodes: Vec<usize> = function.order.clone();
    nodes.sort_unstable();
    nodes.into_iter().flat_map(|node| function.nodes.get(node).map_or(0..0, |node| node.insts.clone()))
}

fn places(function: &Function<'_>, wrong: &mut Vec<ParameterError>) -> Vec<Parameter> {
    // The different loads of each parameter: the offset, the size in bytes, and the number of the
    // first instruction that does this load.
    let mut loads: Vec<BTreeMap<(u32, u32), usize>> = vec![BTreeMap::new(); function.entry.params.len()];
    for number in reached(function) {
        let Some(inst) = function.inst(number).filter(|inst| loads_parameter(inst)) else { continue };
        let bytes = inst.element().bits() / 8;
        if !loads_within(inst, &function.entry.params) {
            wrong.push(ParameterError::Outside { inst: number });
            continue;
        }
        for (_, param, offset) in loaded(inst) {
            if let Some(loads) = loads.get_mut(param as usize) {
                loads.entry((offset, bytes)).or_insert(number);
            }
        }
    }
    let mut places = Vec::new();
    for (number, (param, loads)) in (0..).zip(function.entry.params.iter().zip(loads)) {
        let whole = u32::try_from(param.bytes()).unwrap_or(u32::MAX);
        let mut place = |offset: u32, bytes: u32| {
            let name = name_of(param, (bytes != whole).then_some(offset));
            places.push(Parameter { of: Origin::Param(number), offset, bytes, name, is_buffer: false });
        };
        // A parameter that fits in a register becomes a single parameter of the IR, even if only
        // parts of it are loaded. A structure that is never loaded needs no parameter of the IR.
        if matches!(whole, 1 | 2 | 4 | 8) {
            place(0, whole);
            continue;
        }
        let mut end = 0;
        for ((offset, bytes), inst) in loads {
            if offset < end {
                wrong.push(ParameterError::Overlap { inst, param: number });
                continue;
            }
            end = offset + bytes;
            place(offset, bytes);
        }
    }
    let mut names: HashSet<String> = places.iter().map(|place| place.name.clone()).collect();
    for number in function.entry.used_variables() {
        let variable = function.entry.variables.get(number as usize).filter(|of| of.space != Space::Shared);
        let Some(variable) = variable else { continue };
        if variable.addresses.iter().any(|address| matches!(address.of, Symbol::Variable(_))) {
            let names = |inst: &Inst| {
                inst.operands.iter().any(|operand| operand.variable().is_some_and(|var| var.number == number))
            };
            let inst = reached(function).find(|&inst| function.inst(inst).is_some_and(names)).unwrap_or(0);
            wrong.push(ParameterError::StoredAddress { inst, name: variable.name.clone() });
        }
        let mut name = ir_name(&variable.name);
        while !names.insert(name.clone()) {
            name.push('_');
        }
        let of = Origin::Variable(Var { number, space: variable.space });
        places.push(Parameter { of, offset: 0, bytes: 8, name, is_buffer: true });
    }
    places
}

/// Returns the IR name of a parameter, or of the field at an offset in it.
fn name_of(param: &Param, offset: Option<u32>) -> String {
    let name = ir_name(&param.name);
    match offset {
        None => name,
        Some(offset) => format!("{name}_{offset}"),
    }
}
