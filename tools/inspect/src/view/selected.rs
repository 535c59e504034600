//! Selected instructions as lines. Virtual registers appear in the assembly text at the positions of their operands.

use std::collections::{HashMap, VecDeque};
use std::fmt::Display;

use halfbyte_isa::object::Loc;
use halfbyte_isa::word::Field;
use halfbyte_isel::print::PrintMachine;
use halfbyte_isel::vcode::{Access, Edge, Operand, Terminator, VCode, VInst, VReg};
use halfbyte_isel::{Halu, Ptx, SelectedCode, Vp1};

use super::machine::{plain, ptx_line};
use super::model::{Entry, Line, Origin, Origins, Shape, Token};
use super::registers::{parts, without_end};

/// Returns the lines of a kernel after instruction selection.
pub(super) fn of_code(code: &dyn SelectedCode) -> Vec<Line> {
    if let Some(code) = code.downcast_ref::<VCode<Halu>>() {
        return lines(code, |inst| vec![Entry { opcode: inst.opcode().name(), row: inst.row() }]);
    }
    if let Some(code) = code.downcast_ref::<VCode<Vp1>>() {
        return lines(code, |group| {
            group.insts.iter().map(|inst| Entry { opcode: inst.opcode().name(), row: inst.row() }).collect()
        });
    }
    let Some(code) = code.downcast_ref::<VCode<Ptx>>() else { return plain(&code.to_string()) };
    let names = Ptx::names(&code.signature, &code.extra, &code.vregs, code.blocks.len());
    let mut lines = Vec::new();
    for (number, block) in code.blocks.iter().enumerate() {
        lines.push(Line::new(Shape::Label, None, vec![Token::Plain(format!("b{number}:"))]));
        lines.extend(code.insts_of(block).iter().map(|inst| ptx_line(&inst.inst, None, &names, inst.loc)));
    }
    lines
}

fn lines<M: WithOperands>(code: &VCode<M>, entries: impl Fn(&M::Inst) -> Vec<Entry>) -> Vec<Line> {
    let defs = definitions(code);
    let shown = InstPrinter { code, defs };
    let mut lines = Vec::new();
    for (number, block) in code.blocks.iter().enumerate() {
        let mut head = vec![Token::Plain(format!("b{number}"))];
        shown.list(&mut head, code.list(&block.params), true);
        head.push(Token::Plain(":".into()));
        lines.push(Line::new(Shape::Label, None, head));
        let insts = code.insts_of(block);
        for inst in insts {
            let tokens = shown.inst(inst, &entries(&inst.inst));
            lines.push(Line::new(Shape::Inst, Origin::of_loc(inst.loc), tokens));
        }
        let (tokens, loc) = shown.terminator(&block.terminator, block.loc, &entries);
        lines.push(Line::new(Shape::Inst, Origin::of_loc(loc), tokens));
    }
    lines
}

/// A machine whose instructions have their virtual registers in a separate list of operands.
trait WithOperands: PrintMachine<RegisterPosition: Into<Field>, Inst: Display> {}

impl<M: PrintMachine<RegisterPosition: Into<Field>, Inst: Display>> WithOperands for M {}

/// Returns the source positions of the definitions of each virtual register. A block parameter has
/// the source positions of the values that branches pass for it.
fn definitions<M: PrintMachine>(code: &VCode<M>) -> Vec<Origins> {
    let mut defs = vec![Origins::new(); code.vregs.len()];
    for inst in &code.insts {
        for operand in code.operands(inst).iter().filter(|operand| operand.access != Access::Use) {
            if let Some(defs) = defs.get_mut(operand.reg.0 as usize) {
                defs.add(&Origin::of_loc(inst.loc));
            }
        }
    }
    let edges = |terminator: &Terminator<M>| match terminator {
        Terminator::Exit => Vec::new(),
        Terminator::Jump(to) => vec![to.clone()],
        Terminator::Branch { then, otherwise, .. } => vec![then.clone(), otherwise.clone()],
    };
    let edges = code.blocks.iter().flat_map(|block| edges(&block.terminator));
    let passed: Vec<(VReg, VReg)> = edges
        .filter_map(|edge| Some((code.blocks.get(edge.block as usize)?, edge)))
        .flat_map(|(block, edge)| code.list(&block.params).iter().copied().zip(code.list(&edge.args).iter().copied()))
        .collect();
    let mut params: HashMap<VReg, Vec<VReg>> = HashMap::new();
    for &(param, argument) in &passed {
        params.entry(argument).or_default().push(param);
    }
    let mut left: VecDeque<VReg> = passed.iter().map(|&(_, argument)| argument).collect();
    while let Some(argument) = left.pop_front() {
        let from = defs.get(argument.0 as usize).cloned().unwrap_or_default();
        for &param in params.get(&argument).into_iter().flatten() {
            if defs.get_mut(param.0 as usize).is_some_and(|defs| defs.add(&from)) {
                left.push_back(param);
            }
        }
    }
    defs
}

/// A printer of selected instructions.
struct InstPrinter<'c, M: WithOperands> {
    code: &'c VCode<M>,
    defs: Vec<Origins>,
}

