//! Tests of cooperative launches, in which blocks wait for each other.

use halfbyte::abi::cooperative::{RaceCheck, Schedule};
use halfbyte::import_ptx::Host;
use halfbyte::launch::{Engine, LaunchOptions};
use halfbyte::runtime::LaunchError;
use halfbyte_testkit::harness::{self, Arg, Execution, Failure, FailureKind, Language, Request, Size};

/// Barrier of a grid: the instructions before the arrival, the arrival, the polling load, and the
/// instructions after the wait.
type Barrier = [&'static str; 4];

/// The barrier that NVIDIA's compilers emit from sm_70 on.
const RELEASE: Barrier = ["", "atom.add.release.gpu.u32 %r0, [%f], 1;", "ld.acquire.gpu.u32", ""];
/// The barrier of earlier SMs.
const FENCES: Barrier = ["membar.gl;", "red.global.add.u32 [%f], 1;", "ld.volatile.global.u32", "membar.gl;"];
/// A barrier without fences, acquire and release, which does not order the accesses of the blocks.
const RELAXED: Barrier = ["", "red.global.add.u32 [%f], 1;", "ld.volatile.global.u32", ""];

/// Returns the code of one barrier of a grid. `number` counts the earlier barriers of the kernel.
fn barrier([before, arrive, poll, after]: Barrier, number: u32) -> String {
    let next = number + 1;
    format!(
        "bar.sync 0; setp.ne.u32 %p0, %t, 0; @%p0 bra JOIN{number};
{before} {arrive} mul.lo.u32 %r1, %n, {next};
POLL{number}: {poll} %r2, [%f]; setp.lt.u32 %p0, %r2, %r1; @%p0 bra POLL{number};
{after}
JOIN{number}: bar.sync 0;\n"
    )
}

/// Returns a kernel with parameters `x` and `f`. In its body, `%t` is the number of the thread in
/// its block, and `%b` the number of the block. `%n` is the number of blocks, and `%o` the address
/// of the thread's word of `x`.
fn kernel(body: &str) -> String {
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.shared .align 16 .b8 s[4096];
.visible .entry k(.param .u64 x, .param .u64 f)
{{
.reg .pred %p<8>; .reg .b32 %r<16>, %t, %b, %n, %z; .reg .b64 %d<8>, %x, %f, %o;
ld.param.u64 %x, [x]; ld.param.u64 %f, [f];
mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %nctaid.x; mov.u32 %z, %ntid.x;
mad.lo.u32 %r9, %b, %z, %t; mul.wide.u32 %o, %r9, 4; add.u64 %o, %x, %o;
{body}
ret;
}}\n"
    )
}

/// Returns a kernel whose blocks pass their words of `x` to the preceding block, in `steps` steps.
fn rotation(barrier_of: impl Fn(u32) -> String, steps: u32) -> String {
    let mut body = "add.u32 %r8, %b, 1; rem.u32 %r8, %r8, %n; mad.lo.u32 %r8, %r8, %z, %t;
mul.wide.u32 %d1, %r8, 4; add.u64 %d1, %x, %d1;\n"
        .to_owned();
    for step in 0..steps {
        let (loaded, stored) = (barrier_of(2 * step), barrier_of(2 * step + 1));
        body += &format!("ld.global.u32 %r7, [%d1];\n{loaded}st.global.u32 [%o], %r7;\n{stored}");
    }
    kernel(&body)
}

