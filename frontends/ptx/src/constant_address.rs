//! Resolution of constant addresses. If the address of an access is that of a parameter or frame
//! variable plus a constant, the access becomes a direct access by name.

use std::collections::HashMap;

use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::module::{Body, FrameVariable, LabelName, Targets};
use halfbyte_isa::ptx::types::{Space, Token};
use halfbyte_isa::ptx::{Address, Base, FrameVar, Inst, Label, Opcode, Operand, Reg};
use halfbyte_isa::row::OperandRole;

/// Constant address in a register.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ConstantAddress {
    of: Object,
    /// Set if the address is a generic address.
    is_flat: bool,
    /// Byte offset from the start of the object.
    offset: i64,
}

/// Parameter or frame variable to which an address points.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Object {
    Frame(FrameVar),
    Param(u32),
}

/// Rewrites accesses through constant addresses to accesses by name, and removes the address
/// computations that are then dead.
pub(crate) fn resolve(body: &mut Body, locs: &mut Vec<Loc>) {
    let known = known(body);
    if known.is_empty() {
        return;
    }
    let frame = std::mem::take(&mut body.frame);
    body.insts.iter_mut().for_each(|inst| rewrite_by_name(inst, &known, &frame));
    body.frame = frame;
    drop_unused(body, locs, &known);
}

/// Returns the registers that hold the same constant address at every read. Such a register is
/// written once, without a guard, and the write dominates all reads.
fn known(body: &Body) -> HashMap<Reg, ConstantAddress> {
    let mut writes: HashMap<Reg, u32> = HashMap::new();
    // The positions of the first and the last read of each register.
    let mut reads: HashMap<Reg, (usize, usize)> = HashMap::new();
    for (place, inst) in body.insts.iter().enumerate() {
        inst.visit_registers(|role, reg| {
            if role != OperandRole::Use {
                *writes.entry(reg).or_default() += 1;
            }
            if role != OperandRole::Def {
                reads.entry(reg).or_insert((place, place)).1 = place;
            }
        });
    }
    let entered = BranchSources::new(body);
    let mut known = HashMap::new();
    // Except along back edges, an address is computed before the addresses that derive from it. One
    // pass over the instructions therefore suffices.
    for (place, inst) in body.insts.iter().enumerate().filter(|(_, inst)| inst.guard.is_none()) {
        let Some(&Operand::Register(to)) = inst.operands.first() else { continue };
        let (first, last) = reads.get(&to).copied().unwrap_or((place + 1, place));
        // A register holds zero before its write, so the address is constant only if all reads follow the write.
        if writes.get(&to) == Some(&1)
            && first > place
            && entered.only_from(place, last)
            && let Some(of) = value(inst, &known)
        {
            known.insert(to, of);
        }
    }
    known
}

/// The branch targets of a body, with the positions of the first and the last branch to each
/// target.
struct BranchSources {
    /// Positions of the labels that are branch targets, in ascending order.
    labels: Vec<usize>,
    /// Segment tree over `labels`. Each node holds the positions of the first and the last branch
    /// to its labels. The second half of the vector contains the leaves. The children of `node` are
    /// `2 * node` and `2 * node + 1`.
    branches: Vec<(usize, usize)>,
}

/// Merges two pairs of positions: returns the smaller first position and the larger second
/// position.
fn span_of(a: (usize, usize), b: (usize, usize)) -> (usize, usize) {
    (a.0.min(b.0), a.1.max(b.1))
}

impl BranchSources {
    fn new(body: &Body) -> BranchSources {
        let mut sources: Vec<Option<(usize, usize)>> = vec![None; body.labels.len()];
        let mut note = |label: Label, place: usize| {
            if let Some(of) = sources.get_mut(label.0 as usize) {
                let (first, last) = of.unwrap_or((place, place));
                *of = Some((first.min(place), last.max(place)));
            }
        };
        for (place, inst) in body.insts.iter().enumerate() {
            for operand in &inst.operands {
                match operand {
                    Operand::Label(label) => note(*label, place),
                    Operand::Table(number) => {
                        if let Some(Targets::Labels(labels)) = body.tables.get(*number as usize).map(|table| &table.of)
                        {
                            labels.iter().for_each(|label| note(*label, place));
                        }
                    }
                    _ => {}
                }
            }
        }
        let of = |(label, sources): (&LabelName, Option<(usize, usize)>)| {
            sources.map(|(first, last)| (label.at as usize, first, last))
        };
        let mut at: Vec<_> = body.labels.iter().zip(sources).filter_map(of).collect();
        at.sort_unstable();
        let mut branches = vec![(usize::MAX, 0); at.len()];
        branches.extend(at.iter().map(|&(_, first, last)| (first, last)));
        for node in (1..at.len()).rev() {
            let child = |number: usize| branches.get(number).copied().unwrap_or((usize::MAX, 0));
            let span = span_of(child(2 * node), child(2 * node + 1));
            branches.get_mut(node).into_iter().for_each(|of| *of = span);
        }
        BranchSources { labels: at.into_iter().map(|(label, ..)| label).collect(), branches }
    }

