//! Parser of module variables and shared variables.

use super::ParsedFile;
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

/// The array size of a variable, its initial bytes, and the addresses in these bytes.
type Contents = (Option<u32>, Vec<u8>, Vec<AddressInitializer>);

impl<'a> Reader<'a> {
    /// Returns the module variable with this name, if it is declared.
    pub(super) fn variable(&self, name: &str) -> Option<Var> {
        self.vars.get(name).copied()
    }

    /// Parses module variables: `.const .align 4 .b8 table[256] = {1, 2};`, `.global .f32 a = 0f3f800000, b;`.
    pub(super) fn variables(&mut self, linkage: Linkage, space: Space, text: &ParsedFile) -> Result<(), Error> {
        self.bump()?;
        let (mut ty, mut align) = (None, None);
        while let Token::Dotted(word) = self.ahead.token {
            match word {
                "align" if align.is_none() => {
                    self.bump()?;
                    align = Some(self.power_of_two(MAX_ALIGN)?);
                }
                "v2" | "v4" => return Err(self.error(ErrorKind::Unsupported("a vector variable".to_owned()))),
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
        loop {
            let at = self.ahead.at;
            let name = self.name("the name of a variable")?;
            let (count, bytes, addresses) = match self.contents(space, ty, at) {
                Ok(contents) => contents,
                Err(error) => {
                    self.note(name, error.kind.clone());
                    return Err(error);
                }
            };
            if self.is_defined(name) || text.module.entries.iter().any(|entry| entry.name == name) {
                self.keep(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) })?;
            }
            self.vars.insert(name, Var { number: self.variables.len() as u32, space });
            let name = name.to_owned();
            self.variables.push(Variable { name, space, linkage, ty, count, align, bytes: bytes.into(), addresses });
            if !self.accept(',')? {
                return self.expect(';', "`,` or `;`");
            }
        }
    }

    /// Parses shared variables of the module, or of a body if `names` is given: `.shared .align 16 .b8 a[64], b;`.
    /// After `.extern`, parses `.shared .align 16 .b8 rest[];`, whose size the launch determines. All variables of such
    /// a size start at the same address, after those of fixed size.
    pub(super) fn shared_variables(&mut self, is_extern: bool, mut names: Option<&mut Names<'a>>) -> Result<(), Error> {
        self.bump()?;
        let (mut ty, mut align) = (None, None);
        while let Token::Dotted(word) = self.ahead.token {
            match word {
                "align" if align.is_none() => {
                    self.bump()?;
                    align = Some(self.power_of_two(MAX_ALIGN)?);
                }
                _ if ty.is_some() => break,
                _ => ty = Some(self.ty()?),
            }
        }
        let Some(ty) = ty.filter(|ty| ty.bits() >= 8) else { return Err(self.expected("a type")) };
        loop {
            let at = self.ahead.at;
            let name = self.name("the name of a variable")?;
            let size = ty.bits() / 8;
            let mut count = None;
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

    /// Returns the shared variable with this name and type.
    fn shared_of(&mut self, name: &str, ty: Type) -> Option<&mut Variable> {
        let variable = self.variables.get_mut(self.vars.get(name)?.number as usize)?;
        ((variable.space, variable.ty) == (Space::Shared, ty)).then_some(variable)
    }

    /// Removes the names of shared variables that the current body has declared. The first `but` names stay declared.
    pub(super) fn forget_variables(&mut self, but: usize) {
        for (name, before) in self.of_body.drain(but.min(self.of_body.len())..).rev() {
            match before {
                Some(var) => self.vars.insert(name, var),
                None => self.vars.remove(name),
            };
        }
    }

    /// Parses the array size and the initialiser of a variable. `at` is the location of the variable's name.
    fn contents(&mut self, space: Space, ty: Type, at: Loc) -> Result<Contents, Error> {
        let size = ty.bits() / 8;
        let taken = self.taken.get(&space).copied().unwrap_or(0);
        let most = space.most_bytes().saturating_sub(taken) / size;
        let too_large = Error { at, kind: ErrorKind::Variables(space) };
        let (mut count, mut open) = (None, None);
        if self.accept('[')? {
            if self.ahead.token == Token::Punct(']') {
                open = Some(self.expected("the number of elements"));
            } else {
                let zero = ErrorKind::Range { number: "0".to_owned(), ty: "a valid number of elements".to_owned() };
                let zero = self.error(zero);
                count = Some(self.number()?);
                if count == Some(0) {
                    return Err(zero);
                }
            }
            self.expect(']', "`]`")?;
            if self.ahead.token == Token::Punct('[') {
                return Err(self.error(ErrorKind::Unsupported("an array of arrays".to_owned())));
            }
        }
        if count.unwrap_or(1) > most {
            return Err(too_large);
        }
        let (mut bytes, mut addresses) = (Vec::new(), Vec::new());
        let is_array = count.is_some() || open.is_some();
        if self.accept('=')? {
            if !is_array {
                self.element_of(ty, &mut bytes, &mut addresses)?;
            } else if self.expect('{', "`{`").map(|()| self.accept('}'))?? {
                // The empty initialiser `{}` sets all elements to zero.
            } else {
                let mut values = 0;
                loop {
                    match count {
                        Some(count) if values == count => return Err(self.error(ErrorKind::Values(count))),
                        None if values == most => return Err(too_large),
                        _ => self.element_of(ty, &mut bytes, &mut addresses)?,
                    }
                    values += 1;
                    if !self.accept(',')? {
                        break;
                    }
                }
                self.expect('}', "`,` or `}`")?;
            }
        }
        if let Some(unknown) = open {
            count = Some(bytes.len() as u32 / size).filter(|&count| count != 0);
            count.ok_or(unknown)?;
        }
        let all = count.unwrap_or(1) * size;
        bytes.resize(all as usize, 0);
        self.taken.insert(space, taken + all);
        Ok((count, bytes, addresses))
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
    fn element_of(
        &mut self,
        ty: Type,
        bytes: &mut Vec<u8>,
        addresses: &mut Vec<AddressInitializer>,
    ) -> Result<(), Error> {
        if let Token::Name(name) = self.ahead.token
            && name != WARP_SIZE
        {
            if ty.bits() != 64 {
                return Err(self.error(ErrorKind::Unsupported(format!("a {}-bit address (`{name}`)", ty.bits()))));
            }
            addresses.push(self.address_in(bytes.len() as u32)?);
            bytes.extend([0; 8]);
            return Ok(());
        }
        let at = self.ahead.at;
        let bits = self.constant()?.bits(ty).map_err(|kind| Error { at, kind })?;
        bytes.extend(bits.to_le_bytes().iter().take((ty.bits() / 8) as usize));
        Ok(())
    }
}
