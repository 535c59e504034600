//! Tests of kernels with cooperating items: the result of each op, and each invalid barrier or collective operation.

use halfbyte_abi::cooperative::{SharedLocation, SyncError};
use halfbyte_abi::{Shape, ShapeError};
use halfbyte_ir::eval::{Arg, ArgError, Fault, Launch, Prepared, TrapKind};
use halfbyte_ir::{Kernel, text};

fn kernel(source: &str) -> Kernel {
    match text::read(source) {
        Ok(mut module) => module.kernels.remove(0),
        Err(list) => panic!("{source}\n{list:?}"),
    }
}

/// Returns the text of a kernel with one buffer of 32-bit words, `%y`. The kernel has the given
/// array declarations and statements.
fn around(arrays: &str, body: &str) -> String {
    let lines = |text: &str| text.split("; ").map(|line| format!("  {}\n", line.trim())).collect::<String>();
    let arrays = if arrays.is_empty() { String::new() } else { lines(arrays) };
    let common = "%l = local_id; %lane = lane_id; %i = item_id; %zero = const.i32 0; %one = const.i32 1; %two = const.i32 2; \
                  %all = const.i32 -1; %seg = const.i32 31; %n32 = const.i32 32; %odd = and.i32 %l, %one; \
                  %p = icmp.ne.i32 %odd, %zero; %first = icmp.eq.i32 %l, %zero";
    let blocks: Vec<&str> = body.split(" | ").collect();
    let mut text = format!("kernel @k(%y: inout i32) {{\n{arrays}^entry:\n{}", lines(common));
    for (number, block) in blocks.into_iter().enumerate() {
        match (number, block.split_once(": ")) {
            (0, _) => text += &lines(block),
            (_, Some((label, rest))) => text += &format!("^{label}:\n{}", lines(rest)),
            (_, None) => panic!("{block}"),
        }
    }
    text + "}\n"
}

/// Returns the 32-bit words of `%y` after a launch.
fn words(source: &str, shape: impl Into<Shape>, before: &[u32]) -> Result<Vec<u32>, Fault> {
    let kernel = kernel(source);
    let mut bytes: Vec<u8> = before.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut args = [Arg::Buffer { base: 1 << 40, bytes: &mut bytes }];
    Prepared::new(&kernel).run(&Launch::new(shape), &mut args)?;
    Ok(bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect())
}

/// Returns the value of `%r` for each item of one group.
fn results(arrays: &str, body: &str, items: u32) -> Vec<u32> {
    let source = around(arrays, &format!("{body}; store %r, %y[%l]; ret"));
    words(&source, (1, items), &vec![0; items as usize]).unwrap_or_else(|fault| panic!("{source}: {fault}"))
}

/// Runs a kernel that traps. Returns the item, the kind of the trap, and the source text of the trapping instruction.
fn trap(source: &str, shape: impl Into<Shape>) -> (u32, TrapKind, String) {
    match words(source, shape, &[0; 64]) {
        Err(Fault::Trap(trap)) => {
            let covered = &source[trap.span.start as usize..trap.span.end as usize];
            (trap.item, trap.kind, covered.to_owned())
        }
        other => panic!("{source}: {other:?}"),
    }
}

#[test]
fn barriers_count_items_and_vote() {
    assert_eq!(results("", "%r = barrier_count %p", 5), [2; 5]);
    assert_eq!(results("", "%c = barrier_all %p; %r = select.i32 %c, %one, %zero", 3), [0; 3]);
    assert_eq!(
        results(
            "",
            "%q = not.i1 %first; %t = or.i1 %q, %first; %c = barrier_all %t, %two; %r = select.i32 %c, %one, %zero",
            3
        ),
        [1; 3]
    );
    assert_eq!(
        results("", "%c = barrier_any.unaligned %first, %two, %n32; %r = select.i32 %c, %one, %zero", 32),
        [1; 32]
    );
}

#[test]
fn subgroups_know_their_lanes() {
    let expected: Vec<u32> = (0..40).map(|l| l / 32 * 100 + l % 32).collect();
    assert_eq!(
        results("", "%s = subgroup_id; %h = const.i32 100; %t = mul.i32 %s, %h; %r = add.i32 %t, %lane", 40),
        expected
    );
}

