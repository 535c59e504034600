//! Type inference for values.
//!
//! A PTX register has only a width. The instructions that use a value determine its type in the IR.
//! If these instructions need different types, the value is an integer, which is cast at each use.
//! Values that are copies of each other, or operands and result of a select, get the same type.

use halfbyte_ir::Type;
use halfbyte_isa::ptx::row::{Lanes, OperandKind, OperandRow};
use halfbyte_isa::ptx::types::{Token, Type as PtxType, TypeKind};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use halfbyte_isa::row::InstClass;

use crate::provenance::{Parameters, reached};
use crate::ssa::{Def, Function, Val};

/// The IR type of each PTX value, indexed by the number of the value.
pub(crate) struct Types(Vec<Type>);

impl Types {
    pub(crate) fn get(&self, val: Val) -> Type {
        self.0.get(val.0 as usize).copied().unwrap_or(Type::I32)
    }

    pub(crate) fn new(function: &Function<'_>, parameters: &Parameters) -> Types {
        let mut classes = UnionFind((0..function.defs.len() as u32).collect());
        for number in 0..function.defs.len() as u32 {
            let val = function.resolve(Val(number));
            classes.join(Val(number), val);
            match function.def(val) {
                Def::Phi(vals) => vals.iter().for_each(|&other| classes.join(val, other)),
                Def::Inst(_, Some(old)) => classes.join(val, *old),
                _ => {}
            }
        }
        let mut votes: Vec<Vote> = vec![Vote::None; function.defs.len()];
        for number in reached(function) {
            let Some(inst) = function.inst(number) else { continue };
            let written: Vec<(Reg, Val)> = function.writes(number).collect();
            let val = |reg: Reg, o: &OperandRow| match o.role {
                halfbyte_isa::row::OperandRole::Def => written.iter().find(|(of, _)| *of == reg).map(|(_, val)| *val),
                _ => function.read(number, reg),
            };
            if let Some(&(_, to)) = written.first() {
                for place in copied(inst) {
                    if let Some(&Operand::Register(reg)) = inst.operands.get(*place)
                        && let Some(from) = function.read(number, reg)
                    {
                        classes.join(to, from);
                    }
                }
            }
            for (o, operand) in inst.operands_with_rows() {
                let Some(vote) = vote(inst, o) else { continue };
                for reg in operand.registers() {
                    if let Some(votes) = val(reg, o).and_then(|val| votes.get_mut(classes.find(val).0 as usize)) {
                        *votes = votes.and(vote);
                    }
                }
            }
        }
        // The votes of each class are merged again, because classes may have been joined after they
        // had received votes.
        let mut joined: Vec<Vote> = vec![Vote::None; function.defs.len()];
        let mut addresses = vec![false; function.defs.len()];
        for number in 0..function.defs.len() as u32 {
            let class = classes.find(Val(number)).0 as usize;
            if let (Some(of), Some(&vote)) = (joined.get_mut(class), votes.get(number as usize)) {
                *of = of.and(vote);
            }
            if let Some(of) = addresses.get_mut(class) {
                *of |= parameters.is_address(Val(number));
            }
        }
        let ty = |number: u32| {
            let bits = function.entry.body.registers.held(function.reg(Val(number))).map_or(32, PtxType::bits);
            let class = classes.find(Val(number)).0 as usize;
            match (bits, joined.get(class)) {
                (1, _) => Type::I1,
                (64, _) if addresses.get(class).copied().unwrap_or(false) => Type::PTR,
                (bits, Some(&Vote::For(ty))) if ty.bits() == bits => ty,
                (bits, _) => integer(bits),
            }
        };
        Types((0..function.defs.len() as u32).map(ty).collect())
    }
}

/// Returns the integer type with a width of `bits` bits.
pub(crate) fn integer(bits: u32) -> Type {
    match bits {
        1 => Type::I1,
        8 => Type::I8,
        16 => Type::I16,
        64 => Type::I64,
        _ => Type::I32,
    }
}

