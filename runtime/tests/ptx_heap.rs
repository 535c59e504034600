//! Tests of `malloc` and `free` in PTX kernels, on buffers and on the memory of the process.

use halfbyte_abi::cooperative::RaceCheck;
use halfbyte_isa::ptx::text::{ParsedFile, read};
use halfbyte_runtime::ptx::{Allocation, Arg, DeviceHeap, Globals, HostLaunch, HostMemory, Kernel, Launch};
use halfbyte_runtime::{Engine, LaunchError, TrapKind};

/// The interpreter, and native code if this build supports it.
const ENGINES: &[Engine] = if cfg!(feature = "jit") { &Engine::ALL } else { &[Engine::Interp] };

const HEAD: &str = ".version 8.8 .target sm_90 .address_size 64 .extern .func (.param .b64 r) malloc (.param .b64 size); \
    .extern .func (.param .b64 r) __cuda_syscall_aligned_malloc (.param .b64 size, .param .b64 align); \
    .extern .func free (.param .b64 p); .global .u64 kept;";

/// Returns the text of a call of `malloc`.
fn malloc(into: &str, bytes: &str) -> String {
    format!(
        "{{ .param .b64 size; .param .b64 block; st.param.b64 [size], {bytes}; call.uni (block), malloc, (size); ld.param.b64 {into}, [block]; }}"
    )
}

/// Returns the text of a call of the function that C++ calls for aligned types.
fn aligned_malloc(into: &str, bytes: &str, align: &str) -> String {
    format!(
        "{{ .param .b64 size; .param .b64 align; .param .b64 block; st.param.b64 [size], {bytes}; st.param.b64 [align], {align}; \
         call.uni (block), __cuda_syscall_aligned_malloc, (size, align); ld.param.b64 {into}, [block]; }}"
    )
}

/// Returns the text of a call of `free`.
fn free(block: &str) -> String {
    format!("{{ .param .b64 p; st.param.b64 [p], {block}; call.uni free, (p); }}")
}

/// A module, and the words that its kernels write.
struct Module {
    text: ParsedFile,
    globals: Globals,
    on_host: bool,
    heap: Option<DeviceHeap>,
    engine: Engine,
    y: Vec<u64>,
}