#[test]
fn values_go_from_lane_to_lane() {
    let of = |op: &str, by: &str| results("", &format!("%r = subgroup_{op}.i32 %l, {by}, %seg, %all"), 8);
    assert_eq!(of("shuffle", "%two"), [2; 8]);
    assert_eq!(of("shuffle_xor", "%one"), [1, 0, 3, 2, 5, 4, 7, 6]);
    assert_eq!(
        results("", "%seg0 = const.i32 0; %r = subgroup_shuffle_up.i32 %l, %two, %seg0, %all", 5),
        [0, 1, 0, 1, 2]
    );
    assert_eq!(
        results("", "%s4 = const.i32 0x1c1f; %r = subgroup_shuffle_down.i32 %l, %two, %s4, %all", 8),
        [2, 3, 2, 3, 6, 7, 6, 7]
    );
    let halves = "%c = const.f16x2 [1.0, 2.0]; %d = const.f16x2 [3.0, 4.0]; %v = select.f16x2 %p, %d, %c; \
                  %w = subgroup_shuffle_xor.f16x2 %v, %one, %seg, %all; %r = bitcast.i32 %w";
    assert_eq!(results("", halves, 2), [0x4400_4200, 0x4000_3c00]);
}

#[test]
fn lanes_vote_match_and_reduce() {
    let truth = |op: &str| results("", &format!("%c = {op} %p, %all; %r = select.i32 %c, %one, %zero"), 4);
    assert_eq!(truth("vote_all"), [0; 4]);
    assert_eq!(truth("vote_any"), [1; 4]);
    assert_eq!(truth("vote_uniform"), [0; 4]);
    assert_eq!(results("", "%r = ballot %p, %all", 6), [0b10_1010; 6]);
    assert_eq!(results("", "%r = match_any.i32 %odd, %all", 4), [0b0101, 0b1010, 0b0101, 0b1010]);
    assert_eq!(results("", "%w = zext.i64 %one; %r = match_all.i64 %w, %all", 3), [0b111; 3]);
    assert_eq!(results("", "%r = match_all.i32 %odd, %all", 3), [0; 3]);
    let reduced = |op: &str| results("", &format!("%v = sub.i32 %l, %two; %r = subgroup_reduce_{op} %v, %all"), 4)[3];
    let all = ["add", "min_s", "min_u", "max_s", "max_u", "and", "or", "xor"].map(reduced);
    assert_eq!(all, [-2i32 as u32, -2i32 as u32, 0, 1, u32::MAX, 0, u32::MAX, 0]);
    assert_eq!(
        results(
            "",
            "%c = elect %all2; %r = select.i32 %c, %one, %zero"
                .replace("%all2", "%m")
                .as_str()
                .replace("%c = elect", "%m = const.i32 15; %c = elect")
                .as_str(),
            4
        ),
        [1, 0, 0, 0]
    );
    assert!(results("", "%r = active_mask", 4).iter().zip(0..).all(|(mask, lane)| mask >> lane & 1 == 1));
}

#[test]
fn atomics_put_and_give_what_was_there() {
    let after = |op: &str, before: u32, value: &str| {
        let source = around("", &format!("%v = const.i32 {value}; %old = {op} %v, %y[0]; store %old, %y[1]; ret"));
        let words = words(&source, 1, &[before, 0]).unwrap();
        assert_eq!(words[1], before, "{op}");
        words[0]
    };
    for (op, before, value, expected) in [
        ("atomic_add.acq_rel.group", u32::MAX, "3", 2),
        ("atomic_sub", 1, "2", u32::MAX),
        ("atomic_min_s.release", 5, "-1", u32::MAX),
        ("atomic_min_u", 5, "-1", 5),
        ("atomic_max_s", 5, "-1", 5),
        ("atomic_max_u.acquire.system", 5, "-1", u32::MAX),
        ("atomic_and", 12, "10", 8),
        ("atomic_or", 12, "10", 14),
        ("atomic_xor", 12, "10", 6),
        ("atomic_exchange", 12, "10", 10),
        ("atomic_inc", 9, "10", 10),
        ("atomic_inc", 10, "10", 0),
        ("atomic_dec", 0, "10", 10),
        ("atomic_dec", 11, "10", 10),
        ("atomic_dec", 10, "10", 9),
    ] {
        assert_eq!(after(op, before, value), expected, "{op} {before} {value}");
    }
    let exchanged = |expected: &str| {
        let body = format!("%e = const.i32 {expected}; atomic_compare_exchange %e, %two, %y[0]; ret");
        words(&around("", &body), 1, &[7]).unwrap()[0]
    };
    assert_eq!((exchanged("7"), exchanged("8")), (2, 7));
    let wide = "%v = const.i64 0x100000001; atomic_add.i64 %v, %y[0]; ret";
    assert_eq!(words(&around("", wide), 1, &[u32::MAX, 1]), Ok(vec![0, 3]));
    let loads = "%v = atomic_load.acquire %y[0]; %w = add.i32 %v, %one; atomic_store.release.group %w, %y[1]; ret";
    assert_eq!(words(&around("", loads), 1, &[4, 0]), Ok(vec![4, 5]));
}

