//! Allocated instructions and machine code: their lines on the page, and their registers for the
//! analysis of live ranges.

use std::collections::HashMap;

use halfbyte::emit::KernelCode;
use halfbyte_isa::halu;
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx;
use halfbyte_isa::row::{OperandKind, OperandRole, RegFile};
use halfbyte_isa::vp1::bundle::WORDS_PER_LINE;
use halfbyte_isa::vp1::domain::{Next, Target};
use halfbyte_isa::vp1::footprint::{Footprint, Locations};
use halfbyte_isa::vp1::{self, Bundle, Unit, bundles, fields::R_ZERO};
use halfbyte_isel::mach::{MachBlock, MachFunc};
use halfbyte_isel::print::PrintMachine;
use halfbyte_isel::vcode::{BlockIndex, Machine};
use halfbyte_isel::{AllocatedCode, Halu, Ptx, Vp1};

use super::model::{Entry, Line, Origin, Shape, Token};
use super::registers::{Cell, Node, Register, Touched, Use, contents, tokens, touched};

/// Number of bits in a `$c` register of VP1.
const FLAGS: u8 = 16;
/// Number of writable predicates of HALU: all except PT.
const PREDICATES: u8 = 7;

/// Returns the nodes of a function's control-flow graph, one per instruction, and the index of the
/// first node of each block.
pub(super) fn nodes(func: &dyn AllocatedCode) -> (Vec<Node>, Vec<usize>) {
    if let Some(func) = func.downcast_ref::<MachFunc<Halu>>() {
        return blocks(&func.blocks, |inst, place| (halu_node(inst, place), is_end(inst)));
    }
    let Some(func) = func.downcast_ref::<MachFunc<Vp1>>() else {
        // The registers of PTX are virtual, so they have no live ranges on hardware registers.
        return (Vec::new(), Vec::new());
    };
    blocks(&func.blocks, |group, place| {
        let words: Vec<u32> = group.insts.iter().map(vp1::Inst::word).collect();
        let Some(footprint) = footprint(&words) else { return (Node::default(), false) };
        let writes = cells(footprint.writes).map(|cell| (cell, place)).collect();
        let ends = matches!(footprint.next, Next::Jump { taken: None, .. } | Next::Exit { .. } | Next::Return);
        (Node { reads: cells(footprint.reads).collect(), writes, ..Node::default() }, ends)
    })
}

/// Returns the nodes of the given blocks. The closure `node` returns the node of an instruction,
/// and `true` if the next instruction never follows it.
fn blocks<M: Machine>(
    blocks: &[MachBlock<M>],
    node: impl Fn(&M::Inst, Option<Origin>) -> (Node, bool),
) -> (Vec<Node>, Vec<usize>) {
    let starts: Vec<usize> = blocks
        .iter()
        .scan(0, |next, block| {
            let start = *next;
            *next += block.insts.len();
            Some(start)
        })
        .collect();
    let start = |block: BlockIndex| starts.get(block as usize).copied();
    let mut nodes: Vec<Node> = Vec::new();
    for inst in blocks.iter().flat_map(|block| &block.insts) {
        let (mut node, ends) = node(&inst.inst, Origin::of_loc(inst.loc));
        let after = (!ends).then_some(nodes.len() + 1);
        node.successors = after.into_iter().chain(inst.target.and_then(start)).collect();
        nodes.push(node);
    }
    (nodes, starts)
}

/// Returns the lines of a function. `nodes` has the registers of its instructions, and `uses` the
/// definitions that reach each use.
pub(super) fn of_func(func: &dyn AllocatedCode, nodes: &[Node], uses: &[Use]) -> Vec<Line> {
    let all = touched(nodes, uses);
    if let Some(func) = func.downcast_ref::<MachFunc<Halu>>() {
        return lines(&func.blocks, &all, |inst, touched, place| {
            tokens(&inst.to_string(), Some(halu_entry(inst)), touched, place)
        });
    }
    if let Some(func) = func.downcast_ref::<MachFunc<Vp1>>() {
        return lines(&func.blocks, &all, |group, touched, place| {
            let mut line = Vec::new();
            for (number, inst) in group.insts.iter().enumerate() {
                line.extend((number > 0).then(|| Token::Plain(" & ".into())));
                line.extend(tokens(&inst.to_string(), Some(vp1_entry(inst)), touched, place));
            }
            line
        });
    }
    let Some(func) = func.downcast_ref::<MachFunc<Ptx>>() else { return plain(&func.to_string()) };
    let names = Ptx::func_names(func);
    let mut lines = Vec::new();
    for (number, block) in func.blocks.iter().enumerate() {
        lines.push(Line::new(Shape::Label, None, vec![Token::Plain(format!("b{number}:"))]));
        lines.extend(block.insts.iter().map(|inst| ptx_line(&inst.inst, inst.target, &names, inst.loc)));
    }
    lines
}

/// Returns the lines of a text whose instructions are not known.
pub(super) fn plain(text: &str) -> Vec<Line> {
    text.lines().map(|line| Line::new(Shape::Inst, None, vec![Token::Plain(line.trim().to_owned())])).collect()
}