fn bytes(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn buffer(words: impl IntoIterator<Item = u32>) -> Arg {
    Arg::Buffer { bytes: bytes(words), pointers: Vec::new() }
}

/// Returns a request for a cooperative launch of `blocks` blocks.
fn request(text: &str, blocks: u32, threads: u32, args: Vec<Arg>) -> Request {
    let size = Size::Blocks { grid: [blocks, 1, 1], block: [threads, 1, 1] };
    Request { args, cooperative: true, ..Request::new(Language::Ptx, "k.ptx", text, size) }
}

/// Returns a request for a cooperative launch of a kernel with the parameters `x` and `f`.
fn plain(text: &str, blocks: u32, threads: u32) -> Request {
    request(text, blocks, threads, vec![buffer(0..blocks * threads), buffer([0; 4])])
}

/// Launches a request with and without race detection. Returns the words of the buffers.
fn launched(request: &Request) -> Vec<Vec<u32>> {
    let run = |races: RaceCheck| {
        let how = harness::LaunchOptions { races, ..harness::LaunchOptions::default() };
        let found = harness::launch(request.clone(), &how);
        let found = found.unwrap_or_else(|failure| panic!("races: {races:?}: {failure:?}\n{}", request.text));
        found.iter().map(|bytes| words(bytes)).collect::<Vec<_>>()
    };
    let (found, watched) = (run(RaceCheck::Off), run(RaceCheck::On));
    assert_eq!(found, watched);
    found
}

fn failed(request: Request, races: RaceCheck) -> Failure {
    let how = harness::LaunchOptions { races, ..harness::LaunchOptions::default() };
    let text = request.text.clone();
    harness::launch(request, &how).err().unwrap_or_else(|| panic!("succeeds\n{text}"))
}

/// Asserts that a launch fails with an error of `kind`. `has_remedy` states whether the error
/// message must suggest `--cooperative`.
fn fails(request: Request, races: RaceCheck, kind: FailureKind, has_remedy: bool) -> Failure {
    let failure = failed(request, races);
    assert_eq!((failure.kind, failure.message.contains("--cooperative")), (kind, has_remedy), "{failure:?}");
    failure
}

fn without(request: Request) -> Request {
    Request { cooperative: false, ..request }
}

#[test]
fn blocks_wait_for_each_other() {
    for how in [RELEASE, FENCES] {
        for (blocks, threads, steps) in [(2, 1, 1), (2, 64, 3), (5, 33, 4), (24, 32, 5), (1, 8, 2)] {
            let text = rotation(|number| barrier(how, number), steps);
            let found = launched(&plain(&text, blocks, threads));
            let expected = (0..blocks * threads).map(|item| (item + steps * threads) % (blocks * threads));
            assert_eq!(found[0], expected.collect::<Vec<u32>>(), "{blocks} blocks of {threads}");
            assert_eq!(found[1][0], 2 * steps * blocks);
        }
    }
}

#[test]
fn the_order_of_the_blocks_does_not_matter() {
    let text = rotation(|number| barrier(RELEASE, number), 3);
    let host = Host::load("k.ptx", &text, "k").unwrap();
    for schedule in Schedule::ALL {
        let how = LaunchOptions { schedule, cooperative: true, ..LaunchOptions::from(Engine::Interp) };
        let mut args = vec![bytes(0..7 * 40), bytes([0; 4])];
        host.launch_on(how, halfbyte::Shape::from((7, 40)), &mut args).unwrap();
        let expected: Vec<u32> = (0..7 * 40).map(|item| (item + 3 * 40) % (7 * 40)).collect();
        assert_eq!(words(&args[0]), expected, "{schedule:?}");
    }
}

/// The blocks take turns in four rounds. Each block waits for the preceding block, and the first
/// block waits for the last block of the previous round.
#[test]
fn blocks_wait_in_both_directions() {
    let text = kernel(
        "setp.ne.u32 %p1, %t, 0; @%p1 bra END; sub.u32 %r1, %n, 1; mov.u32 %r3, 0; mov.u32 %r6, 1;
ROUND: mad.lo.u32 %r2, %r3, %n, %b;
WAIT: ld.acquire.gpu.u32 %r4, [%f]; setp.ne.u32 %p2, %r4, %r2; @%p2 bra WAIT;
ld.global.u32 %r5, [%x]; mad.lo.u32 %r5, %r5, 3, %b; st.global.u32 [%x], %r5;
add.u32 %r4, %r4, 1; st.release.gpu.u32 [%f], %r4;
add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 4; @%p2 bra ROUND; END:",
    );
    let found = launched(&request(&text, 6, 2, vec![buffer([1]), buffer([0])]));
    let expected = (0..24).fold(1_u32, |value, turn| value.wrapping_mul(3).wrapping_add(turn % 6));
    assert_eq!(found, [[expected], [24]]);
    let failure = fails(
        without(request(&text, 6, 2, vec![buffer([1]), buffer([0])])),
        RaceCheck::Off,
        FailureKind::Deadlock,
        true,
    );
    assert_eq!(failure.item, Some([[0; 3]; 2]));
}

#[test]
fn each_block_keeps_its_shared_memory() {
    let wait = barrier(RELEASE, 0);
    let text = kernel(&format!(
        "mov.u32 %r3, s; shl.b32 %r4, %t, 2; add.u32 %r3, %r3, %r4; mad.lo.u32 %r5, %b, 1000, %t;
st.shared.u32 [%r3], %r5;\n{wait}ld.shared.u32 %r6, [%r3]; st.global.u32 [%o], %r6;"
    ));
    let expected: Vec<u32> = (0..4 * 96).map(|item| item / 96 * 1000 + item % 96).collect();
    assert_eq!(launched(&plain(&text, 4, 96))[0], expected);
    let dynamic = text.replace(".shared .align 16 .b8 s[4096]", ".extern .shared .align 16 .b8 s[]");
    assert_eq!(launched(&Request { shared: 384, ..plain(&dynamic, 4, 96) })[0], expected);
    let failure = failed(Request { shared: 380, ..plain(&dynamic, 4, 96) }, RaceCheck::Off);
    assert_eq!(failure.kind, FailureKind::OutOfBoundsShared);
}

fn ptx_of(compiler: &str) -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(format!("tests/ptx/grid/{compiler}.ptx"))).unwrap()
}

