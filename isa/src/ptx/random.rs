//! Generator of random instructions from the rows.

use arrayvec::ArrayVec;

use super::Opcode;
use super::inst::{Guard, Inst, permits_signs};
use super::module::{Entry, Formal, FrameVariable, RegisterDeclaration, Targets};
use super::operand::{Address, Base, Callee, FrameVar, Label, Operand, Part, Reg, Var, Vector};
use super::row::{
    BARRIERS, LINE_SIZE, Lanes, MINUS_ONE, NO_SELECTOR, OperandKind, OperandRole, Ty, WARP_SIZE, elements,
};
use super::types::{Space, Special, Token, Type, TypeKind};

/// State while a random instruction is drawn: the declarations from which operands are chosen, the
/// modifiers drawn so far, and the source of random bits.
struct Draw<'a> {
    entry: &'a Entry,
    words: ArrayVec<Token, { super::row::MAX_MODIFIERS }>,
    next: &'a mut dyn FnMut() -> u64,
}

impl Inst {
    /// Creates a random instruction of an opcode from the declarations of `entry`. Every modifier
    /// of every slot and every kind of operand can occur. Returns `None` if the entry lacks a
    /// register, parameter or label that the instruction needs. `next` returns random bits.
    pub fn random(opcode: Opcode, entry: &Entry, next: &mut dyn FnMut() -> u64) -> Option<Inst> {
        let row = opcode.row();
        // Some combinations of modifiers are invalid, so up to 64 instructions are drawn.
        let mut draws = (0..64).map_while(|_| {
            let mut draw = Draw { entry, words: ArrayVec::new(), next: &mut *next };
            for slot in row.slots {
                if !slot.optional || draw.one_in(2) {
                    let choice = draw.one_of(slot.choices)?.token;
                    draw.words.push(choice);
                }
            }
            Some(draw.words)
        });
        let words = draws.find(|words| row.fit(words).is_ok())?;
        Inst::random_of(opcode, &words, entry, next)
    }

    /// Creates a random instruction like [`Inst::random`], but with the given modifiers. The
    /// modifiers must fit the row of the opcode.
    pub fn random_of(opcode: Opcode, words: &[Token], entry: &Entry, next: &mut dyn FnMut() -> u64) -> Option<Inst> {
        let row = opcode.row();
        row.fit(words).ok()?;
        let mut draw = Draw { entry, words: words.iter().copied().collect(), next };
        let mut operands = smallvec::SmallVec::new();
        if row.operands.iter().any(|o| o.shape == OperandKind::Call) {
            draw.call(opcode, &mut operands)?;
        } else {
            for o in row.operands_with(words) {
                operands.push(draw.operand(o.role, o.shape)?);
            }
        }
        if !permits_signs(words, &operands) {
            for operand in &mut operands {
                if let Operand::Part { reg, part, .. } = *operand {
                    *operand = Operand::part(reg, part, false);
                }
            }
        }
        let guard = if draw.one_in(4) {
            Some(Guard { reg: draw.register(Ty::Is(Type::Pred))?, not: draw.one_in(2) })
        } else {
            None
        };
        Some(Inst { opcode, modifiers: draw.words, guard, operands })
    }

    /// Creates a random chain of `count` instructions that pass the carry flag, from the
    /// declarations of `entry`. The first instruction sets the flag, and the later ones read it.
    /// Every instruction before the last one sets it. Sums, differences and products are chosen at
    /// random. Returns `None` if `entry` lacks a register for one of the instructions.
    pub fn random_carry_chain(count: usize, entry: &Entry, next: &mut dyn FnMut() -> u64) -> Option<Vec<Inst>> {
        let one_of = |all: [Opcode; 3], next: &mut dyn FnMut() -> u64| all.get((next() % 3) as usize).copied();
        let link = |number: usize| {
            let first = [Opcode::ADD_CC, Opcode::SUB_CC, Opcode::MAD_CC];
            let opcode = one_of(if number == 0 { first } else { [Opcode::ADDC, Opcode::SUBC, Opcode::MADC] }, next)?;
            let links = |inst: &Inst| number + 1 == count || inst.writes_carry();
            (0..64).filter_map(|_| Inst::random(opcode, entry, next)).find(links)
        };
        (0..count).map(link).collect()
    }
}

