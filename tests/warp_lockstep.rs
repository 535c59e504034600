//! Tests of warp-synchronous code. On every engine, the converged lanes of a warp execute strong
//! accesses one after another, in the order of the lanes.

use halfbyte::import_ptx::{Host, Shape as Imported, import, text_order_dependence};
use halfbyte::launch::{Engine, Evaluation, LaunchOptions, OrderCause, RaceCheck, evaluate, order_dependence};
use halfbyte::runtime::Stats;
use halfbyte_testkit::harness::{self, Arg, Execution, Language, Request, Size};

/// Routes: the name, the form of execution, the engine, and the race check.
const ROUTES: [(&str, Execution, Engine, RaceCheck); 8] = [
    ("interp", Execution::Ptx, Engine::Interp, RaceCheck::Off),
    ("races", Execution::Ptx, Engine::Interp, RaceCheck::On),
    ("jit", Execution::Ptx, Engine::JIT, RaceCheck::Off),
    ("ir", Execution::Ir, Engine::Interp, RaceCheck::Off),
    ("halu interp", Execution::Halu, Engine::Interp, RaceCheck::Off),
    ("halu jit", Execution::Halu, Engine::JIT, RaceCheck::Off),
    ("recompiled interp", Execution::Recompiled, Engine::Interp, RaceCheck::Off),
    ("recompiled jit", Execution::Recompiled, Engine::JIT, RaceCheck::Off),
];

/// Returns a PTX kernel with shared memory `s`. `%t` is the thread's number, `%s` the address of
/// the thread's word in `s`, and `%d` the address of its two words in the buffer.
fn kernel(body: &str) -> String {
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.shared .align 16 .b8 s[8192];
.visible .entry k(.param .u64 o)
{{
.reg .pred %p<8>; .reg .b32 %r<16>; .reg .b32 %a, %b, %t, %s, %l; .reg .b64 %d, %o;
ld.param.u64 %o, [o]; mov.u32 %t, %tid.x; mov.u32 %l, %laneid;
mul.wide.u32 %d, %t, 8; add.u64 %d, %o, %d;
mov.u32 %s, s; mad.lo.u32 %s, %t, 4, %s;
{body}
ret;
}}\n"
    )
}

