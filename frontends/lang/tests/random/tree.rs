//! Syntax tree of random programs, which the generator, the interpreter and the printer share.

use std::fmt::{self, Display, Formatter};

/// Type, with its lane width, lane count and name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ty {
    I1,
    I8,
    I16,
    I32,
    I64,
    F32,
    V4,
    V2,
}

impl Ty {
    pub const ALL: [Ty; 8] = [Ty::I32, Ty::I8, Ty::I16, Ty::I64, Ty::V4, Ty::V2, Ty::I1, Ty::F32];

    pub fn name(self) -> &'static str {
        match self {
            Ty::I1 => "i1",
            Ty::I8 => "i8",
            Ty::I16 => "i16",
            Ty::I32 => "i32",
            Ty::I64 => "i64",
            Ty::F32 => "f32",
            Ty::V4 => "i8x4",
            Ty::V2 => "i16x2",
        }
    }

    pub fn bits(self) -> u32 {
        match self {
            Ty::I1 => 1,
            Ty::I8 | Ty::V4 => 8,
            Ty::I16 | Ty::V2 => 16,
            Ty::I32 | Ty::F32 => 32,
            Ty::I64 => 64,
        }
    }

    pub fn lanes(self) -> usize {
        match self {
            Ty::V4 => 4,
            Ty::V2 => 2,
            _ => 1,
        }
    }

    pub fn lane(self) -> Ty {
        match self {
            Ty::V4 => Ty::I8,
            Ty::V2 => Ty::I16,
            other => other,
        }
    }
}