/// Returns the arguments of Numba for an array of words.
fn array(words: Vec<u32>) -> Vec<Arg> {
    let word = |value: u64| Arg::Value(value.to_le_bytes().to_vec());
    let count = words.len() as u64;
    vec![word(0), word(0), word(count), word(4), buffer(words), word(count), word(4)]
}

/// Returns a request for the kernel `sums` of a compiler, and the expected final buffers.
fn sums(compiler: &str, blocks: u32, threads: u32) -> (Request, [Vec<u32>; 3]) {
    let x: Vec<u32> = (0..777).map(|i| i * i % 1001).collect();
    let total: u32 = x.iter().sum();
    let arrays = [x.clone(), vec![0; blocks as usize], vec![0; (blocks * threads) as usize]];
    let args = match compiler {
        "numba" => arrays.into_iter().flat_map(array).collect(),
        _ => {
            let count = Arg::Value(777_u32.to_le_bytes().to_vec());
            arrays.into_iter().map(buffer).chain([count]).collect()
        }
    };
    let out = (0..blocks * threads).map(|item| total + (item / threads + 1) % blocks + item % threads);
    let expected = [x, (0..blocks).map(|block| total + block).collect(), out.collect()];
    (request(&ptx_of(compiler), blocks, threads, args), expected)
}

#[test]
fn barriers_of_compilers_work() {
    for compiler in ["nvrtc", "numba"] {
        for (blocks, threads) in [(1, 32), (2, 64), (7, 128), (30, 32)] {
            let (request, expected) = sums(compiler, blocks, threads);
            assert_eq!(launched(&request), expected, "{compiler}, {blocks} blocks of {threads}");
        }
    }
}

#[test]
fn barriers_of_compilers_need_a_cooperative_launch() {
    for (compiler, instruction) in [("nvrtc", "`trap;`"), ("numba", "`call.uni (retval0_1_), cudaCGSynchronize")] {
        for (blocks, engine) in [(1, None), (3, None), (3, Some(Engine::Interp))] {
            let request = without(sums(compiler, blocks, 32).0);
            let how = harness::LaunchOptions { engine, ..harness::LaunchOptions::default() };
            let failure = harness::launch(request, &how).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Trap, "{failure:?}");
            let is_clear = failure.message.starts_with(instruction) && failure.message.contains("--cooperative");
            assert!(is_clear && failure.line.is_some(), "{failure:?}");
        }
    }
}

#[test]
fn a_kernel_can_ask_for_the_kind_of_its_launch() {
    let valid = Request { entry: Some("valid".into()), ..request(&ptx_of("nvrtc"), 1, 1, vec![buffer([7])]) };
    assert_eq!(launched(&valid), [[1]]);
    assert_eq!(launched(&without(valid)), [[0]]);
}

#[test]
fn blocks_arrive_and_wait_later() {
    let args = vec![buffer([0; 60]), buffer([0; 60])];
    let arrive = Request { entry: Some("arrive".into()), ..request(&ptx_of("nvrtc"), 6, 10, args) };
    assert_eq!(launched(&arrive)[1], (0..60).map(|item| 6 + 59 - item).collect::<Vec<u32>>());
    let shape = Size::Blocks { grid: [3, 2, 1], block: [5, 1, 2] };
    assert_eq!(launched(&Request { size: shape, ..arrive })[1], (0..60).map(|item| 6 + 59 - item).collect::<Vec<_>>());
}

