//! Tests of the trace of an op through the passes, and of the interpreter of rules that the trace uses.

use halfbyte_ir::Inst;
use halfbyte_ir::witness::witnesses;
use halfbyte_lower::trace::{ChangeKind, Event, Trace};
use halfbyte_lower::trial::{self, applied_rule, matching_rules};
use halfbyte_lower::{Context, Pipeline};

use crate::common::kernel;

/// The interpreter of rules and the compiled rules choose the same rule for a witness kernel of every check.
#[test]
fn interpreted_rules_agree_with_compiled_rules() {
    let mut compared = 0;
    for (_, rule) in trial::rules().filter(|(_, rule)| rule.term == "simplify") {
        for witness in rule.checks.iter().filter_map(|check| witnesses(check).unwrap().into_iter().next()) {
            let mut kernel = kernel(&witness.text);
            let insts: Vec<Inst> = kernel.layout.iter().flat_map(|&block| kernel.blocks[block].insts.clone()).collect();
            for inst in insts {
                let first = matching_rules(&mut kernel, inst).into_iter().max_by_key(|(_, rule)| rule.priority);
                let first = first.map(|(number, _)| number);
                let taken = applied_rule(&mut kernel, inst);
                assert_eq!(first, taken, "{} in\n{}", rule.name, witness.text);
                compared += usize::from(taken.is_some());
            }
        }
    }
    assert!(compared > 150, "{compared}");
}

fn told(text: &str, passes: &[&str], name: &str) -> Trace {
    let mut kernel = kernel(text);
    let value = kernel.values.keys().find(|&value| kernel.value_name(value) == Some(name)).unwrap();
    let place = kernel.insts[kernel.def_inst(value).unwrap()].span;
    let legality = trial::target(|_, _| false);
    let mut context = Context::new(&legality);
    context.trace = Some(Trace::new(place));
    let pipeline = Pipeline::named(passes.iter().copied()).unwrap();
    pipeline.run(&mut kernel, &mut context, &mut ()).unwrap();
    context.trace.unwrap()
}

#[test]
fn traces_an_op_to_its_replacement() {
    let text = "kernel @k(%x: in i32, %y: out i32) {\n^entry:\n  %i = item_id\n  %a = load %x[%i]\n  %n = neg.i32 %a\n  \
                %m = neg.i32 %n\n  %s = add.i32 %m, %i\n  %t = add.i32 %a, %i\n  %u = xor.i32 %s, %t\n  store %u, %y[%i]\n  ret\n}\n";
    let trace = told(text, &["canon", "gvn", "dce"], "t");
    assert!(
        matches!(trace.events(), [Event { pass, how: ChangeKind::Told(_), .. }] if pass == "gvn"),
        "{:?}",
        trace.events()
    );
    assert_eq!(trace.events()[0].after, ["%s = add.i32 %a, %i"]);
    let trace = told(text, &["canon", "dce"], "n");
    assert!(matches!(trace.events(), [Event { pass, .. }] if pass == "dce"), "{:?}", trace.events());
    let trace = told(text, &["canon"], "m");
    assert!(matches!(trace.events(), [Event { how: ChangeKind::Rule(_), .. }]), "{:?}", trace.events());
}

#[test]
fn records_the_removal_of_an_unreachable_op() {
    let text = "kernel @k(%y: out i32) {\n^entry:\n  %i = item_id\n  %c = const.i1 1\n  br_if %c, ^a, ^b\n^a:\n  store %i, %y[%i]\n  \
                ret\n^b:\n  %n = neg.i32 %i\n  store %n, %y[%i]\n  ret\n}\n";
    let trace = told(text, &["fold", "merge"], "n");
    assert_eq!(trace.events().len(), 1, "{:?}", trace.events());
    assert_eq!(trace.events()[0].how, ChangeKind::Told("removed: its block is unreachable"));
}
