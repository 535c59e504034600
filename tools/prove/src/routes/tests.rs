#![allow(clippy::unwrap_used)]

use halfbyte_ir::witness::Random;

use super::*;
use halfbyte_testkit::harness::Language;

/// Returns a launch of one block on a buffer of 64 bytes. `%d0` holds the address of the buffer,
/// and `%d1` the address of the thread's 32-bit word.
fn launch(block: u32, body: &str) -> Request {
    let text = format!(
        ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 y)\n{{\n\
         .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; .shared .align 16 .b8 tile[64];\n\
         ld.param.u64 %d0, [y]; mov.u32 %r0, %tid.x; mad.wide.u32 %d1, %r0, 4, %d0;\n{body}\nret;\n}}\n"
    );
    let args = vec![Arg::Buffer { bytes: (0..64).collect(), pointers: Vec::new() }];
    let size = Size::Blocks { grid: [1, 1, 1], block: [block, 1, 1] };
    Request { args, budget: 1000, ..Request::new(Language::Ptx, "k.ptx", text, size) }
}

fn verdict(block: u32, body: &str) -> Verdict {
    compare(&launch(block, body), &LaunchLimits::of_launch(CancelToken::default()))
}

#[test]
fn launches_that_have_a_result_are_compared() {
    let all = ROUTES.len();
    assert_eq!(
        verdict(8, "ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;"),
        Verdict::Done(all)
    );
    assert_eq!(verdict(8, "red.global.add.u32 [%d0], %r0;"), Verdict::Done(all));
    let beyond = verdict(8, "st.global.u32 [%d1+48], %r0;");
    assert!(matches!(beyond, Verdict::Trapped(routes) if routes > 4), "{beyond:?}");
    assert_eq!(verdict(8, "add.u32 %r1, %r9, 1;"), Verdict::Refused);
}

/// Routes may differ on these launches, but none of them has a defined result, so the verdict must not be `Differs`.
#[test]
fn launches_without_a_result_are_no_differences() {
    for body in [
        // Launches with races and with reads of uninitialised memory.
        "st.global.u32 [%d0], %r0;",
        "st.shared.u32 [tile], %r0; ld.shared.u32 %r1, [tile]; st.global.u32 [%d1], %r1;",
        "ld.shared.u32 %r1, [tile+4]; st.global.u32 [%d1], %r1;",
        // Launches whose result depends on the order of threads.
        "atom.global.add.u32 %r1, [%d0], %r0; bar.sync 0; st.global.u32 [%d1], %r1;",
        "atom.global.exch.b32 %r1, [%d0], %r0;",
        // Launches that read addresses or clocks, or that do not end.
        "cvt.u32.u64 %r1, %d1; st.global.u32 [%d1], %r1;",
        "mov.u32 %r1, %clock; st.global.u32 [%d1], %r1;",
        "L: bra L;",
    ] {
        let found = verdict(8, body);
        assert!(!matches!(found, Verdict::Differs(_)), "{body}: {found:?}");
    }
}

#[test]
fn traps_may_differ_in_an_unknown_space_or_in_the_layout_of_an_object() {
    let all = ROUTES.len();
    // The address is the sum of two generic addresses of local memory, which lies in no state space.
    let local = ".local .align 4 .b8 own[32]; mov.u64 %d2, own; cvta.local.u64 %d3, %d2; add.u64 %d3, %d3, %d3; \
                 ld.u32 %r1, [%d3]; st.global.u32 [%d1], %r1;";
    assert!(matches!(verdict(1, local), Verdict::Trapped(routes) if routes >= all - 1), "{:?}", verdict(1, local));
    assert!(has_generic_access("@%p1 ld.v2.u32 {%r1, %r2}, [%d1];"));
    assert!(!has_generic_access(
        "ld.global.u32 %r1, [%d1]; st.shared::cta.u32 [%d1], %r1; cvta.to.global.u64 %d1, %d2;"
    ));
}

#[test]
fn distinguishes_outcomes_of_routes() {
    let done = |byte| Outcome::Done(vec![vec![0, byte]]);
    let trap = |kind, thread| Outcome::Trapped(kind, Some([[0; 3], [thread, 0, 0]]));
    assert!(done(1).agrees(&done(1), false, false) && !done(1).agrees(&done(2), true, false));
    assert!(
        !done(1).agrees(&trap(FailureKind::Trap, 0), true, true)
            && !trap(FailureKind::Trap, 0).agrees(&trap(FailureKind::Trap, 1), false, true)
    );
    let [global, local] = [FailureKind::OutOfBoundsGlobal, FailureKind::OutOfBoundsLocal].map(|kind| trap(kind, 3));
    assert!(global.agrees(&local, false, true) && !global.agrees(&local, false, false));
    assert!(
        !global.agrees(&trap(FailureKind::Misaligned, 3), false, true)
            && global.agrees(&trap(FailureKind::Misaligned, 4), true, false)
    );
    assert_eq!(done(1).describe(&done(2)), "byte 1 of buffer 0 is 0x01, expected 0x02");
}

#[test]
fn mutants_are_read_and_differ_from_their_text() {
    let request = launch(
        8,
        "setp.lt.u32 %p0, %r0, 5; @%p0 st.shared.u32 [tile+16], %r0; ld.global.v2.u32 {%r1, %r2}, [%d0+8]; shl.b32 %r3, %r1, 3;\n\
         mad.lo.s32 %r1, %r2, %r0, 7; bar.sync 0; st.global.u32 [%d1], %r3;",
    );
    let mut random = Random(1);
    let mut texts = std::collections::BTreeSet::new();
    for _ in 0..1500 {
        let mutant = mutant(&request, &mut random).unwrap();
        assert!(mutant.is_read() && mutant.text != request.text, "{}", mutant.text);
        assert_eq!((mutant.size, mutant.args), (request.size, request.args.clone()));
        texts.insert(mutant.text);
    }
    assert!(texts.len() > 600, "{}", texts.len());
    // The mutants include changes of guards, constants and registers.
    for part in ["@!%p0", "%r1, 4;", "[%d0], %r3", "tile+16], %r1"] {
        assert!(texts.iter().any(|text| text.contains(part)), "{part}");
    }
    let without = Request { text: ".version 8.3\n.target sm_90\n".into(), ..request };
    assert!(mutant(&without, &mut random).is_none());
}

/// The JSON line of a request must contain everything that the launch needs.
#[test]
fn json_lines_contain_the_whole_launch() {
    let request = memory::draw(3, 4);
    let line = line(&request, "a", Some(&[vec![1, 255]]));
    assert_eq!(line["expect"], json!(["01ff"]));
    assert_eq!(line["ptx"], json!(request.text));
    assert_eq!(line["args"].as_array().unwrap().len(), 4);
    assert!(line["args"][3]["value"].as_str().is_some_and(|value| value.len() == 8));
    assert!(line["block"].as_array().is_some_and(|block| block.len() == 3));
}
