//! Tests that printed text parses back to the same text, for every op, type and modifier.

use halfbyte_ir::builder::Builder;
use halfbyte_ir::{
    Attr, AttrKind, Clamp, Diagnostics, Direction, FlagKind, FloatFlags, Kernel, MemAttr, Module, Op, Rounding, Type,
    text, verify,
};

fn read(source: &str) -> Module {
    text::read(source).unwrap_or_else(|list| panic!("{source}\n{}", Diagnostics { file: "text", source, list: &list }))
}

/// Prints, parses and prints again, and returns the text.
fn round_trip(module: &Module) -> String {
    let first = text::print(module);
    let second = text::print(&read(&first));
    assert_eq!(first, second);
    first
}

fn round_trip_kernel(kernel: Kernel) -> String {
    if let Err(list) = verify(&kernel) {
        panic!("{kernel}\n{list:?}");
    }
    round_trip(&Module { kernels: vec![kernel] })
}

#[test]
fn every_example_is_valid_and_canonical() {
    for &op in Op::ALL {
        let source = crate::common::example_kernel(op);
        let printed = round_trip(&read(&source));
        assert_eq!(printed, source, "the example of `{}` is not as printed", op.name());
    }
}

#[test]
fn every_op_on_every_type() {
    let mut kernels = 0;
    for &op in Op::ALL {
        let types = Type::ALL.iter().copied();
        let types: Vec<Type> = match op.row().types {
            Some(set) => types.filter(|&ty| set.contains(ty)).collect(),
            None => vec![Type::I32],
        };
        let mut any = false;
        for ty in types {
            for kernel in crate::common::op_kernels(op, ty) {
                // Some types of a conversion op have no source type, so their kernels have no
                // operand.
                if kernel.insts.values().all(|data| data.args.is_empty())
                    && !op.row().args.is_empty()
                    && op != Op::Intrinsic
                {
                    continue;
                }
                any = true;
                kernels += 1;
                round_trip_kernel(kernel);
            }
        }
        assert!(any, "{}", op.name());
    }
    assert!(kernels > 700, "{kernels}");
}

#[test]
fn every_modifier() {
    for &op in Op::ALL {
        let row = op.row();
        let AttrKind::Float(_) = row.attr else { continue };
        for ty in Type::ALL.iter().copied().filter(|&ty| row.types.is_some_and(|set| set.contains(ty))) {
            let set = row.flags(ty);
            let mut all = vec![FloatFlags::default()];
            for kind in FlagKind::ALL.into_iter().filter(|&kind| set.contains(kind)) {
                let with = |flags: &FloatFlags| {
                    let mut flags = vec![*flags; kind.words().len() + 1];
                    for (flags, word) in flags.iter_mut().skip(1).zip(kind.words()) {
                        flags.set(word);
                    }
                    flags
                };
                all = all.iter().flat_map(with).collect();
            }
            all.dedup();
            for mut kernel in crate::common::op_kernels(op, ty).into_iter().take(1) {
                let inst = kernel.insts.keys().next().unwrap();
                for &flags in &all {
                    kernel.insts[inst].attr = Attr::Float(flags);
                    let printed = round_trip_kernel(kernel.clone());
                    assert_eq!(read(&printed).kernels[0].insts[inst].attr, Attr::Float(flags), "{printed}");
                }
            }
        }
    }
}

#[test]
fn modifiers_print_in_one_order_and_without_defaults() {
    let source =
        "kernel @k(%a: f16) { ^entry:\n%r = fadd.contract.relu.rn.ftz.f16 %a, %a\n%s = fmul.sat.rm.f16 %a, %a\nret }";
    let module = read(source);
    assert!(round_trip(&module).contains("%r = fadd.ftz.relu.contract.f16 %a, %a\n  %s = fmul.rm.sat.f16 %a, %a\n"));
    let flags = FloatFlags { ftz: true, clamp: Clamp::Relu, contract: true, rounding: Rounding::Rn, nan: false };
    assert_eq!(module.kernels[0].insts.values().next().unwrap().attr, Attr::Float(flags));
}

