//! Parser of instructions. The modifiers and operands are parsed first and then matched against the
//! rows of the mnemonic.

use arrayvec::ArrayVec;
use smallvec::SmallVec;
use std::sync::LazyLock;

use super::error::{Error, ErrorKind};
use super::lexer::Token as Lexeme;
use super::names::Names;
use super::number::Literal;
use super::operand::{Element, Raw};
use super::reader::Reader;
use super::unsupported;
use crate::object::Loc;
use crate::ptx::inst::{Guard, Inst, permits_signs};
use crate::ptx::matrix::MatrixOperand;
use crate::ptx::module::{Symbol, Targets};
use crate::ptx::operand::{Address, Base, Callee, Operand, Part, Reg};
use crate::ptx::row::MAX_MODIFIERS;
use crate::ptx::row::{Lanes, OperandKind, OperandRole, OperandRow, Ty, elements, named_space, part_of};
use crate::ptx::types::{Space, Special, Token, Type, TypeKind};
use crate::ptx::{Opcode, Vector};

/// The opcodes of each mnemonic, sorted by mnemonic. The opcodes of one mnemonic have the order of [`Opcode::ALL`].
static BY_MNEMONIC: LazyLock<Vec<(&'static str, Vec<Opcode>)>> = LazyLock::new(|| {
    let mut table: Vec<(&'static str, Vec<Opcode>)> = Vec::new();
    for &opcode in Opcode::ALL {
        let mnemonic = opcode.row().mnemonic;
        match table.binary_search_by_key(&mnemonic, |entry| entry.0) {
            Ok(found) => table.get_mut(found).into_iter().for_each(|entry| entry.1.push(opcode)),
            Err(place) => table.insert(place, (mnemonic, vec![opcode])),
        }
    }
    table
});

/// The modifiers that `ptxas` accepts twice.
const REPEATED: [Token; 7] =
    [Token::Sat, Token::Satfinite, Token::Relu, Token::Nan, Token::Approx, Token::Cc, Token::Sync];

/// The first SM version that computes with subnormal f32 numbers.
const FIRST_WITH_SUBNORMALS: u16 = 20;

/// The name of the predefined constant that is the number of threads in a warp.
pub(super) const WARP_SIZE: &str = "WARP_SZ";
pub(super) const WARP_THREADS: &str = "32";

/// The reason why an instruction does not match a row. The parser reports the error with the
/// greatest `reach`, because its row matches the longest part of the instruction. The elements of
/// `reach` are: `true` if all modifiers match; the number of the first wrong modifier or operand;
/// `true` if that operand has the expected form. A wrong number of operands counts as operand 0.
struct Refusal {
    reach: (bool, usize, bool),
    error: Error,
}

