//! Tests of kernels that cannot be packed. A refusal names every unsupported op with its source
//! location and a reason, and leaves the kernel unchanged.

use crate::common::kernel;
use crate::common::pack::{try_lower, vectors};

/// Returns the refusals of a kernel, each with the source text at its source location.
fn refusals_of(text: &str, max_streams: usize) -> Vec<String> {
    let before = kernel(text);
    let mut after = before.clone();
    let refusals = match try_lower(&mut after, "pack", &vectors(max_streams)) {
        Err(refusals) => refusals,
        Ok(()) => panic!("{after}"),
    };
    assert_eq!(before.to_string(), after.to_string());
    let shown = |at: halfbyte_ir::Span| text[at.start as usize..at.end as usize].trim().to_string();
    refusals.iter().map(|refusal| format!("{refusal} ({})", shown(refusal.span))).collect()
}

fn refusals(parameters: &str, body: &str) -> Vec<String> {
    let text = format!("kernel @k({parameters}) {{\n^entry:\n  %i = item_id\n  {}\n}}", body.replace("; ", "\n  "));
    refusals_of(&text, 30)
}

const BUFFERS: &str = "%n: i32, %w: i32, %x: in i8x4, %t: in i32, %y: inout i8x4";

fn refuses(body: &str, expected: &[&str]) {
    assert_eq!(refusals(BUFFERS, body), expected);
}

/// Returns the expected reason for an access whose index is not affine and whose alignment is less than a 32-bit word.
fn not_affine(on: &str) -> String {
    let why = "its index is not affine in `item_id`, `i32` parameters and loop counters: it depends on";
    format!("{why} {on}, {ACROSS}")
}

const ACROSS: &str = "and it may be unaligned in the data store";

#[test]
fn refuses_ops_on_groups() {
    refuses(
        "%l = local_id; %a = load %x[%l]; %g = group_id; store %a, %y[%i]; ret",
        &[
            "test cannot do `local_id`: this target has no groups of work items (%l = local_id)",
            "test cannot do `group_id`: this target has no groups of work items (%g = group_id)",
        ],
    );
}

#[test]
fn refuses_computed_pointers() {
    refuses(
        "%o = const.i64 8; %p = ptr_add %x, %o; %a = load.i8x4 %p[%i]; store %a, %y[%i]; ret",
        &[
            "test cannot do `ptr_add`: this target copies buffers in pieces, so a buffer has no address (%p = ptr_add %x, %o)",
            "test cannot do `load.i8x4`: its address is not in a buffer parameter of the kernel (%a = load.i8x4 %p[%i])",
        ],
    );
    refuses(
        "%a = bitcast.i64 %x; %b = split.i8x4 %a, 0; store %b, %y[%i]; ret",
        &[
            "test cannot do `bitcast.i64`: this target copies buffers in pieces, so a buffer has no address (%a = bitcast.i64 %x)",
        ],
    );
}

#[test]
fn refuses_accesses_of_more_than_16_bytes() {
    assert_eq!(
        refusals("%x: in i16x16, %y: out i16x16", "%a = load %x[%i]; store %a, %y[%i]; ret"),
        [
            "test cannot do `load.i16x16`: an access has at most 16 bytes (%a = load %x[%i])",
            "test cannot do `store.i16x16`: an access has at most 16 bytes (store %a, %y[%i])"
        ]
    );
}

