//! Tests of packing: a packed kernel computes the same results as the kernel before packing. A
//! kernel that cannot be packed is refused with a reason.

use crate::common::kernel;
use crate::common::pack::{same, try_lower, vectors};
use halfbyte_ir::Kernel;

const PASSES: &str = "fold canon gvn canon merge dce pack";

/// Packs a kernel, compares its results with those of the kernel before packing, and returns the packed kernel.
fn packs_by(text: &str, passes: &str, an_item: u32) -> Kernel {
    let before = kernel(text);
    let mut after = before.clone();
    if let Err(refusals) = try_lower(&mut after, passes, &vectors(30)) {
        let reasons: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        panic!("{}\n{before}", reasons.join("\n"));
    }
    assert!(after.packing.is_some());
    let good: usize = (0..4).map(|seed| same(&before, &after, an_item, seed)).sum();
    assert!(good > 20, "{good} launches without a fault\n{before}");
    after
}

/// Packs a kernel that accesses `an_item` elements per item by several pipelines, and compares the results.
fn packs_rows(text: &str, an_item: u32) -> Kernel {
    packs_by(text, "pack", an_item);
    packs_by(text, "pack legalise gvn dce", an_item);
    packs_by(text, PASSES, an_item)
}

fn packs(text: &str) -> Kernel {
    packs_rows(text, 1)
}

fn items(kernel: &Kernel) -> u32 {
    kernel.packing.as_ref().unwrap().items
}

/// Returns a kernel of one block that loads `%a` and `%b` at the item index `%i`, executes `body`, and stores `%r`.
fn straight(element: &str, result: &str, body: &str) -> String {
    format!(
        "kernel @k(%s: {element}, %n: i32, %x: in {element}, %y: in {element}, %z: out {result}) {{
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  {}
  store %r, %z[%i]
  ret
}}",
        body.replace("; ", "\n  ")
    )
}

#[test]
fn words_of_bytes() {
    let body = "%c = add_sat_u.i8x4 %a, %s; %k = const.i8x4 [1, 2, 3, 4]; %d = avg_u.i8x4 %c, %k; \
                %m = icmp.lt_s.i8x4 %d, %b; %e = select.i8x4 %m, %a, %b; %f = mask_expand.i8x4 %m; \
                %g = xor.i8x4 %e, %f; %r = shuffle.i8x4 %g, %a, [3, 5, 1, 4]";
    assert_eq!(items(&packs(&straight("i8x4", "i8x4", body))), 4);
}

#[test]
fn single_bytes() {
    let body = "%c = add.i8 %a, %s; %m = icmp.lt_u.i8 %c, %b; %k = const.i8 77; %d = select.i8 %m, %c, %k; \
                %e = min_s.i8 %d, %b; %q = icmp.eq.i8 %e, %a; %o = or.i1 %m, %q; %f = select.i8 %o, %e, %a; \
                %w = zext.i32 %f; %v = mul.i32 %w, %n; %t = trunc.i8 %v; %r = xor.i8 %t, %f";
    assert_eq!(items(&packs(&straight("i8", "i8", body))), 16);
}

#[test]
fn words_beside_single_bytes() {
    let text = "kernel @k(%x: in i8, %y: in i8x4, %z: out i8x4, %w: out i8) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = splat.i8x4 %a
  %d = add.i8x4 %b, %c
  %e = extract.i8x4 %d, 2
  %f = insert.i8x4 %d, %a, 1
  %g = icmp.gt_s.i8 %e, %a
  %h = select.i8x4 %g, %f, %b
  %m = icmp.gt_s.i8x4 %h, %c
  %o = insert.i1x4 %m, %g, 3
  %p = extract.i1x4 %o, 3
  %q = select.i8 %p, %e, %a
  %t = splat.i1x4 %p
  %u = and.i1x4 %t, %m
  %v = select.i8x4 %u, %h, %c
  store %v, %z[%i]
  store %q, %w[%i]
  ret
}";
    assert_eq!(items(&packs(text)), 16);
}

