//! Tests of PTX launches on the memory of the process: permitted accesses, traps, and the addresses of variables.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use halfbyte_abi::Shape;
use halfbyte_abi::cooperative::RaceCheck;
use halfbyte_isa::ptx::text::read;
use halfbyte_runtime::ptx::{
    Allocation, Arg, Globals, HostLaunch, HostMemory, InitialisedBytes, Kernel, Launch, LoadFinding, LoadFindingKind,
    ReportLoad, Warn,
};
use halfbyte_runtime::{Engine, LaunchError, Stats, TrapKind};

/// The interpreter, and native code if this build supports it.
const ENGINES: &[Engine] = if cfg!(feature = "jit") { &Engine::ALL } else { &[Engine::Interp] };

/// Loads a kernel `k` with two pointer parameters, which the body finds in `%d0` and `%d1`. `%r7`
/// is the item's number along x, and `%d7` is the byte offset of the item's 32-bit word.
fn load(declared: &str, body: &str) -> Kernel {
    let text = format!(
        ".version 8.8 .target sm_90 .address_size 64\n{declared}\n.visible .entry k(.param .u64 x, .param .u64 y)
{{ .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %d<8>; ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y];
mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ntid.x; mov.u32 %r9, %tid.x; mad.lo.u32 %r7, %r7, %r8, %r9; mul.wide.u32 %d7, %r7, 4;\n{body}\nret; }}\n"
    );
    let text = read(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    Kernel::load(&text, "k", "k.ptx").unwrap()
}

fn launch_shape(
    engine: Engine,
    shape: impl Into<Shape>,
    kernel: &Kernel,
    pointers: [u64; 2],
    memory: &HostMemory<'_>,
) -> Result<Stats, LaunchError> {
    let bytes = pointers.map(u64::to_le_bytes);
    let args = [bytes[0].as_slice(), bytes[1].as_slice()];
    let launch = HostLaunch { engine, ..HostLaunch::new(shape, &args, memory) };
    // SAFETY: the kernels of these tests access only memory behind their pointers, or `memory`
    // limits their accesses to it.
    let ran = unsafe { kernel.launch_on_host(launch) };
    assert_eq!(kernel.translation().is_some(), matches!(engine, Engine::Jit { .. }) && !kernel.is_interpreted());
    ran
}

fn launch(engine: Engine, kernel: &Kernel, pointers: [u64; 2], memory: &HostMemory<'_>) -> Result<Stats, LaunchError> {
    launch_shape(engine, (1, 1), kernel, pointers, memory)
}

fn address<T>(of: &mut [T]) -> u64 {
    of.as_mut_ptr().expose_provenance() as u64
}

#[track_caller]
fn trap(ran: Result<Stats, LaunchError>) -> String {
    match ran {
        Err(LaunchError::Trap(trap)) => trap.kind.to_string(),
        other => panic!("{other:?}"),
    }
}

const COPY: &str = "ld.global.u32 %r0, [%d0]; add.u32 %r0, %r0, 1; st.global.u32 [%d1], %r0;";

/// Body of a kernel: each item copies its 32-bit word from one pointer to the other, incremented by 1.
const COPY_ALL: &str = "add.s64 %d0, %d0, %d7; add.s64 %d1, %d1, %d7; ld.global.u32 %r0, [%d0]; add.u32 %r0, %r0, 1; st.global.u32 [%d1], %r0;";