/// The parsed modifiers and operands of an instruction, before a row is selected.
#[derive(Clone)]
struct Parts<'a> {
    mnemonic: &'static str,
    at: Loc,
    words: ArrayVec<Token, MAX_MODIFIERS>,
    word_locs: ArrayVec<Loc, MAX_MODIFIERS>,
    operands: SmallVec<[(Raw<'a>, Loc); 4]>,
    end: Loc,
    /// `true` if the target flushes the subnormal numbers of every f32 instruction.
    flushes: bool,
}

impl<'a> Reader<'a> {
    /// Parses a guard: `@p` or `@!p`.
    pub(super) fn guard(&mut self, names: &Names<'a>) -> Result<Guard, Error> {
        self.bump()?;
        let not = self.accept('!')?;
        let at = self.ahead.at;
        let name = self.name("a predicate")?;
        let reg = names.register(name).ok_or_else(|| Error { at, kind: unknown_name(name) })?;
        if names.registers.ty(reg).is_none_or(|ty| ty.bits() != 1) {
            let found = format!("`{name}`");
            return Err(Error { at, kind: ErrorKind::Expected { expected: "a predicate", found } });
        }
        Ok(Guard { reg, not })
    }

    /// Parses the modifiers and operands of an instruction, after its mnemonic.
    pub(super) fn instruction(
        &mut self,
        mnemonic: &str,
        at: Loc,
        guard: Option<Guard>,
        names: &mut Names<'a>,
    ) -> Result<Inst, Error> {
        let found = BY_MNEMONIC.binary_search_by_key(&mnemonic, |entry| entry.0).ok();
        let Some((mnemonic, opcodes)) = found.and_then(|i| BY_MNEMONIC.get(i)) else {
            let kind = unsupported::instruction(mnemonic).unwrap_or_else(|| ErrorKind::Mnemonic(mnemonic.to_owned()));
            return Err(Error { at, kind });
        };
        let mut parts = Parts {
            mnemonic,
            at,
            words: ArrayVec::new(),
            word_locs: ArrayVec::new(),
            operands: SmallVec::new(),
            end: at,
            flushes: self.target.sm < FIRST_WITH_SUBNORMALS,
        };
        while let Some((word, at)) = self.word()? {
            if let Some(kind) = unsupported::word(mnemonic, &parts.words, word) {
                return Err(Error { at, kind });
            }
            let word = self.parameter_space(word, at)?;
            let token = Token::from_text(word).filter(|_| !parts.words.is_full());
            let Some(token) = token else {
                let kind = ErrorKind::UnknownWord { mnemonic: (*mnemonic).to_owned(), word: word.to_owned() };
                return Err(Error { at, kind });
            };
            if REPEATED.contains(&token) && parts.words.contains(&token) {
                continue;
            }
            parts.words.push(token);
            parts.word_locs.push(at);
        }
        parts.imply_rounding(self.version);
        if *mnemonic == "call" {
            let operands = self.call_operands(names)?;
            parts.end = self.ahead.at;
            let inst = parts.call(opcodes, guard, operands)?;
            self.expect(';', "`,` or `;`")?;
            return Ok(inst);
        }
        if !self.is_end() {
            loop {
                let at = self.ahead.at;
                let operand = self.operand(names)?;
                parts.operands.push((operand, at));
                if !self.accept(',')? {
                    break;
                }
            }
        }
        parts.end = self.ahead.at;
        if !self.is_end() {
            return Err(self.expected("`,` or `;`"));
        }
        if self.is_in_function {
            parts.read_parameters_by_address();
        }
        let inst = parts.choose(opcodes, guard, names)?;
        self.expect(';', "`;`")?;
        Ok(inst)
    }

    /// Returns `param` for the name `param::entry` or `param::func` of a state space, and any other word unchanged.
    fn parameter_space<'w>(&self, word: &'w str, at: Loc) -> Result<&'w str, Error> {
        let needs = (8, 3);
        match word {
            "param::entry" | "param::func" if self.version < needs => {
                let what = word.to_owned();
                Err(Error { at, kind: ErrorKind::Version { what, needs, version: self.version } })
            }
            "param::entry" | "param::func" => Ok("param"),
            word => Ok(word),
        }
    }

    /// Parses the operands of a call, `(results), f, (arguments), targets`, and returns them in
    /// canonical order: callee, targets, results, arguments.
    fn call_operands(&mut self, names: &mut Names<'a>) -> Result<SmallVec<[Operand; 4]>, Error> {
        let results = if self.ahead.token == Lexeme::Punct('(') {
            let results = self.passed(names, false)?;
            self.expect(',', "`,`")?;
            results
        } else {
            SmallVec::new()
        };
        let at = self.ahead.at;
        let name = self.name("a function, or a register with the address of a function")?;
        let callee = match (names.register(name), self.function_of(name)) {
            (Some(reg), _) => Callee::Register(reg),
            (None, Some(function)) => Callee::Function(function),
            (None, None) => {
                let kind = self.unsupported(name).unwrap_or_else(|| ErrorKind::Name(name.to_owned()));
                return Err(Error { at, kind });
            }
        };
        let mut arguments = SmallVec::new();
        let mut table = None;
        if self.accept(',')? {
            let has_arguments = self.ahead.token == Lexeme::Punct('(');
            if has_arguments {
                arguments = self.passed(names, true)?;
            }
            if !has_arguments || self.accept(',')? {
                table = Some(self.call_table(names)?);
            }
        }
        let is_indirect = matches!(callee, Callee::Register(_));
        if is_indirect && table.is_none() {
            return Err(self.expected("`,` and a target list or prototype"));
        }
        let call = Operand::Call { callee, results: results.len() as u8 };
        let table = table.filter(|_| is_indirect);
        Ok([call].into_iter().chain(table).chain(results).chain(arguments).collect())
    }

    /// Parses the targets of an indirect call: a target list, a prototype, or a variable that holds
    /// the addresses of functions.
    fn call_table(&mut self, names: &mut Names<'a>) -> Result<Operand, Error> {
        let at = self.ahead.at;
        let name = self.name("a target list or a prototype")?;
        if let Some(var) = self.variable(name).filter(|_| !names.has_table(name)) {
            let held = self.variables.get(var.number as usize).map_or(&[][..], |variable| &variable.addresses);
            let functions = held.iter().filter_map(|address| match address.of {
                Symbol::Function(number) => Some(number),
                Symbol::Variable(_) => None,
            });
            names.define_table(name, Targets::Functions(functions.collect()), at)?;
        }
        Ok(Operand::Table(names.table(name, at)))
    }

    /// Parses the arguments or results of a call in parentheses.
    fn passed(&mut self, names: &Names<'a>, may_be_numbers: bool) -> Result<SmallVec<[Operand; 4]>, Error> {
        self.bump()?;
        let mut all = SmallVec::new();
        if self.accept(')')? {
            return Ok(all);
        }
        loop {
            let at = self.ahead.at;
            all.push(match self.ahead.token {
                _ if may_be_numbers && self.is_constant() => {
                    let literal = self.constant()?;
                    let bits = literal.bits(Type::B64).or_else(|_| literal.bits(Type::B32));
                    Operand::Number(bits.map_err(|kind| Error { at, kind })?)
                }
                _ => {
                    let name = self.name("a register or a `.param` variable")?;
                    if name == "_" {
                        return Err(Error {
                            at,
                            kind: ErrorKind::Unsupported("an ignored result of a call".to_owned()),
                        });
                    }
                    match (names.register(name), names.frame_variable(name)) {
                        (Some(reg), _) => Operand::Register(reg),
                        (None, Some(var)) if var.space == Space::Param => Operand::Frame { var, offset: 0 },
                        _ => return Err(Error { at, kind: ErrorKind::Name(name.to_owned()) }),
                    }
                }
            });
            if all.len() > usize::from(u8::MAX) {
                return Err(self.expected("at most 255 values"));
            }
            if !self.accept(',')? {
                self.expect(')', "`,` or `)`")?;
                return Ok(all);
            }
        }
    }

    fn is_end(&self) -> bool {
        self.ahead.token == Lexeme::Punct(';')
    }
}