#[test]
fn refuses_indices_that_are_not_affine() {
    for (index, on) in [
        ("%k = const.i32 3; %j = and.i32 %i, %k", "`and.i32` (`%j`)"),
        ("%k = const.i32 3; %j = shr_u.i32 %i, %k", "`shr_u.i32` (`%j`)"),
        ("%j = load %t[%i]", "`load.i32` (`%j`)"),
        ("%j = load %t[%n]", "`load.i32` (`%j`)"),
        ("%l = load %t[%n]; %m = add.i32 %l, %i; %j = add.i32 %m, %n", "`load.i32` (`%l`)"),
        ("%j = mul.i32 %w, %n", "`mul.i32` (`%j`, a product of two parameters)"),
        ("%j = mul.i32 %i, %i", "`mul.i32` (`%j`, a product of two values that differ from item to item)"),
        ("%j = shl.i32 %i, %n", "`shl.i32` (`%j`)"),
        ("%c = icmp.eq.i32 %n, %w; %j = select.i32 %c, %i, %n", "`select.i32` (`%j`)"),
    ] {
        refuses(
            &format!("{index}; %a = load %x[%j] align 1; store %a, %y[%i]; ret"),
            &[&format!("test cannot do `load.i8x4`: {} (%a = load %x[%j] align 1)", not_affine(on))],
        );
        refuses(
            &format!("{index}; %a = load %x[%i]; store %a, %y[%j + 1] align 1; ret"),
            &[&format!("test cannot do `store.i8x4`: {} (store %a, %y[%j + 1] align 1)", not_affine(on))],
        );
    }
}

#[test]
fn refuses_an_index_that_depends_on_a_branch() {
    refuses(
        "%c = icmp.eq.i32 %n, %w; br_if %c, ^a, ^b\n^a:; br ^c(%n)\n^b:; br ^c(%w)\n^c(%j: i32):; %a = load %x[%j] align 1; store %a, %y[%i]; ret",
        &[&format!(
            "test cannot do `load.i8x4`: {} (%a = load %x[%j] align 1)",
            not_affine("a value that depends on the path taken (`%j`)")
        )],
    );
}

/// The refusal names the initial value of the loop counter as the cause, not the counter itself.
#[test]
fn names_the_initial_value_of_a_counter_as_the_cause() {
    refuses(
        "%s = mul.i32 %i, %i; %one = const.i32 1; %zero = const.i32 0; br ^loop(%zero, %s)\n^loop(%k: i32, %at: i32):; \
         %a = load %x[%at] align 1; %k2 = add.i32 %k, %one; %at2 = add.i32 %at, %one; %c = icmp.lt_s.i32 %k2, %n; \
         br_if %c, ^loop(%k2, %at2), ^done\n^done:; store %a, %y[%i]; ret",
        &[&format!(
            "test cannot do `load.i8x4`: {} (%a = load %x[%at] align 1)",
            not_affine("`mul.i32` (`%s`, a product of two values that differ from item to item)")
        )],
    );
}

#[test]
fn refuses_loops_with_unknown_trip_counts() {
    let unknown = "the trip count of an enclosing loop is not known at launch (%a = load %x[%k])";
    let unknown = format!("test cannot do `load.i8x4`: {unknown}");
    let first = "%zero = const.i32 0; %one = const.i32 1; %two = const.i32 2; %v = load %t[%i]; br ^loop(%zero)\n^loop(%k: i32):; ";
    let last = "\n^done:; store %a, %y[%i]; ret";
    for test in [
        // Loops with a divergent bound, with a step that leaves the trip count unknown, or that may not end.
        "%k2 = add.i32 %k, %one; %c = icmp.lt_s.i32 %k2, %v",
        "%k2 = add.i32 %k, %two; %c = icmp.lt_s.i32 %k2, %n",
        "%k2 = add.i32 %k, %n; %c = icmp.lt_s.i32 %k2, %w",
        "%k2 = sub.i32 %k, %one; %c = icmp.lt_s.i32 %k2, %n",
        "%k2 = add.i32 %k, %one; %c = icmp.ne.i32 %k2, %n",
        "%k2 = add.i32 %k, %one; %c = icmp.eq.i32 %k2, %n",
        "%k2 = add.i32 %k, %one; %c = icmp.ge_u.i32 %k2, %zero",
        "%k2 = add.i32 %k, %one; %s = sad_u.i8x4 %a, %a, %k2; %c = icmp.lt_s.i32 %s, %n",
        "%k2 = add.i32 %k, %one; %m = icmp.lt_s.i8x4 %a, %a; %c = any.i1x4 %m",
    ] {
        refuses(&format!("{first}%a = load %x[%k]; {test}; br_if %c, ^loop(%k2), ^done{last}"), &[&unknown]);
    }
}