#[test]
fn races_between_blocks_are_found() {
    let fails_with = |text: &str, kind| {
        let failure = failed(plain(text, 4, 33), RaceCheck::On);
        assert_eq!(failure.kind, kind, "{failure:?}\n{text}");
    };
    fails_with(&rotation(|number| barrier(RELAXED, number), 2), FailureKind::RaceGlobal);
    let group = RELEASE.map(|code| {
        if code.contains(".gpu.") { Box::leak(code.replace(".gpu.", ".cta.").into_boxed_str()) } else { code }
    });
    fails_with(&rotation(|number| barrier(group, number), 2), FailureKind::RaceGlobal);
    // Each step of the rotation has only the first of its two barriers.
    let first_only = |number: u32| if number.is_multiple_of(2) { barrier(RELEASE, number / 2) } else { String::new() };
    fails_with(&rotation(first_only, 2), FailureKind::RaceGlobal);
    let one_fence = ["", FENCES[1], FENCES[2], FENCES[3]];
    fails_with(&rotation(|number| barrier(one_fence, number), 2), FailureKind::RaceGlobal);
    // Without the `bar.sync` before the arrival, the barrier of the grid orders only the accesses
    // of the first thread of each block.
    let unordered = rotation(|number| barrier(RELEASE, number).replacen("bar.sync 0;", "", 1), 1);
    fails_with(&unordered, FailureKind::RaceGlobal);
    // The blocks of a compiled kernel race if its barrier of the grid is removed or made relaxed.
    for (compiler, call) in [("nvrtc", "barrier.sync \t0;"), ("numba", "cudaCGSynchronize, \n")] {
        let (request, _) = sums(compiler, 3, 32);
        let text = match compiler {
            "nvrtc" => request.text.replace("ld.acquire.gpu.u32", "ld.relaxed.gpu.u32"),
            _ => {
                request.text.replace("call.uni (retval0), \n\tcudaCGSynchronize, ", "call.uni (retval0), \n\tignored, ")
            }
        };
        assert!(request.text.contains(call) && text != request.text);
        let ignored = ".func (.param .b32 r) ignored(.param .b64 a, .param .b32 b) { st.param.b32 [r], 0; ret; }\n";
        let text = text.replacen(".visible .entry", &format!("{ignored}.visible .entry"), 1);
        assert_eq!(failed(Request { text, ..request }, RaceCheck::On).kind, FailureKind::RaceGlobal, "{compiler}");
    }
}

#[test]
fn deadlocks_and_endless_loops_suggest_a_cooperative_launch() {
    let text = rotation(|number| barrier(FENCES, number), 1);
    for races in [RaceCheck::Off, RaceCheck::On] {
        let failure = fails(without(plain(&text, 2, 64)), races, FailureKind::Deadlock, true);
        assert_eq!(failure.item, Some([[0; 3]; 2]));
        // A grid of one block does not wait, so the launch succeeds without being cooperative.
        assert!(!without(plain(&text, 1, 64)).cooperative);
        harness::launch(without(plain(&text, 1, 64)), &harness::LaunchOptions { races, ..Default::default() }).unwrap();
    }
    // The polling loop changes a register in each iteration, so the error is `budget` instead of
    // `deadlock`.
    let counts =
        text.replace("POLL0:", "POLL0: add.u32 %r10, %r10, 1;").replacen("bar.sync", "mov.u32 %r10, 0; bar.sync", 1);
    let budget = |request| Request { budget: 1000, ..request };
    fails(budget(without(plain(&counts, 2, 64))), RaceCheck::Off, FailureKind::Budget, true);
    launched(&budget(plain(&counts, 2, 64)));
    // Thread 5 polls. The reported thread is thread 0, which waits at the barrier of its block.
    let other = text.replace("setp.ne.u32 %p0, %t, 0", "setp.ne.u32 %p0, %t, 5");
    let failure = fails(without(plain(&other, 2, 64)), RaceCheck::Off, FailureKind::BarrierDivergence, true);
    assert_eq!(failure.item, Some([[0; 3]; 2]));
    launched(&plain(&other, 2, 64));
}