#[derive(Clone, Debug)]
pub enum Expr {
    /// Number literal. If `bare`, the literal has no type suffix, and another operand determines its type.
    Number {
        ty: Ty,
        value: i64,
        bare: bool,
    },
    Bool(bool),
    Name(String),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// Call of an op: its name, suffix, operands, list argument, and number arguments.
    Op(&'static str, String, Vec<Expr>, Option<String>, Vec<u32>),
    /// Vector constructor.
    Vector(Ty, Vec<Expr>),
    Call(usize, Vec<Expr>),
    If(Box<Expr>, Vec<Stmt>, Box<Expr>, Vec<Stmt>, Box<Expr>),
    /// Element of the input buffer: `x[(e & 15) + k]`
    Element(Box<Expr>, String),
    /// Field of a structure: `s[e & 3].name`, or `s[e & 3].q[e & 7]`
    Field(Box<Expr>, &'static str, Option<Box<Expr>>),
    /// Element of the array in local memory: `t[e & 7]`.
    Scratch(Box<Expr>),
}

#[derive(Clone, Debug)]
pub enum Stmt {
    Let(String, bool, Ty, bool, Expr),
    Pair([String; 2], usize, Vec<Expr>),
    Assign(String, &'static str, Expr),
    Scratch(Expr, &'static str, Expr),
    /// Store to the output buffer: `y[16 * i + k]`.
    Store(u32, Expr),
    If(Expr, Vec<Stmt>, Option<Vec<Stmt>>),
    For(String, Expr, Expr, i64, Vec<Stmt>),
    Unroll(String, i64, i64, i64, Vec<Stmt>),
    /// Loop with a separate counter, which ends the loop after a given number of iterations.
    While(String, u32, Expr, Vec<Stmt>),
    Do(String, u32, Vec<Stmt>, Expr),
    Break,
    Continue,
    Return(Option<Expr>),
}

#[derive(Clone, Debug)]
pub struct Function {
    pub params: Vec<(String, Ty)>,
    /// The types of the one or two results.
    pub results: Vec<Ty>,
    pub body: Vec<Stmt>,
    pub values: Vec<Expr>,
    /// `true` if the function is generic: the type of its first parameter is printed as `T` throughout the signature.
    pub generic: bool,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub functions: Vec<Function>,
    pub body: Vec<Stmt>,
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let list = |f: &mut Formatter<'_>, args: &[Expr]| {
            for (number, arg) in args.iter().enumerate() {
                write!(f, "{}{arg}", if number == 0 { "" } else { ", " })?;
            }
            Ok(())
        };
        match self {
            Expr::Number { ty: Ty::F32, value, bare } => {
                write!(f, "({value}.0{})", if *bare { "" } else { "f32" })
            }
            Expr::Number { value, bare: true, .. } => write!(f, "({value})"),
            Expr::Number { ty, value, .. } if ty.lanes() > 1 => write!(f, "{}({value})", ty.name()),
            Expr::Number { ty, value, .. } => write!(f, "({value}{})", ty.name()),
            Expr::Bool(value) => write!(f, "{value}"),
            Expr::Name(name) => f.write_str(name),
            Expr::Unary(op, operand) => write!(f, "{op}({operand})"),
            Expr::Binary(op, a, b) => write!(f, "({a} {op} {b})"),
            Expr::Op(name, suffix, args, list_of, numbers) => {
                write!(f, "{name}{suffix}(")?;
                list(f, args)?;
                if let Some(list_of) = list_of {
                    write!(f, ", {list_of}")?;
                } else if let Some(number) = numbers.first() {
                    write!(f, ", {number}")?;
                }
                f.write_str(")")
            }
            Expr::Vector(ty, lanes) => {
                write!(f, "{}(", ty.name())?;
                list(f, lanes)?;
                f.write_str(")")
            }
            Expr::Call(number, args) => {
                write!(f, "f{number}(")?;
                list(f, args)?;
                f.write_str(")")
            }
            Expr::If(condition, then, a, otherwise, b) => {
                writeln!(f, "if {condition} {{")?;
                then.iter().try_for_each(|stmt| write!(f, "{stmt}"))?;
                writeln!(f, "{a}\n}} else {{")?;
                otherwise.iter().try_for_each(|stmt| write!(f, "{stmt}"))?;
                write!(f, "{b}\n}}")
            }
            Expr::Element(index, offset) => write!(f, "x[(({index}) & 15){offset}]"),
            Expr::Field(index, name, None) => write!(f, "s[({index}) & 3].{name}"),
            Expr::Field(index, name, Some(at)) => write!(f, "s[({index}) & 3].{name}[({at}) & 7]"),
            Expr::Scratch(index) => write!(f, "t[({index}) & 7]"),
        }
    }
}

impl Display for Stmt {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let block = |f: &mut Formatter<'_>, body: &[Stmt]| {
            writeln!(f, " {{")?;
            body.iter().try_for_each(|stmt| write!(f, "{stmt}"))?;
            f.write_str("}")
        };
        match self {
            Stmt::Let(name, mutable, ty, said, value) => {
                let word = if *mutable { "var" } else { "let" };
                let said = if *said { format!(": {}", ty.name()) } else { String::new() };
                write!(f, "{word} {name}{said} = {value}")?;
            }
            Stmt::Pair([a, b], function, args) => {
                write!(f, "let ({a}, {b}) = {}", Expr::Call(*function, args.clone()))?;
            }
            Stmt::Assign(name, op, value) => write!(f, "{name} {op}= {value}")?,
            Stmt::Scratch(index, op, value) => write!(f, "t[({index}) & 7] {op}= {value}")?,
            Stmt::Store(at, value) => write!(f, "y[16 * item + {at}] = {value}")?,
            Stmt::If(condition, then, otherwise) => {
                write!(f, "if {condition}")?;
                block(f, then)?;
                if let Some(otherwise) = otherwise {
                    f.write_str(" else")?;
                    block(f, otherwise)?;
                }
            }
            Stmt::For(name, from, to, step, body) => {
                write!(f, "for {name} in {from}..{to}")?;
                if *step != 1 {
                    write!(f, " step {step}")?;
                }
                block(f, body)?;
            }
            Stmt::Unroll(name, from, to, step, body) => {
                write!(f, "unroll for {name} in {from}..{to} step {step}")?;
                block(f, body)?;
            }
            Stmt::While(counter, most, condition, body) => {
                writeln!(f, "var {counter} = 0\nwhile {counter} <_u {most} && {condition} {{\n{counter} += 1")?;
                body.iter().try_for_each(|stmt| write!(f, "{stmt}"))?;
                f.write_str("}")?;
            }
            Stmt::Do(counter, most, body, condition) => {
                writeln!(f, "var {counter} = 0\ndo {{\n{counter} += 1")?;
                body.iter().try_for_each(|stmt| write!(f, "{stmt}"))?;
                write!(f, "}} while {counter} <_u {most} && {condition}")?;
            }
            Stmt::Break => f.write_str("break")?,
            Stmt::Continue => f.write_str("continue")?,
            Stmt::Return(None) => f.write_str("return")?,
            Stmt::Return(Some(value)) => write!(f, "return {value}")?,
        }
        f.write_str("\n")
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "struct rec {{ a: i8, b: i32, q: i8[8] }}")?;
        for (number, function) in self.functions.iter().enumerate() {
            let first = function.params.first().map(|(_, ty)| *ty);
            let shown = |ty: Ty| if function.generic && Some(ty) == first { "T" } else { ty.name() };
            write!(f, "fn f{number}{}(", if function.generic { "<T>" } else { "" })?;
            for (at, (name, ty)) in function.params.iter().enumerate() {
                write!(f, "{}{name}: {}", if at == 0 { "" } else { ", " }, shown(*ty))?;
            }
            let results: Vec<&str> = function.results.iter().map(|ty| shown(*ty)).collect();
            let values: Vec<String> = function.values.iter().map(ToString::to_string).collect();
            let (results, values) = match results.len() {
                1 => (results.join(""), values.join("")),
                _ => (format!("({})", results.join(", ")), format!("({})", values.join(", "))),
            };
            writeln!(f, ") -> {results} {{")?;
            function.body.iter().try_for_each(|stmt| write!(f, "{stmt}"))?;
            writeln!(f, "{values}\n}}")?;
        }
        writeln!(
            f,
            "kernel k(a: i32, b: i8, x: in i32, s: in rec, y: out i32) {{\nscratch t: i32[8]\nlet item = item_id()"
        )?;
        self.body.iter().try_for_each(|stmt| write!(f, "{stmt}"))?;
        writeln!(f, "}}")
    }
}
