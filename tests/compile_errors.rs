//! Tests of errors of the compiler: it verifies kernels that the builder created, and returns
//! errors with source locations in the user's file.

use halfbyte::abi::{CancelToken, Exceeded, Limits, Watchdog};
use halfbyte::ir::builder::Builder;
use halfbyte::ir::{Attr, Direction, Kernel, Op, Span, Type};
use halfbyte::isa::object::Loc;
use halfbyte::pipeline::{Compiler, Options};
use halfbyte::runtime::{Arg, Launch, LaunchError};
use halfbyte::{CompileError, HALU, Limit, Module, TARGETS, TooLarge, VP1, Verified};

/// Returns the span of a column of a line, in a file whose lines have 100 columns each.
fn place(line: u32, column: u32) -> Span {
    Span { start: 100 * line + column, end: 100 * line + column }
}

fn map(span: Span) -> Loc {
    Loc { line: span.start / 100, column: span.start % 100 }
}

/// Returns a kernel that computes `y[i] = f(i)`.
fn kernel(f: impl FnOnce(&mut Builder, halfbyte::ir::Value) -> halfbyte::ir::Value) -> Kernel {
    let mut b = Builder::new("k");
    let y = b.buffer("y", Direction::Out, Type::I32);
    b.begin("entry", &[]);
    let i = b.here(Op::ItemId);
    b.set_span(place(42, 7));
    let value = f(&mut b, i);
    b.store(Type::I32, value, y, i);
    b.ret();
    b.finish()
}

/// Returns the error of an invalid kernel, and asserts that it is the same for every target.
fn invalid(kernel: Kernel) -> String {
    let module = Module::from_kernels([kernel]);
    let errors = TARGETS.defaults().map(|target| module.compile(target).unwrap_err());
    let shown: Vec<String> = errors
        .map(|error| {
            assert!(matches!(error, CompileError::Invalid(_)), "{error:?}");
            assert!(!module.report(error.clone()).to_string().is_empty());
            error.to_string()
        })
        .collect();
    assert!(shown.iter().all(|error| *error == shown[0]), "{shown:?}");
    shown[0].clone()
}

#[test]
fn an_op_with_wrong_operands_is_invalid() {
    let shown = invalid(kernel(|b, _| {
        let x = b.constant(Type::F32, &[0]);
        b.value(Op::Add, Type::I32, Attr::None, &[x])
    }));
    assert!(shown.contains("1 operand") && shown.contains("add.i32"), "{shown}");
}

#[test]
fn values_and_blocks_of_other_kernels_are_invalid() {
    let mut other = Builder::new("other");
    let blocks = (0..9).map(|n| other.begin(&format!("b{n}"), &[Type::I32])).last().unwrap();
    let foreign = other.params(blocks)[0];
    let foreign = (0..40).fold(foreign, |value, _| other.op(Op::Neg, Type::I32, &[value]));
    invalid(kernel(|_, _| foreign));
    invalid(kernel(|b, i| b.op(Op::Add, Type::I32, &[i, foreign])));
    invalid(kernel(|b, _| {
        b.name(foreign, "foreign");
        b.load(Type::I32, foreign, foreign)
    }));
    let mut b = Builder::new("k");
    b.begin("entry", &[]);
    b.br(blocks, &[foreign]);
    assert!(b.params(blocks).is_empty());
    b.go_to(blocks);
    b.ret();
    invalid(b.finish());
    // The kernel uses the result of an op that has none.
    invalid(kernel(|b, i| {
        let nothing = b.value(Op::Ret, Type::I32, Attr::None, &[]);
        b.op(Op::Add, Type::I32, &[i, nothing])
    }));
}

#[test]
fn names_that_no_text_could_have_are_invalid() {
    for name in ["", "a b", "k{", "k\n", "ä", "k\0"] {
        let mut b = Builder::new(name);
        b.begin("entry", &[]);
        b.ret();
        let shown = invalid(b.finish());
        assert!(shown.contains("is not a valid kernel name"), "{name:?}: {shown}");
        let mut b = Builder::new("k");
        b.scalar(name, Type::I32);
        b.begin("entry", &[]);
        b.ret();
        let shown = invalid(b.finish());
        assert!(shown.contains("is not a valid parameter name"), "{name:?}: {shown}");
    }
    let mut b = Builder::new("k");
    b.scalar("a", Type::I32);
    b.scalar("a", Type::I32);
    b.begin("entry", &[]);
    b.ret();
    assert!(invalid(b.finish()).contains("two parameters have the name `%a`"));
}