/// The type that the instructions require for a value.
#[derive(Clone, Copy, PartialEq)]
enum Vote {
    None,
    For(Type),
    /// Several instructions require different types.
    Split,
}

impl Vote {
    fn and(self, other: Vote) -> Vote {
        match (self, other) {
            (Vote::None, vote) | (vote, Vote::None) => vote,
            (a, b) if a == b => a,
            _ => Vote::Split,
        }
    }
}

/// Union-find structure whose classes are values that share a type.
struct UnionFind(Vec<u32>);

impl UnionFind {
    fn find(&mut self, val: Val) -> Val {
        let mut at = val.0 as usize;
        while let Some(&next) = self.0.get(at).filter(|&&next| next as usize != at) {
            // Path halving: each visited element is linked to its grandparent.
            let after = self.0.get(next as usize).copied().unwrap_or(next);
            if let Some(of) = self.0.get_mut(at) {
                *of = after;
            }
            at = after as usize;
        }
        Val(at as u32)
    }

    fn join(&mut self, a: Val, b: Val) {
        let (a, b) = (self.find(a), self.find(b));
        let (first, second) = (a.min(b), a.max(b));
        if let Some(of) = self.0.get_mut(second.0 as usize) {
            *of = first.0;
        }
    }
}

/// Returns the indices of the operands that have the same type as the result.
fn copied(inst: &Inst) -> &'static [usize] {
    match inst.opcode {
        Opcode::MOV => &[1],
        Opcode::SELP | Opcode::SLCT_INT | Opcode::SLCT_F32 => &[1, 2],
        _ => &[],
    }
}

/// Returns the type that an instruction requires for an operand, or `None` if it accepts any type.
fn vote(inst: &Inst, o: &OperandRow) -> Option<Vote> {
    let accumulates = inst.has(Token::Add);
    let ty = match o.shape {
        OperandKind::Masked(_) if accumulates => PtxType::U32,
        OperandKind::Masked(lanes) | OperandKind::Selected(lanes, _) => return Some(Vote::For(packed(lanes))),
        OperandKind::BarrierId | OperandKind::ThreadCount { .. } => PtxType::U32,
        // The operand into which a video instruction merges its result does not count, because it
        // is usually zero.
        OperandKind::Register(_) if is_video(inst) && !accumulates => return None,
        OperandKind::Register(ty) | OperandKind::Value(ty) | OperandKind::Vector(ty, _) => {
            ty.resolve(&inst.modifiers).0
        }
        _ => return None,
    };
    let carries = matches!(inst.row().class, InstClass::Memory | InstClass::Move) || !copied(inst).is_empty();
    match ty.kind() {
        TypeKind::Float | TypeKind::Packed => of_ptx(ty).map(Vote::For),
        TypeKind::Integer if !carries => Some(Vote::For(integer(ty.bits()))),
        _ => None,
    }
}

fn is_video(inst: &Inst) -> bool {
    inst.row().operands.iter().any(|o| matches!(o.shape, OperandKind::Selected(..)))
}

/// Returns the integer vector type with two 16-bit lanes or four 8-bit lanes.
pub(crate) fn packed(lanes: Lanes) -> Type {
    match lanes {
        Lanes::Two => Type::I16X2,
        Lanes::Four => Type::I8X4,
    }
}

/// Returns the IR type of a PTX type.
pub(crate) fn of_ptx(ty: PtxType) -> Option<Type> {
    Some(match ty {
        PtxType::F16 => Type::F16,
        PtxType::F16x2 => Type::F16X2,
        PtxType::Bf16 => Type::BF16,
        PtxType::Bf16x2 => Type::BF16X2,
        PtxType::F32 => Type::F32,
        PtxType::U16x2 | PtxType::S16x2 => Type::I16X2,
        PtxType::U8x4 | PtxType::S8x4 => Type::I8X4,
        PtxType::F64 => Type::F64,
        ty => integer(ty.bits()),
    })
}
