//! Tests of PTX functions, local memory, generic addresses, and module-scope variables that kernels write.

use halfbyte_isa::ptx::text::read;
use halfbyte_runtime::ptx::{Arg, Kernel, Launch, Print};
use halfbyte_runtime::{LaunchError, TrapKind};

/// Loads a kernel `k` with the given module-scope declarations and body. The register `%d0` holds
/// the address of `y`. The first line of the body is line 6 of the text.
fn load(declared: &str, body: &str) -> Kernel {
    let registers = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;";
    let head = format!(".version 8.8\n.target sm_90\n.address_size 64 {}", declared.replace('\n', " "));
    let text =
        format!("{head}\n.visible .entry k(.param .u64 y)\n{{ {registers} ld.param.u64 %d0, [y];\n{body}\nret; }}\n");
    let text = read(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    Kernel::load(&text, "k", "k.ptx").unwrap()
}

fn run_on(kernel: &Kernel, y: &mut [u8]) -> Result<u32, LaunchError> {
    kernel.launch(Launch::new((1, 1), &mut [Arg::Buffer(y)]))?;
    Ok(u32::from_le_bytes(y[..4].try_into().unwrap()))
}

/// Launches one item. Returns the first word of `y`, which is 7 before the launch.
fn result(declared: &str, body: &str) -> Result<u32, LaunchError> {
    run_on(&load(declared, body), &mut 7u64.to_le_bytes())
}

/// Launches one item, which must trap. Returns the kind and the line of the trap.
#[track_caller]
fn trap(declared: &str, body: &str) -> (TrapKind, u32) {
    match result(declared, body) {
        Err(LaunchError::Trap(trap)) => (trap.kind, trap.loc.line),
        other => panic!("{other:?}"),
    }
}

/// A recursive function that returns the sum of all numbers from 1 to its argument.
const SUM: &str = ".func (.param .b32 s) sum (.param .b32 n) {
    .reg .b32 %a<4>; .reg .pred %q; ld.param.b32 %a0, [n]; mov.b32 %a1, 0; setp.eq.s32 %q, %a0, 0; @%q bra done;
    sub.s32 %a2, %a0, 1; { .param .b32 m; .param .b32 t; st.param.b32 [m], %a2; call.uni (t), sum, (m);
    ld.param.b32 %a1, [t]; } add.s32 %a1, %a1, %a0; done: st.param.b32 [s], %a1; ret; }";

#[test]
fn functions_call_themselves() {
    assert_eq!(result(SUM, "call (%r0), sum, (100); st.global.b32 [%d0], %r0;").unwrap(), 5050);
    assert_eq!(trap(SUM, "call (%r0), sum, (-1);"), (TrapKind::StackOverflow { limit: 1 << 19 }, 3));
}

#[test]
fn a_call_counts_as_a_branch() {
    let kernel = load(SUM, "call (%r0), sum, (9); st.global.b32 [%d0], %r0;");
    let mut y = [0; 8];
    let mut args = [Arg::Buffer(&mut y)];
    let stats = kernel.launch(Launch { budget: 10, ..Launch::new((1, 1), &mut args) }).unwrap();
    assert_eq!(stats.backward_branches, 10);
    let error = kernel.launch(Launch { budget: 9, ..Launch::new((1, 1), &mut args) }).unwrap_err();
    let LaunchError::Trap(trap) = error else { panic!("{error}") };
    assert_eq!((trap.kind, trap.loc.line), (TrapKind::Budget { limit: 9 }, 3));
}

#[test]
fn what_is_passed_is_passed_by_value() {
    let add = ".func (.reg .b32 %s) f (.param .align 8 .b8 p[16], .reg .b32 %k) { .reg .b32 %a; .reg .b64 %b;
        mov.u64 %b, p; ld.param.b32 %a, [p+8]; st.local.b32 [%b+8], 1000; add.s32 %s, %a, %k; ret; }";
    let body = ".param .align 8 .b8 p[16]; st.param.b32 [p+8], 40; call (%r0), f, (p, 2);
        call (%r1), f, (p, 2); sub.s32 %r1, %r1, %r0; add.s32 %r0, %r0, %r1; st.global.b32 [%d0], %r0;";
    assert_eq!(result(add, body).unwrap(), 42);
}