#[test]
fn a_refusal_is_data_with_the_place_in_the_users_file() {
    let root = kernel(|b, i| {
        let half = b.op(Op::Bitcast, Type::F32, &[i]);
        let root = b.op(Op::Fsqrt, Type::F32, &[half]);
        b.op(Op::Bitcast, Type::I32, &[root])
    });
    let module = Module::from_kernels([root]).with_map("mylang.src", map);
    let error = module.compile(VP1).unwrap_err();
    let CompileError::Refused(refused) = &error else { panic!("{error:?}") };
    let first = refused.iter().find(|refused| refused.refusal.op.is_some_and(|(op, _)| op == Op::Fsqrt)).unwrap();
    assert_eq!(first.refusal.op, Some((Op::Fsqrt, Type::F32)));
    assert_eq!((first.refusal.target, first.at.kernel.as_str()), ("vp1", "k"));
    assert_eq!((first.at.file.as_str(), first.at.loc), ("mylang.src", Loc { line: 42, column: 7 }));
    assert!(error.to_string().contains("mylang.src:42:7: vp1 cannot do `fsqrt.f32`"), "{error}");
    assert!(module.report(error.clone()).to_string().contains("mylang.src:42:7"), "{}", module.report(error));
}

#[test]
fn a_trap_is_at_the_place_in_the_users_file() {
    let far = kernel(|b, i| {
        let y = b.kernel().params[0].value;
        b.load(Type::I32, y, (i, 1 << 20))
    });
    let object = Module::from_kernels([far]).with_map("mylang.src", map).compile(HALU).unwrap().object;
    let program = TARGETS.load(&object).unwrap();
    let mut y = [0; 4];
    let error = program.kernels()[0].launch(Launch::new(1, &mut [Arg::Buffer(&mut y)])).unwrap_err();
    let LaunchError::Trap(trap) = &error else { panic!("{error}") };
    assert_eq!((trap.source.as_str(), trap.loc), ("mylang.src", Loc { line: 42, column: 7 }));
}

#[test]
fn limits_and_a_cancelled_compilation_are_told_apart() {
    let many = || kernel(|b, i| (0..100).fold(i, |value, _| b.op(Op::Mul, Type::I32, &[value, i])));
    let module = Module::from_kernels([many()]);
    let compile =
        |watchdog| module.compile_with(&Options { watchdog: Some(watchdog), ..Options::new(HALU) }).unwrap_err();
    let error = compile(Watchdog::new(Limits { ops: 50, ..Limits::NONE }));
    let CompileError::TooLarge(TooLarge { at, limit: Limit::Set(Exceeded::Ops { found: 103, limit: 50 }), .. }) =
        &error
    else {
        panic!("{error:?}")
    };
    assert_eq!(at.kernel, "k");
    let token = CancelToken::default();
    token.cancel();
    let error = compile(Watchdog::with_token(Limits::NONE, token));
    assert!(matches!(error, CompileError::Cancelled { exceeded: Exceeded::Cancelled, .. }), "{error:?}");

    // The kernel needs more registers than the target has, and the target cannot spill.
    let live = kernel(|b, i| {
        let all: Vec<_> = (0..3000).map(|n| b.int(Type::I32, n * n + 70_000)).collect();
        let all: Vec<_> = all.into_iter().map(|n| b.op(Op::Mul, Type::I32, &[n, i])).collect();
        all.into_iter().rev().fold(i, |sum, value| b.op(Op::Xor, Type::I32, &[sum, value]))
    });
    let error = Module::from_kernels([live]).compile(VP1).unwrap_err();
    assert!(matches!(error, CompileError::TooLarge(TooLarge { limit: Limit::Target(_), .. })), "{error:?}");
}

#[test]
fn a_verified_kernel_is_compiled_as_any_other() {
    let good = kernel(|b, i| b.op(Op::Neg, Type::I32, &[i]));
    let (empty, options) = (Module::from_kernels([]), Options::new(HALU));
    let mut compiler = Compiler::new(&empty, &options);
    let (code, _) = compiler.compile(&good, &mut |_| {}).unwrap();
    let (same, _) = compiler.compile_verified(Verified::new(&good).unwrap(), &mut |_| {}).unwrap();
    assert_eq!(code.words.disassemble(), same.words.disassemble());
    let bad = kernel(|b, _| b.value(Op::Add, Type::I32, Attr::None, &[]));
    assert!(Verified::new(&bad).is_err());
}