#[test]
fn pointers_are_what_they_are() {
    for &engine in ENGINES {
        let (mut x, mut y) = ([41_u32, 0], [0_u32, 7]);
        let pointers = [address(&mut x), address(&mut y)];
        launch(engine, &load("", COPY), pointers, &HostMemory::unbounded()).unwrap();
        assert_eq!(y, [42, 7]);
        // A pointer that the kernel loads from memory can be used for an access.
        let mut at = [pointers[0]];
        let through = "ld.u64 %d2, [%d0]; ld.u32 %r0, [%d2]; atom.add.u32 %r1, [%d1], %r0; st.u32 [%d1+4], %r1;";
        let found = [address(&mut at), pointers[1]];
        launch(engine, &load("", through), found, &HostMemory::unbounded()).unwrap();
        assert_eq!(y, [83, 42]);
        // The two pointer parameters may be equal.
        launch(engine, &load("", COPY), [pointers[0]; 2], &HostMemory::unbounded()).unwrap();
        assert_eq!(x, [42, 0]);
        // Accesses to the first page of addresses are invalid.
        for null in [0, 4092] {
            let kind = trap(launch(engine, &load("", COPY), [pointers[0], null], &HostMemory::unbounded()));
            assert_eq!(kind, format!("store of 4 bytes at global address {null:#x} is out of bounds"));
        }
        let odd = trap(launch(engine, &load("", COPY), [pointers[0] + 2, pointers[1]], &HostMemory::unbounded()));
        assert!(odd.contains("is misaligned"), "{odd}");
    }
}

#[test]
fn accesses_are_within_one_allocation() {
    for &engine in ENGINES {
        let mut memory = [1_u32, 2, 3, 4];
        let start = address(&mut memory);
        let asked = AtomicU32::new(0);
        // The first two words form one allocation, and the last word forms another one.
        let find = |address: u64| {
            asked.fetch_add(1, Ordering::Relaxed);
            let all = [Allocation::new(start, 8), Allocation::new(start + 12, 4)];
            all.into_iter().find(|of| (of.start..of.start + of.bytes).contains(&address))
        };
        let bounded = HostMemory::bounded(&find);
        // A launch caches the allocations that the callback has returned.
        let twice =
            "ld.global.u32 %r0, [%d0]; ld.global.u32 %r1, [%d0+4]; add.u32 %r0, %r0, %r1; st.global.u32 [%d1], %r0;";
        launch(engine, &load("", twice), [start, start + 12], &bounded).unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        launch(engine, &load("", COPY), [start + 4, start + 12], &bounded).unwrap();
        let kind = trap(launch(engine, &load("", COPY), [start, start + 8], &bounded));
        assert_eq!(kind, format!("store of 4 bytes at global address {:#x} is out of bounds", start + 8));
        let wide = "ld.global.v2.u32 {%r0, %r1}, [%d0]; st.global.v4.u32 [%d1], {%r0, %r1, %r0, %r1};";
        let LaunchError::Trap(trap) = launch(engine, &load("", wide), [start, start], &bounded).unwrap_err() else {
            panic!()
        };
        match trap.kind {
            // An array of 32-bit words need not be aligned to 16 bytes.
            TrapKind::Misaligned { .. } => {}
            kind => assert!(kind.to_string().contains("out of bounds"), "{kind}"),
        }
        assert_eq!(memory, [1, 2, 3, 3]);
    }
}

#[test]
fn loads_but_not_stores_may_reach_the_padding() {
    for &engine in ENGINES {
        let mut memory = [1_u64, 2];
        let start = address(&mut memory);
        let find = move |address: u64| {
            (start..start + 12).contains(&address).then_some(Allocation { padding: 4, ..Allocation::new(start, 8) })
        };
        let bounded = HostMemory::bounded(&find);
        launch(engine, &load("", COPY), [start + 8, start], &bounded).unwrap();
        assert_eq!(memory[0], 3);
        for [from, to] in [[12, 0], [0, 8]] {
            let kind = trap(launch(engine, &load("", COPY), [start + from, start + to], &bounded));
            assert!(kind.contains("is out of bounds"), "{kind}");
        }
        let add = load("", "atom.add.u32 %r0, [%d0], 1;");
        let kind = trap(launch(engine, &add, [start + 8, 0], &bounded));
        assert!(kind.contains("is out of bounds"), "{kind}");
    }
}