impl<'a> Parts<'a> {
    /// Returns the instruction for the first opcode whose row matches. If no row matches, returns
    /// the error for the row that matches best.
    fn choose(&self, opcodes: &[Opcode], guard: Option<Guard>, names: &mut Names<'a>) -> Result<Inst, Error> {
        let mut best: Option<Refusal> = None;
        for &opcode in opcodes {
            match self.of_row(opcode, names) {
                Ok(operands) => return Ok(self.inst(opcode, guard, operands)),
                Err(refusal) if best.as_ref().is_none_or(|best| refusal.reach > best.reach) => best = Some(refusal),
                Err(_) => {}
            }
        }
        // `ptxas` also accepts some modifiers in another order than the canonical one.
        for &opcode in opcodes.iter().filter(|opcode| opcode.row().fit(&self.words).is_err()) {
            let Some(words) = opcode.row().canonicalize(&self.words) else { continue };
            let arranged = Parts { words, ..self.clone() };
            match arranged.of_row(opcode, names) {
                Ok(operands) => return Ok(arranged.inst(opcode, guard, operands)),
                Err(refusal) if best.as_ref().is_none_or(|best| refusal.reach > best.reach) => best = Some(refusal),
                Err(_) => {}
            }
        }
        if let Some(located) = self.with_state_space() {
            // Some modifiers are valid with a generic address, but not with an address in the
            // variable's state space.
            return located.choose(opcodes, guard, names).map_err(|error| match error.kind {
                ErrorKind::Word { .. } => {
                    let what = format!("a generic address of a variable in `{}` with these modifiers", self.mnemonic);
                    Error { kind: ErrorKind::Unsupported(what), ..error }
                }
                _ => error,
            });
        }
        let unknown = || Error { at: self.at, kind: ErrorKind::Mnemonic(self.mnemonic.to_owned()) };
        Err(best.map_or_else(unknown, |best| best.error))
    }