#[test]
fn other_errors_do_not_suggest_a_cooperative_launch() {
    // The kernel polls shared memory, which no other block can write.
    let shared = kernel("mov.u32 %r3, s; W: ld.volatile.shared.u32 %r4, [%r3]; setp.eq.u32 %p1, %r4, 0; @%p1 bra W;");
    fails(without(plain(&shared, 2, 8)), RaceCheck::Off, FailureKind::Deadlock, false);
    let counts = kernel("mov.u32 %r3, 0; W: add.u32 %r3, %r3, 1; st.global.u32 [%o], %r3; bra W;");
    fails(Request { budget: 99, ..without(plain(&counts, 2, 8)) }, RaceCheck::Off, FailureKind::Budget, false);
    fails(without(plain(&kernel("trap;"), 2, 8)), RaceCheck::Off, FailureKind::Trap, false);
    // In a grid of one block, a cooperative launch would not help a kernel that polls global
    // memory.
    let global = kernel("W: ld.volatile.global.u32 %r4, [%f]; setp.eq.u32 %p1, %r4, 0; @%p1 bra W;");
    fails(without(plain(&global, 1, 8)), RaceCheck::Off, FailureKind::Deadlock, false);
    fails(without(plain(&global, 2, 8)), RaceCheck::Off, FailureKind::Deadlock, true);
}

#[test]
fn a_block_that_never_arrives_is_a_deadlock() {
    let text = kernel(&format!("setp.eq.u32 %p3, %b, 2; @%p3 bra END;\n{}END:", barrier(RELEASE, 0)));
    for races in [RaceCheck::Off, RaceCheck::On] {
        let failure = fails(plain(&text, 4, 64), races, FailureKind::Deadlock, false);
        assert_eq!((failure.item, failure.line), (Some([[0; 3]; 2]), Some(14)), "{failure:?}");
        let divergent = kernel("setp.eq.u32 %p3, %r9, 70; @%p3 bra W; bar.sync 0; bra END; W: bar.sync 1; END:");
        let failure = fails(plain(&divergent, 4, 64), races, FailureKind::BarrierDivergence, false);
        assert_eq!(failure.item.map(|[block, _]| block), Some([1, 0, 0]), "{failure:?}");
    }
    // If a block waits at the barrier in a Numba kernel, the error is reported at the call of the
    // barrier.
    let (request, _) = sums("numba", 3, 32);
    let early = "{\n\t.reg .pred \t%early; .reg .b32 %block; mov.u32 %block, %ctaid.x; setp.eq.u32 %early, %block, 1; @%early exit;";
    let text = request.text.replacen("{\n", early, 1);
    let failure = fails(Request { text, ..request }, RaceCheck::Off, FailureKind::Deadlock, false);
    assert!(failure.message.starts_with("`call.uni (retval0_1_), cudaCGSynchronize"), "{failure:?}");
}

#[test]
fn environment_registers_hold_the_workspace() {
    let store = |number: u32| {
        format!("mov.u32 %r3, %envreg{number}; add.u64 %d2, %x, {}; st.global.u32 [%d2], %r3;\n", 4 * number)
    };
    let text = kernel(&(0..32).map(store).collect::<String>());
    let run = |request: Request, engine| {
        let how = harness::LaunchOptions { engine: Some(engine), ..harness::LaunchOptions::default() };
        words(&harness::launch(request, &how).unwrap()[0])
    };
    let alone = |text: &str| request(text, 1, 1, vec![buffer([7; 32]), buffer([0])]);
    for engine in [Engine::Interp, Engine::JIT] {
        assert_eq!(run(without(alone(&text)), engine), [0; 32]);
        let found = run(alone(&text), engine);
        assert!((found[1], found[2]) != (0, 0), "{found:?}");
        let others = (0..32).filter(|number| ![1, 2].contains(number));
        assert!(others.into_iter().all(|number| found[number] == 0), "{found:?}");
    }
    // The grid workspace is zero at the start of each launch, and has two 32-bit words.
    let adds = |offset: u32| {
        kernel(&format!(
            "mov.u32 %r3, %envreg2; mov.u32 %r4, %envreg1; mov.b64 %d2, {{%r3, %r4}};
ld.u32 %r6, [%d2]; atom.add.u32 %r5, [%d2+{offset}], 1; add.u32 %r5, %r5, %r6; st.global.u32 [%x], %r5;"
        ))
    };
    for _ in 0..2 {
        assert_eq!(run(alone(&adds(4)), Engine::Interp)[0], 0);
    }
    let failure = fails(alone(&adds(8)), RaceCheck::Off, FailureKind::OutOfBoundsGlobal, false);
    assert!(failure.message.contains("byte 8 of buffer `grid workspace`, which has 8 bytes"), "{failure:?}");
    fails(without(alone(&adds(4))), RaceCheck::Off, FailureKind::OutOfBoundsGlobal, true);
    for name in ["%envreg32", "%envreg", "%envreg01", "%envreg1.x"] {
        let failure = failed(alone(&kernel(&format!("mov.u32 %r3, {name};"))), RaceCheck::Off);
        assert_eq!(failure.kind, FailureKind::Parse, "{name}: {failure:?}");
    }
}