/// Launches a kernel. Returns the loads that the launch reports, and whether the launch succeeded.
fn reported(
    engine: Engine,
    shape: impl Into<Shape>,
    body: &str,
    pointers: [u64; 2],
    memory: &HostMemory<'_>,
    initialised: Option<&dyn InitialisedBytes>,
) -> (Vec<LoadFinding>, bool) {
    let found = Mutex::new(Vec::new());
    let report = |load: &LoadFinding| found.lock().unwrap().push(load.clone());
    let bytes = pointers.map(u64::to_le_bytes);
    let args = [bytes[0].as_slice(), bytes[1].as_slice()];
    let report_load = Some(ReportLoad(&report));
    let launch = HostLaunch { engine, report_load, initialised, ..HostLaunch::new(shape, &args, memory) };
    // SAFETY: `memory` limits the accesses to memory that is valid.
    let ran = unsafe { load(".shared .align 16 .b8 held[64];", body).launch_on_host(launch) };
    (found.into_inner().unwrap(), ran.is_ok())
}

/// Memory that is aligned to the size of the widest access.
#[repr(align(16))]
struct Aligned([u32; 64]);

/// Loads in the padding are reported on every engine, once for each instruction. Native code accesses whole rows of
/// items, of which some may not load.
#[test]
fn loads_in_the_padding_are_reported_once() {
    const VECTOR: &str = "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%d0+16]; st.global.u32 [%d1], %r3;";
    const GUARDED: &str = "setp.lt.u32 %p0, %r7, 10; add.s64 %d0, %d0, %d7; add.s64 %d1, %d1, %d7; mov.u32 %r0, 9;
        @%p0 ld.global.u32 %r0, [%d0]; st.global.u32 [%d1], %r0;";
    const GATHER: &str = "xor.b32 %r6, %r7, 1; mul.wide.u32 %d6, %r6, 4; add.s64 %d0, %d0, %d6; add.s64 %d1, %d1, %d7;
        ld.global.u32 %r0, [%d0]; st.global.u32 [%d1], %r0;";
    const UNIFORM: &str = "ld.global.u16 %r0, [%d0+38]; ld.global.u16 %r1, [%d0+40]; st.global.u32 [%d1], %r1;";
    const FAILING: &str = "ld.global.u32 %r0, [%d0+40]; st.global.u32 [%d0+40], %r0;";
    let past = |bytes, offset, excess| {
        vec![format!(
            "load of {bytes} bytes at byte {offset} of an allocation of 40 bytes reaches {excess} bytes past its end"
        )]
    };
    // The body, the number of items, the size of the padding, the reported loads, and whether the launch succeeds.
    let cases = [
        (COPY_ALL, 10, 24, vec![], true),
        (COPY_ALL, 12, 24, past(4, 44, 8), true),
        (COPY_ALL, 16, 24, past(4, 60, 24), true),
        (COPY_ALL, 12, 4, vec![], false),
        (VECTOR, 1, 24, vec![], true),
        (&VECTOR.replace("16]", "32]"), 1, 24, past(16, 32, 8), true),
        (&VECTOR.replace("16]", "32]"), 7, 8, past(16, 32, 8), true),
        (&VECTOR.replace("16]", "32]"), 1, 4, vec![], false),
        (GUARDED, 10, 24, vec![], true),
        (GUARDED, 16, 24, vec![], true),
        (&GUARDED.replace("7, 10;", "7, 11;"), 16, 24, past(4, 40, 4), true),
        (GATHER, 10, 24, vec![], true),
        (GATHER, 11, 24, past(4, 44, 8), true),
        (UNIFORM, 3, 24, past(2, 40, 2), true),
        (FAILING, 1, 24, vec![], false),
    ];
    for &engine in ENGINES {
        for (body, items, padding, expected, succeeds) in &cases {
            let (mut x, mut y) = (Aligned([7; 64]), Aligned([0; 64]));
            let [from, to] = [address(&mut x.0), address(&mut y.0)];
            let find = move |address: u64| {
                let all = [Allocation { padding: *padding, ..Allocation::new(from, 40) }, Allocation::new(to, 256)];
                all.into_iter().find(|of| (of.start..of.start + of.bytes + of.padding).contains(&address))
            };
            let memory = HostMemory::bounded(&find);
            let (found, ran) = reported(engine, (*items, 1), body, [from, to], &memory, None);
            let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!((&texts, ran), (expected, *succeeds), "{engine:?}, {items} items: {body}");
            let is_of_body = |load: &LoadFinding| load.kind == LoadFindingKind::Padding && load.loc.line >= 5;
            assert!(found.iter().all(is_of_body), "{found:?}");
            assert!(found.iter().all(|load| load.instruction.contains("ld.global") && load.kernel == "k"), "{found:?}");
        }
    }
}