impl<'a> Draw<'a> {
    fn one_in(&mut self, n: u64) -> bool {
        (self.next)().is_multiple_of(n)
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.next)() % n.max(1) as u64) as usize
    }

    fn one_of<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        let i = self.below(all.len());
        all.get(i)
    }

    fn register(&mut self, ty: Ty) -> Option<Reg> {
        let family = self.family(ty)?;
        Some(self.member(family))
    }

    fn family(&mut self, ty: Ty) -> Option<&'a RegisterDeclaration> {
        let families = self.entry.body.registers.families();
        let admits = |f: &&RegisterDeclaration| f.count != Some(0) && ty.admits(&self.words, f.ty);
        let count = families.iter().filter(admits).count();
        let chosen = self.below(count);
        families.iter().filter(|f| f.count != Some(0) && ty.admits(&self.words, f.ty)).nth(chosen)
    }

    fn member(&mut self, family: &RegisterDeclaration) -> Reg {
        Reg(family.first.0 + family.width() * self.below(family.count.unwrap_or(1) as usize) as u32)
    }

    fn operand(&mut self, role: OperandRole, shape: OperandKind) -> Option<Operand> {
        let pred = Ty::Is(Type::Pred);
        let word = Ty::Is(Type::U32);
        Some(match shape {
            OperandKind::Register(ty) | OperandKind::Value(ty) if ty.resolve(&self.words).0 == Type::B128 => {
                Operand::Vector(Vector::of_pair(self.register(ty)?))
            }
            OperandKind::Register(ty) => Operand::Register(self.register(ty)?),
            OperandKind::Value(ty) if self.one_in(3) && ty.resolve(&self.words).0.has_immediates() => {
                Operand::Number(self.number(ty.resolve(&self.words).0))
            }
            OperandKind::Value(ty) => Operand::Register(self.register(ty)?),
            OperandKind::Predicates if self.one_in(2) => Operand::Register(self.register(pred)?),
            OperandKind::Predicates => {
                let mut pair = [Some(self.register(pred)?), Some(self.register(pred)?)];
                let blank = self.below(16);
                pair.get_mut(blank).into_iter().for_each(|reg| *reg = None);
                Operand::Pair(pair)
            }
            OperandKind::WithPredicate { ty, blank, silent } => {
                let d = if blank && self.one_in(8) { None } else { Some(self.register(ty)?) };
                let p = if silent && d.is_some() && self.one_in(8) { None } else { Some(self.register(pred)?) };
                Operand::Pair([d, p])
            }
            OperandKind::Condition if self.one_in(2) => Operand::Not(self.register(pred)?),
            OperandKind::Condition => Operand::Register(self.register(pred)?),
            OperandKind::Masked(lanes) => {
                let mask = (self.next)() as u16 & lanes.all();
                self.lanes(word, mask, mask == 0 || mask == lanes.all())?
            }
            OperandKind::Selected(lanes, default) => {
                let selector = (self.next)() as u16 & selector_mask(lanes);
                let plain = selector == default || selector == NO_SELECTOR || self.one_in(2);
                self.lanes(word, selector, plain)?
            }
            OperandKind::Part { ty, .. } if role == OperandRole::Use && self.one_in(3) => {
                self.operand(role, OperandKind::Value(ty))?
            }
            OperandKind::Part { ty, takes_selector, takes_sign } => {
                let part = if takes_selector { *self.one_of(&Part::ALL)? } else { Part::Whole };
                let reg = self.register(ty)?;
                let is_pair = self.entry.body.registers.ty(reg) == Some(Type::F16x2);
                Operand::part(reg, part, takes_sign && !is_pair && self.one_in(4))
            }
            OperandKind::Vector(ty, count) => self.vector(role, ty, count)?,
            OperandKind::Fragment(_) | OperandKind::Matrices => {
                let (ty, count) = shape.vector(&self.words)?;
                self.vector(role, Ty::Is(ty), count as u8)?
            }
            OperandKind::Elements(ty) => match elements(&self.words) {
                1 if role == OperandRole::Def => self.operand(role, OperandKind::Register(ty))?,
                1 => self.operand(role, OperandKind::Value(ty))?,
                count => self.vector(role, ty, count as u8)?,
            },
            OperandKind::Parts(ty) => {
                let bits = ty.resolve(&self.words).0.bits();
                let count = if bits >= 64 && self.one_in(2) { 4 } else { 2 };
                let part = match bits / count {
                    8 => Type::B8,
                    16 => Type::B16,
                    32 => Type::B32,
                    _ => Type::B64,
                };
                self.vector(role, Ty::Is(part), count as u8)?
            }
            OperandKind::Memory | OperandKind::MemoryIn(_) | OperandKind::CallMemory => {
                let named = self.one_in(4) || self.words.contains(&Token::Param);
                let base = self.base(role, shape).filter(|_| named);
                match base {
                    Some(base) => self.address(|_| Some(base))?,
                    None if shape == OperandKind::CallMemory => return None,
                    None => {
                        let has_narrow = shape.space(&self.words).is_some_and(|space| space != Space::Global)
                            && !self.words.iter().any(|word| matches!(word, Token::M8n8 | Token::Load | Token::Store));
                        let widths =
                            if has_narrow { &[Type::U64, Type::U32, Type::U16, Type::U8][..] } else { &[Type::U64] };
                        let ty = *self.one_of(widths)?;
                        self.address(|draw| draw.register(Ty::Is(ty)).map(Base::Register))?
                    }
                }
            }
            OperandKind::Variable => {
                let offset = if self.one_in(2) { 0 } else { i32::from((self.next)() as i16) };
                let all = self.named().map(|base| match base {
                    Base::Variable(var) => Some(Operand::Variable { var, offset }),
                    // A `.param` frame variable has an address only if it is a parameter of the function.
                    Base::Frame(var) if var.space == Space::Local => Some(Operand::Frame { var, offset }),
                    Base::Frame(_) => None,
                    Base::Parameter(number) => Some(Operand::Parameter { number, offset }),
                    Base::Register(_) => None,
                });
                self.admitted(all.flatten().collect(), role, shape)?
            }
            OperandKind::Special => {
                let all = Special::all().map(Operand::Special).collect();
                self.admitted(all, role, shape)?
            }
            OperandKind::BarrierId | OperandKind::ThreadCount { .. } if self.one_in(2) => {
                Operand::Register(self.register(word)?)
            }
            OperandKind::BarrierId => Operand::Number((self.next)() % BARRIERS),
            OperandKind::ThreadCount { .. } => Operand::Number(((self.next)() % 32 + 1) * WARP_SIZE),
            OperandKind::Fraction if self.one_in(2) => Operand::Register(self.register(Ty::Is(Type::F32))?),
            OperandKind::Fraction => {
                let number = ((self.next)() % 16 + 1) as f32 / 16.0;
                Operand::Number(number.to_bits().into())
            }
            OperandKind::BitPosition if self.one_in(2) => Operand::Register(self.register(word)?),
            OperandKind::Byte | OperandKind::BitPosition => Operand::Number((self.next)() & 0xFF),
            OperandKind::Event => Operand::Number((self.next)() & 0xF),
            OperandKind::EventMask => Operand::Number((self.next)() & 0xFFFF),
            OperandKind::CopySize if self.words.contains(&Token::CacheGlobal) => Operand::Number(16),
            OperandKind::CopySize => Operand::Number(4 << self.below(3)),
            OperandKind::SourceSize if self.one_in(2) => Operand::Register(self.register(word)?),
            OperandKind::SourceSize => Operand::Number(self.below(5) as u64),
            OperandKind::Count => Operand::Number(self.number(Type::U32)),
            OperandKind::Alignment => Operand::Number(1 << self.below(8)),
            OperandKind::LineSize => Operand::Number(LINE_SIZE),
            OperandKind::Sign => Operand::Number(if self.one_in(2) { MINUS_ONE } else { 1 }),
            OperandKind::Flag => Operand::Number(self.below(2) as u64),
            OperandKind::Label => {
                let count = self.entry.body.labels.len();
                Operand::Label((count != 0).then(|| Label(self.below(count) as u32))?)
            }
            OperandKind::Table => self.table(|of| matches!(of, Targets::Labels(_)))?.0,
            // [`Draw::call`] draws these operands together.
            OperandKind::Call | OperandKind::Results | OperandKind::Arguments => return None,
        })
    }

    /// Returns a random target list or prototype that satisfies the predicate `will_do`.
    fn table(&mut self, will_do: impl Fn(&Targets) -> bool) -> Option<(Operand, &'a Targets)> {
        let tables = (0..).zip(&self.entry.body.tables).filter(|(_, table)| will_do(&table.of));
        let tables: Vec<_> = tables.map(|(number, table)| (Operand::Table(number), &table.of)).collect();
        self.one_of(&tables).cloned()
    }

    /// Draws the operands of a direct or an indirect call.
    fn call(&mut self, opcode: Opcode, operands: &mut smallvec::SmallVec<[Operand; 4]>) -> Option<()> {
        let functions = &self.entry.functions;
        let function = self.below(functions.len()) as u32;
        let mut prototype = &functions.get(function as usize)?.prototype;
        let mut callee = Callee::Function(function);
        let mut table = None;
        if opcode == Opcode::CALL_INDIRECT {
            let (operand, of) = self.table(|of| !matches!(of, Targets::Labels(_)))?;
            prototype = match of {
                Targets::Prototype(prototype) => prototype,
                Targets::Functions(all) => &functions.get(*all.first()? as usize)?.prototype,
                Targets::Labels(_) => return None,
            };
            (callee, table) = (Callee::Register(self.register(Ty::Is(Type::U64))?), Some(operand));
        }
        operands.push(Operand::Call { callee, results: prototype.results.len() as u8 });
        operands.extend(table);
        for formal in prototype.results.iter().chain(&prototype.params) {
            operands.push(self.passed(formal)?);
        }
        Some(())
    }

    /// Draws an operand that is valid for a parameter or result of a call.
    fn passed(&mut self, formal: &Formal) -> Option<Operand> {
        if !formal.in_memory {
            return self.register(Ty::Is(formal.ty)).map(Operand::Register);
        }
        let frame = (0..).zip(&self.entry.body.frame);
        let is_like = |of: &FrameVariable| of.space == Space::Param && of.bytes() == formal.bytes();
        let all = frame.filter(|(_, of)| is_like(of)).map(|(number, of)| FrameVar { number, space: of.space });
        let all: Vec<FrameVar> = all.collect();
        self.one_of(&all).map(|&var| Operand::Frame { var, offset: 0 })
    }

    fn lanes(&mut self, ty: Ty, digits: u16, plain: bool) -> Option<Operand> {
        let reg = self.register(ty)?;
        Some(if plain { Operand::Register(reg) } else { Operand::Lanes { reg, digits } })
    }

    fn vector(&mut self, role: OperandRole, ty: Ty, count: u8) -> Option<Operand> {
        // `ptxas` requires that all registers of a vector have the same type, and that at least one
        // of them is not `_`.
        let family = self.family(ty)?;
        let element = |i: u8| {
            let blank = role == OperandRole::Def && i != 0 && self.one_in(8);
            (!blank).then(|| self.member(family))
        };
        Some(Operand::Vector((0..count).map(element).collect()))
    }

    fn address(&mut self, base: impl FnOnce(&mut Self) -> Option<Base>) -> Option<Operand> {
        let base = base(self)?;
        let offset = if self.one_in(2) { 0 } else { (self.next)() as i16 };
        Some(Operand::Memory(Address { base, offset: offset.into() }))
    }

    /// Returns all symbols with an address: module variables, frame variables and parameters.
    fn named(&self) -> impl Iterator<Item = Base> + 'a {
        let entry = self.entry;
        let vars =
            (0..).zip(entry.variables.iter()).map(|(number, of)| Base::Variable(Var { number, space: of.space }));
        let frame = (0..).zip(&entry.body.frame);
        let frame = frame.map(|(number, of)| Base::Frame(FrameVar { number, space: of.space }));
        vars.chain(frame).chain((0..).zip(&entry.params).map(|(number, _)| Base::Parameter(number)))
    }

    /// Returns a random operand among those in `all` that are valid for the operand kind `shape`.
    fn admitted(&mut self, all: Vec<Operand>, role: OperandRole, shape: OperandKind) -> Option<Operand> {
        let admitted: Vec<&Operand> =
            all.iter().filter(|operand| shape.admits(role, &self.words, operand, &|_| None)).collect();
        self.one_of(&admitted).copied().cloned()
    }

    /// Returns a random symbol that is valid as the base of an address operand.
    fn base(&mut self, role: OperandRole, shape: OperandKind) -> Option<Base> {
        let all = self.named().map(|base| Operand::Memory(Address { base, offset: 0 })).collect();
        match self.admitted(all, role, shape) {
            Some(Operand::Memory(Address { base, .. })) => Some(base),
            _ => None,
        }
    }

    /// Draws an immediate of a type: a small number or uniformly random bits.
    fn number(&mut self, ty: Type) -> u64 {
        let bits = (self.next)();
        let bits = if self.one_in(2) { bits } else { u64::from(bits as u8).wrapping_sub(16) };
        match ty.kind() {
            TypeKind::Predicate => bits & 1,
            _ => ty.truncate(bits),
        }
    }
}

/// Returns the mask of the bits that a selector uses.
fn selector_mask(lanes: Lanes) -> u16 {
    (1 << (lanes.count() * lanes.index_bits())) - 1
}