    /// Returns `true` if every branch to a label at a position above `first`, up to `last`, is
    /// itself in this range of positions.
    fn only_from(&self, first: usize, last: usize) -> bool {
        if last < first {
            return false;
        }
        let (from, to) = self.span(first, last);
        from > first && to <= last
    }

    /// Returns the positions of the first and the last branch to any label at a position above
    /// `first`, up to `last`.
    fn span(&self, first: usize, last: usize) -> (usize, usize) {
        let [mut low, mut high] =
            [first, last].map(|end| self.labels.len() + self.labels.partition_point(|&label| label <= end));
        let node = |number: usize| self.branches.get(number).copied().unwrap_or((usize::MAX, 0));
        let mut span = (usize::MAX, 0);
        while low < high {
            if low % 2 == 1 {
                span = span_of(span, node(low));
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                span = span_of(span, node(high));
            }
            (low, high) = (low / 2, high / 2);
        }
        span
    }
}

/// Returns the constant address that an instruction computes, if its result is one.
fn value(inst: &Inst, known: &HashMap<Reg, ConstantAddress>) -> Option<ConstantAddress> {
    let register = |i: usize| match inst.operands.get(i) {
        Some(Operand::Register(reg)) => known.get(reg).copied(),
        _ => None,
    };
    let number = |i: usize| match inst.operands.get(i) {
        Some(&Operand::Number(bits)) => {
            let unused = 64 - inst.ty(0).bits();
            Some(bits.cast_signed() << unused >> unused)
        }
        _ => None,
    };
    // A register of 32 bits can also hold an address, because addresses of local memory and
    // parameters are small.
    let holds_addresses = || inst.ty(0).bits() >= 32;
    let named = |is_flat: bool| match inst.operands.get(1) {
        Some(&Operand::Frame { var, offset }) => {
            Some(ConstantAddress { of: Object::Frame(var), is_flat, offset: offset.into() })
        }
        Some(&Operand::Parameter { number, offset }) => {
            Some(ConstantAddress { of: Object::Param(number), is_flat, offset: offset.into() })
        }
        _ => None,
    };
    let behind =
        |of: ConstantAddress, bytes: i64| Some(ConstantAddress { offset: of.offset.checked_add(bytes)?, ..of });
    match inst.opcode {
        Opcode::MOV_ADDRESS => named(false),
        Opcode::CVTA_ADDRESS => named(true),
        Opcode::MOV if holds_addresses() => register(1),
        Opcode::CVTA => {
            let (of, to_space) = (register(1)?, inst.has(Token::To));
            let is_of_space = match of.of {
                Object::Frame(_) => inst.has(Token::Local),
                Object::Param(_) => inst.has(Token::Param),
            };
            (is_of_space && of.is_flat == to_space).then_some(ConstantAddress { is_flat: !to_space, ..of })
        }
        Opcode::ADD if holds_addresses() => match (register(1), number(2), number(1), register(2)) {
            (Some(of), Some(bytes), ..) | (.., Some(bytes), Some(of)) => behind(of, bytes),
            _ => None,
        },
        Opcode::SUB if holds_addresses() => behind(register(1)?, number(2)?.checked_neg()?),
        _ => None,
    }
}