/// Record of written bytes, for memory of which all other bytes are uninitialised.
#[derive(Debug)]
struct Written(Mutex<BTreeSet<u64>>);

impl InitialisedBytes for Written {
    fn are_initialised(&self, address: u64, count: u64) -> bool {
        let written = self.0.lock().unwrap();
        (address..address + count).all(|byte| written.contains(&byte))
    }

    fn initialise(&self, address: u64, count: u64) {
        self.0.lock().unwrap().extend(address..address + count);
    }
}

#[test]
fn loads_of_uninitialised_memory_are_reported() {
    // The first 8 of 64 bytes are written before the launch. The cases are bodies, with the offset and the size of the
    // reported load, if any.
    let cases = [
        ("ld.global.u32 %r0, [%d0+4]; st.global.u32 [%d1], %r0;", None),
        ("ld.global.u32 %r0, [%d0+8]; st.global.u32 [%d1], %r0;", Some((8, 4))),
        // The value is unused.
        ("ld.global.u8 %r0, [%d0+63];", Some((63, 1))),
        ("ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%d0]; st.global.u32 [%d1], %r0;", Some((0, 16))),
        ("st.global.u32 [%d0+8], 5; ld.global.u32 %r0, [%d0+8];", None),
        ("st.global.u8 [%d0+8], 5; ld.global.u16 %r0, [%d0+8];", Some((8, 2))),
        // A store of the value that the memory has is a write, too.
        ("st.global.u32 [%d0+8], 7; ld.global.u32 %r0, [%d0+8];", None),
        ("atom.global.add.u32 %r0, [%d0+4], 1;", None),
        ("atom.global.add.u32 %r0, [%d0+12], 1; ld.global.u32 %r0, [%d0+12];", Some((12, 4))),
        ("atom.global.exch.b32 %r0, [%d0+12], 1; ld.global.u32 %r0, [%d0+12];", None),
        ("red.global.add.u32 [%d0+12], 1;", Some((12, 4))),
        ("mov.u32 %r0, held; cp.async.ca.shared.global [%r0], [%d0], 8;", None),
        ("mov.u32 %r0, held; cp.async.ca.shared.global [%r0], [%d0], 16;", Some((0, 16))),
        // Other memory spaces are not checked.
        ("ld.param.u64 %d2, [x];", None),
    ];
    for &engine in ENGINES {
        for (body, expected) in cases {
            let (mut x, mut y) = (Aligned([7; 64]), Aligned([0; 64]));
            let [from, to] = [address(&mut x.0), address(&mut y.0)];
            let find = move |address: u64| {
                let all = [Allocation::new(from, 64), Allocation::new(to, 64)];
                all.into_iter().find(|of| (of.start..of.start + of.bytes).contains(&address))
            };
            let written = Written(Mutex::new((from..from + 8).collect()));
            let memory = HostMemory::bounded(&find);
            // Both items load at the same address.
            let (found, ran) = reported(engine, (2, 1), body, [from, to], &memory, Some(&written));
            assert!(ran, "{body}");
            let places: Vec<(u64, u32)> = found.iter().map(|load| (load.offset, load.bytes)).collect();
            assert_eq!(places, expected.into_iter().collect::<Vec<_>>(), "{engine:?}: {body}");
            for load in &found {
                assert_eq!((load.kind, load.item.map(|item| item.number())), (LoadFindingKind::Uninitialised, Some(0)));
                assert!(
                    load.to_string().ends_with("of an allocation of 64 bytes reads uninitialised memory"),
                    "{load}"
                );
            }
            // Without a record, nothing is reported.
            assert_eq!(reported(engine, (2, 1), body, [from, to], &memory, None), (vec![], true), "{body}");
        }
    }
    // An uninitialised load is reported even if the launch fails.
    let mut x = Aligned([7; 64]);
    let from = address(&mut x.0);
    let find = move |address: u64| (from..from + 64).contains(&address).then_some(Allocation::new(from, 64));
    let (written, failing) = (Written(Mutex::default()), "ld.global.u64 %d2, [%d0]; st.global.u32 [%d2], 1;");
    let memory = HostMemory::bounded(&find);
    let (found, ran) = reported(Engine::Interp, (1, 1), failing, [from, 0], &memory, Some(&written));
    assert_eq!((found.len(), ran), (1, false));
}

