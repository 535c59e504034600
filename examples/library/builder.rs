//! Example: a compiler for a small language. The compiler translates each expression to a kernel,
//! with the builder. Errors and traps have source locations in the file with the expression.

use std::error::Error;

use halfbyte::ir::builder::Builder;
use halfbyte::ir::{Direction, Kernel, Op, Span, Type, Value};
use halfbyte::isa::object::Loc;
use halfbyte::runtime::LaunchError;
use halfbyte::{CompileError, HALU, Module, Program, VP1};

/// An expression on packed bytes in reverse Polish notation. Sums and differences saturate.
const SOURCE: &str = "x y +\n16 -";

/// Returns each token with its line and column, both counted from 1.
fn words(source: &str) -> impl Iterator<Item = (&str, Loc)> {
    (1..).zip(source.lines()).flat_map(|(line, text)| {
        text.split_ascii_whitespace().map(move |word| {
            let column = word.as_ptr() as usize - text.as_ptr() as usize + 1;
            (word, Loc { line, column: column as u32 })
        })
    })
}

fn compile(source: &str) -> Result<Kernel, String> {
    let mut b = Builder::new("expression");
    let x = b.buffer("x", Direction::In, Type::I8X4);
    let y = b.buffer("y", Direction::In, Type::I8X4);
    let z = b.buffer("z", Direction::Out, Type::I8X4);
    b.begin("entry", &[]);
    let i = b.here(Op::ItemId);
    let mut stack: Vec<Value> = Vec::new();
    for (word, loc) in words(source) {
        // A span may contain any two numbers. The location map below translates them to a line and a column.
        b.set_span(Span { start: loc.line, end: loc.column });
        let value = match word {
            "x" => b.load(Type::I8X4, x, i),
            "y" => b.load(Type::I8X4, y, i),
            "+" | "-" => {
                let (Some(right), Some(left)) = (stack.pop(), stack.pop()) else {
                    return Err(format!("{}:{}: `{word}` needs two operands", loc.line, loc.column));
                };
                let op = if word == "+" { Op::AddSatU } else { Op::SubSatU };
                b.op(op, Type::I8X4, &[left, right])
            }
            "sqrt" => {
                let Some(operand) = stack.pop() else { return Err("`sqrt` needs an operand".to_owned()) };
                let single = b.op(Op::Bitcast, Type::F32, &[operand]);
                let root = b.op(Op::Fsqrt, Type::F32, &[single]);
                b.op(Op::Bitcast, Type::I8X4, &[root])
            }
            number => b.int(Type::I8X4, number.parse().map_err(|error| format!("`{number}`: {error}"))?),
        };
        stack.push(value);
    }
    let [result] = stack[..] else { return Err(format!("{} values are left", stack.len())) };
    b.store(Type::I8X4, result, z, i);
    b.ret();
    Ok(b.finish())
}

fn module(source: &str) -> Result<Module, String> {
    let places = |span: Span| Loc { line: span.start, column: span.end };
    Ok(Module::from_kernels([compile(source)?]).with_map("expression.rpn", places))
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let program = Program::load(&module(SOURCE)?.compile(HALU)?.object)?;
    let (x, y, mut z) = ([[100_u8, 200, 3, 4]], [[1_u8, 100, 3, 20]], [[0_u8; 4]]);
    program.kernel("expression")?.bind((&x, &y, &mut z))?.run(1)?;
    assert_eq!(z, [[85, 239, 0, 8]]);

    // The source location of a trap is that of the token that accesses memory.
    let Err(LaunchError::Trap(trap)) = program.kernel("expression")?.bind((&x, &[0_u8; 0], &mut z))?.run(1) else {
        return Err("there is no trap".into());
    };
    println!("{trap}");
    assert_eq!((trap.source.as_str(), trap.loc), ("expression.rpn", Loc { line: 1, column: 3 }));

    // The source location of a refusal is that of the token that the target does not support.
    let Err(CompileError::Refused(refused)) = module("x\n  sqrt")?.compile(VP1) else {
        return Err("VP1 has no square root".into());
    };
    println!("{}", refused[0].refusal);
    assert_eq!(refused[0].at.loc, Loc { line: 2, column: 3 });
    Ok(())
}