#[test]
fn words_of_single_bytes() {
    let text = "kernel @k(%r: in i8, %g: in i8, %b: in i8, %y: out i8x4, %z: out i8) {
^entry:
  %i = item_id
  %red = load %r[%i]
  %green = load %g[%i]
  %blue = load %b[%i]
  %alpha = const.i8 255
  %w = concat.i8x4 %red, %green, %blue, %alpha
  %v = avg_u.i8x4 %w, %w
  store %v, %y[%i]
  %o = split.i8 %v, 2
  %p = extract.i8x4 %v, 1
  %q = add.i8 %o, %p
  store %q, %z[%i]
  ret
}";
    let packed = packs(text);
    assert!(!packed.to_string().contains("concat"), "{packed}");
}

#[test]
fn packs_ops_item_by_item() {
    let body = "%c = bitcast.i32 %a; %d = mul.i32 %c, %n; %e = add.i32 %d, %i; %f = bitcast.i8x4 %e; \
                %g = sub.i8x4 %f, %b; %h = extract.i8x4 %g, 3; %j = sext.i32 %h; %k = sad_u.i8x4 %g, %a, %j; \
                %l = reduce_max_s.i8x4 %g; %o = insert.i8x4 %g, %l, 2; %p = bitcast.i32 %o; \
                %q = reduce_add_s.i8x4 %b; %u = xor.i32 %p, %q; %r = add.i32 %u, %k";
    assert_eq!(items(&packs(&straight("i8x4", "i32", body))), 4);
    let body = "%c = icmp.lt_s.i32 %a, %b; %d = select.i32 %c, %a, %s; %e = mul_hi_u.i32 %d, %b; %r = add.i32 %e, %i";
    assert_eq!(items(&packs(&straight("i32", "i32", body))), 1);
    let body = "%c = fadd.f16x2 %a, %b; %r = fmul.f16x2 %c, %s";
    assert_eq!(items(&packs(&straight("f16x2", "f16x2", body))), 1);
    let body = "%c = add_sat_u.i8x16 %a, %b; %w = split.i8x4 %c, 2; %v = add.i8x4 %w, %w; \
                %r = concat.i8x16 %v, %w, %v, %w";
    assert_eq!(items(&packs(&straight("i8x16", "i8x16", body))), 4);
}

#[test]
fn conditions_of_items_choose_words() {
    let body = "%w = bitcast.i32 %b; %c = icmp.lt_s.i32 %w, %n; %d = select.i8x4 %c, %a, %b; \
                %m = icmp.eq.i8x4 %d, %a; %t = any.i1x4 %m; %u = all.i1x4 %m; %v = xor.i1 %t, %u; \
                %e = select.i8x4 %v, %s, %d; %o = select.i1x4 %c, %m, %m; %p = splat.i1x4 %t; \
                %q = xor.i1x4 %o, %p; %f = select.i8x4 %q, %e, %a; %g = extract.i1x4 %q, 1; \
                %h = insert.i1x4 %q, %g, 2; %r = select.i8x4 %h, %f, %b";
    packs(&straight("i8x4", "i8x4", body));
}

#[test]
fn computes_uniform_values_once() {
    let text = "kernel @k(%n: i32, %s: i8x4, %t: in i8x4, %c: in i8, %x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %j = add.i32 %n, %n
  %a = load %t[%j + 1]
  %b = add.i8x4 %a, %s
  %e = load %c[3]
  %f = splat.i8x4 %e
  %v = load %x[%i]
  %p = icmp.lt_u.i32 %n, %j
  %q = select.i8x4 %p, %b, %v
  %w = max_u.i8x4 %q, %b
  %m = icmp.lt_u.i8x4 %b, %f
  %z = select.i8x4 %m, %w, %f
  store %z, %y[%i]
  ret
}";
    let packed = packs(text);
    assert_eq!(items(&packed), 4);
    let text = packed.to_string();
    assert!(
        text.contains("uniform in i8x4 of %t, 4 bytes at 8 * %n + 0 offset 4") || text.contains("uniform"),
        "{text}"
    );
}

#[test]
fn words_are_loaded_as_they_are_used() {
    let sad = straight("i8x4", "i32", "%k = const.i32 7; %r = sad_u.i8x4 %a, %b, %k");
    assert!(packs(&sad).to_string().contains("in i8x4 of %x"));
    let bytes =
        straight("i32", "i32", "%c = bitcast.i8x4 %a; %d = bitcast.i8x4 %b; %e = add.i8x4 %c, %d; %r = bitcast.i32 %e");
    let packed = packs(&bytes).to_string();
    assert!(packed.contains("in i8x16 of %x") && packed.contains("out i8x16 of %z"), "{packed}");
    assert!(!packed.contains("split"), "{packed}");
}