#[test]
fn variables_lie_beside_the_memory_of_the_process() {
    for &engine in ENGINES {
        let declared =
            ".global .u32 count = 5; .global .u64 at = generic(count); .const .u32 step = 3; .shared .u32 held;";
        let body = "ld.global.u64 %d2, [at]; ld.u32 %r0, [%d2]; ld.const.u32 %r1, [step]; add.u32 %r0, %r0, %r1; st.shared.u32 [held], %r0;
        ld.shared.u32 %r2, [held]; st.global.u32 [count], %r2; st.global.u32 [%d0], %r2; mov.u64 %d3, count; st.global.u64 [%d1], %d3;";
        let kernel = load(declared, body);
        let (mut x, mut y) = ([0_u32], [0_u64]);
        let pointers = [address(&mut x), address(&mut y)];
        let found = [(); 2].map(|()| {
            launch(engine, &kernel, pointers, &HostMemory::unbounded()).unwrap();
            x[0]
        });
        assert_eq!(found, [8, 11]);
        // The address of a variable is outside the address space of the process.
        assert!(y[0] >> 56 != 0, "{:#x}", y[0]);
        // A constant variable also has a generic address, at which it is read-only.
        let constant = "mov.u64 %d3, step; cvta.const.u64 %d3, %d3; ld.u32 %r0, [%d3]; st.u32 [%d0], %r0;";
        launch(engine, &load(declared, constant), pointers, &HostMemory::unbounded()).unwrap();
        assert_eq!(x, [3]);
        let written = "mov.u64 %d3, step; cvta.const.u64 %d3, %d3; st.u32 [%d3], %r0;";
        let kind = trap(launch(engine, &load(declared, written), pointers, &HostMemory::unbounded()));
        assert!(kind.contains("`step`"), "{kind}");
        // No memory of the process lies next to a variable, so an access past the variable's end traps.
        let past_the_end = "mov.u64 %d3, count; ld.global.u32 %r0, [%d3+8];";
        let kind = trap(launch(engine, &load(declared, past_the_end), pointers, &HostMemory::bounded(&|_| None)));
        assert!(kind.contains("byte 8 of buffer `count`, which has 4"), "{kind}");
    }
}