#[test]
fn addresses() {
    let source = "\
kernel @k(%x: in i8 align 16, %y: inout f16x2, %i: i32, %n: i64) {
^entry:
  %a = load %x
  %b = load %x[3]
  %c = load %x[-1]
  %d = load.i8x4 %x[%i]
  %e = load.i8x4 %x[%i + 3]
  %f = load.i8x4 %x[%i - 3]
  %g = load.i8x4 %x[%i - 3] step 4
  %h = load.i8x16 %x[2] step 16 align 32
  %j = load.i8x16 %x[2] align 1
  %p = ptr_add %y, %n
  %q = load.i32 %p[%i + 1]
  %r = load %y[%i]
  store %r, %y[%i + 1]
  store.i32 %q, %y[%i] align 8
  store.i32 %q, %p
  ret
}
";
    let module = read(source);
    // The offset of an address without an index is printed in elements of the buffer, if it is a
    // multiple of the element size.
    let canonical = source.replace("%x[2] step 16 align 32", "%x[32] align 32");
    assert_eq!(round_trip(&module), canonical);
    let mem: Vec<MemAttr> = module.kernels[0]
        .insts
        .values()
        .filter_map(|data| if let Attr::Mem(mem) = data.attr { Some(mem) } else { None })
        .collect();
    let mem_of = |scale, offset, align| MemAttr { scale, offset, align, wide: false };
    let expected = [
        mem_of(1, 0, 1),
        mem_of(1, 3, 1),
        mem_of(1, -1, 1),
        mem_of(1, 0, 4),
        mem_of(1, 3, 4),
        mem_of(1, -3, 4),
        mem_of(4, -12, 4),
        mem_of(16, 32, 32),
        mem_of(1, 2, 1),
        mem_of(4, 4, 4),
        mem_of(4, 0, 4),
        mem_of(4, 4, 4),
        mem_of(4, 0, 8),
        mem_of(4, 0, 4),
    ];
    assert_eq!(mem, expected);
}

#[test]
fn constants() {
    let source = "\
kernel @k() {
^entry:
  %a = const.i32 -5
  %b = const.i8x4 [1, 2, 3, 4]
  %c = const.f16x2 1.0
  %d = const.f16x2 [1.0, -0.5]
  %e = const.f16 0x7c01
  %f = const.f32 -inf
  %g = const.bf16x2 [nan, inf]
  %h = const.i1x4 [1, 0, 0, 1]
  %i = const.i32x16 [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -2147483648]
  %j = const.i8x16 -1
  %k = const.f32 1e-45
  %l = const.f16x2 [-0.0, 6e-8]
  %m = const.i64 -9223372036854775808
  ret
}
";
    assert_eq!(round_trip(&read(source)), source);
    let other = source.replace("0, -0.5", "0e+0, -5e-1").replace("8 9", "0x8 0x9").replace("[1, 2,", "[\n0x1,\n\n2,");
    assert_eq!(round_trip(&read(&other)), source);
}

#[test]
fn uses_may_come_first_in_the_text() {
    let source = "\
kernel @k(%c: i1) {
^entry:
  br ^second
^third:
  %b = add.i32 %a, %a
  ret
^second:
  %a = const.i32 1
  br_if %c, ^third, ^third
}
";
    assert_eq!(round_trip(&read(source)), source);
}

#[test]
fn names_are_kept_and_made_unique() {
    let mut b = Builder::new("k");
    let x = b.scalar("x", Type::I32);
    b.begin("here", &[]);
    let y = b.op(Op::Neg, Type::I32, &[x]);
    let z = b.op(Op::Neg, Type::I32, &[y]);
    b.name(z, "x");
    let one = b.op(Op::Neg, Type::I32, &[z]);
    b.name(one, "1");
    let next = b.block("here", &[Type::I32]);
    b.br(next, &[one]);
    b.go_to(next);
    let odd = b.op(Op::Neg, Type::I32, &[one]);
    b.name(odd, "not a name");
    b.ret();
    let expected = "\
kernel @k(%x: i32) {
^here:
  %0 = neg.i32 %x
  %2 = neg.i32 %0
  %1 = neg.i32 %2
  br ^0(%1)
^0(%3: i32):
  %4 = neg.i32 %1
  ret
}
";
    assert_eq!(round_trip_kernel(b.finish()), expected);
}

