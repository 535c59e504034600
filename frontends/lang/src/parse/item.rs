//! Parsing of items: kernels, functions, constants, structures, and includes.

use halfbyte_abi::Direction;
use halfbyte_ir::text::VERSION;

use super::{Parser, Parsing};
use crate::ast::{Constant, Field, Function, Include, Kernel, Param, ParamTy, Struct};
use crate::lexer::Tok;

/// Keywords that begin an item.
const ITEMS: [&str; 5] = ["kernel", "fn", "const", "struct", "include"];

impl Parser<'_> {
    /// Parses the items of the file.
    pub(crate) fn file(mut self) {
        self.version();
        loop {
            if let Some(token) = self.tokens.get_mut(self.at) {
                token.fresh = false;
            }
            if self.token().tok == Tok::End {
                return;
            }
            let start = self.at;
            if self.item().is_err() {
                self.ast.lost = true;
                self.skip_item(start);
            }
        }
    }

    /// Parses the line that states the version of the language, if there is one.
    fn version(&mut self) {
        if !self.at_any("halfbyte") || self.ahead(1).tok != Tok::Number {
            return;
        }
        self.bump();
        let text = self.text_of(self.token());
        let span = self.bump();
        if text.parse() != Ok(VERSION) {
            self.error(span, format!("version {text} of the language"), format!("version {VERSION}"));
            self.at = self.tokens.len().saturating_sub(1);
        }
    }

    /// Skips to the next line that begins an item, but at least one token.
    fn skip_item(&mut self, start: usize) {
        self.free = false;
        if self.at == start {
            self.bump();
        }
        loop {
            let token = self.token();
            let line_start = token.span.start == 0
                || self.source.as_bytes().get(token.span.start as usize - 1).is_some_and(|&byte| byte == b'\n');
            let begins = token.fresh && line_start && ITEMS.iter().any(|word| self.is_word(token, word));
            if token.tok == Tok::End || begins {
                return;
            }
            self.bump();
        }
    }

    fn item(&mut self) -> Parsing<()> {
        let token = self.token();
        let text = if token.tok == Tok::Word { self.text_of(token) } else { "" };
        match text {
            "kernel" if self.ahead(1).tok == Tok::Punct("@") => self.plain(),
            "kernel" => self.kernel(),
            "fn" => self.function(),
            "struct" => self.structure(),
            "const" => {
                self.bump();
                let constant = self.constant()?;
                self.end()?;
                self.ast.constants.push(constant);
                Ok(())
            }
            "include" => {
                let start = self.bump();
                if self.tok() != Tok::Text {
                    let failed = self.unexpected("a file in quotes");
                    self.help("as in `include \"std/pixel\"`");
                    return Err(failed);
                }
                let text = self.text_of(self.token());
                self.bump();
                let path = self.unquoted(text);
                let span = self.since(start);
                self.end()?;
                self.ast.includes.push(Include { path, span });
                Ok(())
            }
            _ => Err(self.unexpected("`kernel`, `fn`, `const`, `struct` or `include`")),
        }
    }

    /// Skips a kernel in plain IR, which the parser of the IR parses later.
    fn plain(&mut self) -> Parsing<()> {
        let start = self.bump();
        let mut braces = 0u32;
        loop {
            let token = self.token();
            match token.tok {
                Tok::End => break,
                Tok::Punct("{") => braces += 1,
                Tok::Punct("}") => {
                    self.bump();
                    braces = braces.saturating_sub(1);
                    if braces == 0 {
                        break;
                    }
                    continue;
                }
                Tok::Word if token.fresh && ITEMS.iter().any(|word| self.is_word(token, word)) => break,
                _ => {}
            }
            self.bump();
        }
        let span = self.since(start);
        self.ast.plain.push(span);
        Ok(())
    }

    fn kernel(&mut self) -> Parsing<()> {
        self.bump();
        let name = self.name("the kernel's name: `name` in the language, `@name` in plain IR")?;
        if self.at_mark("<") {
            let failed = self.unexpected("`(`");
            self.help("only functions can be generic: give the parameters of a kernel concrete types");
            return Err(failed);
        }
        let params = self.params()?;
        if self.at_mark("->") {
            let failed = self.unexpected("`{`");
            self.help("a kernel has no results: store them in an `out` buffer");
            return Err(failed);
        }
        let body = self.block()?;
        self.ast.kernels.push(Kernel { name, params, body });
        Ok(())
    }

    fn params(&mut self) -> Parsing<Vec<Param>> {
        self.bracketed("(", ")", |parser| parser.items(")", Self::param))
    }

    /// Parses a parameter: `a: i32`, `x: inout may_alias f16x2 align 4`, `k: const`.
    fn param(&mut self) -> Parsing<Param> {
        let start = self.here();
        let name = self.name("a parameter").inspect_err(|_| {
            if let Some(last) = self.errors.last_mut().filter(|last| last.help.is_none()) {
                last.help = Some(
                    "declare a parameter as `a: i32`, or a buffer as `x: in f16x2`, with `in`, `out` or `inout`".into(),
                );
            }
        })?;
        if !self.at_mark(":") {
            let failed = self.unexpected("`:` and its type");
            self.help("declare a parameter as `a: i32`, or a buffer as `x: in f16x2`, with `in`, `out` or `inout`");
            return Err(failed);
        }
        self.bump();
        let directions = [Direction::In, Direction::Out, Direction::InOut];
        let direction = directions.into_iter().find(|direction| self.at_word(direction.name()));
        let ty = match direction {
            _ if self.at_word("const") => ParamTy::Number(self.bump()),
            None => ParamTy::Value(self.name("a type, or `in`, `out` or `inout` and a type")?),
            Some(direction) => {
                self.bump();
                let may_alias = if self.at_word("may_alias") { Some(self.bump()) } else { None };
                let elem = self.name("the type of the elements")?;
                let align = if self.eat_word("align") { Some(self.deeper(Self::expr)?) } else { None };
                let at = self.here();
                let contents = match self.eat("=") {
                    true => Some((self.list()?, self.since(at))),
                    false => None,
                };
                ParamTy::Buffer { direction, may_alias, elem, align, contents }
            }
        };
        if matches!(self.tok(), Tok::Punct("*" | "[")) {
            let failed = self.unexpected("`,` or `)`");
            self.help(format!(
                "declare a buffer as `{}: in f32`, with `in`, `out` or `inout`",
                self.symbols.text(name.sym)
            ));
            return Err(failed);
        }
        Ok(Param { name, ty, span: self.since(start) })
    }

    fn function(&mut self) -> Parsing<()> {
        self.bump();
        let name = self.name("the function's name")?;
        let mut generics = Vec::new();
        if self.eat("<") {
            generics = self.items(">", |parser| parser.name("the name of a type"))?;
            self.mark(">")?;
        }
        let params = self.params()?;
        let mut results = Vec::new();
        if self.eat("->") {
            results = match self.at_mark("(") {
                true => self.bracketed("(", ")", |parser| parser.items(")", |parser| parser.name("a type")))?,
                false => vec![self.name("the type of the result")?],
            };
        }
        let body = self.block()?;
        self.ast.functions.push(Function { name, generics, params, results, body });
        Ok(())
    }

    /// Parses a constant after the keyword `const`: `N: i32 = 3`.
    pub(super) fn constant(&mut self) -> Parsing<Constant> {
        let name = self.name("the constant's name")?;
        let ty = if self.eat(":") { Some(self.name("a type")?) } else { None };
        self.mark("=")?;
        let value = self.value()?;
        Ok(Constant { name, ty, value })
    }

    /// Parses a structure: `struct block { d: f16, q: i8[32] }`.
    fn structure(&mut self) -> Parsing<()> {
        self.bump();
        let name = self.name("the structure's name")?;
        let fields = self.bracketed("{", "}", |parser| {
            parser.items("}", |parser| {
                let name = parser.name("a field")?;
                parser.mark(":")?;
                let ty = parser.name("the field's type")?;
                let count = match parser.at_mark("[") {
                    true => Some(parser.bracketed("[", "]", |parser| parser.deeper(Self::expr))?),
                    false => None,
                };
                Ok(Field { name, ty, count })
            })
        })?;
        self.ast.structs.push(Struct { name, fields });
        Ok(())
    }
}