/// Launches a text with one block on a route. Returns the words of the buffer.
fn run(
    text: &str,
    threads: u32,
    words: usize,
    (name, via, engine, races): (&str, Execution, Engine, RaceCheck),
) -> Vec<u32> {
    let size = Size::Blocks { grid: [1, 1, 1], block: [threads, 1, 1] };
    let mut request = Request::new(Language::Ptx, "k.ptx", text, size);
    request.args = vec![Arg::Buffer { bytes: vec![0; 4 * words], pointers: Vec::new() }];
    let engine = (via != Execution::Ir).then_some(engine);
    let how = harness::LaunchOptions { engine, via: Some(via), races, ..harness::LaunchOptions::default() };
    let found = harness::launch(request, &how).unwrap_or_else(|error| panic!("{name}: {error:?}\n{text}"));
    found[0].chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Asserts that the buffer contains these words after a launch on each route.
fn gives(text: &str, threads: u32, expected: &[u32]) {
    for route in ROUTES {
        assert_eq!(run(text, threads, expected.len(), route), expected, "{} of\n{text}", route.0);
    }
}

/// Returns the order dependence of a text, executed directly and after import.
fn depends(text: &str, threads: u32, words: usize) -> [Option<OrderCause>; 2] {
    let shape = halfbyte::Shape::from((1, threads));
    let before = vec![vec![0; 4 * words]];
    let mut after = before.clone();
    let how = LaunchOptions { races: RaceCheck::On, ..LaunchOptions::from(Engine::Interp) };
    let host = Host::load("k.ptx", text, "k").unwrap();
    let _: Stats = host.launch_on(how, shape, &mut after).unwrap();
    let of_text = text_order_dependence(&|| Host::load("k.ptx", text, "k"), how, shape, &before, &after).unwrap();
    let shape_of_import = Imported { grid: Some([1, 1, 1]), block: Some([threads, 1, 1]) };
    let module = import("k.ptx", text, shape_of_import).unwrap_or_else(|report| panic!("{report}"));
    let (kernel, how) = (&module.ir().kernels[0], Evaluation::from(shape));
    let mut after = before.clone();
    evaluate(kernel, how, &mut after).unwrap();
    let imported = order_dependence(kernel, how, &before, &after).unwrap();
    [of_text, imported].map(|found| found.map(|found| found.cause))
}

const LOCKSTEP: [Option<OrderCause>; 2] = [Some(OrderCause::Lockstep); 2];
const ATOMICS: [Option<OrderCause>; 2] = [Some(OrderCause::Atomics); 2];

/// Returns the sum reduction of the CUDA samples: a tree whose steps are separated by barriers,
/// except for the steps in the last warp.
fn reduction(threads: u32, sync: &str) -> String {
    let beyond = 4 * threads;
    let mut body =
        format!("mad.lo.u32 %a, %t, %t, 7; st.shared.u32 [%s], %a; st.shared.u32 [%s+{beyond}], 0; bar.sync 0;\n");
    let mut step = threads / 2;
    while step > 32 {
        body += &format!(
            "setp.ge.u32 %p1, %t, {step}; @%p1 bra L{step}; ld.shared.u32 %a, [%s]; ld.shared.u32 %b, [%s+{}];
            add.u32 %a, %a, %b; st.shared.u32 [%s], %a; L{step}: bar.sync 0;\n",
            4 * step
        );
        step /= 2;
    }
    body += "setp.ge.u32 %p1, %t, 32; @%p1 bra DONE;\n";
    while step > 0 {
        body += &format!(
            "ld.volatile.shared.u32 %a, [%s]; ld.volatile.shared.u32 %b, [%s+{}]; {sync}
            add.u32 %a, %a, %b; st.volatile.shared.u32 [%s], %a; {sync}\n",
            4 * step
        );
        step /= 2;
    }
    body += "DONE: setp.ne.u32 %p2, %t, 0; @%p2 bra END; st.global.u32 [%d], %a; END:";
    kernel(&body)
}

#[test]
fn reductions_of_the_cuda_samples() {
    for threads in [32u32, 64, 512] {
        let sum = (0..threads).map(|t| t * t + 7).sum();
        gives(&reduction(threads, ""), threads, &[sum]);
        assert_eq!(depends(&reduction(threads, ""), threads, 1), LOCKSTEP);
        // With warp barriers, the kernel does not depend on lockstep.
        let right = reduction(threads, "bar.warp.sync -1;");
        gives(&right, threads, &[sum]);
        assert_eq!(depends(&right, threads, 1), [None; 2]);
    }
}

#[test]
fn a_step_of_a_reduction_in_shared_and_in_global_memory() {
    let body = "st.shared.u32 [%s], 1; st.shared.u32 [%s+128], 1; bar.sync 0;
        ld.volatile.shared.u32 %a, [%s]; ld.volatile.shared.u32 %b, [%s+128]; add.u32 %a, %a, %b; st.volatile.shared.u32 [%s], %a;
        ld.volatile.shared.u32 %b, [%s+64]; ld.volatile.shared.u32 %a, [%s]; add.u32 %a, %a, %b; st.volatile.shared.u32 [%s], %a;
        bar.sync 0; ld.shared.u32 %a, [%s]; st.global.v2.u32 [%d], {%a, 0};";
    let expected: Vec<u32> = (0..32).flat_map(|lane| [if lane < 16 { 4 } else { 3 }, 0]).collect();
    gives(&kernel(body), 32, &expected);
    // Exchange in a ring: each lane reads the value of its neighbour, twice.
    let body = "st.relaxed.gpu.global.u32 [%d], %t; xor.b32 %r1, %t, 5; mul.wide.u32 %o, %r1, 8; sub.u64 %o, %o, 0;
        .reg .b64 %e; ld.param.u64 %e, [o]; add.u64 %e, %e, %o;
        ld.relaxed.gpu.global.u32 %a, [%e]; st.relaxed.gpu.global.u32 [%e+4], %a; ld.volatile.global.u32 %b, [%d+4]; st.volatile.global.u32 [%d], %b;";
    let expected: Vec<u32> = (0..64).flat_map(|t| [t, t]).collect();
    gives(&kernel(body), 64, &expected);
}

#[test]
fn a_vector_access_counts_as_one() {
    let body = "shl.b32 %r5, %t, 4; mov.u32 %s, s; add.u32 %s, %s, %r5; st.volatile.shared.v4.u32 [%s], {%t, 1, 2, %l};
        xor.b32 %r1, %t, 1; shl.b32 %r1, %r1, 4; mov.u32 %r2, s; add.u32 %r2, %r2, %r1; ld.volatile.shared.v4.u32 {%a, %r3, %r4, %b}, [%r2]; add.u32 %b, %b, %r4;
        st.volatile.shared.v2.u32 [%s+8], {%a, %b}; ld.volatile.shared.v2.u32 {%a, %b}, [%r2+8]; st.global.v2.u32 [%d], {%a, %b};";
    // Expected words of each thread: its own number, which the neighbour has stored, and its lane number plus 2.
    let expected: Vec<u32> = (0..64).flat_map(|t| [t, t % 32 + 2]).collect();
    // Import refuses strong vector accesses to shared memory, because it cannot prove their alignment.
    for route in ROUTES.into_iter().filter(|(_, via, ..)| *via == Execution::Ptx) {
        assert_eq!(run(&kernel(body), 64, expected.len(), route), expected, "{}", route.0);
    }
}

#[test]
fn stores_to_one_place_are_in_lane_order() {
    let body = "st.volatile.shared.u32 [s], %l; ld.volatile.shared.u32 %a, [s]; st.global.v2.u32 [%d], {%a, 0};";
    gives(&kernel(body), 32, &(0..32).flat_map(|_| [31, 0]).collect::<Vec<u32>>());
    assert_eq!(depends(&kernel(body), 32, 64), LOCKSTEP);
}

/// A lane whose guard is false does not execute the access, but stays converged with the other lanes.
#[test]
fn a_guard_parts_no_lanes() {
    let body = "st.volatile.shared.u32 [%s], 5; and.b32 %r1, %t, 1; setp.ne.u32 %p1, %r1, 0; add.u32 %a, %t, 100;
        mov.u32 %b, 0; mov.u32 %r2, 0; @%p1 st.volatile.shared.u32 [%s], %a; @!%p1 ld.volatile.shared.u32 %b, [%s+4];
        add.u32 %b, %b, 1; @!%p1 st.volatile.shared.u32 [%s], %b;
        xor.b32 %r3, %t, 1; mov.u32 %r4, s; mad.lo.u32 %r4, %r3, 4, %r4; ld.volatile.shared.u32 %r2, [%r4]; st.global.v2.u32 [%d], {%r2, %b};";
    let expected: Vec<u32> = (0..64).flat_map(|t| if t % 2 == 0 { [t + 101, t + 102] } else { [t + 101, 1] }).collect();
    gives(&kernel(body), 64, &expected);
    // The same guard applies to several accesses, and one access is a vector.
    let body = "st.volatile.shared.u32 [%s], 5; setp.lt.u32 %p1, %l, 7; mov.u32 %a, 3; mov.u32 %b, 4;
        @%p1 ld.volatile.shared.u32 %a, [%s+28]; @%p1 add.u32 %a, %a, %l; @%p1 st.volatile.shared.u32 [%s+28], %a;
        ld.volatile.shared.u32 %b, [%s]; st.volatile.shared.u32 [%s], %l; st.global.v2.u32 [%d], {%a, %b};";
    let expected: Vec<u32> = (0..32u32)
        .flat_map(|lane| [if lane < 7 { 5 + lane } else { 3 }, if (7..14).contains(&lane) { lane - 2 } else { 5 }])
        .collect();
    gives(&kernel(body), 32, &expected);
}

/// Lanes that diverge at a branch reconverge at a `.sync` operation or a barrier.
#[test]
fn parted_lanes_are_together_again() {
    for sync in ["bar.warp.sync -1;", "bar.sync 0;", "shfl.sync.idx.b32 %r5, %t, 0, 31, -1;"] {
        let body = format!(
            "st.volatile.shared.u32 [%s], %l; and.b32 %r1, %t, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra ODD;
            ld.volatile.shared.u32 %a, [%s]; add.u32 %a, %a, 1; st.volatile.shared.u32 [%s], %a; ld.volatile.shared.u32 %a, [%s]; bra JOIN;
            ODD: mul.lo.u32 %a, %t, 3;
            JOIN: {sync}
            st.volatile.shared.u32 [%s], %a; xor.b32 %r3, %t, 1; mov.u32 %r4, s; mad.lo.u32 %r4, %r3, 4, %r4;
            ld.volatile.shared.u32 %b, [%r4]; add.u32 %b, %b, 1000; st.volatile.shared.u32 [%r4], %b; ld.volatile.shared.u32 %b, [%s];
            st.global.v2.u32 [%d], {{%a, %b}};"
        );
        let own = |t: u32| if t.is_multiple_of(2) { t + 1 } else { 3 * t };
        let expected: Vec<u32> = (0..32).flat_map(|t| [own(t), own(t) + 1000]).collect();
        gives(&kernel(&body), 32, &expected);
        assert_eq!(depends(&kernel(&body), 32, 64), LOCKSTEP, "{sync}");
    }
}

/// The 32 lanes of a warp acquire a lock one after another.
#[test]
fn a_lock_makes_progress() {
    for space in ["shared", "global"] {
        let at = if space == "shared" { "s" } else { "%o" };
        let body = format!(
            "st.shared.u32 [s], 0; st.shared.u32 [s+4], 0; bar.sync 0;
            TRY: atom.{space}.cas.b32 %r1, [{at}], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra TRY; membar.gl;
            ld.volatile.{space}.u32 %a, [{at}+4]; add.u32 %a, %a, 1; st.volatile.{space}.u32 [{at}+4], %a; membar.gl;
            atom.{space}.exch.b32 %r1, [{at}], 0; bar.sync 0;
            setp.ne.u32 %p1, %t, 0; @%p1 bra END; ld.volatile.{space}.u32 %a, [{at}+4]; st.global.v2.u32 [%o], {{0, %a}}; END:"
        );
        let body = body.replace(
            "st.shared.u32 [s], 0; st.shared.u32 [s+4], 0;",
            if space == "shared" {
                "setp.ne.u32 %p1, %t, 0; @!%p1 st.shared.u32 [s], 0; @!%p1 st.shared.u32 [s+4], 0;"
            } else {
                ""
            },
        );
        gives(&kernel(&body), 32, &[0, 32]);
        assert_eq!(depends(&kernel(&body), 32, 2), [None; 2], "{space}");
    }
}

#[test]
fn what_a_result_depends_on() {
    // A counter gives each lane a ticket, which depends on the order of the lanes.
    let tickets = kernel(
        "atom.global.add.u32 %a, [%o], 1; mul.wide.u32 %d, %a, 8; add.u64 %d, %o, %d; st.global.u32 [%d+12], %t;",
    );
    assert_eq!(depends(&tickets, 32, 66), ATOMICS);
    // Each lane takes two tickets, one after the other. The difference of the two tickets depends
    // on lockstep.
    let two = kernel(
        "atom.global.add.u32 %a, [%o], 1; atom.global.add.u32 %b, [%o], 1; sub.u32 %a, %b, %a; st.global.u32 [%d+4], %a;",
    );
    assert_eq!(depends(&two, 32, 64), ATOMICS);
    // The kernel only stores the sum, which does not depend on the order.
    let sum = kernel("red.global.add.u32 [%o], %t;");
    assert_eq!(depends(&sum, 32, 2), [None; 2]);
    // Each lane accesses only its own word.
    let own = kernel("st.volatile.shared.u32 [%s], %t; ld.volatile.shared.u32 %a, [%s]; st.global.u32 [%d], %a;");
    assert_eq!(depends(&own, 64, 128), [None; 2]);
    // Without lockstep, a lane may read a word before the other lane has written it.
    let unwritten = kernel(
        "st.volatile.shared.u32 [%s], %t; mov.u32 %r2, s; xor.b32 %r1, %t, 1; mad.lo.u32 %r2, %r1, 4, %r2;
        ld.volatile.shared.u32 %a, [%r2]; st.global.u32 [%d], %a;",
    );
    assert_eq!(depends(&unwritten, 32, 64), LOCKSTEP);
}

/// A random number generator.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        ((self.0 >> 33) as u32) % n
    }
}