/// Atomic `f32` sums flush subnormals in buffers, but not in shared memory.
#[test]
fn sums_of_floats_flush_in_buffers_alone() {
    let tiny = "%v = const.f32 0x00000003; ";
    let buffer = format!("{tiny}atomic_fadd.f32 %v, %y[0]; ret");
    assert_eq!(words(&around("", &buffer), 1, &[0x8000_0001]), Ok(vec![0]));
    let shared = format!(
        "{tiny}%w = const.f32 0x00000002; store %w, %s[0]; atomic_fadd %v, %s[0]; %t = load %s[0]; %r = bitcast.i32 %t"
    );
    assert_eq!(results("shared %s: f32[1]", &shared, 1), [5]);
    let halves = "%v = const.f16x2 [1.0, 0x0001]; atomic_fadd.f16x2 %v, %y[0]; ret";
    assert_eq!(words(&around("", halves), 1, &[0x0001_3c00]), Ok(vec![0x0002_4000]));
    let double = "%v = const.f64 1.0; atomic_fadd.f64 %v, %y[0]; ret";
    assert_eq!(words(&around("", double), 1, &[0, 0x3ff0_0000]), Ok(vec![0, 0x4000_0000]));
}

#[test]
fn tickets_are_all_different() {
    let mut tickets = words(
        &around("", "%t = atomic_add %one, %y[0]; %at = add.i32 %l, %one; store %t, %y[%at]; ret"),
        (1, 40),
        &[0; 41],
    )
    .unwrap();
    assert_eq!(tickets.remove(0), 40);
    tickets.sort_unstable();
    assert_eq!(tickets, (0..40).collect::<Vec<_>>());
}

/// An item can loop until another item of its subgroup writes a flag in memory.
#[test]
fn an_item_waits_for_another_in_memory() {
    let source = around(
        "shared %flag: i32[1]; shared %v: i32[1]",
        "store %zero, %flag[0]; barrier; br_if %first, ^wait, ^give | wait: %f = atomic_load.acquire.group %flag[0]; %is = icmp.ne.i32 %f, %zero; br_if %is, ^go, ^wait | give: store %two, %v[0]; atomic_store.release.group %one, %flag[0]; br ^end | go: %r = load %v[0]; store %r, %y[0]; br ^end | end: ret",
    )
    .replace("  store %zero, %flag[0]\n", "  atomic_store.group %zero, %flag[0]\n");
    assert_eq!(words(&source, (1, 2), &[0]), Ok(vec![2]));
    let relaxed = source.replace("store.release.group %one", "store.group %one");
    let Err(Fault::Race(race)) = words(&relaxed, (1, 2), &[0]) else { panic!("there is no race") };
    assert_eq!((race.place, race.offset, race.first.item, race.second.item), (SharedLocation::Shared, 4, 1, 0));
}

#[test]
fn arrays_of_the_item_are_its_own() {
    let body = "store %l, %s[3]; barrier; %r = load %s[3]";
    assert_eq!(results("scratch %s: i32[4]", body, 3), [0, 1, 2]);
    let again = "%t = load %s[3]; store %one, %s[3]; %r = add.i32 %t, %l";
    assert_eq!(results("scratch %s: i32[4]", again, 3), [0, 1, 2], "they begin as zeros");
}