#[test]
fn several_kernels_on_few_lines_and_with_comments() {
    let source = "; one\nkernel @a() { ^e: ret } ; two\r\nkernel @b(\n  %x: in i8x4, ; three\n  %y: out bf16 align 64\n) {\n^e:\n ret}";
    let module = read(source);
    assert_eq!(module.kernels.len(), 2);
    let expected = "kernel @a() {\n^e:\n  ret\n}\n\nkernel @b(%x: in i8x4, %y: out bf16 align 64) {\n^e:\n  ret\n}\n";
    assert_eq!(round_trip(&module), expected);
    assert!(read("").kernels.is_empty());
    assert_eq!(round_trip(&read("\u{feff}; nothing else")), "");
}

#[test]
fn spans_are_of_the_text() {
    let source = "kernel @name(%a: i32, %x: in i8 align 4) {\n^entry:\n  %r = neg.i32 %a ; why\n  ret\n}\n";
    let module = read(source);
    let kernel = module.kernel("name").unwrap();
    let of = |span: halfbyte_ir::Span| &source[span.start as usize..span.end as usize];
    assert_eq!(of(kernel.span), "@name");
    assert_eq!(of(kernel.params[1].span), "%x: in i8 align 4");
    assert_eq!(of(kernel.blocks[kernel.layout[0]].span), "^entry");
    assert_eq!(kernel.insts.values().map(|data| of(data.span)).collect::<Vec<_>>(), ["%r = neg.i32 %a", "ret"]);
    assert_eq!(kernel.params[1].name, "x");
    assert_eq!(text::print_inst(kernel, kernel.insts.keys().next().unwrap()), "%r = neg.i32 %a");
    let direction = kernel.params[1].kind;
    assert_eq!(
        direction,
        halfbyte_ir::ParamKind::Buffer { direction: Direction::In, elem: Type::I8, align: 4, may_alias: false }
    );
}

#[test]
fn buffers_that_may_overlap() {
    let header = "%n: i32, %x: in may_alias i8 align 4, %y: inout may_alias f16x2, %z: inout may_alias i8x16 align 4096, %w: out i32";
    let text = format!("kernel @k({header}) {{\n^entry:\n  ret\n}}\n");
    let module = read(&text);
    assert_eq!(round_trip(&module), text);
    let kernel = &module.kernels[0];
    let overlap: Vec<bool> = kernel.params.iter().map(|param| kernel.may_overlap(param)).collect();
    assert_eq!(overlap, [false, true, true, true, false]);
    // Line breaks and comments are allowed within the declaration of a parameter.
    assert_eq!(
        round_trip(&read("kernel @k(%x: inout ; one\n may_alias\n i32) {\n^e:\n ret }")),
        "kernel @k(%x: inout may_alias i32) {\n^e:\n  ret\n}\n"
    );
    // A name can be the same as a keyword.
    let name = "kernel @may_alias(%may_alias: in i32) {\n^may_alias:\n  ret\n}\n";
    assert_eq!(round_trip(&read(name)), name);
}

/// Two buffers may overlap if each of them is either only read or has `may_alias`.
#[test]
fn which_buffers_may_overlap() {
    for (header, expected) in [
        ("%x: in i32, %y: in may_alias i32", [false, false]),
        ("%x: in i32, %y: inout i32", [false, false]),
        ("%x: in may_alias i32, %y: inout i32", [false, false]),
        ("%x: in i32, %y: inout may_alias i32", [true, true]),
        ("%x: inout i32, %y: inout may_alias i32", [false, false]),
        ("%x: inout may_alias i32, %y: inout may_alias i32", [true, true]),
        ("%x: inout may_alias i32, %y: i32", [false, false]),
        ("%x: inout may_alias i32, %y: in i32 = [1]", [false, false]),
    ] {
        let module = read(&format!("kernel @k({header}) {{\n^entry:\n  ret\n}}\n"));
        let kernel = &module.kernels[0];
        let found: Vec<bool> = kernel.params.iter().map(|param| kernel.may_overlap(param)).collect();
        assert_eq!(found, expected, "{header}");
    }
}