#[test]
fn functions_are_called_by_their_addresses() {
    let two = ".func (.reg .b32 %s) one (.reg .b32 %k) { add.s32 %s, %k, 1; ret; }
        .func (.reg .b32 %s) two (.reg .b32 %k) { add.s32 %s, %k, 2; ret; }
        .func none (.reg .b32 %k) { ret; }
        .global .u64 table[2] = {one, two};";
    let like = "like: .callprototype (.reg .b32 _) _ (.reg .b32 _);";
    let call = "call (%r0), %d1, (40), like; st.global.b32 [%d0], %r0;";
    assert_eq!(result(two, &format!("{like} ld.global.u64 %d1, [table+8]; {call}")).unwrap(), 42);
    assert_eq!(result(two, &format!("{like} mov.u64 %d1, one; {call}")).unwrap(), 41);
    for address in ["mov.u64 %d1, none;", "mov.u64 %d1, 0;", "mov.u64 %d1, one; add.u64 %d1, %d1, 1;"] {
        assert_eq!(trap(two, &format!("{like} {address}\n{call}")), (TrapKind::NoFunction, 7), "{address}");
    }
    let listed = "only: .calltargets two; mov.u64 %d1, one;\ncall (%r0), %d1, (40), only;";
    assert_eq!(trap(two, listed), (TrapKind::NoFunction, 7));
}

#[test]
fn indirect_branches_stay_within_their_lists() {
    let body = |index: u32| {
        format!(
            "t: .branchtargets a, b; mov.u32 %r0, {index}; brx.idx %r0, t; a: mov.u32 %r1, 10; bra e; b: mov.u32 %r1, 20;
             e: st.global.b32 [%d0], %r1;"
        )
    };
    assert_eq!((result("", &body(0)).unwrap(), result("", &body(1)).unwrap()), (10, 20));
    assert_eq!(trap("", &body(2)), (TrapKind::NoTarget { index: 2, targets: 2 }, 6));
}

#[test]
fn one_set_of_addresses() {
    // The kernel stores the address of a local array to a buffer and loads it again. The kernel
    // accesses the array and the buffer by generic addresses.
    let body = ".local .align 8 .b8 a[16]; mov.u64 %d1, a; cvta.local.u64 %d2, %d1; st.b64 [%d0], %d2; ld.b64 %d3, [%d0];
        st.b32 [%d3+12], 5; ld.local.b32 %r0, [a+12]; ld.local.b32 %r1, [a+8]; add.s32 %r0, %r0, %r1;
        mov.u64 %d4, y; cvta.param.u64 %d5, %d4; ld.u64 %d6, [%d5]; setp.eq.u64 %p0, %d6, %d0; @%p0 add.s32 %r0, %r0, 10;
        isspacep.local %p1, %d2; @%p1 add.s32 %r0, %r0, 100; isspacep.global %p2, %d0; @%p2 add.s32 %r0, %r0, 1000;
        isspacep.param %p3, %d2; @%p3 add.s32 %r0, %r0, 1; st.global.b32 [%d0], %r0;";
    assert_eq!(result("", body).unwrap(), 1115);
    for (body, expected) in [
        (
            ".local .b32 a; ld.local.b32 %r0, [%d0];",
            "load of 4 bytes at local address 0xd00000000000000 is out of bounds",
        ),
        (
            ".local .b32 a; mov.u64 %d1, a; st.local.b32 [%d1+4], %r0;",
            "store of 4 bytes at local address 0x1004 is out of bounds",
        ),
        ("mov.u64 %d1, 0; st.local.b8 [%d1], %r0;", "store of 1 bytes at local address 0x0 is out of bounds"),
        ("mov.u64 %d1, 0; ld.b8 %r0, [%d1];", "load of 1 bytes at global address 0x0 is out of bounds"),
        (
            ".local .align 8 .b8 a[8]; mov.u64 %d1, a; ld.local.b32 %r0, [%d1+2];",
            "load of 4 bytes at local address 0x1002 is misaligned",
        ),
        ("mov.u64 %d1, y; ld.param.b64 %d2, [%d1+8];", "load of 8 bytes at c[0x0] address 0x8 is out of bounds"),
    ] {
        let (kind, _) = trap("", body);
        assert_eq!(kind.to_string(), expected, "{body}");
    }
}