#[test]
fn addresses_are_affine() {
    let text = "kernel @k(%w: i32, %x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %n = item_count
  %a = load %x[%i + 2]
  %two = const.i32 2
  %j = shl.i32 %i, %two
  %j2 = sub.i32 %j, %w
  %j3 = add.i32 %j2, %w
  %b = load %x[%j3]
  %k = const.i32 3
  %l = mul.i32 %w, %k
  %m = add.i32 %l, %i
  %c = load %x[%m]
  %o = sub.i32 %n, %i
  %d = load %x[%o]
  %p = neg.i32 %i
  %q = add.i32 %p, %n
  %e = load %x[%q - 1]
  %s = add.i8x4 %a, %b
  %t = xor.i8x4 %c, %d
  %u = sub.i8x4 %s, %t
  %v = min_u.i8x4 %u, %e
  store %v, %y[%i]
  ret
}";
    packs_rows(text, 5);
}

#[test]
fn accesses_of_other_types_and_steps() {
    let text = "kernel @k(%x: in i8, %h: in i16, %y: out i16, %z: out i8x4) {
^entry:
  %i = item_id
  %a = load.i8x4 %x[%i] step 4 align 4
  %b = load.i16 %h[%i]
  %c = load.i8x4 %x[%i + 1] step 8 align 1
  %d = add.i8x4 %a, %c
  %e = zext.i32 %b
  %f = bitcast.i32 %d
  %g = add.i32 %e, %f
  %t = trunc.i16 %g
  store %t, %y[%i]
  store %d, %z[%i]
  ret
}";
    packs_rows(text, 9);
}

#[test]
fn varying_branches_become_selects() {
    let text = "kernel @k(%x: in i8x4, %v: in i32, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %v[%i]
  %zero = const.i32 0
  %c = icmp.lt_s.i32 %b, %zero
  br_if %c, ^then(%a), ^else
^then(%p: i8x4):
  %q = add.i8x4 %p, %p
  %five = const.i32 5
  %d = icmp.lt_s.i32 %b, %five
  br_if %d, ^inner, ^join(%q)
^inner:
  %r = not.i8x4 %q
  br ^join(%r)
^else:
  %s = avg_u.i8x4 %a, %a
  switch %b, ^join(%s), [0: ^join(%a), 1: ^join(%s), 7: ^last]
^last:
  %t = neg.i8x4 %a
  br ^join(%t)
^join(%u: i8x4):
  store %u, %y[%i]
  ret
}";
    let packed = packs(text);
    assert_eq!(packed.layout.len(), 1, "{packed}");
}

#[test]
fn accesses_under_conditions_are_guarded() {
    let text = "kernel @k(%n: i32, %x: in i8x4, %v: in i32, %t: in i32, %y: out i8x4, %z: out i32) {
^entry:
  %i = item_id
  %b = load %v[%i]
  %zero = const.i32 0
  %c = icmp.lt_s.i32 %b, %zero
  br_if %c, ^then, ^else
^then:
  %a = load %x[%i + 3]
  store %a, %y[%i]
  br ^join(%b)
^else:
  %d = icmp.lt_s.i32 %b, %n
  br_if %d, ^mid, ^join(%zero)
^mid:
  %e = load %t[%n]
  br ^join(%e)
^join(%f: i32):
  %g = icmp.lt_u.i32 %n, %i
  br_if %g, ^early, ^late
^early:
  ret
^late:
  store %f, %z[%i]
  ret
}";
    packs(text);
}

#[test]
fn single_bytes_under_conditions() {
    let text = "kernel @k(%n: i8, %x: in i8, %t: in i8, %y: out i8, %z: out i32) {
^entry:
  %i = item_id
  %b = load %x[%i]
  %c = icmp.lt_s.i8 %b, %n
  br_if %c, ^then, ^else(%b)
^then:
  %a = load %x[%i + 3]
  store %a, %y[%i]
  %d = icmp.lt_s.i8 %a, %b
  %e = load %t[5]
  br_if %d, ^else(%e), ^join(%a)
^else(%p: i8):
  %q = sext.i32 %p
  store %q, %z[%i]
  br ^join(%p)
^join(%f: i8):
  %g = add.i8 %f, %f
  %h = icmp.eq.i8 %g, %n
  br_if %h, ^end, ^more
^more:
  %k = sext.i32 %g
  store %k, %z[%i]
  br ^end
^end:
  ret
}";
    packs(text);
}