/// Replaces the address of an access by a name and an offset, if the address is constant and within the object.
fn rewrite_by_name(inst: &mut Inst, known: &HashMap<Reg, ConstantAddress>, frame: &[FrameVariable]) {
    let found = inst.operands.iter().position(|operand| matches!(operand, Operand::Memory(_)));
    let Some((place, &Operand::Memory(address))) = found.and_then(|place| Some((place, inst.operands.get(place)?)))
    else {
        return;
    };
    let Base::Register(reg) = address.base else { return };
    let Some(&of) = known.get(&reg) else { return };
    let is_parameters = inst.has(Token::Param);
    let says = if inst.has(Token::Local) { Some(Space::Local) } else { is_parameters.then_some(Space::Param) };
    let agrees = match (says, of.of) {
        (None, _) => of.is_flat && !inst.has(Token::Global) && !inst.has(Token::Const),
        (Some(Space::Local), Object::Frame(_)) | (Some(Space::Param), Object::Param(_)) => !of.is_flat,
        _ => false,
    };
    let stores = inst.row().mnemonic == "st";
    let opcode = match (inst.opcode, of.of) {
        (Opcode::LD | Opcode::LD_PARAM, Object::Param(_)) => Opcode::LD_PARAM,
        (Opcode::LD, Object::Frame(FrameVar { space: Space::Param, .. })) => Opcode::LD_PARAM,
        (Opcode::ST, Object::Frame(FrameVar { space: Space::Param, .. })) => Opcode::ST_PARAM,
        (Opcode::LD, Object::Frame(_)) => Opcode::LD,
        (Opcode::ST, Object::Frame(_)) => Opcode::ST,
        _ => return,
    };
    let offset = of.offset.checked_add(address.offset.into()).and_then(|offset| i32::try_from(offset).ok());
    let (Some(offset), true) = (offset.filter(|&offset| offset >= 0), agrees) else { return };
    let base = match of.of {
        Object::Param(_) if stores => return,
        Object::Param(number) => Base::Parameter(number),
        Object::Frame(var) => {
            let size = inst.element().bits() / 8 * inst.elements() as u32;
            let bytes = frame.get(var.number as usize).map_or(0, FrameVariable::bytes);
            if !offset.cast_unsigned().is_multiple_of(size) || offset.cast_unsigned() + size > bytes {
                return;
            }
            Base::Frame(var)
        }
    };
    let space = match of.of {
        Object::Frame(FrameVar { space: Space::Local, .. }) => Token::Local,
        _ => Token::Param,
    };
    // Modifiers for the memory order and the caches have no effect on private memory, so they are removed.
    let kept = inst.modifiers.iter().filter(|word| matches!(word, Token::Type(_) | Token::V2 | Token::V4));
    let words = std::iter::once(space).chain(kept.copied()).collect();
    inst.operands.truncate(2);
    if let Some(operand) = inst.operands.get_mut(place) {
        *operand = Operand::Memory(Address { base, offset });
    }
    (inst.opcode, inst.modifiers) = (opcode, words);
}

/// Removes instructions that compute a constant address that has no uses.
fn drop_unused(body: &mut Body, locs: &mut Vec<Loc>, known: &HashMap<Reg, ConstantAddress>) {
    let mut uses: HashMap<Reg, u32> = HashMap::new();
    for inst in &body.insts {
        inst.visit_registers(|role, reg| {
            if role != OperandRole::Def {
                *uses.entry(reg).or_default() += 1;
            }
        });
    }
    let makes_address = |inst: &Inst| match inst.operands.first() {
        Some(Operand::Register(to)) if inst.guard.is_none() => value(inst, known).and(Some(*to)),
        _ => None,
    };
    let mut is_dropped = vec![false; body.insts.len()];
    // The traversal is backwards, so that a removed instruction first removes the uses of its own operands.
    for (inst, is_dropped) in body.insts.iter().zip(&mut is_dropped).rev() {
        if makes_address(inst).is_some_and(|to| uses.get(&to).copied().unwrap_or(0) == 0 && known.contains_key(&to)) {
            *is_dropped = true;
            inst.visit_registers(|role, reg| {
                if role != OperandRole::Def
                    && let Some(count) = uses.get_mut(&reg)
                {
                    *count -= 1;
                }
            });
        }
    }
    let starts: Vec<u32> = is_dropped
        .iter()
        .scan(0, |kept, is_dropped| {
            let start = *kept;
            *kept += u32::from(!is_dropped);
            Some(start)
        })
        .collect();
    let mut keep = is_dropped.iter().map(|is_dropped| !is_dropped);
    body.insts.retain(|_| keep.next().unwrap_or(true));
    let mut keep = is_dropped.iter().map(|is_dropped| !is_dropped);
    locs.retain(|_| keep.next().unwrap_or(true));
    let end = body.insts.len() as u32;
    for label in &mut body.labels {
        label.at = starts.get(label.at as usize).copied().unwrap_or(end);
    }
}
