//! Tests of the verifier on malformed kernels that the IR text cannot express.

use cranelift_entity::packed_option::ReservedValue;
use halfbyte_ir::builder::Builder;
use halfbyte_ir::*;

/// Returns the errors of a kernel with one block, whose instructions `build` creates. `build`
/// receives an `i32` and an `inout` buffer of `i32`.
fn findings(build: impl FnOnce(&mut Builder, Value, Value)) -> Vec<String> {
    let mut b = Builder::new("k");
    let a = b.scalar("a", Type::I32);
    let y = b.buffer("y", Direction::InOut, Type::I32);
    b.begin("entry", &[]);
    build(&mut b, a, y);
    found(&b.finish())
}

fn found(kernel: &Kernel) -> Vec<String> {
    // Diagnostics print the kernel, so the printer must accept malformed kernels.
    assert!(kernel.to_string().starts_with("kernel @k("));
    let list = verify(kernel).err().unwrap_or_default();
    list.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check(expected: &[&str], build: impl FnOnce(&mut Builder, Value, Value)) {
    assert_eq!(findings(build), expected);
}

const NO_SPAN: Span = Span { start: 0, end: 0 };

#[test]
fn rejects_may_alias_on_out_and_constant_buffers() {
    let mut b = Builder::new("k");
    b.scalar("a", Type::I32);
    // On a scalar, `may_alias` has no effect.
    b.may_alias();
    b.buffer("x", Direction::In, Type::I32);
    b.may_alias();
    b.buffer("y", Direction::Out, Type::I32);
    b.may_alias();
    b.data("t", Type::I8, 1, vec![1]);
    b.may_alias();
    b.begin("entry", &[]);
    b.ret();
    let expected = [
        "`out` buffer `%y` cannot have `may_alias`; expected `inout` with `may_alias`",
        "`%t` has contents and cannot have `may_alias`; expected no `may_alias`",
    ];
    assert_eq!(found(&b.finish()), expected);
}

#[test]
fn a_note_shows_the_instruction_of_a_built_kernel() {
    let mut b = Builder::new("k");
    let a = b.scalar("a", Type::F16);
    b.begin("entry", &[]);
    b.op(Op::Neg, Type::I32, &[a]);
    b.ret();
    let list = verify(&b.finish()).unwrap_err();
    assert_eq!(list[0].to_string(), "operand 1 of `neg.i32` is `f16`; expected `i32`");
    assert_eq!(list[0].notes.last().unwrap().message, "in `%0 = neg.i32 %a` of @k");
}

#[test]
fn values_that_do_not_exist() {
    check(&["operand 2 of `add.i32` does not exist"], |b, a, _| {
        b.op(Op::Add, Type::I32, &[a, Value::reserved_value()]);
        b.ret();
    });
    check(&["argument 1 does not exist"], |b, _, _| {
        let next = b.block("next", &[Type::I32]);
        b.br(next, &[Value::from_u32(1000)]);
        b.go_to(next);
        b.ret();
    });
    // The operand is the missing result of a `store`.
    check(&["operand 1 of `neg.i32` does not exist"], |b, a, y| {
        let index = b.kernel().default_mem(y, Type::I32);
        let stored = b.value(Op::Store, Type::I32, Attr::Mem(index), &[a, y]);
        b.op(Op::Neg, Type::I32, &[stored]);
        b.ret();
    });
}

#[test]
fn values_of_instructions_in_no_block() {
    let mut b = Builder::new("k");
    let loose = b.int(Type::I32, 1);
    b.begin("entry", &[]);
    b.op(Op::Neg, Type::I32, &[loose]);
    b.ret();
    assert_eq!(found(&b.finish()), ["a value has no definition in a block"]);
}

#[test]
fn instructions_in_two_places_or_none() {
    let mut b = Builder::new("k");
    b.begin("entry", &[]);
    b.int(Type::I32, 1);
    b.ret();
    let kernel = b.finish();
    let entry = kernel.layout[0];

    let mut twice = kernel.clone();
    let first = twice.blocks[entry].insts[0];
    twice.blocks[entry].insts.insert(0, first);
    assert_eq!(found(&twice), ["an instruction occurs twice"]);

    let mut missing = kernel.clone();
    missing.blocks[entry].insts.insert(0, Inst::from_u32(77));
    assert_eq!(found(&missing), ["an instruction that does not exist is in a block"]);

    let mut blocks = kernel.clone();
    blocks.layout.push(entry);
    assert_eq!(found(&blocks), ["`^entry` is in the layout twice"]);

    let mut blocks = kernel;
    blocks.layout.push(Block::from_u32(9));
    assert_eq!(found(&blocks), ["a block that does not exist is in the layout"]);
}

#[test]
fn wrong_results() {
    for result in [None, Some(Type::I16)] {
        let mut kernel = Kernel::new("k");
        let entry = kernel.add_block();
        kernel.push_inst(entry, Op::Const, Type::I32, Attr::Bits(1), &[], result, NO_SPAN);
        kernel.push_inst(entry, Op::Ret, Type::I32, Attr::None, &[], None, NO_SPAN);
        assert_eq!(found(&kernel), ["`const.i32` has the wrong result type; expected `i32`"]);
    }
    let mut kernel = Kernel::new("k");
    let entry = kernel.add_block();
    kernel.push_inst(entry, Op::Ret, Type::I32, Attr::None, &[], Some(Type::I32), NO_SPAN);
    assert_eq!(found(&kernel), ["`ret` has the wrong result type; expected no result"]);
}

#[test]
fn attributes_of_another_kind() {
    check(&["`neg.i32` has the wrong kind of attribute"], |b, a, _| {
        b.value(Op::Neg, Type::I32, Attr::Lane(0), &[a]);
        b.ret();
    });
    check(&["`icmp.i32` has the wrong kind of attribute"], |b, a, _| {
        b.value(Op::Icmp, Type::I32, Attr::None, &[a, a]);
        b.ret();
    });
    check(&["`const.i8x16` has the wrong kind of attribute"], |b, _, _| {
        b.value(Op::Const, Type::I8X16, Attr::Bits(0), &[]);
        b.ret();
    });
    check(&["`fneg.f32` has the wrong kind of attribute"], |b, a, _| {
        let s = b.op(Op::Bitcast, Type::F32, &[a]);
        b.float(Op::Fneg, Type::F32, FloatFlags::default(), &[s]);
        b.ret();
    });
}

#[test]
fn constants_beyond_their_lanes() {
    check(&["a constant of `i8` has more bits than 8; expected no bits beyond the lanes"], |b, _, _| {
        b.value(Op::Const, Type::I8, Attr::Bits(0x100), &[]);
        b.ret();
    });
}

#[test]
fn modifiers_and_lanes() {
    check(
        &["`fadd` does not take `nan`; expected `rn`, `rz`, `rp`, `rm`, `ftz`, `sat`, `relu` or `contract`"],
        |b, a, _| {
            let h = b.op(Op::Bitcast, Type::F16X2, &[a]);
            b.float(Op::Fadd, Type::F16X2, FloatFlags { nan: true, ..Default::default() }, &[h, h]);
            b.ret();
        },
    );
    check(&["`fcmp` does not take `ftz` on `f32`; expected no modifier"], |b, a, _| {
        let s = b.op(Op::Bitcast, Type::F32, &[a]);
        b.fcmp(Op::Fcmp, FloatCC::Lt, true, Type::F32, s, s);
        b.ret();
    });
    check(&["lane 9 of two operands of 4 lanes each; expected 0 to 7"], |b, a, _| {
        let v = b.op(Op::Bitcast, Type::I8X4, &[a]);
        b.shuffle(Type::I8X4, v, v, &[0, 1, 2, 9]);
        b.ret();
    });
}

#[test]
fn addresses() {
    let with = |change: fn(&mut MemAttr)| {
        findings(|b, _, y| {
            let mut mem = b.kernel().default_mem(y, Type::I32);
            change(&mut mem);
            b.value(Op::Load, Type::I32, Attr::Mem(mem), &[y]);
            b.ret();
        })
    };
    assert_eq!(with(|_| ()), Vec::<String>::new());
    assert_eq!(with(|mem| mem.scale = 0), ["`step` is 0 bytes; expected 1, 2, 4, 8, 16, 32 or 64"]);
    assert_eq!(with(|mem| mem.scale = 128), ["`step` is 128 bytes; expected 1, 2, 4, 8, 16, 32 or 64"]);
    assert_eq!(with(|mem| mem.offset = 6), ["an offset of 6 bytes in steps of 4; expected a whole number of steps"]);
    assert_eq!(with(|mem| mem.align = 0), ["alignment 0; expected a power of two up to 4096"]);
    assert_eq!(with(|mem| mem.offset = i32::MIN), Vec::<String>::new());
}

#[test]
fn accepts_a_trapping_store_in_a_built_kernel() {
    let mut b = Builder::new("k");
    let x = b.buffer("x", Direction::In, Type::I32);
    b.begin("entry", &[]);
    let one = b.int(Type::I32, 1);
    b.store(Type::I32, one, x, (one, 0));
    b.ret();
    let kernel = b.finish();
    assert_eq!(found(&kernel), Vec::<String>::new());
    // In source text, a store to an `in` buffer is an error.
    let text = text::read(&kernel.to_string()).err().unwrap();
    assert_eq!(text.len(), 1);
    assert!(text[0].to_string().starts_with("cannot store into `%x`, which is an `in` buffer"), "{text:?}");
}

#[test]
fn intrinsics_that_cannot_be_text() {
    check(&["the text of the intrinsic has a line break; expected one line"], |b, _, _| {
        b.intrinsic(Type::I32, "halu", "one\ntwo", &[]);
        b.ret();
    });
    check(&["the target of the intrinsic is not a name; expected letters, digits and `_`"], |b, _, _| {
        b.intrinsic(Type::I32, "no name", "one", &[]);
        b.ret();
    });
    check(&["an intrinsic that does not exist"], |b, _, _| {
        b.value(Op::Intrinsic, Type::I32, Attr::Intrinsic(IntrinsicRef::from_u32(3)), &[]);
        b.ret();
    });
}

#[test]
fn targets() {
    check(&["the target is not a block of the kernel"], |b, _, _| {
        b.br(Block::from_u32(12), &[]);
    });
    let mut kernel = Kernel::new("k");
    let entry = kernel.add_block();
    let none = Attr::Targets(kernel.add_calls(&[]));
    kernel.push_inst(entry, Op::Br, Type::I32, none, &[], None, NO_SPAN);
    assert_eq!(found(&kernel), ["`br` has 0 targets; expected 1"]);
    check(
        &["`^entry` does not end in a terminator; expected `br`, `br_if`, `switch` or `ret` as its last instruction"],
        |_, _, _| {},
    );
}

#[test]
fn a_type_where_the_op_has_none() {
    let mut kernel = Kernel::new("k");
    let entry = kernel.add_block();
    kernel.push_inst(entry, Op::Ret, Type::F16, Attr::None, &[], None, NO_SPAN);
    assert_eq!(found(&kernel), ["`ret` has the type `f16`; expected `i32`"]);
}

/// Returns the errors of a packed kernel that copies a buffer, after `change` has modified it.
fn packed(change: impl FnOnce(&mut Kernel)) -> Vec<String> {
    let mut b = Builder::new("k");
    b.buffer("x", Direction::In, Type::I8X4);
    b.scalar("w", Type::I32);
    b.buffer("y", Direction::Out, Type::I8X4);
    let v = b.buffer_aligned("v", Direction::In, Type::I8X16, 16);
    let r = b.buffer_aligned("r", Direction::Out, Type::I8X16, 16);
    b.begin("entry", &[]);
    let g = b.here(Op::ItemId);
    let copied = b.load(Type::I8X16, v, g);
    b.store(Type::I8X16, copied, r, g);
    b.ret();
    let mut kernel = b.finish();
    let stream = |buffer| Stream { buffer: Some(buffer), bytes: 4, align: 4, scale: 4.into(), ..Stream::default() };
    kernel.packing = Some(Packing { items: 4, streams: vec![stream(0), stream(2)] });
    change(&mut kernel);
    found(&kernel)
}

fn stream(kernel: &mut Kernel) -> &mut Stream {
    &mut kernel.packing.as_mut().unwrap().streams[0]
}

#[test]
fn packed_kernels() {
    let none = |_: &mut Kernel| ();
    assert_eq!(packed(none), Vec::<String>::new());
    assert_eq!(
        packed(|kernel| kernel.packing.as_mut().unwrap().items = 0),
        ["the group has 0 work items; expected 1, 4 or 16"]
    );
    assert_eq!(
        packed(|kernel| kernel.packing.as_mut().unwrap().streams.resize(6, Stream::default()))[0],
        "6 streams of @k, which has 5 parameters; expected a parameter a stream"
    );
    let what = "`%v` is not a stream; expected an `in` or `out` buffer aligned to 16";
    let kind = |direction, align| ParamKind::Buffer { direction, elem: Type::I8X16, align, may_alias: false };
    assert_eq!(packed(|kernel| kernel.params[3].kind = kind(Direction::InOut, 16)), [what]);
    assert_eq!(packed(|kernel| kernel.params[3].kind = kind(Direction::In, 32)), [what]);
    assert_eq!(packed(|kernel| kernel.params[3].kind = ParamKind::Scalar(Type::I32)), [what]);
}

#[test]
fn numbers_in_streams() {
    assert_eq!(
        packed(|kernel| stream(kernel).buffer = Some(17)),
        ["parameter 17 is not a buffer parameter of the launch; expected a buffer parameter"]
    );
    assert_eq!(
        packed(|kernel| stream(kernel).buffer = Some(4)),
        ["`%r` is not a buffer parameter of the launch; expected a buffer parameter"]
    );
    assert_eq!(packed(|kernel| stream(kernel).guard = Some(2)), ["the guard is stream 2, which does not exist"]);
    assert_eq!(
        packed(|kernel| stream(kernel).index.terms = vec![(AffineVariable::Param(9), 4)]),
        ["parameter 9 is not an `i32` parameter of the launch; expected an `i32` parameter"]
    );
    let endless = |index| Step { loop_number: 0, trips: TripCount::Const(u32::MAX), stride: index };
    let twice = Affine { constant: 0, terms: vec![(AffineVariable::ItemCount, 1), (AffineVariable::ItemCount, 2)] };
    assert_eq!(
        packed(|kernel| stream(kernel).steps = vec![endless(twice)]),
        ["`item_count` occurs twice in the sum; expected one term for each variable"]
    );
}

#[test]
fn a_note_names_the_kernel_of_a_stream_without_a_place() {
    let mut kernel = Kernel::new("k");
    kernel.packing = Some(Packing { items: 3, streams: Vec::new() });
    let list = verify(&kernel).unwrap_err();
    assert_eq!(list[0].notes[0].message, "in @k");
}

#[test]
fn contents_that_no_buffer_has() {
    let with = |change: &dyn Fn(&mut Kernel)| {
        let mut b = Builder::new("k");
        b.scalar("a", Type::I32);
        b.data("t", Type::I32, 16, [1, 2, 3, 4, 5, 6, 7, 8]);
        b.begin("entry", &[]);
        b.ret();
        let mut kernel = b.finish();
        change(&mut kernel);
        found(&kernel)
    };
    assert!(with(&|_| {}).is_empty());
    let contents = |bytes: usize| move |kernel: &mut Kernel| kernel.params[1].contents = Some(vec![7; bytes].into());
    for bytes in [0, 6, verify::MAX_CONTENTS + 4] {
        let expected = format!("`%t` holds {bytes} bytes; expected elements of `i32`, in at most 1048576 bytes");
        assert_eq!(with(&contents(bytes)), [expected]);
    }
    assert!(with(&contents(verify::MAX_CONTENTS)).is_empty());
    let of_a_scalar = with(&|kernel| kernel.params[0].contents = Some([1, 2, 3, 4].into()));
    assert_eq!(of_a_scalar, ["`%a` has contents; expected an `in` buffer for constant contents"]);
}