#[test]
fn the_stack_is_given_back() {
    let body =
        "stacksave.u64 %d1; alloca.u64 %d2, 24, 16; alloca.u64 %d3, 8; sub.u64 %d4, %d3, %d2; st.local.b32 [%d3], 9;
        stackrestore.u64 %d1; alloca.u64 %d5, 8; sub.u64 %d5, %d5, %d1; cvt.u32.u64 %r0, %d4; cvt.u32.u64 %r1, %d5;
        shl.b32 %r1, %r1, 8; or.b32 %r0, %r0, %r1; st.global.b32 [%d0], %r0;";
    assert_eq!(result("", body).unwrap(), 24);
    assert_eq!(trap("", "alloca.u64 %d1, 524289;"), (TrapKind::StackOverflow { limit: 1 << 19 }, 6));
    assert_eq!(trap("", "alloca.u64 %d1, -8;"), (TrapKind::StackOverflow { limit: 1 << 19 }, 6));
    assert_eq!(trap("", "mov.u64 %d1, 64; stackrestore.u64 %d1;"), (TrapKind::StackRestored { to: 64 }, 6));
}

#[test]
fn variables_keep_what_is_written() {
    let declared = ".global .u32 count = 5; .global .u64 at = generic(count);";
    let body = "ld.global.u64 %d1, [at]; ld.u32 %r0, [%d1]; add.u32 %r0, %r0, 1; st.global.u32 [count], %r0; st.global.b32 [%d0], %r0;";
    let kernel = load(declared, body);
    let mut y = [0; 8];
    assert_eq!([(); 3].map(|()| run_on(&kernel, &mut y).unwrap()), [6, 7, 8]);
    // Each loaded kernel has its own instances of the module-scope variables.
    assert_eq!(result(declared, body).unwrap(), 6);
}

#[test]
fn a_kernel_may_ask_for_a_trap() {
    assert_eq!(trap("", "mov.u32 %r0, 1;\n\ntrap;"), (TrapKind::Trap, 8));
    assert_eq!(result("", "setp.ne.u64 %p0, %d0, %d0; @%p0 trap; @%p0 brkpt; st.global.b32 [%d0], 3;").unwrap(), 3);
    let declared = ".extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s) .noreturn;
        .global .align 1 .b8 what[4] = {105, 62, 48}; .global .align 1 .b8 file[5] = {107, 46, 99, 117};
        .global .align 1 .b8 name[2] = {107};";
    let body = ".param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
        mov.u64 %d1, what; st.param.b64 [a], %d1; mov.u64 %d1, file; st.param.b64 [b], %d1; st.param.b32 [c], 12;
        mov.u64 %d1, name; st.param.b64 [d], %d1; call.uni __assertfail, (a, b, c, d, e);";
    let (kind, line) = trap(declared, body);
    assert_eq!((kind.to_string().as_str(), line), ("k.cu:12: k: assertion `i>0` failed", 8));
}

#[test]
fn calls_are_as_they_are_declared() {
    let refused = |declared: &str, body: &str| {
        let text = format!(
            ".version 8.8 .target sm_90 .address_size 64 {declared} .entry k() {{ .reg .b32 %r<4>; .reg .b64 %d<4>; {body} ret; }}"
        );
        read(&text).unwrap_err().iter().map(|error| error.kind.to_string()).collect::<Vec<_>>().join("; ")
    };
    let f = ".func (.reg .b32 %s) f (.reg .b32 %k) { ret; }";
    assert_eq!(
        refused(f, "call (%r0), f;"),
        "call of `f` does not match its declaration: expected 1 argument; found 0"
    );
    assert_eq!(refused(f, "call f, (%r0);"), "call of `f` does not match its declaration: expected 1 result; found 0");
    assert_eq!(
        refused(f, "call (%r0), f, (%d0);"),
        "call of `f` does not match its declaration: argument 1 must have 4 bytes of type .b32"
    );
    assert_eq!(refused(f, "call (%r0), %d0, (%r1);"), "expected `,` and a target list or prototype; found `;`");
    assert_eq!(refused(f, "call (%r0), g, (%r1);"), "unknown name `g`");
    assert_eq!(refused(f, "brx.idx %r0, nowhere;"), "label `nowhere` is not defined");
    assert_eq!(
        refused(&format!("{f} .func f (.reg .b32 k);"), ""),
        "declaration of `f` does not match the earlier one"
    );
    assert_eq!(refused(&format!("{f} {f}"), ""), "`f` is already defined");
    assert_eq!(refused(".func g ();", "call g;"), "the external function `g` is not supported");
    assert!(
        refused(".func g () { setmaxnreg.inc.sync.aligned.u32 40; ret; }", "call g;")
            .contains("a hardware control operation (`setmaxnreg`) is not supported")
    );
}