#[test]
fn contents_of_buffers() {
    let header = "%n: i32, %a: in i8 align 4 = [1, -1, 0], %b: in f16x2 = [1.0, [0.5, nan], [0x7c01, inf]], \
                  %c: in i8x16 = [7, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -128]], %d: in f32 = [0.1], \
                  %e: in i64 = [-1], %f: in i1x4 = [[0, 1, 1, 0], 1]";
    let text = format!("kernel @k({header}) {{\n^entry:\n  ret\n}}\n");
    let module = read(&text);
    assert_eq!(round_trip(&module), text);
    let kernel = &module.kernels[0];
    assert_eq!((kernel.given_params().len(), kernel.launch_params().len()), (1, 7));
    let of = |number: usize| kernel.params[number].contents.as_deref().unwrap();
    assert_eq!(of(1), [1, 255, 0]);
    assert_eq!(of(2), [0, 0x3c, 0, 0x3c, 0, 0x38, 0xff, 0x7f, 1, 0x7c, 0, 0x7c]);
    assert_eq!(of(3)[..17], [[7; 16].as_slice(), &[0]].concat());
    assert_eq!((of(3)[31], of(4), of(6)), (0x80, &0.1f32.to_le_bytes()[..], &[6, 15][..]));

    // The same contents on several lines, with the numbers written differently.
    let other = text.replace("[1, -1, 0]", "[\n  0x1, ; one\n  255,\n  0\n]").replace("7, [0, 1", "7,\n[0,\n1");
    assert_eq!(round_trip(&read(&other)), text);
}

#[test]
fn numbers_as_operands_are_constants_before_the_instruction() {
    let text = |body: &str| {
        format!("kernel @k(%a: i32, %v: i8x4, %c: i1, %h: f16, %y: inout i32) {{\n^entry:\n{body}  ret\n}}\n")
    };
    for (short, long) in [
        ("  %r = add.i32 %a, 3\n", "  %0 = const.i32 3\n  %r = add.i32 %a, %0\n"),
        ("  %r = sub.i32 -1, %a\n", "  %0 = const.i32 -1\n  %r = sub.i32 %0, %a\n"),
        ("  %r = add.i8x4 %v, [1, 2, 3, 4]\n", "  %0 = const.i8x4 [1, 2, 3, 4]\n  %r = add.i8x4 %v, %0\n"),
        ("  %r = fmax.f16 %h, inf\n", "  %0 = const.f16 inf\n  %r = fmax.f16 %h, %0\n"),
        ("  %r = select.i32 %c, 1, 2\n", "  %0 = const.i32 1\n  %1 = const.i32 2\n  %r = select.i32 %c, %0, %1\n"),
        ("  %r = insert.i8x4 %v, 5, 1\n", "  %0 = const.i8 5\n  %r = insert.i8x4 %v, %0, 1\n"),
        (
            "  %r = shuffle.i8x4 %v, 0, [0, 4, 1, 4]\n",
            "  %0 = const.i8x4 0\n  %r = shuffle.i8x4 %v, %0, [0, 4, 1, 4]\n",
        ),
        ("  store 0, %y[%a]\n", "  %0 = const.i32 0\n  store %0, %y[%a]\n"),
        ("  store.i8x4 [1, 2, 3, 4], %y[%a]\n", "  %0 = const.i8x4 [1, 2, 3, 4]\n  store.i8x4 %0, %y[%a]\n"),
        ("  atomic_add -5, %y\n", "  %0 = const.i32 -5\n  atomic_add %0, %y\n"),
    ] {
        let read = halfbyte_ir::text::read(&text(short)).unwrap_or_else(|errors| panic!("{short}: {errors:?}"));
        assert_eq!(read.to_string(), text(long), "{short}");
    }
    // Spans of errors refer to the source text. They do not point to the constants that the parser inserts.
    let wrong = halfbyte_ir::text::read(&text("  %r = add.i32 300, %v\n  %s = add.i8x4 300, %v\n")).unwrap_err();
    let shown: Vec<String> = wrong.iter().map(|error| format!("{}: {}", error.span.start, error.message)).collect();
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(shown[1].contains("300 does not fit i8"), "{shown:?}");
}