    /// Returns a copy of the instruction with the state space of the variable in its address
    /// operand. Returns `None` if the modifiers already name a state space, or if the operand is
    /// not a variable in shared or local memory. A generic access to a variable is equivalent to an
    /// access in the variable's state space.
    fn with_state_space(&self) -> Option<Parts<'a>> {
        let space = self.operands.iter().find_map(|(raw, _)| match raw {
            Raw::Operand(Operand::Memory(Address { base: Base::Variable(var), .. }))
            | Raw::Element(Operand::Variable { var, .. }) => Some(var.space),
            Raw::Operand(Operand::Memory(Address { base: Base::Frame(var), .. }))
            | Raw::Element(Operand::Frame { var, .. }) => Some(var.space),
            _ => None,
        })?;
        let token = match space {
            Space::Shared => Token::Shared,
            Space::Local => Token::Local,
            Space::Global | Space::Const | Space::Param => return None,
        };
        if named_space(&self.words).is_some() || self.words.is_full() {
            return None;
        }
        let mut located = self.clone();
        let place = located.words.iter().position(|word| matches!(word, Token::Type(_)))?;
        located.words.insert(place, token);
        located.word_locs.insert(place, self.at);
        Some(located)
    }

    /// Makes a load of a parameter by an address in a register a load from local memory, where the parameters of
    /// functions are.
    fn read_parameters_by_address(&mut self) {
        let is_by_register = |(raw, _): &(Raw<'_>, Loc)| matches!(raw, Raw::Operand(Operand::Memory(address)) if address.register().is_some());
        if self.mnemonic == "ld" && self.operands.get(1).is_some_and(is_by_register) {
            self.words.iter_mut().filter(|word| **word == Token::Param).for_each(|word| *word = Token::Local);
        }
    }

    /// Adds the rounding `.rn` to a `mad.f32` without a rounding, which PTX before 4.0 allows.
    fn imply_rounding(&mut self, version: (u8, u8)) {
        let is_rounding = |word: &Token| matches!(word, Token::Rn | Token::Rz | Token::Rm | Token::Rp);
        if self.mnemonic == "mad"
            && version < (4, 0)
            && self.words.contains(&Token::Type(Type::F32))
            && !self.words.is_full()
            && !self.words.iter().any(is_rounding)
        {
            self.words.insert(0, Token::Rn);
            self.word_locs.insert(0, self.at);
        }
    }

    /// Creates the instruction. Adds `.ftz` if the target flushes subnormal numbers.
    fn inst(&self, opcode: Opcode, guard: Option<Guard>, operands: SmallVec<[Operand; 4]>) -> Inst {
        let mut modifiers = self.words.clone();
        if self.flushes && modifiers.contains(&Token::Type(Type::F32)) && !modifiers.is_full() {
            modifiers.push(Token::Ftz);
            modifiers = opcode.row().canonicalize(&modifiers).unwrap_or_else(|| self.words.clone());
        }
        Inst { opcode, modifiers, guard, operands }
    }

    /// Returns the call instruction with these operands. The opcode depends on whether the call is indirect.
    fn call(&self, opcodes: &[Opcode], guard: Option<Guard>, operands: SmallVec<[Operand; 4]>) -> Result<Inst, Error> {
        let is_indirect = matches!(operands.get(1), Some(Operand::Table(_)));
        let has_table =
            |opcode: &&Opcode| opcode.row().operands.iter().any(|o| o.shape == OperandKind::Table) == is_indirect;
        let opcode = opcodes.iter().copied().find(|opcode| has_table(&opcode));
        let fits = |opcode: &Opcode| opcode.row().fit(&self.words).is_ok();
        match (opcode.filter(fits), self.words.first(), self.word_locs.first()) {
            (Some(opcode), ..) => Ok(Inst { opcode, modifiers: self.words.clone(), guard, operands }),
            (None, Some(word), Some(&at)) => {
                Err(Error { at, kind: ErrorKind::Word { mnemonic: self.mnemonic, word: word.text() } })
            }
            _ => Err(Error { at: self.at, kind: ErrorKind::Mnemonic(self.mnemonic.to_owned()) }),
        }
    }

    fn of_row(&self, opcode: Opcode, names: &mut Names<'a>) -> Result<SmallVec<[Operand; 4]>, Refusal> {
        let (row, mnemonic) = (opcode.row(), self.mnemonic);
        row.fit(&self.words).map_err(|mismatch| {
            let (at, word) = (self.word_locs.get(mismatch.word), self.words.get(mismatch.word));
            let kind = match (word, mismatch.missing) {
                (Some(word), _) => ErrorKind::Word { mnemonic, word: word.text() },
                (None, slot) => ErrorKind::MissingWord { mnemonic, slot: slot.unwrap_or("") },
            };
            let after = Loc { column: self.at.column + mnemonic.len() as u32, ..self.at };
            let behind = |loc: &Loc, word: &Token| Loc { column: loc.column + 1 + word.text().len() as u32, ..*loc };
            let last = self.word_locs.last().zip(self.words.last()).map_or(after, |(loc, word)| behind(loc, word));
            Refusal { reach: (false, mismatch.word, false), error: Error { at: at.copied().unwrap_or(last), kind } }
        })?;
        let (expected, found) = (row.operands_with(&self.words).count(), self.operands.len());
        if expected != found {
            let at = self.operands.get(expected).map_or(self.end, |operand| operand.1);
            let kind = ErrorKind::Count { mnemonic, expected, found };
            return Err(Refusal { reach: (true, 0, false), error: Error { at, kind } });
        }
        let mut operands = SmallVec::new();
        for (place, ((raw, at), o)) in self.operands.iter().zip(row.operands_with(&self.words)).enumerate() {
            let braces = match raw {
                Raw::Operand(Operand::Vector(_)) | Raw::Mixed(_) => {
                    o.shape.vector(&self.words).is_some()
                        || matches!(o.shape, OperandKind::Vector(..) | OperandKind::Elements(_) | OperandKind::Parts(_))
                }
                Raw::Address(..) | Raw::Element(_) => o.shape == OperandKind::Variable,
                _ => false,
            };
            let refuse = |kind| Refusal { reach: (true, place + 1, braces), error: Error { at: *at, kind } };
            if matches!(raw, Raw::Sum(..) | Raw::SpecialSum(..)) && !row.takes_sum(o) {
                return Err(refuse(self.wrong(o)));
            }
            let operand = self.fit(o, raw, *at, names).map_err(refuse)?;
            // The operand `src-size` of a copy must not exceed `cp-size`, the operand before it.
            if let (OperandKind::SourceSize, Operand::Number(part), Some(Operand::Number(size))) =
                (o.shape, &operand, operands.last())
                && part > size
            {
                return Err(refuse(self.wrong(o)));
            }
            operands.push(operand);
        }
        if !permits_signs(&self.words, &operands) {
            let is_negated = |operand: &Operand| matches!(operand, Operand::Part { negated: true, .. });
            let last = operands.iter().rposition(is_negated).unwrap_or(0);
            let at = self.operands.get(last).map_or(self.at, |(_, at)| *at);
            let name = row.operands.get(last).map_or("", |o| o.name);
            let expected =
                "without a minus sign: either the product or `c` can be negated, and neither of them with `.po`";
            let kind = ErrorKind::Operand { mnemonic, name, expected: expected.to_owned() };
            return Err(Refusal { reach: (true, last + 1, false), error: Error { at, kind } });
        }
        Ok(operands)
    }

    /// Returns a vector operand in which initialised registers replace the immediates. Returns
    /// `None` if the operand does not take this number of elements.
    fn mixed(
        &self,
        all: &[Element<'a>],
        (shape, ty): (OperandKind, Ty),
        names: &mut Names<'a>,
    ) -> Option<Result<Operand, ErrorKind>> {
        let (ty, _) = ty.resolve(&self.words);
        let part = match shape {
            OperandKind::Parts(_) => part_of(ty, all.len())?,
            OperandKind::Elements(_) if elements(&self.words) != all.len() => return None,
            // Registers have at least 16 bits; a store of a narrower type uses the low bits.
            _ => [Type::B16, Type::B16, Type::B32, Type::B64].into_iter().find(|of| of.bits() >= ty.bits())?,
        };
        let taken = if matches!(shape, OperandKind::Parts(_)) { part } else { ty };
        let reg = |element: &Element<'a>| match *element {
            Element::Register(reg) => Ok(reg),
            Element::Number(literal) => names.register_for_immediate(part, literal.bits(taken)?).map(Some),
        };
        Some(all.iter().map(reg).collect::<Result<Vector, ErrorKind>>().map(Operand::Vector))
    }

    /// Returns `true` if the instruction converts between integer types.
    fn converts_integers(&self) -> bool {
        let is_integer = |word: &Token| matches!(word, Token::Type(ty) if ty.kind() == TypeKind::Integer);
        self.mnemonic == "cvt" && self.words.iter().filter(|word| is_integer(word)).count() == 2
    }

    /// Returns `true` if the instruction is a conversion for which `ptxas` accepts some wider registers.
    fn converts_within(&self) -> bool {
        let is_flushed = self.words.contains(&Token::Ftz) && self.words.contains(&Token::Type(Type::F64));
        let is_packed = self.words.iter().any(|word| matches!(word, Token::Pack | Token::Type(Type::F16x2)));
        self.mnemonic == "cvt" && (is_flushed || is_packed)
    }

    /// Returns `true` if the instruction compares or returns bfloat16 values.
    fn has_bf16(&self) -> bool {
        self.words.iter().any(|word| matches!(word, Token::Type(Type::Bf16 | Type::Bf16x2)))
    }

    /// Returns `true` if the instruction may have vector operands.
    fn takes_vectors(&self) -> bool {
        matches!(self.mnemonic, "ld" | "ldu" | "st" | "mov")
    }

    fn wrong(&self, o: &OperandRow) -> ErrorKind {
        let expected = o.shape.describe(o.role, &self.words);
        ErrorKind::Operand { mnemonic: self.mnemonic, name: o.name, expected }
    }

    /// Converts a parsed operand to an operand of the kind that the row describes.
    fn fit(&self, o: &OperandRow, raw: &Raw<'a>, at: Loc, names: &mut Names<'a>) -> Result<Operand, ErrorKind> {
        let wrong = || self.wrong(o);
        let is_of_128_bits = match o.shape {
            OperandKind::Register(ty) | OperandKind::Value(ty) | OperandKind::Elements(ty) => {
                ty.resolve(&self.words).0 == Type::B128
            }
            _ => false,
        };
        let operand = match (raw, o.shape) {
            (Raw::Number(_) | Raw::Address(..), _) if is_of_128_bits && o.role == OperandRole::Use => {
                return Err(ErrorKind::Unsupported("a 128-bit immediate or address".to_owned()));
            }
            (
                Raw::Operand(Operand::Vector(regs)),
                OperandKind::Value(_) | OperandKind::Register(_) | OperandKind::Elements(_),
            ) if self.takes_vectors() && (regs.len() == 1 || elements(&self.words) == 1) => {
                // `ptxas` accepts a vector of one register in place of the register.
                let mut regs = regs.iter();
                match (regs.next(), regs.next()) {
                    (Some(Some(reg)), None) => Operand::Register(reg),
                    _ => return Err(wrong()),
                }
            }
            // `ptxas` accepts immediates in a fragment only for C, and for A of `wgmma`.
            (Raw::Mixed(all), OperandKind::Fragment(part))
                if part == MatrixOperand::C || part == MatrixOperand::A && self.mnemonic == "wgmma" =>
            {
                let (ty, _) = o.shape.vector(&self.words).ok_or_else(wrong)?;
                self.mixed(all, (o.shape, Ty::Is(ty)), names).ok_or_else(wrong)??
            }
            (Raw::Mixed(all), OperandKind::Matrices) if o.role == OperandRole::Use => {
                let (ty, _) = o.shape.vector(&self.words).ok_or_else(wrong)?;
                self.mixed(all, (o.shape, Ty::Is(ty)), names).ok_or_else(wrong)??
            }
            (Raw::Mixed(all), OperandKind::Parts(ty) | OperandKind::Elements(ty) | OperandKind::Vector(ty, _))
                if o.role == OperandRole::Use =>
            {
                self.mixed(all, (o.shape, ty), names).ok_or_else(wrong)??
            }
            // Besides `mov`, a `cvt` between integer types may read special registers.
            (&Raw::Operand(Operand::Special(special)), OperandKind::Value(_))
                if self.converts_integers() && special.depends_on_position() =>
            {
                Operand::Register(names.holding_special(special)?)
            }
            (&Raw::Operand(Operand::Not(reg)), OperandKind::Value(ty) | OperandKind::Register(ty))
                if o.role == OperandRole::Use && ty.resolve(&self.words).0 == Type::Pred =>
            {
                Operand::Register(names.negation(reg)?)
            }
            (&Raw::SpecialSum(special, number), kind)
                if special.depends_on_position() && kind.value_type(&self.words).is_none_or(|ty| ty.bits() == 32) =>
            {
                let reg = names.holding_special(special)?;
                Operand::Register(names.sum(reg, number)?)
            }
            (Raw::SpecialSum(..), _) => {
                return Err(ErrorKind::Unsupported("this sum of a special register and a number".to_owned()));
            }
            (&Raw::Sum(reg, number), _) => Operand::Register(names.sum(reg, number)?),
            (Raw::Operand(Operand::Vector(regs)), OperandKind::Elements(ty) | OperandKind::Parts(ty))
                if o.role == OperandRole::Use
                    && ty.resolve(&self.words).0 != Type::B128
                    && regs.iter().any(|reg| reg.is_none()) =>
            {
                return Err(ErrorKind::Unsupported("`_` in a vector that is read".to_owned()));
            }
            (Raw::Number(_), OperandKind::Elements(_)) if self.mnemonic == "mov" => {
                return Err(ErrorKind::Unsupported("a number in place of a vector".to_owned()));
            }
            (Raw::Operand(operand), _) => operand.clone(),
            (
                Raw::Number(literal),
                OperandKind::Value(ty) | OperandKind::Elements(ty) | OperandKind::Part { ty, .. },
            ) => Operand::Number(literal.bits(ty.of_immediate(&self.words))?),
            (Raw::Number(literal), OperandKind::Byte) if self.mnemonic == "lop3" => {
                Operand::Number(literal.bits(Type::B8)?)
            }
            (Raw::Number(literal), OperandKind::BitPosition) => Operand::Number(literal.unsigned_within(Type::U8)?),
            (Raw::Number(literal), OperandKind::Fraction) => Operand::Number(literal.bits(Type::F32)?),
            (Raw::Number(literal), OperandKind::BarrierId | OperandKind::ThreadCount { .. }) => {
                let bits = literal.bits(Type::U32)?;
                if !o.shape.is_allowed_in_text(bits) {
                    return Err(wrong());
                }
                Operand::Number(bits)
            }
            (
                Raw::Number(literal),
                OperandKind::Byte
                | OperandKind::Event
                | OperandKind::CopySize
                | OperandKind::SourceSize
                | OperandKind::LineSize
                | OperandKind::Flag,
            ) => Operand::Number(literal.within(Type::U8)?),
            (Raw::Number(literal), OperandKind::EventMask) => Operand::Number(literal.within(Type::U16)?),
            (Raw::Number(literal), OperandKind::Sign) => Operand::Number(literal.within(Type::S8)?),
            (Raw::Number(literal), OperandKind::Count | OperandKind::Alignment) => {
                Operand::Number(literal.within(Type::U32)?)
            }
            // A `_` as the result of `atom` discards the old value of the memory.
            (Raw::Name("_"), OperandKind::Register(ty)) if self.mnemonic == "atom" && o.role == OperandRole::Def => {
                Operand::Register(names.discard_register(ty.resolve(&self.words).0.bits())?)
            }
            (&Raw::Name(name), OperandKind::Label) if name != "_" => Operand::Label(names.label(name, at)),
            (&Raw::Name(name), OperandKind::Table) if name != "_" => Operand::Table(names.table(name, at)),
            (Raw::Address(name, operand), OperandKind::Label) if !has_offset(operand) => {
                Operand::Label(names.label(name, at))
            }
            (Raw::Element(operand), OperandKind::Memory | OperandKind::MemoryIn(_) | OperandKind::CallMemory)
                if !matches!(self.mnemonic, "atom" | "red" | "cp") =>
            {
                Operand::Memory(memory_at(operand).ok_or_else(wrong)?)
            }
            (Raw::Address(_, operand) | Raw::Element(operand), _) => operand.clone(),
            (&Raw::Dotted { reg, suffix, negated }, OperandKind::Part { .. }) => {
                Operand::Part { reg, part: Part::from_word(suffix).ok_or_else(wrong)?, negated }
            }
            (&Raw::Dotted { reg, suffix, negated: false }, OperandKind::Masked(lanes)) => {
                let mask = mask(suffix, lanes).ok_or_else(wrong)?;
                if mask == lanes.all() { Operand::Register(reg) } else { Operand::Lanes { reg, digits: mask } }
            }
            (&Raw::Dotted { reg, suffix, negated: false }, OperandKind::Selected(lanes, default)) => {
                let selector = selector(suffix, lanes).ok_or_else(wrong)?;
                if selector == default { Operand::Register(reg) } else { Operand::Lanes { reg, digits: selector } }
            }
            (&Raw::Name(name), OperandKind::Elements(ty))
                if self.mnemonic == "mov" && elements(&self.words) == 4 && Special::axes(name).is_some() =>
            {
                if ty.resolve(&self.words).0.bits() != 32 {
                    return Err(ErrorKind::Unsupported(format!("`{name}` as a vector of elements without 32 bits")));
                }
                let [x, y, z] = Special::axes(name).ok_or_else(|| unknown_name(name))?;
                let [x, y, z] = [names.holding_special(x)?, names.holding_special(y)?, names.holding_special(z)?];
                let w = names.register_for_immediate(Type::U32, 0)?;
                Operand::Vector([x, y, z, w].map(Some).into_iter().collect())
            }
            (&Raw::Name(name), _) if name != "_" => return Err(unknown_name(name)),
            (Raw::Number(number), OperandKind::Register(ty))
                if o.role == OperandRole::Use && ty.resolve(&self.words).0 == Type::Pred && self.mnemonic != "cp" =>
            {
                truth(number, names)?
            }
            (Raw::Number(number), OperandKind::Condition) if !self.has_bf16() || self.mnemonic == "wgmma" => {
                truth(number, names)?
            }
            _ => return Err(wrong()),
        };
        let is_of_wide_elements = |regs: &Vector| {
            !is_of_128_bits && regs.iter().flatten().any(|reg| names.registers.ty(reg) == Some(Type::B128))
        };
        let operand = match operand {
            Operand::Vector(regs) if self.mnemonic != "mov" && is_of_wide_elements(&regs) => {
                return Err(ErrorKind::Unsupported("128-bit registers for narrower elements".to_owned()));
            }
            Operand::Register(reg) if names.registers.ty(reg) == Some(Type::B128) => match o.shape {
                _ if is_of_128_bits => Operand::Vector(Vector::of_pair(reg)),
                _ if self.converts_within() => {
                    return Err(ErrorKind::Unsupported("a 128-bit register for an operand of `cvt`".to_owned()));
                }
                OperandKind::Elements(_) | OperandKind::Register(Ty::Within(_)) | OperandKind::Value(Ty::Within(_)) => {
                    return Err(ErrorKind::Unsupported("a 128-bit register for a narrower operand".to_owned()));
                }
                _ => return Err(wrong()),
            },
            operand => operand,
        };
        let types = |reg| names.registers.ty(reg);
        if o.shape.admits(o.role, &self.words, &operand, &types) {
            return Ok(operand);
        }
        // The operand does not match the row. If `ptxas` accepts the operand, the error names the
        // unsupported feature.
        let is_wider = |reg: Reg, ty: Ty| types(reg).is_some_and(|found| ty.resolve(&self.words).0.fits_in(found));
        Err(match (operand, o.shape) {
            (Operand::Register(reg), OperandKind::Register(ty) | OperandKind::Value(ty))
                if self.converts_within() && is_wider(reg, ty) =>
            {
                ErrorKind::Unsupported("a wider register for an operand of `cvt`".to_owned())
            }
            (Operand::Special(special), OperandKind::Value(_)) if self.converts_integers() => {
                ErrorKind::Unsupported(format!("`{special}` as an operand of `{}`", self.mnemonic))
            }
            (Operand::Special(special), _) if o.role == OperandRole::Use => {
                ErrorKind::SpecialOperand { special, mnemonic: self.mnemonic.to_owned() }
            }
            _ => wrong(),
        })
    }
}

