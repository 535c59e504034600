//! Parser of module variables and shared variables.

use super::error::{Error, ErrorKind};
use super::instruction::WARP_SIZE;
use super::lexer::Token;
use super::names::Names;
use super::reader::Reader;
use super::unsupported;
use crate::object::Loc;
use crate::ptx::module::{AddressInitializer, Linkage, MAX_ALIGN, Symbol, Variable};
use crate::ptx::operand::Var;
use crate::ptx::types::{Space, Type, TypeKind};

/// The initial contents of a variable.
#[derive(Default)]
struct Contents {
    /// The bytes that have been read so far.
    bytes: Vec<u8>,
    /// The addresses in the bytes.
    addresses: Vec<AddressInitializer>,
}

impl<'a> Reader<'a> {
    /// Returns the module variable with this name, if it is declared.
    pub(super) fn variable(&self, name: &str) -> Option<Var> {
        self.vars.get(name)
    }

    /// Parses module variables, or variables of a body if `names` is given:
    /// `.const .align 4 .b8 table[256] = {1, 2};`, `.global .f32 a = 0f3f800000, b;`.
    pub(super) fn variables(
        &mut self,
        linkage: Linkage,
        space: Space,
        mut names: Option<&mut Names<'a>>,
    ) -> Result<(), Error> {
        self.bump()?;
        let (mut ty, mut align, mut lanes) = (None, None, None);
        while let Token::Dotted(word) = self.ahead.token {
            match word {
                "align" if align.is_none() => {
                    self.bump()?;
                    align = Some(self.power_of_two(MAX_ALIGN)?);
                }
                "v2" | "v4" if lanes.is_none() => lanes = Some(self.lanes()?),
                "attribute" if space == Space::Global => self.attribute()?,
                "texref" | "samplerref" | "surfref" => return Err(self.error(unsupported::directive(word))),
                _ if ty.is_some() => break,
                _ => {
                    let at = self.ahead.at;
                    let of = self.ty()?;
                    if matches!(of.kind(), TypeKind::Predicate | TypeKind::Packed) {
                        return Err(Error { at, kind: ErrorKind::Type(of) });
                    }
                    if !Variable::admits(of) {
                        return Err(Error { at, kind: ErrorKind::Unsupported(format!("a variable of type {of}")) });
                    }
                    ty = Some(of);
                }
            }
        }
        let Some(ty) = ty else { return Err(self.expected("a type")) };
        let align = align.or(lanes.map(|lanes| lanes * ty.bits() / 8));
        loop {
            let at = self.ahead.at;
            let name = self.name("the name of a variable")?;
            self.refuse_range("variables")?;
            let (count, Contents { bytes, addresses }) = match self.contents(space, (ty, lanes), at) {
                Ok(contents) => contents,
                Err(error) => {
                    self.note(name, error.kind.clone());
                    return Err(error);
                }
            };
            let var = Var { number: self.variables.len() as u32, space };
            if let Some(names) = &mut names {
                names.take(name, at)?;
                let before = self.vars.insert(name, var);
                self.of_body.push((name, before));
            } else {
                if self.is_defined(name) {
                    self.keep(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) })?;
                }
                self.vars.insert(name, var);
            }
            let name = name.to_owned();
            self.variables.push(Variable { name, space, linkage, ty, count, align, bytes: bytes.into(), addresses });
            if !self.accept(',')? {
                return self.expect(';', "`,` or `;`");
            }
        }
    }

    /// Parses shared variables of the module, or of a body if `names` is given: `.shared .align 16
    /// .b8 a[64], b;`. After `.extern`, parses variables such as `.shared .align 16 .b8 rest[];`,
    /// whose size the launch determines. All variables without a fixed size start at the same
    /// address, after the variables of fixed size.
    pub(super) fn shared_variables(&mut self, is_extern: bool, mut names: Option<&mut Names<'a>>) -> Result<(), Error> {
        self.bump()?;
        let (mut ty, mut align, mut lanes) = (None, None, None);
        while let Token::Dotted(word) = self.ahead.token {
            match word {
                "align" if align.is_none() => {
                    self.bump()?;
                    align = Some(self.power_of_two(MAX_ALIGN)?);
                }
                "v2" | "v4" if lanes.is_none() => lanes = Some(self.lanes()?),
                _ if ty.is_some() => break,
                _ => ty = Some(self.ty()?),
            }
        }
        let Some(ty) = ty.filter(|ty| ty.bits() >= 8) else { return Err(self.expected("a type")) };
        let align = align.or(lanes.map(|lanes| lanes * ty.bits() / 8));
        loop {
            let at = self.ahead.at;
            let name = self.name("the name of a variable")?;
            self.refuse_range("variables")?;
            let size = ty.bits() / 8;
            let mut count = lanes;
            let mut is_open = false;
            while self.accept('[')? {
                if self.ahead.token == Token::Punct(']') {
                    is_open = true;
                } else {
                    let more = self.number()?;
                    count = Some(count.unwrap_or(1u32).saturating_mul(more));
                }
                self.expect(']', "`]`")?;
            }
            if is_open != is_extern {
                let missing = if is_extern { "`[]`" } else { "the number of elements" };
                return Err(Error { at, kind: ErrorKind::Expected { expected: missing, found: format!("`{name}`") } });
            }
            let bytes = if is_extern { 0 } else { count.unwrap_or(1).saturating_mul(size) };
            if bytes > Space::Shared.most_bytes() {
                return Err(Error { at, kind: ErrorKind::Variables(Space::Shared) });
            }
            let space = Space::Shared;
            let var = Var { number: self.variables.len() as u32, space };
            if let Some(names) = &mut names {
                names.take(name, at)?;
                let before = self.vars.insert(name, var);
                self.of_body.push((name, before));
            } else if !self.is_defined(name) {
                self.vars.insert(name, var);
            } else if is_extern && let Some(same) = self.shared_of(name, ty) {
                same.align = same.align.max(align);
                if !self.accept(',')? {
                    return self.expect(';', "`,` or `;`");
                }
                continue;
            } else {
                self.keep(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) })?;
            }
            let linkage = if is_extern { Linkage::Extern } else { Linkage::Plain };
            let count = if is_extern { None } else { count };
            let bytes = vec![0; bytes as usize].into();
            let (name, addresses) = (name.to_owned(), Vec::new());
            self.variables.push(Variable { name, space, linkage, ty, count, align, bytes, addresses });
            if !self.accept(',')? {
                return self.expect(';', "`,` or `;`");
            }
        }
    }

    /// Returns the shared variable with this name and type, or `None` if there is no such variable.
    fn shared_of(&mut self, name: &str, ty: Type) -> Option<&mut Variable> {
        let variable = self.variables.get_mut(self.vars.get(name)?.number as usize)?;
        ((variable.space, variable.ty) == (Space::Shared, ty)).then_some(variable)
    }

    /// Removes the names of shared variables that the current body has declared. The first `but` names stay declared.
    pub(super) fn forget_variables(&mut self, but: usize) {
        for (name, before) in self.of_body.drain(but.min(self.of_body.len())..).rev() {
            match before {
                Some(var) => drop(self.vars.insert(name, var)),
                None => self.vars.remove(name),
            }
        }
    }

    /// Parses the attributes `.attribute(.managed)` or `.attribute(.unified(1, 2))`. The attributes
    /// change nothing, because the engines have only one memory.
    pub(super) fn attribute(&mut self) -> Result<(), Error> {
        let (needs, version) = ((4, 0), self.version);
        if version < needs {
            return Err(self.error(ErrorKind::Version { what: "attribute".to_owned(), needs, version }));
        }
        self.bump()?;
        self.expect('(', "`(`")?;
        loop {
            match self.ahead.token {
                Token::Dotted("managed") => self.bump()?,
                Token::Dotted("unified") => {
                    self.bump()?;
                    self.expect('(', "`(`")?;
                    self.number()?;
                    self.expect(',', "`,`")?;
                    self.number()?;
                    self.expect(')', "`)`")?;
                }
                _ => return Err(self.expected("`.managed` or `.unified`")),
            }
            if !self.accept(',')? {
                return self.expect(')', "`,` or `)`");
            }
        }
    }

    /// Parses the dimensions and the initialiser of a variable, and returns its number of elements.
    /// `lanes` is the number of elements of a vector, and `at` the location of the variable's name.
    fn contents(
        &mut self,
        space: Space,
        (ty, lanes): (Type, Option<u32>),
        at: Loc,
    ) -> Result<(Option<u32>, Contents), Error> {
        let size = ty.bits() / 8;
        let taken = self.taken.get(&space).copied().unwrap_or(0);
        let most = space.most_bytes().saturating_sub(taken) / size;
        let too_large = Error { at, kind: ErrorKind::Variables(space) };
        // The number of elements of each dimension, outermost first; `None` for `[]`.
        let (mut dimensions, mut open) = (Vec::new(), None);
        while self.accept('[')? {
            if self.ahead.token == Token::Punct(']') && dimensions.is_empty() {
                open = Some(self.expected("the number of elements"));
                dimensions.push(None);
            } else {
                dimensions.push(Some(self.count()?));
            }
            self.expect(']', "`]`")?;
        }
        dimensions.extend(lanes.map(Some));
        let product = |of: &[Option<u32>]| of.iter().map(|n| n.unwrap_or(1)).fold(1u32, u32::saturating_mul);
        if product(&dimensions) > most {
            return Err(too_large);
        }
        let mut contents = Contents::default();
        let is_array = !dimensions.is_empty();
        if self.accept('=')? {
            self.initializer(ty, &dimensions, most, &mut contents)?;
        }
        if let (Some(unknown), [first, inner @ ..]) = (open, dimensions.as_mut_slice()) {
            let count = (contents.bytes.len() as u32 / size).div_ceil(product(inner));
            *first = Some(count).filter(|&count| count != 0);
            first.ok_or(unknown)?;
        }
        let count = product(&dimensions);
        if count > most {
            return Err(too_large);
        }
        contents.bytes.resize((count * size) as usize, 0);
        self.taken.insert(space, taken + count * size);
        Ok((is_array.then_some(count), contents))
    }

    /// Parses the initial value of a variable, or of the part of an array with these dimensions:
    /// `1`, `{1, 2}`, `{{1, 2}, {3, 4}}`. Elements without a value are zero.
    fn initializer(
        &mut self,
        ty: Type,
        dimensions: &[Option<u32>],
        most: u32,
        contents: &mut Contents,
    ) -> Result<(), Error> {
        let [count, inner @ ..] = dimensions else { return self.element_of(ty, contents) };
        let start = contents.bytes.len();
        self.expect('{', "`{`")?;
        if self.accept('}')? {
            return Ok(());
        }
        let part = inner.iter().map(|n| n.unwrap_or(1)).fold(ty.bits() / 8, u32::saturating_mul) as usize;
        let limit = count.unwrap_or(most);
        let mut values = 0;
        loop {
            if values == limit {
                return Err(self.error(ErrorKind::Values(limit)));
            }
            self.initializer(ty, inner, most, contents)?;
            values += 1;
            contents.bytes.resize(start + values as usize * part, 0);
            if !self.accept(',')? {
                return self.expect('}', "`,` or `}`");
            }
        }
    }

    /// Parses an address in an initialiser: `tab+8`, `generic(tab)`, `f`.
    fn address_in(&mut self, at: u32) -> Result<AddressInitializer, Error> {
        let is_generic = self.ahead.token == Token::Name("generic");
        if is_generic {
            self.bump()?;
            self.expect('(', "`(`")?;
        }
        let kind = |name: &str| ErrorKind::Name(name.to_owned());
        let place = self.ahead.at;
        let name = self.name("a variable or a function")?;
        let of = match (self.variable(name), self.function_of(name)) {
            (Some(var), _) => Symbol::Variable(var),
            (None, Some(number)) => Symbol::Function(number),
            (None, None) => {
                let kind = self.unsupported(name).unwrap_or_else(|| kind(name));
                return Err(Error { at: place, kind });
            }
        };
        if is_generic {
            self.expect(')', "`)`")?;
        }
        Ok(AddressInitializer { at, of, offset: self.offset()?.into(), is_generic })
    }

    /// Parses one value of the initialiser of a variable.
    fn element_of(&mut self, ty: Type, contents: &mut Contents) -> Result<(), Error> {
        if let Token::Name(name) = self.ahead.token
            && name != WARP_SIZE
        {
            if ty.bits() != 64 {
                return Err(self.error(ErrorKind::Unsupported(format!("a {}-bit address (`{name}`)", ty.bits()))));
            }
            contents.addresses.push(self.address_in(contents.bytes.len() as u32)?);
            contents.bytes.extend([0; 8]);
            return Ok(());
        }
        let at = self.ahead.at;
        let value = self.constant()?;
        if self.ahead.token == Token::Punct('(') {
            return Err(Error { at, kind: ErrorKind::Unsupported("a byte of an address".to_owned()) });
        }
        let bits = value.bits(ty).map_err(|kind| Error { at, kind })?;
        contents.bytes.extend(bits.to_le_bytes().iter().take((ty.bits() / 8) as usize));
        Ok(())
    }
}