#[test]
fn uniform_branches_stay() {
    let text = "kernel @k(%n: i32, %x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %four = const.i32 4
  %c = icmp.lt_s.i32 %n, %four
  br_if %c, ^then, ^join(%a)
^then:
  %q = mul.i8x4 %a, %a
  br ^join(%q)
^join(%u: i8x4):
  store %u, %y[%i]
  ret
}";
    let packed = packs(text);
    assert!(packed.to_string().contains("br_if"), "{packed}");
}

#[test]
fn uniform_branches_around_accesses_guard_them() {
    let text = "kernel @k(%n: i32, %x: in i8x4, %t: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %four = const.i32 4
  %c = icmp.lt_s.i32 %n, %four
  br_if %c, ^then, ^join(%a)
^then:
  %b = load %t[%n]
  %q = add.i8x4 %a, %b
  br ^join(%q)
^join(%u: i8x4):
  %two = const.i32 2
  %d = icmp.lt_s.i32 %n, %two
  br_if %d, ^store, ^end
^store:
  store %u, %y[%i]
  br ^end
^end:
  ret
}";
    let packed = packs(text);
    assert!(packed.to_string().contains("uniform out i32"), "{packed}");
}

/// Returns a kernel with a loop. `body` reads the loop parameters `%k` and `%acc` and defines `%next`.
fn looped(head: &str, body: &str, test: &str) -> String {
    format!(
        "kernel @k(%n: i32, %w: i32, %x: in i8x4, %v: in i32, %y: out i8x4, %z: out i32) {{
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %first = const.i8x4 0
  {head}
  br ^head(%start, %first)
^head(%k: i32, %acc: i8x4):
  {body}
  {test}
^done(%sum: i8x4):
  store %sum, %y[%i]
  ret
}}"
    )
}

#[test]
fn counted_loops() {
    let body = "%o = add.i32 %i, %k
  %a = load %x[%o + 1]
  %next = add.i8x4 %acc, %a";
    for (start, step, bound, cc) in [
        ("const.i32 0", "1", "%n", "lt_s"),
        ("const.i32 0", "1", "%n", "lt_u"),
        ("const.i32 2", "1", "%n", "lt_u"),
        ("const.i32 1", "1", "%n", "le_s"),
        ("const.i32 0", "1", "%n", "le_u"),
        ("const.i32 0", "1", "%n", "ne"),
        ("const.i32 3", "3", "%twenty", "lt_s"),
        ("const.i32 3", "4", "%three", "ne"),
        ("const.i32 20", "-2", "%three", "gt_u"),
        ("add.i32 %n, %one", "-1", "%zero", "gt_s"),
        ("add.i32 %n, %one", "-1", "%zero", "ne"),
        ("add.i32 %n, %zero", "-1", "%zero", "gt_u"),
        ("add.i32 %n, %zero", "-1", "%three", "ge_s"),
        ("add.i32 %n, %zero", "1", "%both", "lt_s"),
        ("add.i32 %n, %zero", "1", "%both", "ne"),
    ] {
        let head = format!(
            "%start = {start}\n  %step = const.i32 {step}\n  %three = const.i32 3\n  %twenty = const.i32 20\n  %both = add.i32 %n, %w"
        );
        let top = looped(
            &head,
            &format!("%c = icmp.{cc}.i32 %k, {bound}\n  br_if %c, ^body, ^done(%acc)\n^body:"),
            &format!("{body}\n  %k2 = add.i32 %k, %step\n  br ^head(%k2, %next)"),
        );
        if (step, cc) != ("4", "ne") {
            packs_rows(&top, 1);
        }
        let bottom = looped(
            &head,
            body,
            &format!(
                "%k2 = add.i32 %k, %step\n  %c = icmp.{cc}.i32 %k2, {bound}\n  br_if %c, ^head(%k2, %next), ^done(%next)"
            ),
        );
        if cc == "ne" || (step, cc) == ("-1", "gt_u") {
            // The loop has 2^32 iterations if the counter starts at the bound.
            let refusals = try_lower(&mut kernel(&bottom), "pack", &vectors(30)).unwrap_err();
            assert!(refusals[0].to_string().contains("trip count"));
        } else {
            packs_rows(&bottom, 1);
        }
        // The same loop with the opposite exit condition and exchanged branch targets.
        let swapped = looped(
            &head,
            &format!("%c = icmp.{cc}.i32 %k, {bound}\n  %m = not.i1 %c\n  br_if %m, ^done(%acc), ^body\n^body:"),
            &format!("{body}\n  %k2 = add.i32 %k, %step\n  br ^head(%k2, %next)"),
        );
        if (step, cc) != ("4", "ne") {
            packs_by(&swapped, PASSES, 1);
        }
    }
}