/// Returns the line for a PTX instruction.
pub(super) fn ptx_line(inst: &ptx::Inst, target: Option<BlockIndex>, names: &ptx::module::Entry, loc: Loc) -> Line {
    Line::new(Shape::Inst, Origin::of_loc(loc), vec![Token::Plain(Ptx::text_to(inst, target, names))])
}

fn lines<M: Machine>(
    blocks: &[MachBlock<M>],
    all: &[Touched],
    tokens: impl Fn(&M::Inst, &Touched, Option<Origin>) -> Vec<Token>,
) -> Vec<Line> {
    let none = Touched::default();
    let mut all = all.iter();
    let mut lines = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        lines.push(Line::new(Shape::Label, None, vec![Token::Plain(format!("b{number}:"))]));
        for inst in &block.insts {
            let place = Origin::of_loc(inst.loc);
            let mut line = tokens(&inst.inst, all.next().unwrap_or(&none), place);
            line.extend(inst.target.map(|target| Token::Plain(format!(" → b{target}"))));
            lines.push(Line::new(Shape::Inst, place, line));
        }
    }
    lines
}

/// Returns the lines of a kernel's machine code.
pub(super) fn of_words(code: &KernelCode) -> Vec<Line> {
    let halu = code.words.downcast_ref().map(|halu::HaluCode(words)| words.as_slice());
    let vp1 = code.words.downcast_ref().map(|vp1::Vp1Code(words)| words.as_slice());
    let nodes = match (halu, vp1) {
        (Some(words), _) => halu_nodes(words, &code.locs),
        (_, Some(words)) => vp1_nodes(words, &code.locs),
        _ => Vec::new(),
    };
    let all = touched(&nodes, &contents(&nodes).uses);
    let none = Touched::default();
    let starts: Vec<u32> = vp1.map_or(Vec::new(), |words| bundles(words).map(|(start, _)| start).collect());
    let mut lines = Vec::with_capacity(code.words.len());
    let mut bundle = 0;
    for (address, &loc) in code.locs.iter().enumerate() {
        let opens = starts.get(bundle).is_some_and(|&start| start as usize == address);
        bundle += usize::from(opens);
        let node = if starts.is_empty() { address } else { bundle.saturating_sub(1) };
        let of_halu = halu.and_then(|words| halu::Inst::decode(*words.get(address)?));
        let of_vp1 = vp1.and_then(|words| vp1::Inst::decode(*words.get(address)?));
        let entry = of_halu.as_ref().map(halu_entry).or(of_vp1.as_ref().map(vp1_entry));
        // A no-op that fills a bundle has the source position of the instruction next to it. The position is not shown.
        let nop = vp1.and_then(|words| words.get(address)).is_some_and(|&word| is_nop(word));
        let (shape, place) = if nop { (Shape::Other, None) } else { (Shape::Inst, Origin::of_loc(loc)) };
        let of_node = all.get(node).unwrap_or(&none);
        // In a bundle, each instruction defines only the registers that it writes itself.
        let of_word = vp1.map(|words| Touched { reads: of_node.reads.clone(), writes: written_alone(words, address) });
        let tokens = tokens(&code.words.text(address), entry, of_word.as_ref().unwrap_or(of_node), place);
        let line = Line::new(shape, place, tokens);
        lines.push(Line { margin: format!("{address:04x}"), digits: Some(code.words.digits(address)), opens, ..line });
    }
    lines
}

fn halu_entry(inst: &halu::Inst) -> Entry {
    Entry { opcode: inst.opcode().name(), row: inst.row() }
}

fn vp1_entry(inst: &vp1::Inst) -> Entry {
    Entry { opcode: inst.opcode().name(), row: inst.row() }
}

/// Returns the control-flow node of a HALU instruction.
fn halu_node(inst: &halu::Inst, place: Option<Origin>) -> Node {
    let mut node = Node { may_skip: !inst.is_unconditional(), ..Node::default() };
    let mut touch = |file: RegFile, number: u8, role: OperandRole| {
        if file.constant().is_some_and(|(constant, _)| constant == number) {
            return;
        }
        if role != OperandRole::Def {
            node.reads.push(((file, number), 0));
        }
        if role != OperandRole::Use {
            node.writes.push((((file, number), 0), place));
        }
    };
    for slot in inst.registers() {
        let first = inst.get(slot.field) as u8;
        // A constant register such as RZ represents all registers of the operand, so the operand
        // adds no registers.
        let span = if slot.file.constant().is_some_and(|(constant, _)| constant == first) { 0 } else { slot.span };
        (0..span).for_each(|part| touch(slot.file, first.saturating_add(part), slot.role));
    }
    for operand in inst.row().operands.iter().filter(|operand| matches!(operand.kind, OperandKind::AllPreds)) {
        (0..PREDICATES).for_each(|number| touch(RegFile::Pred, number, operand.role));
    }
    node
}

/// Returns `true` if control never passes from the instruction to the next one.
fn is_end(inst: &halu::Inst) -> bool {
    inst.is_unconditional() && matches!(inst.opcode(), halu::Opcode::BRA | halu::Opcode::EXIT)
}