#[test]
fn many_items_and_threads_reach_one_memory() {
    let threads = |threads| Engine::Jit { threads: NonZero::<u16>::MIN.saturating_add(threads) };
    let engines =
        if cfg!(feature = "jit") { vec![Engine::Interp, threads(0), threads(3)] } else { vec![Engine::Interp] };
    let items = 10_007_u32;
    for engine in engines {
        let mut memory: Vec<u32> = (0..2 * items).collect();
        let start = address(&mut memory);
        let bytes = u64::from(items) * 4;
        let find = |address: u64| {
            let all = [Allocation::new(start, bytes), Allocation::new(start + bytes, bytes)];
            all.into_iter().find(|of| (of.start..of.start + of.bytes).contains(&address))
        };
        let kernel = load("", COPY_ALL);
        let run =
            |items: u32, pointers| launch_shape(engine, (items, 1), &kernel, pointers, &HostMemory::bounded(&find));
        // Three launches: from the first to the second allocation, in place, and with one item too many.
        run(items, [start, start + bytes]).unwrap();
        run(items, [start, start]).unwrap();
        for (item, word) in (0..).zip(memory.split_at(items as usize).0) {
            assert_eq!(*word, item + 1);
        }
        for (item, word) in (0..).zip(memory.split_at(items as usize).1) {
            assert_eq!(*word, item + 1);
        }
        let Err(LaunchError::Trap(trap)) = run(items + 1, [start, start + bytes]) else { panic!() };
        // The load of the last item reads the adjacent allocation. Its store goes past the end of
        // that allocation and traps.
        assert_eq!(trap.item, items, "{engine:?}");
        assert!(trap.kind.to_string().contains("store of 4 bytes"), "{}", trap.kind);
    }
}