#[test]
fn nested_loops_and_strides_by_parameters() {
    let text = "kernel @k(%n: i32, %w: i32, %x: in i8x4, %y: out i8x4, %z: inout i8x4) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %five = const.i32 5
  %none = const.i8x4 0
  %size = mul.i32 %i, %five
  br ^rows(%zero, %none, %zero)
^rows(%r: i32, %acc: i8x4, %at: i32):
  %c = icmp.lt_s.i32 %r, %n
  br_if %c, ^row, ^done
^row:
  %rw = mul.i32 %r, %w
  br ^columns(%zero, %acc)
^columns(%q: i32, %sum: i8x4):
  %o = add.i32 %rw, %q
  %p = add.i32 %o, %i
  %a = load %x[%p]
  %b = add.i32 %at, %q
  %e = load %x[%b + 2]
  %f = sub.i8x4 %a, %e
  %g = add.i8x4 %sum, %f
  %h = add.i32 %size, %q
  %j = load %z[%h]
  %l = xor.i8x4 %j, %g
  store %l, %z[%h]
  %q2 = add.i32 %q, %one
  %d = icmp.lt_u.i32 %q2, %five
  br_if %d, ^columns(%q2, %g), ^next
^next:
  %at2 = add.i32 %at, %w
  %r2 = add.i32 %r, %one
  br ^rows(%r2, %g, %at2)
^done:
  store %acc, %y[%i]
  ret
}";
    let before = kernel(text);
    // A later row of items loads the stored values, and only a window preserves this order.
    let mut after = before.clone();
    assert_eq!(try_lower(&mut after, "pack", &vectors(30)), Ok(()));
    assert!(after.to_string().contains("whole inout i8x4 of %z"), "{after}");
    packs_rows(&text.replace("%j = load %z[%h]", "%j = load %x[%h]"), 8);
}

#[test]
fn packs_loops_with_divergent_exits() {
    for test in [
        // Loops with the exit test at the start, at the end, and in the middle, and a loop with two exit tests.
        "%c = icmp.lt_s.i32 %k, %bound
  br_if %c, ^body, ^done(%acc)
^body:
  %next = add.i8x4 %acc, %a
  %k2 = add.i32 %k, %one
  br ^head(%k2, %next)",
        "%next = add.i8x4 %acc, %a
  %k2 = add.i32 %k, %one
  %c = icmp.lt_s.i32 %k2, %bound
  br_if %c, ^head(%k2, %next), ^done(%next)",
        "%next = add.i8x4 %acc, %a
  %k2 = add.i32 %k, %one
  %m = icmp.lt_u.i8x4 %next, %a
  %any = any.i1x4 %m
  br_if %any, ^done(%next), ^more
^more:
  %other = xor.i8x4 %next, %first
  %c = icmp.lt_s.i32 %k2, %bound
  br_if %c, ^head(%k2, %other), ^done(%acc)",
        "%d = icmp.lt_s.i32 %k, %n
  br_if %d, ^one, ^done(%first)
^one:
  %two = const.i32 3
  %e = and.i32 %k, %two
  %f = icmp.eq.i32 %e, %zero
  %next = add.i8x4 %acc, %a
  %k2 = add.i32 %k, %one
  br_if %f, ^head(%k2, %next), ^two
^two:
  %c = icmp.lt_s.i32 %k, %bound
  br_if %c, ^head(%k2, %acc), ^done(%next)",
    ] {
        let text = looped(
            "%start = const.i32 0
  %a = load %x[%i]
  %l = load %v[%i]
  %mask = const.i32 15
  %bound = and.i32 %l, %mask",
            test,
            "",
        );
        packs(&text);
    }
}