/// Returns the control-flow nodes of HALU machine code, one per instruction.
pub fn halu_nodes(words: &[u128], locs: &[Loc]) -> Vec<Node> {
    let node = |(address, (&word, &loc)): (usize, (&u128, &Loc))| {
        let Some(inst) = halu::Inst::decode(word) else { return Node::default() };
        let target = inst.row().operands.iter().find_map(|operand| match operand.kind {
            OperandKind::Target(field) => address.checked_add_signed(inst.get_signed(field) as isize),
            _ => None,
        });
        let after = (!is_end(&inst)).then_some(address + 1);
        Node { successors: after.into_iter().chain(target).collect(), ..halu_node(&inst, Origin::of_loc(loc)) }
    };
    words.iter().zip(locs).enumerate().map(node).collect()
}

/// Returns the footprint of VP1 instruction words that form one bundle. Returns `None` if the
/// effect of an instruction is not documented.
fn footprint(words: &[u32]) -> Option<Footprint> {
    Footprint::of(&Bundle::new(words).ok()?, None).ok()
}

/// Returns the registers that a single VP1 instruction of a bundle writes.
fn written_alone(words: &[u32], address: usize) -> Vec<Register> {
    let alone = words.get(address..=address).and_then(footprint);
    alone.map_or(Vec::new(), |alone| alone.writes.registers().collect())
}

/// Returns the parts of registers in a set of locations, except for the constant zero register.
fn cells(set: Locations) -> impl Iterator<Item = Cell> {
    let bits = move |(file, number): (RegFile, u8)| {
        let bits = if file == RegFile::C { FLAGS } else { 1 };
        (0..bits).filter_map(move |bit| {
            let is_in = file != RegFile::C || Locations::flags(number, 1 << bit).intersects(set);
            is_in.then_some(((file, number), bit))
        })
    };
    set.registers().filter(|&register| register != (RegFile::R, R_ZERO)).flat_map(bits)
}

/// Returns the index of the bundle to which the branch at address `word` jumps.
fn target_of(next: Next<()>, word: u32, numbers: &HashMap<u32, usize>) -> Option<usize> {
    let Next::Jump { target, .. } = next else { return None };
    let line = match target {
        Target::Relative(lines) => (word / WORDS_PER_LINE).checked_add_signed(lines)?,
        Target::Absolute(line) => line,
    };
    numbers.get(&line.checked_mul(WORDS_PER_LINE)?).copied()
}

/// Returns the control-flow nodes of VP1 machine code, one per bundle.
pub fn vp1_nodes(words: &[u32], locs: &[Loc]) -> Vec<Node> {
    let numbers: HashMap<u32, usize> = bundles(words).map(|(start, _)| start).zip(0..).collect();
    let mut nodes = Vec::new();
    // The branch of the previous bundle, which takes effect after the current bundle, and the branch's address.
    let mut pending: (Next<()>, u32) = (Next::Fall, 0);
    for (number, (start, bundle)) in bundles(words).enumerate() {
        let range = start as usize..(start + bundle.words()) as usize;
        let own = words.get(range.clone()).unwrap_or_default();
        let footprint = footprint(own).unwrap_or(Footprint::NONE);
        let writer = |cell: Cell| {
            let mut writers = range.clone().filter(|&address| written_alone(words, address).contains(&cell.0));
            let address = writers.next().unwrap_or(range.start);
            locs.get(address).and_then(|&loc| Origin::of_loc(loc))
        };
        let goes_on = match pending.0 {
            Next::Jump { taken: None, .. } | Next::Return => false,
            _ => !matches!(footprint.next, Next::Exit { .. }),
        };
        let target = target_of(pending.0, pending.1, &numbers);
        let reads = cells(footprint.reads).collect();
        let writes = cells(footprint.writes).map(|cell| (cell, writer(cell))).collect();
        let successors = goes_on.then_some(number + 1).into_iter().chain(target).collect();
        nodes.push(Node { reads, writes, may_skip: false, successors });
        let branch = range.end.saturating_sub(1) as u32;
        pending = (footprint.next, branch);
    }
    nodes
}

/// Returns `true` if a VP1 instruction word is a no-op that fills a bundle.
pub(super) fn is_nop(word: u32) -> bool {
    let nops = [vp1::Opcode::ANOP, vp1::Opcode::SNOP, vp1::Opcode::VNOP, vp1::Opcode::BNOP];
    vp1::Opcode::of_word(word).is_some_and(|opcode| nops.contains(&opcode))
}

/// Returns the backward branches of VP1 machine code. Each entry has the index of the target bundle
/// and of the branching bundle.
pub fn loops(words: &[u32]) -> Vec<(usize, usize)> {
    let numbers: HashMap<u32, usize> = bundles(words).map(|(start, _)| start).zip(0..).collect();
    let backward = |(number, (start, bundle)): (usize, (u32, Bundle))| {
        let branch = bundle.inst(Unit::Branch)?;
        let next = footprint(&[branch.word()])?.next;
        let to = target_of(next, start + bundle.words() - 1, &numbers)?;
        (to <= number).then_some((to, number))
    };
    bundles(words).enumerate().filter_map(backward).collect()
}