#[test]
fn blocks_are_what_the_kernel_says() {
    let launch = |directive: &str, block: [u32; 3]| {
        let text = format!(".version 8.8 .target sm_90 .address_size 64 .entry k() {directive} {{ ret; }}");
        let read = read(&text).unwrap();
        assert_eq!(halfbyte_isa::ptx::text::read(&read.module.to_string()).unwrap().module, read.module);
        let kernel = Kernel::load(&read, "k", "k.ptx").unwrap();
        kernel.launch(Launch::new(([1, 1, 1], block), &mut [])).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(launch(".reqntid 32, 4", [32, 4, 1]), Ok(()));
    let error = "kernel `k` requires blocks of `.reqntid 32, 4, 1`; found 128 x 1 x 1";
    assert_eq!(launch(".reqntid 32, 4", [128, 1, 1]), Err(error.to_owned()));
    assert_eq!(launch(".maxntid 32, 4 .minnctapersm 2", [64, 1, 2]), Ok(()));
    let error = "kernel `k` requires blocks of `.maxntid 32, 4, 1`; found 129 x 1 x 1";
    assert_eq!(launch(".maxntid 32, 4", [129, 1, 1]), Err(error.to_owned()));
    for directives in [".maxntid 32 .reqntid 32", ".reqntid 1, 2, 3, 4", ".maxntid 8, 0"] {
        read(&format!(".version 8.8 .target sm_90 .entry k() {directives} {{ ret; }}")).unwrap_err();
    }
}

#[test]
fn printf_writes_in_the_order_of_the_items() {
    let text = ".version 8.8 .target sm_90 .address_size 64
        .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
        .global .align 1 .b8 format[19] = {105, 116, 101, 109, 32, 37, 100, 58, 32, 37, 46, 50, 102, 32, 37, 115, 10};
        .global .align 1 .b8 word[3] = {104, 105};
        .entry k(.param .u64 y) { .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f64 %f; .local .align 8 .b8 values[24];
        mov.u32 %r0, %tid.x; st.local.u32 [values], %r0; cvt.rn.f64.u32 %f, %r0; mul.rn.f64 %f, %f, 0d3fd0000000000000; st.local.f64 [values+8], %f;
        mov.u64 %d0, word; cvta.global.u64 %d0, %d0; st.local.u64 [values+16], %d0;
        { .param .b64 a; .param .b64 b; .param .b32 c; mov.u64 %d1, format; cvta.global.u64 %d1, %d1; st.param.b64 [a], %d1;
        mov.u64 %d2, values; cvta.local.u64 %d2, %d2; st.param.b64 [b], %d2; call.uni (c), vprintf, (a, b); ld.param.b32 %r1, [c]; }
        ld.param.u64 %d3, [y]; st.global.u32 [%d3], %r1; ret; }";
    let kernel = Kernel::load(&read(text).unwrap(), "k", "k.ptx").unwrap();
    let (mut y, written) = ([0; 4], std::sync::Mutex::new(String::new()));
    let print = |text: &str| written.lock().unwrap().push_str(text);
    let mut args = [Arg::Buffer(&mut y)];
    kernel.launch(Launch { print: Some(Print(&print)), ..Launch::new((1, 3), &mut args) }).unwrap();
    assert_eq!(*written.lock().unwrap(), "item 0: 0.00 hi\nitem 1: 0.25 hi\nitem 2: 0.50 hi\n");
    assert_eq!(y, [3, 0, 0, 0]);
    // Without a receiver, the output of `vprintf` is discarded.
    kernel.launch(Launch::new((1, 1), &mut [Arg::Buffer(&mut y)])).unwrap();
}
