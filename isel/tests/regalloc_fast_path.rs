//! Tests that register allocation takes its fast path for code that needs no spills.

use halfbyte_ir::text::read;
use halfbyte_isa::halu::TARGET;
use halfbyte_isa::object::Loc;
use halfbyte_isel::regalloc::{Allocator, Options};
use halfbyte_isel::{Backend, Halu, Request, Scratch};

/// Returns `true` if allocation takes the fast path for a HALU kernel with this body. regalloc2
/// also runs, and its result is checked.
fn is_direct(body: &str) -> bool {
    let text =
        format!("kernel @k(%x: in f16x2, %y: out f16x2, %n: i32) {{\n^entry:\n  %i = item_id\n{body}  ret\n}}\n");
    let module = read(&text).unwrap();
    let request = Request::new(&module.kernels[0], TARGET, &|_| Loc::default());
    let selected = Halu.select(request, &mut Scratch::default()).unwrap();
    let mut allocator = Allocator::default();
    selected.code.allocate(&mut allocator, &Options { check: true, ..Options::default() }).unwrap();
    allocator.took_fast_path()
}

/// Returns a kernel body that first loads `words` words and then adds them up.
fn sum(words: usize) -> String {
    let loads = (0..words).map(|k| format!("  %v{k} = load %x[%i + {k}]\n"));
    let adds = (1..words).map(|k| {
        let before = if k == 1 { "%v0".to_owned() } else { format!("%s{}", k - 1) };
        format!("  %s{k} = fadd.f16x2 {before}, %v{k}\n")
    });
    loads.chain(adds).collect::<String>() + &format!("  store %s{}, %y[%i]\n", words - 1)
}

/// Returns a kernel body with a loop that passes two values to its next iteration, in the given order.
fn rounds(first: &str, second: &str) -> String {
    format!(
        "  %a = load %x[%i]\n  %b = load %x[%i + 1]\n  br ^loop(%n, %a, %b)\n\
         ^loop(%k: i32, %p: f16x2, %q: f16x2):\n  %one = const.i32 1\n  %next = sub.i32 %k, %one\n  \
         %zero = const.i32 0\n  %more = icmp.ne.i32 %next, %zero\n  \
         br_if %more, ^loop(%next, {first}, {second}), ^done\n\
         ^done:\n  %r = fsub.f16x2 %p, %q\n  store %r, %y[%i]\n"
    )
}

#[test]
fn takes_the_fast_path_if_registers_suffice() {
    assert!(is_direct(""));
    assert!(is_direct(&sum(8)));
    assert!(is_direct(&sum(50)));
    assert!(is_direct(&rounds("%p", "%q")));
}

#[test]
fn moves_arguments_that_are_live_after_the_edge() {
    assert!(is_direct(&rounds("%a", "%b")));
    assert!(is_direct(&rounds("%a", "%a")));
    assert!(is_direct(&rounds("%q", "%q")));
}

#[test]
fn leaves_values_that_are_only_passed_to_regalloc2() {
    let passed = "  %a = load %x[%i]\n  %c = icmp.eq.i32 %i, %n\n  br_if %c, ^one(%a), ^two\n\
                  ^one(%p: f16x2):\n  store %a, %y[%i]\n  br ^two\n^two:\n";
    assert!(!is_direct(passed));
}

#[test]
fn leaves_swaps_and_spills_to_regalloc2() {
    assert!(!is_direct(&rounds("%q", "%p")));
    assert!(!is_direct(&sum(300)));
}