/// Returns a kernel with two loops. Items leave the first loop in different iterations. The second
/// loop contains loads and depends on values of the first one.
fn after_a_loop(inside: &str, step: &str, bound: &str) -> String {
    format!(
        "kernel @k(%n: i32, %x: in i8x4, %z: out i8x4) {{
^entry:
  %i = item_id
  %three = const.i32 3
  %most = and.i32 %i, %three
  %zero = const.i32 0
  br ^apart(%zero)
^apart(%j: i32):
  {inside}
  %j2 = add.i32 %j, %one
  %c = icmp.lt_s.i32 %j2, %most
  br_if %c, ^apart(%j2), ^start
^start:
  %first = const.i8x4 0
  br ^head(%zero, %first)
^head(%k: i32, %acc: i8x4):
  %o = add.i32 %i, %k
  %a = load %x[%o]
  %next = xor.i8x4 %acc, %a
  %k2 = add.i32 %k, {step}
  %d = icmp.lt_s.i32 %k2, {bound}
  br_if %d, ^head(%k2, %next), ^done
^done:
  store %next, %z[%i]
  ret
}}"
    )
}

#[test]
fn packs_counted_loops_after_divergent_loops() {
    // Each `step` and `bound` is loop-invariant in the first loop, so packing computes it before that loop.
    for (inside, step, bound) in [
        ("%one = const.i32 1", "%one", "%n"),
        ("%one = const.i32 1\n  %m = add.i32 %n, %one", "%one", "%m"),
        ("%one = const.i32 1\n  br ^in(%one)\n^in(%p: i32):\n  %m = shl.i32 %n, %one", "%one", "%m"),
    ] {
        let packed = packs(&after_a_loop(inside, step, bound));
        assert!(!packed.to_string().contains("select"), "{packed}");
    }
}

#[test]
fn hoists_invariant_values_out_of_nested_loops() {
    let inside = "%two = const.i32 2
  %l = sub.i32 %two, %j
  br ^inner(%l)
^inner(%q: i32):
  %one = const.i32 1
  %m = add.i32 %n, %one
  %q2 = add.i32 %q, %one
  %f = icmp.lt_s.i32 %q2, %most
  br_if %f, ^inner(%q2), ^outer
^outer:";
    packs(&after_a_loop(inside, "%one", "%m"));
}

#[test]
fn counted_loops_that_are_left_early() {
    for test in ["%m = icmp.lt_u.i8x4 %a, %acc\n  %any = any.i1x4 %m", "%any = icmp.eq.i32 %k, %w"] {
        let text = looped(
            "%start = const.i32 0",
            &format!(
                "%c = icmp.lt_s.i32 %k, %n
  br_if %c, ^body, ^done(%acc)
^body:
  %o = add.i32 %i, %k
  %a = load %x[%o]
  {test}
  br_if %any, ^done(%a), ^more
^more:
  %next = add.i8x4 %acc, %a
  %k2 = add.i32 %k, %one
  br ^head(%k2, %next)"
            ),
            "",
        );
        packs(&text);
    }
}

#[test]
fn accesses_on_both_sides_of_a_test() {
    let text = looped(
        "%start = const.i32 0",
        "%o = add.i32 %i, %k
  %a = load %x[%o]
  %c = icmp.lt_s.i32 %k, %n
  br_if %c, ^body, ^done(%a)
^body:
  %b = load %v[%o]
  %m = bitcast.i8x4 %b
  %p = add.i8x4 %a, %m
  %next = add.i8x4 %acc, %p
  %k2 = add.i32 %k, %one
  br ^head(%k2, %next)",
        "",
    );
    packs(&text);
}