#[test]
fn loops_in_loops_of_unknown_trips() {
    let body = "%zero = const.i32 0; %one = const.i32 1; %v = load %t[%i]; br ^outer(%zero)
^outer(%j: i32):
  br ^inner(%zero)
^inner(%k: i32):
  %a = load %x[%k]
  %k2 = add.i32 %k, %one
  %c = icmp.lt_s.i32 %k2, %n
  br_if %c, ^inner(%k2), ^next
^next:
  %j2 = add.i32 %j, %one
  %d = icmp.lt_s.i32 %j2, %v
  br_if %d, ^outer(%j2), ^done
^done:
  store %a, %y[%i]
  ret";
    refuses(
        body,
        &["test cannot do `load.i8x4`: the trip count of an enclosing loop is not known at launch (%a = load %x[%k])"],
    );
    // The trip count of the inner loop is the counter of the outer loop.
    let triangle = body.replace("%k2, %n", "%k2, %j").replace("%j2, %v", "%j2, %n");
    assert_eq!(refusals(BUFFERS, &triangle).len(), 1);
}

#[test]
fn refuses_a_loop_counter_used_after_its_loop() {
    refuses(
        "%zero = const.i32 0; %one = const.i32 1; br ^loop(%zero)
^loop(%k: i32):
  %k2 = add.i32 %k, %one
  %c = icmp.lt_s.i32 %k2, %n
  br_if %c, ^loop(%k2), ^done
^done:
  %a = load %x[%k2] align 1
  store %a, %y[%i]
  ret",
        &[&format!(
            "test cannot do `load.i8x4`: its index depends on the final counter of an earlier loop, {ACROSS} (%a = load %x[%k2] align 1)"
        )],
    );
}

#[test]
fn refuses_a_loop_step_that_differs_between_items() {
    // The step of the second loop is 1 for all items that entered the first loop, and 0 for the other items.
    refuses(
        "%zero = const.i32 0; %one = const.i32 1; %two = const.i32 2; %most = and.i32 %i, %two; br ^apart(%zero)
^apart(%j: i32):
  %j2 = add.i32 %j, %one
  %step = sub.i32 %j2, %j
  %c = icmp.lt_s.i32 %j2, %most
  br_if %c, ^apart(%j2), ^loop(%zero)
^loop(%k: i32):
  %a = load %x[%k]
  %k2 = add.i32 %k, %step
  %d = icmp.lt_s.i32 %k2, %n
  br_if %d, ^loop(%k2), ^done
^done:
  store %a, %y[%i]
  ret",
        &["test cannot do `load.i8x4`: the trip count of an enclosing loop is not known at launch (%a = load %x[%k])"],
    );
}

#[test]
fn refuses_irreducible_and_endless_loops() {
    refuses(
        "%c = icmp.eq.i32 %n, %w; br_if %c, ^a, ^b\n^a:; br ^b\n^b:; %d = icmp.eq.i32 %n, %i; br_if %d, ^a, ^c\n^c:; ret",
        &["test cannot do this: the loop has several entries (irreducible control flow) (^a)"],
    );
    refuses(
        "%c = icmp.eq.i32 %n, %w; br_if %c, ^a, ^b\n^a:; br ^a\n^b:; ret",
        &["test cannot do this: the loop has no exit (^a)"],
    );
}