#[test]
fn module_variables_are_apart_from_the_workspace() {
    let text = rotation(|number| barrier(RELEASE, number), 2)
        .replace("ld.param.u64 %f, [f];", "mov.u64 %f, counter;")
        .replace(".visible .entry", ".global .align 4 .u32 counter[2];\n.visible .entry");
    let text = text.replace(
        "ret;",
        "mov.u32 %r3, %envreg2; mov.u32 %r4, %envreg1; mov.b64 %d2, {%r3, %r4}; red.add.u32 [%d2+4], 1; ret;",
    );
    let expected: Vec<u32> = (0..96).map(|item| (item + 64) % 96).collect();
    assert_eq!(launched(&plain(&text, 3, 32))[0], expected);
}

#[test]
fn too_many_blocks_are_refused() {
    let text = rotation(|number| barrier(RELEASE, number), 1);
    let many = Request { args: vec![buffer([0; 64]), buffer([0])], ..plain(&text, 1, 1) };
    let many = Request { size: Size::Blocks { grid: [40_000, 1, 1], block: [1024, 1, 1] }, ..many };
    let failure = failed(many, RaceCheck::Off);
    let is_clear = failure.message.contains("the 40000 blocks of a cooperative launch take");
    assert!(failure.kind == FailureKind::Limit && is_clear, "{failure:?}");
    let large = Request { shared: 200 << 10, ..plain(&text, 1, 1) };
    let large = Request { size: Size::Blocks { grid: [6_000, 1, 1], block: [1, 1, 1] }, ..large };
    assert_eq!(failed(large, RaceCheck::Off).kind, FailureKind::Limit);
    let host = Host::load("k.ptx", &text, "k").unwrap();
    let limits = halfbyte::abi::Limits { memory: 2 << 30, ..halfbyte::abi::Limits::generous() };
    let watchdog = halfbyte::abi::Watchdog::new(limits);
    let how = LaunchOptions { watchdog: Some(&watchdog), cooperative: true, ..LaunchOptions::from(Engine::Interp) };
    let error = host.launch_on(how, halfbyte::Shape::from((1 << 24, 1)), &mut [bytes([0]), bytes([0])]);
    assert!(matches!(error, Err(LaunchError::Resident { blocks: 0x100_0000, limit: 0x8000_0000, .. })), "{error:?}");
}

#[test]
fn imported_kernels_are_refused() {
    let text = rotation(|number| barrier(RELEASE, number), 1);
    for via in [Execution::Ir, Execution::Halu, Execution::Recompiled] {
        let how = harness::LaunchOptions { via: Some(via), ..harness::LaunchOptions::default() };
        let failure = harness::launch(plain(&text, 2, 8), &how).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unsupported, "{failure:?}");
    }
    let ir = "kernel @k(%x: out i32) { ^entry: ret }";
    let failure = failed(Request { language: Language::Ir, ..request(ir, 1, 1, vec![buffer([0])]) }, RaceCheck::Off);
    assert_eq!(failure.kind, FailureKind::Unsupported, "{failure:?}");
    let how = harness::LaunchOptions { via: Some(Execution::Ir), ..harness::LaunchOptions::default() };
    let failure = harness::launch(without(sums("nvrtc", 2, 8).0), &how).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unsupported, "{failure:?}");
}

/// A kernel without synchronisation also runs in a cooperative launch.
#[test]
fn independent_threads_need_no_residency() {
    let text = kernel("mul.lo.u32 %r3, %r9, 3; st.global.u32 [%o], %r3;").replace(".shared .align 16 .b8 s[4096];", "");
    let expected: Vec<u32> = (0..3 * 50).map(|item| 3 * item).collect();
    assert_eq!(launched(&plain(&text, 3, 50))[0], expected);
    assert!(launched(&plain(&text, 0, 50))[0].is_empty());
}