#[test]
fn loops_in_branches_and_branches_in_loops() {
    let text = "kernel @k(%n: i32, %x: in i8x4, %v: in i32, %y: out i8x4, %z: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %none = const.i8x4 0
  %a = load %x[%i]
  %b = load %v[%i]
  %c = icmp.gt_s.i32 %b, %zero
  br_if %c, ^loop(%zero, %a, %zero), ^join(%none, %one)
^loop(%k: i32, %acc: i8x4, %found: i32):
  %o = add.i32 %i, %k
  %d = load %v[%o]
  %e = icmp.lt_s.i32 %d, %b
  br_if %e, ^less, ^more
^less:
  %f = add.i8x4 %acc, %a
  br ^next(%f, %found)
^more:
  %g = load %x[%o + 1]
  %h = avg_u.i8x4 %g, %acc
  br ^next(%h, %k)
^next(%p: i8x4, %q: i32):
  %k2 = add.i32 %k, %one
  %r = icmp.lt_s.i32 %k2, %n
  br_if %r, ^loop(%k2, %p, %q), ^join(%p, %q)
^join(%s: i8x4, %t: i32):
  store %s, %y[%i]
  store %t, %z[%i]
  ret
}";
    packs(text);
}

#[test]
fn packs_divergent_loops_in_divergent_loops() {
    let text = "kernel @k(%n: i32, %x: in i8x4, %v: in i32, %y: out i8x4, %z: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %seven = const.i32 7
  %a = load %x[%i]
  %l = load %v[%i]
  %b = and.i32 %l, %seven
  br ^outer(%zero, %a)
^outer(%k: i32, %acc: i8x4):
  %s = add.i32 %k, %b
  %t = and.i32 %s, %seven
  br ^inner(%t, %acc)
^inner(%m: i32, %p: i8x4):
  %u = add.i8x4 %p, %a
  %m2 = sub.i32 %m, %one
  %lt = icmp.eq.i32 %m2, %n
  br_if %lt, ^leave(%u), ^stay
^stay:
  %c = icmp.gt_s.i32 %m2, %zero
  br_if %c, ^inner(%m2, %u), ^after
^after:
  %k2 = add.i32 %k, %one
  %d = icmp.lt_s.i32 %k2, %b
  br_if %d, ^outer(%k2, %u), ^leave(%acc)
^leave(%r: i8x4):
  store %r, %y[%i]
  store %m2, %z[%i]
  ret
}";
    packs(text);
}

#[test]
fn stored_values_are_forwarded() {
    let text = "kernel @k(%x: in i8x4, %v: in i32, %y: inout i8x4, %z: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %old = load %y[%i]
  store %a, %y[%i]
  %b = load %y[%i]
  %c = add.i8x4 %b, %old
  %l = load %v[%i]
  %zero = const.i32 0
  %e = icmp.lt_s.i32 %l, %zero
  br_if %e, ^then, ^join
^then:
  store %c, %y[%i]
  %d = load %y[%i]
  %f = not.i8x4 %d
  store %f, %z[%i]
  br ^join
^join:
  %g = load %y[%i]
  %h = sub.i8x4 %g, %a
  store %h, %z[%i]
  ret
}";
    packs(text);
}

#[test]
fn traps_are_those_of_the_items() {
    let text = "kernel @k(%n: i32, %x: in i8x4, %v: in i32, %y: out i8x4) {
^entry:
  %i = item_id
  %l = load %v[%i + 60]
  %a = load %x[%i + 50]
  %zero = const.i32 0
  %e = icmp.lt_s.i32 %l, %zero
  br_if %e, ^then, ^join(%a)
^then:
  %seven = const.i32 7
  %j = mul.i32 %i, %seven
  %b = load %x[%j]
  br ^join(%b)
^join(%c: i8x4):
  store %c, %y[%j2]
  ret
}"
    .replace("%zero = const", "%j2 = add.i32 %i, %n\n  %zero = const");
    let before = kernel(&text);
    let mut after = before.clone();
    assert!(try_lower(&mut after, "pack", &vectors(30)).is_ok());
    for seed in 0..40 {
        same(&before, &after, 1, seed);
    }
}

/// Tests branches whose condition is uniform for all items that reach the branch, but differs for the other items.
#[test]
fn packs_branches_that_only_some_items_reach() {
    let before = kernel(include_str!("kernels/branches_of_some_items.hb"));
    for passes in ["pack", "fold canon gvn canon merge dce pack legalise gvn dce"] {
        let mut after = before.clone();
        assert_eq!(try_lower(&mut after, passes, &vectors(1000)), Ok(()), "{passes}");
        assert!(same(&before, &after, 8, 1) > 0);
    }
}