#[test]
fn refuses_loads_that_overlap_an_earlier_store() {
    let read = "it may overlap an earlier store of the same work item at a different address";
    for (store, load) in [
        // Loads of other bytes of the stored element, loads of another type, and addresses that may
        // equal the stored one.
        ("store %a, %y[%i]", "%b = load.i32 %y[%i] align 1"),
        ("store %a, %y[%i]", "%b = load.i16 %y[%i] step 4 align 1"),
        ("store %a, %y[%n]", "%b = load.i8x4 %y[%w] align 1"),
        ("store %a, %y[%n]", "%b = load.i8x4 %y[%i] align 1"),
        ("store %a, %y[%i]", "%b = load.i16 %y[%j + 1] step 2 align 1"),
    ] {
        let body = format!("%j = add.i32 %i, %i; %a = load %x[%i]; {store}; {load}; ret");
        let op = load.split([' ', '=']).find(|word| word.starts_with("load")).unwrap();
        refuses(&body, &[&format!("test cannot do `{op}`: {read} ({load})")]);
    }
}

#[test]
fn loads_and_stores_of_later_iterations() {
    let kernel = |store: &str, load: &str| {
        format!(
            "%zero = const.i32 0; %one = const.i32 1; %eight = const.i32 8; %row = mul.i32 %i, %eight; %v = load %x[%i]; br ^loop(%zero)
^loop(%k: i32):
  %o = add.i32 %row, %k
  {load}
  {store}
  %k2 = add.i32 %k, %one
  %c = icmp.lt_s.i32 %k2, %n
  br_if %c, ^loop(%k2), ^done
^done:
  ret"
        )
    };
    let read =
        "test cannot do `load.i8x4`: it may overlap an earlier store of the same work item at a different address";
    let write = "test cannot do `store.i8x4`: it may overwrite bytes that another store of the loop writes in a later iteration";
    refuses(
        &kernel("store %v, %y[%o + 1]", "%a = load %y[%o] align 1"),
        &[&format!("{read} (%a = load %y[%o] align 1)")],
    );
    refuses(
        &kernel("store %v, %y[%row]", "%a = load %y[%row] align 1"),
        &[&format!("{read} (%a = load %y[%row] align 1)")],
    );
    // The load in the first iteration returns the value stored before the loop. In later
    // iterations, it returns the value stored in the loop.
    let before = kernel("store %a2, %y[%i]", "%a = load %y[%i] align 1\n  %a2 = add.i8x4 %a, %v");
    let before = before.replace("br ^loop(%zero)", "store %v, %y[%i]; br ^loop(%zero)");
    refuses(&before, &[&format!("{read} (%a = load %y[%i] align 1)")]);
    refuses(
        &kernel("store %v, %y[%o + 1]", "%a = load %x[%o]\n  store %a, %y[%o] align 1"),
        &[&format!("{write} (store %v, %y[%o + 1])")],
    );
}

#[test]
fn refuses_more_streams_than_the_target_has() {
    let text = "kernel @k(%n: i32, %x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %x[%i + 1]
  %c = add.i8x4 %a, %b
  store %c, %y[%i]
  ret
}";
    assert_eq!(
        refusals_of(text, 1),
        ["test cannot do `store.i8x4`: the kernel needs 2 memory streams, but the target has 1 (store %c, %y[%i])"]
    );
    // Both loads access the same elements in the same order, so they share a stream.
    assert!(try_lower(&mut kernel(text), "pack", &vectors(2)).is_ok());
}

#[test]
fn does_not_pack_for_targets_without_vectors() {
    let legality = halfbyte_lower::trial::target(|_, _| false);
    let mut all = kernel("kernel @k(%y: out i32) {\n^entry:\n  %l = local_id\n  store %l, %y[%l]\n  ret\n}");
    assert!(try_lower(&mut all, "pack", &legality).is_ok());
    assert!(all.packing.is_none());
    // A packed kernel is not packed again.
    let mut twice =
        kernel("kernel @k(%y: out i8) {\n^entry:\n  %i = item_id\n  %a = trunc.i8 %i\n  store %a, %y[%i]\n  ret\n}");
    assert!(try_lower(&mut twice, "pack", &vectors(30)).is_ok());
    let once = twice.to_string();
    assert!(try_lower(&mut twice, "pack", &vectors(30)).is_ok());
    assert_eq!(once, twice.to_string());
}