#[test]
fn open_arrays_are_what_the_launch_gives() {
    let source = around(
        "shared %a: i8[1]; shared %b: i32[]; shared %c: i8[]",
        "store %two, %b[1]; %v = load %c[4]; %r = zext.i32 %v; store %r, %y[0]; ret",
    );
    let shape = |shared| Shape { shared, ..Shape::from((1, 1)) };
    assert_eq!(words(&source, shape(8), &[0]), Ok(vec![2]));
    let (item, kind, at) = trap(&source, shape(7));
    assert_eq!((item, at.as_str()), (0, "store %two, %b[1]"));
    assert!(matches!(kind, TrapKind::OutOfBounds { bytes: 4, .. }));
    let refused = words(&around("", "ret"), shape(4), &[0]);
    assert_eq!(refused, Err(Fault::Args(ArgError::Shape(ShapeError::Shared(4)))));
}

#[test]
fn accesses_to_arrays_trap() {
    let (item, kind, at) = trap(&around("shared %s: i32[4]", "store %l, %s[%l]; ret"), (1, 6));
    assert_eq!((item, at.as_str()), (4, "store %l, %s[%l]"));
    assert!(matches!(kind, TrapKind::OutOfBounds { bytes: 4, .. }));
    let (item, kind, _) = trap(&around("scratch %s: i32[4]", "%v = load %s[%l]; store %v, %y[%l]; ret"), (1, 6));
    assert_eq!(item, 4);
    assert!(matches!(kind, TrapKind::OutOfBounds { bytes: 4, .. }));
    let (_, kind, _) = trap(&around("shared %s: i32[4]", "store.i32 %l, %s[1] step 2 align 4; ret"), (1, 1));
    assert!(matches!(kind, TrapKind::Misaligned { align: 4, .. }));
    // An access that is misaligned and out of bounds is reported as misaligned.
    let (_, kind, _) = trap(&around("shared %s: i32[4]", "store.i32 %l, %s[99] step 2 align 4; ret"), (1, 1));
    assert!(matches!(kind, TrapKind::Misaligned { align: 4, .. }));
    let (_, kind, at) = trap(&around("shared %s: i32[4]", "%v = load %s[2]; store %v, %y[0]; ret"), (1, 1));
    assert_eq!((kind, at.as_str()), (TrapKind::Uninitialised { address: 8, bytes: 4 }, "%v = load %s[2]"));
    let (_, kind, _) = trap(&around("shared %s: i32[4]", "atomic_add %one, %s[2]; ret"), (1, 1));
    assert_eq!(kind, TrapKind::Uninitialised { address: 8, bytes: 4 });
    assert_eq!(results("shared %s: i32[4]", "%r = atomic_exchange %one, %s[2]", 1), [0]);
}

#[test]
fn reports_divergent_barriers_and_deadlocks() {
    let meets = |body: &str, items: u32| {
        let (item, kind, at) = trap(&around("", body), (1, items));
        let TrapKind::Collective(why, _) = kind else { panic!("{kind:?}") };
        (item, why, at)
    };
    let (item, why, at) = meets("%id = const.i32 16; barrier %id; ret", 2);
    assert_eq!((item, why, at.as_str()), (0, SyncError::BarrierArgument { id: 16, count: None }, "barrier %id"));
    let (_, why, _) = meets("barrier %zero, %two; ret", 2);
    assert_eq!(why, SyncError::BarrierArgument { id: 0, count: Some(2) });
    let (item, why, at) = meets("br_if %p, ^a, ^b | a: barrier; ret | b: barrier; ret", 2);
    assert_eq!((why, at.as_str()), (SyncError::BarrierDivergence, "barrier"));
    assert!(item < 2);
    let (item, why, _) = meets("br_if %p, ^a, ^b | a: barrier %one; ret | b: barrier %two; ret", 64);
    assert_eq!(why, SyncError::BarrierDivergence);
    assert!(item < 64);
    let (item, why, at) = meets("subgroup_barrier %two; ret", 2);
    assert_eq!((item, why, at.as_str()), (0, SyncError::NotInMask { lane: 0, mask: 2 }, "subgroup_barrier %two"));
    let (item, why, _) = meets(
        "br_if %first, ^a, ^b | a: ret | b: %r = subgroup_shuffle.i32 %l, %zero, %seg, %all; store %r, %y[%l]; ret",
        4,
    );
    assert_eq!((item, why), (1, SyncError::InactiveSource { lane: 0 }));
    let (item, why, _) = meets("br_if %first, ^a, ^b | a: barrier; ret | b: subgroup_barrier %all; ret", 4);
    assert_eq!((item, why), (0, SyncError::BarrierDivergence));
    let (item, kind, at) = trap(
        &around(
            "",
            "br ^spin | spin: %v = atomic_load %y[0]; %is = icmp.ne.i32 %v, %zero; br_if %is, ^end, ^spin | end: ret",
        ),
        (1, 3),
    );
    assert!(matches!(kind, TrapKind::Deadlock(_)));
    assert_eq!((item, at.as_str()), (0, "%v = atomic_load %y[0]"));
}