/// Blocks wait for each other through the grid workspace, which lies outside of the memory of the
/// process. A launch that is not cooperative traps.
#[test]
fn blocks_of_a_cooperative_launch_wait_for_each_other() {
    let kernel = load(
        "",
        "mov.u32 %r0, %envreg2; mov.u32 %r1, %envreg1; mov.b64 %d2, {%r0, %r1}; mov.u32 %r2, %nctaid.x;
atom.add.release.gpu.u32 %r3, [%d2+4], 1;
W: ld.acquire.gpu.u32 %r3, [%d2+4]; setp.lt.u32 %p0, %r3, %r2; @%p0 bra W;
add.u64 %d3, %d1, %d7; st.u32 [%d3], %r3;",
    );
    let mut out = [0_u32; 5];
    let (start, bytes) = (address(&mut out), 20);
    let find = move |at: u64| (start..start + bytes).contains(&at).then_some(Allocation::new(start, bytes));
    for memory in [HostMemory::unbounded(), HostMemory::bounded(&find)] {
        let args = [0, start].map(u64::to_le_bytes);
        let args = [args[0].as_slice(), args[1].as_slice()];
        for &engine in ENGINES.iter().filter(|engine| !matches!(engine, Engine::Cuda)) {
            let launch = HostLaunch { engine, cooperative: true, ..HostLaunch::new((5, 1), &args, &memory) };
            // SAFETY: the kernel accesses only `out` and the workspace.
            unsafe { kernel.launch_on_host(launch) }.unwrap();
            assert_eq!(std::mem::take(&mut out), [5; 5]);
            let launch = HostLaunch { engine, ..HostLaunch::new((5, 1), &args, &memory) };
            // SAFETY: the first access of the kernel is out of bounds, because the launch has no
            // workspace.
            let ran = unsafe { kernel.launch_on_host(launch) };
            assert!(trap(ran).contains("global address 0x4 is out of bounds"));
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let kernel = load("", COPY);
    let memory = HostMemory::unbounded();
    let launch = |args: &[&[u8]]| {
        // SAFETY: the launch fails before any item runs.
        unsafe { kernel.launch_on_host(HostLaunch::new((1, 1), args, &memory)) }.unwrap_err()
    };
    assert!(matches!(launch(&[&[0; 8]]), LaunchError::Count { expected: 2, found: 1, .. }));
    assert!(matches!(launch(&[&[0; 8], &[0; 4]]), LaunchError::Bytes { expected: 8, found: 4, .. }));
}

/// Launches a kernel of `load` with one pointer on 64 items in blocks of 32, with detection of races. Returns the trap,
/// if any, and the number of warnings.
fn detect(kernel: &Kernel, check: RaceCheck) -> (Option<String>, u32) {
    // The words straddle a boundary of 2^20 bytes.
    let mut words = vec![0_u32; 1 << 19];
    let end = address(&mut words).next_multiple_of(1 << 20);
    let (start, bytes) = (end - 128, 256);
    let find = move |at: u64| (start..start + bytes).contains(&at).then_some(Allocation::new(start, bytes));
    let memory = HostMemory::bounded(&find);
    let args = [start, start].map(u64::to_le_bytes);
    let args = [args[0].as_slice(), args[1].as_slice()];
    let warnings = AtomicU32::new(0);
    let warn = |_: &_| _ = warnings.fetch_add(1, Ordering::Relaxed);
    let engine = Engine::Jit { threads: NonZero::<u16>::MIN };
    let launch =
        HostLaunch { engine, races: check, warn: Some(Warn(&warn)), ..HostLaunch::new((2, 32), &args, &memory) };
    // SAFETY: `memory` limits the accesses to `words`.
    let ran = unsafe { kernel.launch_on_host(launch) };
    (ran.is_err().then(|| trap(ran)), warnings.into_inner())
}

#[test]
fn detects_races_on_memory_of_the_process() {
    let own = load("", "add.u64 %d2, %d0, %d7; st.global.u32 [%d2], %r7; ld.global.u32 %r0, [%d2];");
    assert_eq!(detect(&own, RaceCheck::Strict), (None, 0));
    let atomic = load("", "red.global.add.u32 [%d0], %r7;");
    assert_eq!(detect(&atomic, RaceCheck::Strict), (None, 0));
    let neighbour = load("", "add.u64 %d2, %d0, %d7; xor.b64 %d3, %d2, 4; st.u32 [%d2], %r7; ld.u32 %r0, [%d3];");
    let (race, _) = detect(&neighbour, RaceCheck::On);
    assert!(race.is_some_and(|race| race.starts_with("data race: store of the byte at global address 0x")));
    let same_value = load("", "st.global.u32 [%d0+128], 7;");
    let (race, _) = detect(&same_value, RaceCheck::Strict);
    assert!(race.is_some_and(|race| race.contains("with the same value, at line ")));
    assert_eq!(detect(&same_value, RaceCheck::On), (None, 1));
    let shared = load("", ".shared .u32 s[32]; ld.shared.u32 %r0, [s]; st.global.u32 [%d0], %r0;");
    let (read, _) = detect(&shared, RaceCheck::On);
    assert!(read.is_some_and(|read| read.ends_with("uninitialised")));
}

/// Variables, and a kernel that stores to [%d1] and on: the address of `total`, the word behind `where_total`, and the
/// constant `factor`, read by its name and through its generic address. Then it adds 1 to `total`.
const VARIABLES: (&str, &str) = (
    ".global .align 4096 .u32 total = 7; .global .u64 where_total = total; .const .u32 factor[2] = {5, 6};",
    "mov.u64 %d2, total; st.u64 [%d1], %d2;
ld.global.u64 %d3, [where_total]; ld.global.u32 %r0, [%d3]; st.u32 [%d1+8], %r0;
ld.const.u32 %r1, [factor+4]; st.u32 [%d1+12], %r1;
mov.u64 %d4, factor; cvta.const.u64 %d5, %d4; ld.u32 %r2, [%d5]; st.u32 [%d1+16], %r2;
atom.global.add.u32 %r3, [total], 1;",
);

#[test]
fn variables_lie_in_memory_of_the_process() {
    let (declared, body) = VARIABLES;
    let text = format!(
        ".version 8.8 .target sm_90 .address_size 64\n{declared}\n.visible .entry k(.param .u64 x, .param .u64 y)
{{ .reg .b32 %r<8>; .reg .b64 %d<8>; ld.param.u64 %d1, [y];\n{body}\nret; }}\n"
    );
    let text = read(&text).unwrap();
    for &engine in ENGINES.iter().filter(|engine| !matches!(engine, Engine::Cuda)) {
        let globals = Globals::on_host(&text);
        let kernel = Kernel::load_with(&text, "k", "k.ptx", &globals).unwrap();
        let [total, factor] = ["total", "factor"].map(|name| globals.allocation(&text, name).unwrap());
        assert_eq!((total.bytes, total.start % 4096, factor.bytes), (4, 0, 8));
        assert_eq!((globals.allocation(&text, "k"), globals.are_written(&text)), (None, false));
        let mut out = [0_u32; 5];
        let (start, bytes) = (address(&mut out), 20);
        let find = move |at: u64| (start..start + bytes).contains(&at).then_some(Allocation::new(start, bytes));
        let launch = |memory: &HostMemory<'_>| {
            let bytes = [0, start].map(u64::to_le_bytes);
            let args = [bytes[0].as_slice(), bytes[1].as_slice()];
            let launch = HostLaunch { engine, ..HostLaunch::new((1, 1), &args, memory) };
            // SAFETY: the kernel accesses only `out` and its variables.
            unsafe { kernel.launch_on_host(launch) }.unwrap();
        };
        launch(&HostMemory::bounded(&find));
        assert_eq!(out, [total.start as u32, (total.start >> 32) as u32, 7, 6, 5]);
        assert!(globals.are_written(&text));
        // The host changes a variable and a constant.
        let write = |to: Allocation, value: u32| {
            let to = std::ptr::with_exposed_provenance_mut::<u32>(to.start as usize);
            // SAFETY: the address is that of a variable of at least 4 bytes, and no launch runs.
            unsafe { to.write(value) };
        };
        write(total, 40);
        write(factor, 9);
        launch(&HostMemory::unbounded());
        assert_eq!(out[2..], [40, 6, 9]);
        launch(&HostMemory::unbounded());
        assert_eq!(out[2], 41);
        let mut buffers = [Arg::Value(&[0; 8]), Arg::Value(&[0; 8])];
        let refused = kernel.launch(Launch::new((1, 1), &mut buffers)).unwrap_err();
        assert!(matches!(refused, LaunchError::HostVariables { .. }));
    }
}

#[test]
fn variables_in_memory_of_the_engine_can_be_read_and_written() {
    let text = read(
        ".version 8.8 .target sm_90 .address_size 64 .const .u32 factor[2] = {5, 6}; .global .u32 total;
.visible .entry k(.param .u64 y)
{ .reg .b32 %r; .reg .b64 %d; ld.param.u64 %d, [y]; ld.const.u32 %r, [factor+4]; st.global.u32 [%d], %r; ret; }\n",
    )
    .unwrap();
    let globals = Globals::default();
    let kernel = Kernel::load_with(&text, "k", "k.ptx", &globals).unwrap();
    let stored = || {
        let mut out = [0; 4];
        kernel.launch(Launch::new((1, 1), &mut [Arg::Buffer(&mut out)])).unwrap();
        u32::from_le_bytes(out)
    };
    assert_eq!(globals.contents(&text, "factor"), Some(vec![5, 0, 0, 0, 6, 0, 0, 0]));
    // No kernel uses `total`.
    assert_eq!(globals.contents(&text, "total"), Some(vec![0; 4]));
    assert_eq!((globals.contents(&text, "k"), stored()), (None, 6));
    assert!(globals.write(&text, "factor", &[1, 0, 0, 0, 9, 0, 0, 0]));
    assert!(globals.write(&text, "total", &[7; 4]));
    assert_eq!((globals.contents(&text, "total"), stored()), (Some(vec![7; 4]), 9));
    // Contents of another size, and unknown variables, have no effect.
    assert!(!globals.write(&text, "factor", &[0; 4]));
    assert!(!globals.write(&text, "k", &[0; 4]));
    assert_eq!(stored(), 9);
    let on_host = Globals::on_host(&text);
    assert_eq!(on_host.contents(&text, "factor"), None);
    assert!(!on_host.write(&text, "factor", &[0; 8]));
}
