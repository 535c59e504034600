//! Tests of the text of kernels with cooperating items: declarations, modifiers, omitted results, and errors.

use halfbyte_ir::builder::Builder;
use halfbyte_ir::{Direction, MemOrder, Op, Scope, Space, Type, text, verify};

/// Returns the errors for a kernel with the given array declarations and statements.
fn findings(arrays: &str, body: &str) -> Vec<String> {
    let source =
        format!("kernel @k(%y: inout i32, %x: in i32, %i: i32, %p: i1) {{\n{arrays}\n^entry:\n{body}\n  ret\n}}\n");
    let found = match text::read(&source) {
        Ok(_) => return Vec::new(),
        Err(found) => found,
    };
    found
        .iter()
        .map(|finding| {
            let at = &source[finding.span.start as usize..finding.span.end as usize];
            format!("{at}: {} ({})", finding.message, finding.expected.clone().unwrap_or_default())
        })
        .collect()
}

#[test]
fn what_is_printed_is_read_again() {
    let source = "kernel @k(%y: inout i32, %i: i32, %p: i1) {
  shared %a: i32[256] align 16
  shared %b: i8[]
  scratch %c: f16x2[8]
^entry:
  barrier
  barrier.unaligned %i
  %n = barrier_count %p, %i, %i
  atomic_add.acq_rel.group %i, %a[%i + 1]
  %0 = atomic_exchange.i32 %i, %b[%i] step 4
  store %0, %y[3]
  %old = atomic_or.system %i, %y[%i wide]
  fence.seq_cst.device
  %h = load %c[%i]
  atomic_fadd.f16x2 %h, %y[%i]
  atomic_store.release %i, %y
  ret
}
";
    let module = text::read(source).unwrap();
    assert_eq!(module.to_string(), source);
    assert_eq!(text::read(&module.to_string()).unwrap().to_string(), source);
}

#[test]
fn what_is_built_is_what_is_read() {
    let mut b = Builder::new("k");
    let y = b.buffer("y", Direction::InOut, Type::I32);
    let tile = b.array("tile", Space::Shared, Type::I32, 32);
    b.array("rest", Space::Shared, Type::I8, None);
    b.begin("entry", &[]);
    let l = b.here(Op::LaneId);
    b.name(l, "l");
    b.store(Type::I32, l, tile, l);
    b.barrier();
    b.atomic(Op::AtomicAdd, Type::I32, (MemOrder::Release, Scope::Device), &[l], y, (l, 2));
    b.fence(MemOrder::AcqRel, Scope::Group);
    b.ret();
    let kernel = b.finish();
    verify(&kernel).unwrap();
    let text = "kernel @k(%y: inout i32) {\n  shared %tile: i32[32]\n  shared %rest: i8[]\n^entry:\n  %l = lane_id\n  store %l, %tile[%l]\n  \
                barrier\n  atomic_add.release %l, %y[%l + 2]\n  fence.acq_rel.group\n  ret\n}\n";
    assert_eq!(kernel.to_string(), text);
}

#[test]
fn declarations_are_checked() {
    for (arrays, expected) in [
        ("shared %a: i32[0]", "shared %a: i32[0]: `%a` has no elements (at least 1)"),
        (
            "scratch %a: i32[]",
            "scratch %a: i32[]: `%a` has no size; only the size of shared memory can be set at launch (a number of elements)",
        ),
        ("shared %a: ptr[4]", "shared %a: ptr[4]: `%a` is an array of pointers (an element type other than `ptr`)"),
        ("shared %a: i32[4] align 3", "shared %a: i32[4] align 3: alignment 3 (a power of two up to 4096)"),
        (
            "shared %a: i32[4]\nshared %b: i8[49137]",
            "shared %b: i8[49137]: 49153 bytes of shared memory up to the end of this array (at most 49152)",
        ),
        (
            "shared %a: i64[0xffffffff]",
            "shared %a: i64[0xffffffff]: 34359738360 bytes of shared memory up to the end of this array (at most 49152)",
        ),
        ("shared %y: i32[4]", "%y: `%y` is defined twice (a name that is not in use)"),
        ("shared %a: i32", ": unexpected end of the line (the number of elements in brackets)"),
    ] {
        assert_eq!(findings(arrays, ""), [expected], "{arrays}");
    }
    assert_eq!(findings("shared %a: i8[49152]", ""), [] as [&str; 0]);
    assert_eq!(
        findings("", "  shared %a: i32[4]"),
        ["shared: `shared` is not valid in a block (declarations before the first label)"]
    );
}

#[test]
fn accesses_and_meetings_are_checked() {
    for (body, expected) in [
        ("atomic_add %i, %x[0]", "%x: cannot store into `%x`, which is an `in` buffer (an `out` or `inout` buffer)"),
        (
            "atomic_add %i, %s[0]",
            "%s: `atomic_add.i32` cannot access `%s`, which is local to the item (a buffer or a shared array)",
        ),
        ("atomic_add %i, %y[0] align 8", "8: the alignment of `atomic_add.i32` is 8 (4)"),
        (
            "atomic_add.seq_cst %i, %y[0]",
            "seq_cst: `atomic_add.i32` is not `seq_cst` (`relaxed`, `acquire`, `release` or `acq_rel`)",
        ),
        ("%v = atomic_load.release %y[0]", "release: `atomic_load.i32` is not `release` (`relaxed` or `acquire`)"),
        ("atomic_load %y[0]", "atomic_load: the result of `atomic_load` has no name (`%name = atomic_load`)"),
        ("%v = atomic_store %i, %y[0]", "%v: `atomic_store` has no result (the op without a result)"),
        ("fence.device", ".device: `fence` without a memory order (`acquire`, `release`, `acq_rel` or `seq_cst`)"),
        ("fence.acq_rel", ".acq_rel: `fence` without a scope (`group`, `device` or `system`)"),
        ("atomic_inc.i64 %i, %y[0]", "i64: `atomic_inc` does not take `i64` (i32)"),
        ("barrier_arrive %i", "barrier_arrive: `barrier_arrive` has 1 operand (2)"),
        ("barrier %i, %i, %i", "%i: `barrier` has 3 operands (0 to 2)"),
        (
            "barrier.aligned",
            "aligned: `aligned` is neither a type nor a modifier of `barrier` (a type or modifier; did you mean `unaligned`?)",
        ),
    ] {
        assert_eq!(findings("scratch %s: i32[4]", &format!("  {body}")), [expected], "{body}");
    }
}