impl Module {
    /// Loads kernels, each with its name and its body. In a body, `%d0` is the address of `y`, `%r7` is the number of the
    /// item in its block, and `%d7` is the address of the item's word. The body of the first kernel begins in line 4.
    fn new(on_host: bool, engine: Engine, kernels: &[(&str, &str)]) -> Module {
        let kernel = |(name, body): &(&str, &str)| {
            format!(
                ".visible .entry {name}(.param .u64 y)
{{ .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; ld.param.u64 %d0, [y]; mov.u32 %r7, %tid.x; mad.wide.u32 %d7, %r7, 8, %d0;
{body}\nret; }}\n"
            )
        };
        let text = format!("{HEAD}\n{}", kernels.iter().map(kernel).collect::<String>());
        let text = read(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        let globals = if on_host { Globals::on_host(&text) } else { Globals::default() };
        Module { text, globals, on_host, heap: None, engine, y: vec![0; 16] }
    }

    fn kernel(&self, name: &str) -> Kernel {
        Kernel::load_with(&self.text, name, "k.ptx", &self.globals).unwrap()
    }

    /// Runs a block of items.
    fn launch(&mut self, name: &str, items: u32, races: RaceCheck) -> Result<(), LaunchError> {
        let (kernel, engine, shape) = (self.kernel(name), self.engine, (1, items));
        if self.on_host {
            let (start, bytes) = (self.y.as_mut_ptr().expose_provenance() as u64, 8 * self.y.len() as u64);
            let find = move |at: u64| (start..start + bytes).contains(&at).then_some(Allocation::new(start, bytes));
            let (memory, arg) = (HostMemory::bounded(&find), start.to_le_bytes());
            let (args, heap) = ([arg.as_slice()], self.heap.as_ref());
            let launch = HostLaunch { engine, races, heap, ..HostLaunch::new(shape, &args, &memory) };
            // SAFETY: `memory` limits the accesses to `y`, besides variables and the heap.
            return unsafe { kernel.launch_on_host(launch) }.map(drop);
        }
        let mut bytes: Vec<u8> = self.y.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut args = [Arg::Buffer(&mut bytes)];
        let ran = kernel.launch(Launch { engine, races, ..Launch::new(shape, &mut args) });
        self.y = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        ran.map(drop)
    }

    #[track_caller]
    fn run(&mut self, name: &str) {
        self.launch(name, 1, RaceCheck::Off).unwrap();
    }

    /// Launches one item, which must trap. Returns the kind and the line of the trap.
    #[track_caller]
    fn trap(&mut self, name: &str) -> (TrapKind, u32) {
        trap_of(self.launch(name, 1, RaceCheck::Off))
    }
}

#[track_caller]
fn trap_of(ran: Result<(), LaunchError>) -> (TrapKind, u32) {
    match ran {
        Err(LaunchError::Trap(trap)) => (trap.kind, trap.loc.line),
        other => panic!("{other:?}"),
    }
}

/// Calls `check` with a module for each place of the heap and each engine.
fn for_each(kernels: &[(&str, &str)], check: impl Fn(&mut Module)) {
    for on_host in [false, true] {
        for &engine in ENGINES {
            check(&mut Module::new(on_host, engine, kernels));
        }
    }
}

#[test]
fn blocks_hold_what_kernels_store() {
    let body = format!(
        "{} {} st.u64 [%d1], %d7; st.global.u64 [%d1+8], 7; st.u64 [%d2], 5; ld.global.u64 %d3, [%d1]; sub.u64 %d3, %d3, %d7;
         ld.u64 %d4, [%d1+8]; add.u64 %d3, %d3, %d4; ld.u64 %d4, [%d2]; add.u64 %d3, %d3, %d4; or.b64 %d4, %d1, %d2;
         and.b64 %d4, %d4, 15; add.u64 %d3, %d3, %d4; setp.eq.u64 %p0, %d1, %d2; @%p0 add.u64 %d3, %d3, 100;
         isspacep.global %p1, %d1; @!%p1 add.u64 %d3, %d3, 1000; st.global.u64 [%d7], %d3;",
        malloc("%d1", "16"),
        malloc("%d2", "8")
    );
    for_each(&[("k", &body)], |module| {
        module.launch("k", 4, RaceCheck::Off).unwrap();
        assert_eq!(module.y.split_at(5).0, [12, 12, 12, 12, 0]);
    });
}

#[test]
fn too_large_blocks_are_null() {
    let store = |number: u32, register: &str| format!("st.global.u64 [%d0+{}], {register};\n", 8 * number);
    let body = [
        malloc("%d1", "8388608") + &store(0, "%d1"),
        malloc("%d2", "16") + &store(1, "%d2"),
        free("%d1") + &malloc("%d2", "16") + &store(2, "%d2"),
        malloc("%d3", "8388608") + &store(3, "%d3"),
        free("%d2") + &malloc("%d3", "8388609") + &store(4, "%d3"),
        "mov.u64 %d4, -1;".to_owned() + &malloc("%d3", "%d4") + &store(5, "%d3"),
        malloc("%d5", "0") + &store(6, "%d5"),
        malloc("%d6", "0") + &store(7, "%d6"),
    ];
    for_each(&[("k", &body.concat())], |module| {
        module.run("k");
        let are_blocks: Vec<bool> = module.y.iter().take(8).map(|&block| block != 0).collect();
        assert_eq!(are_blocks, [true, false, true, false, false, false, true, true]);
        assert_ne!(module.y[6], module.y[7]);
    });
}

#[test]
fn a_limit_is_set_before_the_first_use() {
    let body: String = (0..5).map(|at| malloc("%d1", "9") + &format!("st.global.u64 [%d0+{}], %d1;", 8 * at)).collect();
    let mut module = Module::new(true, Engine::Interp, &[("k", &body)]);
    let heap = module.heap.insert(DeviceHeap::default());
    assert_eq!(heap.limit(), 8 << 20);
    assert!(heap.set_limit(64));
    module.run("k");
    let are_blocks: Vec<bool> = module.y.iter().take(5).map(|&block| block != 0).collect();
    assert_eq!(are_blocks, [true, true, true, true, false]);
    let heap = module.heap.as_ref().unwrap();
    assert!(!heap.set_limit(128));
    assert_eq!(heap.limit(), 64);
    heap.reset();
    assert_eq!(heap.limit(), 8 << 20);
    assert!(heap.set_limit(128));
    module.run("k");
    assert_ne!(module.y[4], 0);
}

#[test]
fn aligned_blocks() {
    let allocations = [("40", "256"), ("4", "1"), ("8", "3"), ("8", "0"), ("8", "1099511627776")];
    let allocation = |(at, (bytes, align)): (usize, &(&str, &str))| {
        aligned_malloc("%d1", bytes, align) + &format!("st.global.u64 [%d0+{}], %d1;", 8 * at)
    };
    let body: String = allocations.iter().enumerate().map(allocation).collect();
    for_each(&[("k", &body)], |module| {
        module.run("k");
        let [first, second, others @ ..] = module.y.split_at(5).0 else { panic!() };
        assert!(*first != 0 && first % 256 == 0 && *second != 0 && second % 16 == 0);
        assert_eq!(others, [0; 3]);
    });
}

#[test]
fn only_blocks_are_freed_and_only_once() {
    let block = malloc("%d1", "32");
    let twice = [free("%d1"), free("%d1")].join("\n");
    let cases = [
        (twice, Some((true, 5))),
        (free("%d0"), Some((false, 4))),
        (format!("add.u64 %d1, %d1, 16;\n{}", free("%d1")), Some((false, 5))),
        (".local .u64 a; mov.u64 %d1, a; cvta.local.u64 %d1, %d1;\n".to_owned() + &free("%d1"), Some((false, 5))),
        (free("64"), Some((false, 4))),
        (free("%d1"), None),
        (free("0") + &free("0") + &free("%d1"), None),
    ];
    for (body, expected) in cases {
        for_each(&[("k", &format!("{block} {body}"))], |module| match expected {
            None => module.run("k"),
            Some((is_freed, line)) => {
                let (kind, at) = module.trap("k");
                assert!(matches!(kind, TrapKind::InvalidFree { is_freed: is, .. } if is == is_freed), "{body}: {kind}");
                assert_eq!(at, line, "{body}");
                let end = if is_freed { "freed earlier" } else { "not the address of a block from `malloc`" };
                assert!(kind.to_string().ends_with(end), "{kind}");
            }
        });
    }
}

#[test]
fn accesses_are_within_a_block() {
    let (of_20, of_0, freed) = (malloc("%d1", "20"), malloc("%d1", "0"), malloc("%d1", "20") + &free("%d1"));
    let cases = [
        (&of_20, "ld.u32 %r0, [%d1+16]; st.u8 [%d1+19], %r0; atom.add.u32 %r0, [%d1], 1;", ""),
        (&of_20, "ld.u32 %r0, [%d1+20];", "byte 20 of buffer `0x, which has 20 bytes"),
        (&of_20, "ld.u64 %d2, [%d1+16];", "byte 16 of buffer `0x, which has 20 bytes"),
        (&of_20, "st.u32 [%d1+20], %r7;", "byte 20 of buffer `0x, which has 20 bytes"),
        (&of_20, "atom.add.u32 %r0, [%d1+20], 1;", "byte 20 of buffer `0x, which has 20 bytes"),
        (&of_20, "st.u32 [%d1+-4], %r7;", "is out of bounds"),
        (&of_20, "st.u32 [%d1+2], %r7;", "is misaligned"),
        (&of_0, "ld.u8 %r0, [%d1];", "byte 0 of buffer `0x, which has 0 bytes"),
        (&freed, "ld.u32 %r0, [%d1+4];", "byte 4 of buffer `0x, which was freed"),
        (&freed, "st.global.u32 [%d1], %r7;", "byte 0 of buffer `0x, which was freed"),
        (&freed, "atom.add.u32 %r0, [%d1], 1;", "byte 0 of buffer `0x, which was freed"),
    ];
    for (before, access, expected) in cases {
        for_each(&[("k", &format!("{before}\n{access}"))], |module| {
            if expected.is_empty() {
                return module.run("k");
            }
            let (kind, line) = module.trap("k");
            let parts: Vec<&str> = expected.split("0x").collect();
            let kind = kind.to_string();
            assert!(parts.iter().all(|part| kind.contains(part)), "{access}: {kind}");
            assert_eq!(line, 5, "{access}");
        });
    }
}

/// Access to a block that a variable keeps the address of, without a call.
const USE: &str =
    "ld.global.u64 %d1, [kept]; ld.u64 %d2, [%d1]; add.u64 %d2, %d2, 1; st.u64 [%d1], %d2; st.global.u64 [%d0+8], %d2;";

/// The kernels `make`, `use` and `drop`: they allocate, change and free a block.
fn life(kernels: impl Fn(&[(&str, &str)])) {
    let make = malloc("%d1", "16") + "st.u64 [%d1], 42; st.global.u64 [kept], %d1; st.global.u64 [%d0], %d1;";
    let drop = "ld.global.u64 %d1, [kept];".to_owned() + &free("%d1");
    kernels(&[("make", &make), ("use", USE), ("drop", &drop)]);
}

#[test]
fn a_block_lives_until_a_later_launch_frees_it() {
    life(|kernels| {
        for_each(kernels, |module| {
            assert!(module.kernel("make").is_interpreted() || !cfg!(feature = "jit"));
            assert!(!module.kernel("use").is_interpreted());
            module.run("make");
            module.run("use");
            assert_eq!(module.y[1], 43);
            module.run("use");
            assert_eq!(module.y[1], 44);
            module.run("drop");
            let (kind, _) = module.trap("use");
            assert!(kind.to_string().ends_with("which was freed"), "{kind}");
            assert!(matches!(module.trap("drop").0, TrapKind::InvalidFree { is_freed: true, .. }));
        });
    });
}

#[test]
fn blocks_have_the_same_addresses_in_each_process() {
    life(|kernels| {
        let mut module = Module::new(false, Engine::Interp, kernels);
        module.run("make");
        let first = module.y[0];
        // Each block has an address of its own, even after it is freed.
        module.run("drop");
        module.run("make");
        assert!(module.y[0] > first);
        let mut other = Module::new(false, Engine::Interp, kernels);
        other.run("make");
        assert_eq!(other.y[0], first);
    });
}

#[test]
fn a_snapshot_has_blocks_of_its_own() {
    let make = malloc("%d1", "16") + "st.u64 [%d1], 42; st.global.u64 [%d0], %d1;";
    let add = "ld.global.u64 %d1, [%d0]; ld.u64 %d2, [%d1]; add.u64 %d2, %d2, 1; st.u64 [%d1], %d2; st.global.u64 [%d0+8], %d2;";
    let drop = "ld.global.u64 %d1, [%d0];".to_owned() + &free("%d1");
    for_each(&[("make", &make), ("add", add), ("drop", &drop)], |module| {
        assert!(!module.globals.are_written(&module.text));
        module.run("make");
        assert!(module.globals.are_written(&module.text));
        let mut copy = Module { globals: module.globals.snapshot(), ..Module::new(module.on_host, module.engine, &[]) };
        (copy.text, copy.y) = (module.text.clone(), module.y.clone());
        module.run("add");
        copy.run("add");
        // A snapshot of a heap in memory of the process is the same heap.
        assert_eq!((module.y[1], copy.y[1]), (43, if module.on_host { 44 } else { 43 }));
        module.run("drop");
        assert!(!module.globals.are_written(&module.text));
        assert_eq!(copy.globals.are_written(&copy.text), !module.on_host);
    });
}

#[test]
fn another_item_frees_a_block() {
    let body = |end: &str| {
        format!(
            ".shared .u64 s; setp.ne.u32 %p0, %r7, 0; @%p0 bra made; {} st.shared.u64 [s], %d1;
             made: bar.sync 0; ld.shared.u64 %d2, [s]; setp.ne.u32 %p0, %r7, 1; @%p0 bra freed; {}
             freed: bar.sync 0; {end}",
            malloc("%d1", "16"),
            free("%d2")
        )
    };
    let kernels = [("fine", body("")), ("use", body("ld.u32 %r1, [%d2];")), ("again", body(&free("%d2")))];
    let kernels: Vec<(&str, &str)> = kernels.iter().map(|(name, body)| (*name, body.as_str())).collect();
    for_each(&kernels, |module| {
        module.launch("fine", 2, RaceCheck::On).unwrap();
        let (kind, _) = trap_of(module.launch("use", 2, RaceCheck::On));
        assert!(kind.to_string().ends_with("which was freed"), "{kind}");
        let (kind, _) = trap_of(module.launch("again", 2, RaceCheck::On));
        assert!(matches!(kind, TrapKind::InvalidFree { is_freed: true, .. }), "{kind}");
    });
}

#[test]
fn items_race_in_a_block_but_not_through_its_memory() {
    let shared = format!(
        ".shared .u64 s; setp.ne.u32 %p0, %r7, 0; @%p0 bra made; {} st.shared.u64 [s], %d1;
         made: bar.sync 0; ld.shared.u64 %d2, [s]; st.u32 [%d2], %r7;",
        malloc("%d1", "16")
    );
    // Freed memory may be allocated again.
    let own = [malloc("%d1", "6000000"), "st.u32 [%d1], %r7;".to_owned(), free("%d1")].concat().repeat(3);
    for_each(&[("shared", &shared), ("own", &own)], |module| {
        let (kind, _) = trap_of(module.launch("shared", 2, RaceCheck::On));
        assert!(matches!(kind, TrapKind::Race { .. }), "{kind}");
        module.launch("own", 4, RaceCheck::Strict).unwrap();
    });
}

#[test]
fn freed_memory_is_allocated_again() {
    let body = format!(
        "mov.u32 %r1, 0; again: {} st.u32 [%d1+4194300], %r1; {} add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 100;
         @%p0 bra again; st.global.u64 [%d0], %d1;",
        malloc("%d1", "4194304"),
        free("%d1")
    );
    for_each(&[("k", &body)], |module| {
        module.run("k");
        assert_ne!(module.y[0], 0);
    });
}

#[test]
fn modules_share_a_heap_that_the_launch_gives() {
    let make = malloc("%d1", "16") + "st.global.u64 [%d0], %d1;";
    let drop = "ld.global.u64 %d1, [%d0];".to_owned() + &free("%d1");
    let [mut maker, mut other] =
        [("make", &make), ("drop", &drop)].map(|(name, body)| Module::new(true, Engine::Interp, &[(name, body)]));
    maker.heap = Some(DeviceHeap::default());
    maker.run("make");
    other.y = maker.y.clone();
    // The heap of a module has only the blocks of its kernels.
    assert!(matches!(other.trap("drop").0, TrapKind::InvalidFree { is_freed: false, .. }));
    other.heap = maker.heap.take();
    other.run("drop");
    assert!(matches!(other.trap("drop").0, TrapKind::InvalidFree { is_freed: true, .. }));
}

#[test]
fn functions_with_other_prototypes_are_unknown() {
    for (declared, call) in [
        ("(.param .b64 r) malloc (.param .b32 s)", ".param .b64 r; .param .b32 a; call (r), malloc, (a);"),
        ("(.param .b32 r) malloc (.param .b64 s)", ".param .b32 r; .param .b64 a; call (r), malloc, (a);"),
        ("malloc (.param .b64 s)", ".param .b64 a; call malloc, (a);"),
        ("free ()", "call free;"),
        ("(.param .b64 r) free (.param .b64 p)", ".param .b64 r; .param .b64 a; call (r), free, (a);"),
        ("(.param .b64 r) realloc (.param .b64 p)", ".param .b64 r; .param .b64 a; call (r), realloc, (a);"),
    ] {
        let text = format!(
            ".version 8.8 .target sm_90 .address_size 64 .extern .func {declared}; .entry k() {{ {call} ret; }}"
        );
        let error = read(&text).unwrap_err().iter().map(|error| error.kind.to_string()).collect::<String>();
        assert!(error.starts_with("the external function `") && error.ends_with("` is not supported"), "{error}");
    }
    // A definition in the text replaces the builtin.
    let own = format!(
        ".version 8.8 .target sm_90 .address_size 64 .func (.param .b64 r) malloc (.param .b64 s) {{ st.param.b64 [r], 7; ret; }}
         .entry k(.param .u64 y) {{ .reg .b64 %d<2>; ld.param.u64 %d0, [y]; {} st.global.u64 [%d0], %d1; ret; }}",
        malloc("%d1", "16")
    );
    let kernel = Kernel::load(&read(&own).unwrap(), "k", "k.ptx").unwrap();
    let mut y = [0; 8];
    kernel.launch(Launch::new((1, 1), &mut [Arg::Buffer(&mut y)])).unwrap();
    assert_eq!(u64::from_le_bytes(y), 7);
}
