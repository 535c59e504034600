//! Example: uses the individual crates in place of the crate `halfbyte`. A program that needs only
//! the passes, or only the register allocator, then depends on no other crates.

use std::error::Error;

use halfbyte_emit::{Emitter, write_object};
use halfbyte_ir::builder::Builder;
use halfbyte_ir::{Direction, Op, Span, Type, verify};
use halfbyte_isa::halu::TARGET;
use halfbyte_isa::object::{Header, Loc};
use halfbyte_isel::regalloc::{self, Allocator};
use halfbyte_isel::{Backend, Halu, Request, Scratch};
use halfbyte_lower::{Context, Pipeline};
use halfbyte_runtime::{Arg, Launch, Program};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // ir: builds a kernel.
    let mut b = Builder::new("triple");
    let x = b.buffer("x", Direction::InOut, Type::I32);
    b.begin("entry", &[]);
    let i = b.here(Op::ItemId);
    b.set_span(Span { start: 42, end: 42 });
    let value = b.load(Type::I32, x, i);
    let three = b.int(Type::I32, 3);
    let product = b.op(Op::Mul, Type::I32, &[three, value]);
    b.store(Type::I32, product, x, i);
    b.ret();
    let mut kernel = b.finish();
    verify(&kernel).map_err(|wrong| wrong[0].clone())?;

    // lower: legalises and optimises the ops.
    let legality = Halu.legality(TARGET);
    Pipeline::default().run(&mut kernel, &mut Context::new(&legality), &mut ())?;

    // isel: selects machine instructions and allocates registers.
    let locate = |span: Span| Loc { line: span.start, column: 1 };
    let request = Request::new(&kernel, TARGET, &locate);
    let selected = Halu.select(request, &mut Scratch::default()).map_err(|refused| refused[0].clone())?;
    println!("{}", selected.code);
    let func = selected.code.allocate(&mut Allocator::default(), &regalloc::Options::default())?;

    // emit: encodes the machine code and writes an object.
    let code = Halu.layout(func)?;
    println!("{}", code.words.disassemble());
    assert!(code.locs.iter().any(|loc| loc.line == 42));
    let object = write_object(&Header { target: TARGET, source: "triple.src".to_owned() }, &[code])?;

    // runtime: loads the object, which contains all that a launch needs.
    let program = Program::load(&object, &[&halfbyte_runtime::Halu])?;
    let mut x: Vec<u8> = [1_u32, 2, 3].iter().flat_map(|x| x.to_le_bytes()).collect();
    program.kernels()[0].launch(Launch::new(3, &mut [Arg::Buffer(&mut x)]))?;
    assert_eq!(x, [3_u32, 6, 9].iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    Ok(())
}