/// Appends random warp-synchronous statements. The numbers of converged lanes differ only in the
/// lowest `bits` bits. A lane only accesses words of lanes with which it is converged.
fn statements(draw: &mut Draw, count: u32, bits: u32, text: &mut String, label: &mut u32) {
    for _ in 0..count {
        // The address of the accessed word: each lane accesses a different word, or two lanes share a word.
        let (mask, k) = ((1u32 << bits) - 1, draw.below(1 << bits));
        let base = format!("mov.u32 %r2, s; and.b32 %r3, %t, {}; ", !mask);
        let place = match draw.below(3) {
            0 => format!("xor.b32 %r1, %t, {k}; "),
            1 => format!("{base}add.u32 %r1, %t, {k}; and.b32 %r1, %r1, {mask}; or.b32 %r1, %r1, %r3; "),
            _ => format!("{base}shr.u32 %r1, %t, 1; and.b32 %r1, %r1, {}; or.b32 %r1, %r1, %r3; ", mask >> 1),
        } + "mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 4, %r2;";
        let guard = match draw.below(4) {
            0 => format!("and.b32 %r4, %l, {}; setp.ne.u32 %p1, %r4, 0; @%p1", 1 + draw.below(31)),
            1 => format!("setp.lt.u32 %p1, %l, {}; @!%p1", draw.below(32)),
            _ => String::new(),
        };
        let reg = ["%a", "%b"][draw.below(2) as usize];
        let access = match draw.below(8) {
            0..=2 => format!("ld.volatile.shared.u32 {reg}, [%r2];"),
            3..=5 => format!("st.volatile.shared.u32 [%r2], {reg};"),
            6 => format!("atom.shared.add.u32 {reg}, [%r2], %l;"),
            _ => format!("atom.shared.exch.b32 {reg}, [%r2], {reg};"),
        };
        *text += &match draw.below(6) {
            0 => format!("mad.lo.u32 %a, %b, {}, %a; xor.b32 %b, %a, %b;\n", 2 * draw.below(50) + 1),
            1 if bits == 5 => {
                *label += 1;
                let (at, [mut yes, mut no]) = (*label, [String::new(), String::new()]);
                let (test, inner) = match draw.below(3) {
                    // The halves of the warp diverge from each other. The lanes of each half stay converged.
                    0 => ("and.b32 %r4, %l, 16; setp.ne.u32 %p2, %r4, 0;".to_owned(), 4),
                    // Any lanes may diverge, so each lane only accesses its own word.
                    1 => (format!("setp.gt.u32 %p2, %l, {};", draw.below(32)), 0),
                    // Different warps take different paths; the lanes of each warp stay converged.
                    _ => ("shr.u32 %r4, %t, 5; setp.ne.u32 %p2, %r4, 0;".to_owned(), 3),
                };
                let counts = [draw.below(4), draw.below(4)];
                statements(draw, counts[0], inner, &mut yes, label);
                statements(draw, counts[1], inner, &mut no, label);
                let sync = ["bar.warp.sync -1;", "bar.sync 0;"][draw.below(2) as usize];
                format!("{test} @%p2 bra Y{at};\n{no}bra J{at};\nY{at}:\n{yes}J{at}: {sync}\n")
            }
            _ => format!("{place} {guard} {access}\n"),
        };
    }
}

#[test]
fn random_warp_synchronous_kernels_on_every_route() {
    for seed in 0..40 {
        let (draw, mut text, mut label) = (&mut Draw(seed * 77 + 5), String::new(), 0);
        let count = 4 + draw.below(16);
        statements(draw, count, 5, &mut text, &mut label);
        let text = kernel(&format!(
            "mad.lo.u32 %a, %t, 3, 1; mov.u32 %b, %t; st.shared.u32 [%s], %a; bar.sync 0;\n{text}bar.sync 0;
            ld.shared.u32 %r5, [%s]; add.u32 %b, %b, %r5; st.global.v2.u32 [%d], {{%a, %b}};"
        ));
        let threads = [32, 64, 64, 96][seed as usize % 4];
        let [first, rest @ ..] = ROUTES;
        let expected = run(&text, threads, 2 * threads as usize, first);
        for route in rest {
            assert_eq!(run(&text, threads, 2 * threads as usize, route), expected, "{}, seed {seed}\n{text}", route.0);
        }
    }
}