#[test]
fn items_of_one_group_alone_have_a_size_that_groups_have() {
    let refused = words(&around("", "barrier; ret"), (1, 1025), &[0]);
    assert!(matches!(refused, Err(Fault::Args(ArgError::Shape(ShapeError::Gpu(_))))));
}

#[test]
fn accesses_that_nothing_orders_race() {
    let race = |arrays: &str, body: &str, shape: (u32, u32)| {
        let source = around(arrays, body);
        match words(&source, shape, &[0; 64]) {
            Err(Fault::Race(race)) => {
                let text = |span: halfbyte_ir::Span| source[span.start as usize..span.end as usize].to_owned();
                let sides = [race.first, race.second].map(|side| (side.item, text(side.span)));
                (race.place, race.offset, sides)
            }
            other => panic!("{source}: {other:?}"),
        }
    };
    let (place, offset, [(first, a), (second, b)]) =
        race("shared %s: i32[8]", "store %l, %s[%l]; %v = load %s[0]; store %v, %y[%l]; ret", (1, 2));
    assert_eq!((place, offset, first, second), (SharedLocation::Shared, 0, 0, 1));
    assert_eq!((a.as_str(), b.as_str()), ("store %l, %s[%l]", "%v = load %s[0]"));
    let (place, _, _) = race("", "barrier; store %l, %y[0]; ret", (1, 2));
    assert_eq!(place, SharedLocation::Buffer(0));
    let (place, _, _) = race("", "barrier; atomic_add.group %one, %y[0]; ret", (2, 1));
    assert_eq!(place, SharedLocation::Buffer(0), "a scope that does not include the other group");
    // A trap of an item in the group takes precedence over a race.
    let (item, kind, _) =
        trap(&around("", "store %l, %y[0]; barrier; %far = const.i32 1000; store %l, %y[%far]; ret"), (1, 2));
    assert!(item == 0 && matches!(kind, TrapKind::OutOfBounds { .. }));
}

/// Tests the order of a store before a release fence and a load after an acquire fence. The order requires that a
/// relaxed load before the acquire fence reads a relaxed store after the release fence.
#[test]
fn fences_order_what_is_stored() {
    let passed = |first: &str, second: &str| {
        let body = format!(
            "atomic_store.group %zero, %flag[0]; barrier; br_if %first, ^give, ^wait | give: store %two, %v[0]; {first}; \
             atomic_store.group %one, %flag[0]; ret | wait: %f = atomic_load.group %flag[0]; %is = icmp.ne.i32 %f, %zero; \
             br_if %is, ^go, ^wait | go: {second}; %r = load %v[0]; store %r, %y[0]; ret"
        );
        words(&around("shared %flag: i32[1]; shared %v: i32[1]", &body), (1, 2), &[0])
    };
    assert_eq!(passed("fence.release.group", "fence.acquire.group"), Ok(vec![2]));
    assert_eq!(passed("fence.acq_rel.device", "fence.seq_cst.device"), Ok(vec![2]));
    for (first, second) in
        [("fence.acquire.group", "fence.acquire.group"), ("fence.release.group", "fence.release.group")]
    {
        assert!(matches!(passed(first, second), Err(Fault::Race(_))), "{first}, {second}");
    }
}