/// Converts the address of a variable to a memory operand with this address. Returns `None` for any
/// other operand.
fn memory_at(operand: &Operand) -> Option<Address> {
    Some(match *operand {
        Operand::Variable { var, offset } => Address { base: Base::Variable(var), offset },
        Operand::Frame { var, offset } => Address { base: Base::Frame(var), offset },
        _ => return None,
    })
}

/// Returns the error for a name that is not defined.
fn unknown_name(name: &str) -> ErrorKind {
    unsupported::name(name).unwrap_or_else(|| ErrorKind::Name(name.to_owned()))
}

fn has_offset(operand: &Operand) -> bool {
    use Operand::{Frame, Parameter, Variable};
    matches!(operand, Variable { offset, .. } | Frame { offset, .. } | Parameter { offset, .. } if *offset != 0)
}

/// Parses a lane mask such as `b320`, with the lanes in descending order.
fn mask(text: &str, lanes: Lanes) -> Option<u16> {
    let digits = text.strip_prefix(lanes.letter())?;
    let mut mask = 0;
    let mut above = lanes.count();
    for digit in digits.chars() {
        let lane = digit.to_digit(10).filter(|&lane| lane < above)?;
        mask |= 1 << lane;
        above = lane;
    }
    (mask != 0).then_some(mask)
}

/// Parses a selector such as `b3210`, which lists the source elements from the highest lane down to lane 0.
fn selector(text: &str, lanes: Lanes) -> Option<u16> {
    let digits = text.strip_prefix(lanes.letter())?;
    if digits.len() != lanes.count() as usize {
        return None;
    }
    digits.chars().try_fold(0, |selector, digit| {
        let element = digit.to_digit(2 * lanes.count())?;
        Some(selector << lanes.index_bits() | element as u16)
    })
}

/// Returns a predicate register that is initialised with the truth value of an immediate.
fn truth(number: &Literal<'_>, names: &mut Names<'_>) -> Result<Operand, ErrorKind> {
    names.register_for_immediate(Type::Pred, number.bits(Type::Pred)?).map(Operand::Register)
}