impl<M: WithOperands> InstPrinter<'_, M> {
    fn name(&self, reg: VReg, part: u8, is_def: bool) -> Token {
        let name = M::reg(reg, self.code.vregs.get(reg.0 as usize).copied());
        let part = if part == 0 { String::new() } else { format!("[{part}]") };
        let defs = self.defs.get(reg.0 as usize).cloned().unwrap_or_default();
        Token::Name { text: format!("{name}{part}"), defs, is_def }
    }

    /// Appends registers in parentheses. Appends nothing if there are none.
    fn list(&self, tokens: &mut Vec<Token>, regs: &[VReg], is_def: bool) {
        for (number, &reg) in regs.iter().enumerate() {
            tokens.push(Token::Plain(if number == 0 { "(" } else { ", " }.into()));
            tokens.push(self.name(reg, 0, is_def));
        }
        if !regs.is_empty() {
            tokens.push(Token::Plain(")".into()));
        }
    }

    fn edge(&self, tokens: &mut Vec<Token>, edge: &Edge) {
        tokens.push(Token::Plain(format!("b{}", edge.block)));
        self.list(tokens, self.code.list(&edge.args), false);
    }

    fn terminator(
        &self,
        terminator: &Terminator<M>,
        loc: Loc,
        entries: &impl Fn(&M::Inst) -> Vec<Entry>,
    ) -> (Vec<Token>, Loc) {
        match terminator {
            Terminator::Exit => (vec![Token::Op("exit".into(), None)], loc),
            Terminator::Jump(to) => {
                let mut tokens = vec![Token::Op("jump".into(), None), Token::Plain(" ".into())];
                self.edge(&mut tokens, to);
                (tokens, loc)
            }
            Terminator::Branch { inst, then, otherwise } => {
                let mut tokens = self.inst(inst, &entries(&inst.inst));
                tokens.push(Token::Plain(" to ".into()));
                self.edge(&mut tokens, then);
                tokens.push(Token::Plain(", else ".into()));
                self.edge(&mut tokens, otherwise);
                (tokens, inst.loc)
            }
        }
    }

    /// Returns the tokens of an instruction. A virtual register appears at the position of its
    /// operand, or after the text if the position is not clear.
    fn inst(&self, inst: &VInst<M>, entries: &[Entry]) -> Vec<Token> {
        let operands = self.code.operands(inst);
        let mut plain = inst.inst.clone();
        operands.iter().for_each(|operand| M::set(&mut plain, operand.place, 0));
        let text = plain.to_string();
        let text: Vec<&str> = parts(without_end(&text)).collect();
        // The operands at the position of each part of the assembly text.
        let mut standing: Vec<Vec<&Operand<M>>> = vec![Vec::new(); text.len()];
        let mut others: Vec<&Operand<M>> = Vec::new();
        for operand in operands {
            let mut changed = plain.clone();
            M::set(&mut changed, operand.place, another_number(operand.place.into()));
            let changed = changed.to_string();
            let at = only_difference(&text, &parts(without_end(&changed)).collect::<Vec<_>>());
            match at.and_then(|at| standing.get_mut(at)) {
                Some(there) if there.iter().all(|other| other.place == operand.place) => there.push(operand),
                _ => others.push(operand),
            }
        }
        let mut tokens: Vec<Token> = Vec::new();
        let mut entries = entries.iter();
        let mut starts = true;
        for (part, standing) in text.iter().zip(standing) {
            for (number, operand) in standing.iter().enumerate() {
                if number > 0 {
                    tokens.push(Token::Plain(":".into()));
                }
                self.operand(&mut tokens, operand);
            }
            if !standing.is_empty() {
                continue;
            }
            let is_guard = matches!(tokens.last(), Some(Token::Plain(before)) if before.ends_with(['@', '!']));
            if starts && part.starts_with(char::is_alphabetic) && !is_guard {
                starts = false;
                tokens.push(Token::Op((*part).to_owned(), entries.next().copied()));
                continue;
            }
            // `&` is followed by another instruction of the same bundle.
            starts |= *part == "&";
            match tokens.last_mut() {
                Some(Token::Plain(before)) => before.push_str(part),
                _ => tokens.push(Token::Plain((*part).to_owned())),
            }
        }
        for operand in others {
            tokens.push(Token::Plain(format!(" {}=", M::place(operand.place))));
            self.operand(&mut tokens, operand);
        }
        tokens
    }

    fn operand(&self, tokens: &mut Vec<Token>, operand: &Operand<M>) {
        tokens.push(self.name(operand.reg, operand.part, operand.access != Access::Use));
        if let Access::UpdateInPlace(old) = operand.access {
            tokens.push(Token::Plain(" replaces ".into()));
            tokens.push(self.name(old, 0, false));
        }
    }
}

/// Returns a register number other than 0 that is valid in a register field, even for a register tuple.
fn another_number(field: Field) -> u64 {
    if field.max() > 7 { 4 } else { 1 }
}

/// Returns the index of the only part in which two texts differ. Returns `None` if they differ in
/// no part or in several.
pub fn only_difference(a: &[&str], b: &[&str]) -> Option<usize> {
    let mut places = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at);
    let first = places.next()?;
    (a.len() == b.len() && places.next().is_none()).then_some(first)
}
