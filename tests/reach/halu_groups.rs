//! HALU kernels from which collective instructions, accesses to declared arrays and atomic operations are generated.

/// Returns a kernel that loads from and stores to an array, by the name of the array and at a computed address.
fn array(space: &str, ty: &str, bytes: u32) -> String {
    format!(
        "kernel @k(%x: in {ty}, %y: out {ty}) {{\n  {space} %s: {ty}[8]\n^entry:\n  %l = local_id\n  %a = load %x[%l]\n  \
         store %a, %s[%l]\n  %b = load %s[%l]\n  %k = const.i32 {bytes}\n  %d = mul_wide_u.i32 %l, %k\n  %p = ptr_add %s, %d\n  \
         store.{ty} %b, %p\n  %c = load.{ty} %p\n  store %c, %y[%l]\n  ret\n}}\n\
         ; run: halu: @k grid=1 block=4 x=random(4, 1) y=zeros(4)\n"
    )
}

/// Returns a kernel with an atomic operation on shared memory. `at` is its address.
fn atomic(op: &str, order: &str, ty: &str, bytes: u32, at: &str) -> String {
    let operands = if op == "atomic_compare_exchange" { "%a, %a" } else { "%a" };
    format!(
        "kernel @k(%x: in {ty}, %y: out {ty}, %z: out {ty}) {{\n  shared %s: {ty}[8]\n^entry:\n  %l = local_id\n  %a = load %x[%l]\n  \
         store %a, %s[%l]\n  %k = const.i32 {bytes}\n  %d = mul_wide_u.i32 %l, %k\n  %p = ptr_add %s, %d\n  \
         %b = {op}{order}.{ty} {operands}, {at}\n  %c = load %s[%l]\n  store %b, %y[%l]\n  store %c, %z[%l]\n  ret\n}}\n\
         ; run: halu: @k grid=1 block=4 x=random(4, 1) y=zeros(4) z=zeros(4)\n"
    )
}

/// Returns a kernel with strong loads and stores. `at` is their address.
fn ordered(load: &str, store: &str, at: &str) -> String {
    format!(
        "kernel @k(%x: in i32, %y: out i32) {{\n  shared %s: i32[8]\n^entry:\n  %l = local_id\n  %a = load %x[%l]\n  \
         %k = const.i32 4\n  %d = mul_wide_u.i32 %l, %k\n  %p = ptr_add %s, %d\n  atomic_store{store}.i32 %a, {at}\n  \
         %b = atomic_load{load}.i32 {at}\n  store %b, %y[%l]\n  ret\n}}\n\
         ; run: halu: @k grid=1 block=4 x=random(4, 1) y=zeros(4)\n"
    )
}

/// A kernel with fences, and with collective ops all of whose operands are in registers.
const REGISTERS: &str = "\
kernel @k(%x: in i64, %t: i1, %i: i32, %n: i32, %m: i32, %y: out i32) {
  shared %s: i32[4]
^entry:
  %l = local_id
  %one = const.i32 1
  %all = const.i32 15
  %v = load %x[%l]
  %p = icmp.eq.i32 %l, %one
  %q = not.i1 %t
  barrier %i
  barrier %i, %n
  barrier_arrive %i, %n
  %a = barrier_count %q, %i
  %b = barrier_count %p, %i, %n
  %c = barrier_all %q, %i
  %d = barrier_any %p, %i, %n
  subgroup_barrier %m
  %e = vote_any %q, %m
  %f = ballot %p, %m
  %g = match_any.i32 %l, %m
  %h = match_all.i64 %v, %m
  %j = subgroup_reduce_add %l, %m
  %k = elect %all
  %o = subgroup_shuffle.i32 %l, %one, %n, %m
  fence.acq_rel.group
  fence.seq_cst.system
  fence.acq_rel.device
  %r1 = add.i32 %a, %b
  %r2 = add.i32 %f, %g
  %r3 = add.i32 %h, %j
  %r4 = add.i32 %r1, %r2
  %r5 = add.i32 %r3, %r4
  %s1 = select.i32 %c, %r5, %r4
  %s2 = select.i32 %d, %s1, %r3
  %s3 = select.i32 %e, %s2, %r2
  %s4 = select.i32 %k, %s3, %o
  store %s4, %y[%l]
  ret
}
; run: halu: @k grid=1 block=4 t=0 i=3 n=32 m=15 x=[5, 5, 5, 5] y=zeros(4)
";

/// Returns all kernels of this file.
pub fn kernels() -> Vec<String> {
    let mut all = vec![REGISTERS.to_owned()];
    for (ty, bytes) in [("i8", 1), ("i16", 2), ("i32", 4), ("i64", 8), ("i8x16", 16)] {
        all.extend(["shared", "scratch"].map(|space| array(space, ty, bytes)));
    }
    let integers = ["add", "min_s", "min_u", "max_s", "and", "or", "xor", "exchange", "compare_exchange"];
    let wide = integers.map(|op| (op, "i64", 8));
    let narrow = integers.into_iter().chain(["inc", "dec"]).map(|op| (op, "i32", 4));
    let sums = [("f16", 2), ("bf16", 2), ("f16x2", 4), ("bf16x2", 4), ("f32", 4), ("f64", 8)];
    let sums = sums.map(|(ty, bytes)| ("fadd", ty, bytes));
    let broad = ["exchange", "compare_exchange"].map(|op| (op, "i8x16", 16));
    let ops = narrow.chain(wide).chain([("compare_exchange", "i16", 2)]).chain(sums).chain(broad);
    let orders = ["", ".acquire.group", ".release.system", ".acq_rel"];
    for ((op, ty, bytes), order) in ops.zip(orders.into_iter().cycle()) {
        let name = format!("atomic_{op}");
        all.extend(["%s[%l]", "%p"].map(|at| atomic(&name, order, ty, bytes, at)));
    }
    for (load, store) in [("", ""), (".acquire.group", ".release.group"), (".acquire.system", ".release.system")] {
        all.extend(["%s[%l]", "%p"].map(|at| ordered(load, store, at)));
    }
    all
}
