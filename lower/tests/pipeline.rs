//! Tests of pipelines and of the default order of passes.

use halfbyte_ir::Kernel;
use halfbyte_lower::{Context, ORDER, Order, PASSES, Pass, PassError, Pipeline};

struct Own(&'static str);

impl Pass for Own {
    fn name(&self) -> &str {
        self.0
    }

    fn run(&self, _: &mut Kernel, _: &mut Context<'_>) -> Result<bool, PassError> {
        Ok(false)
    }
}

#[test]
fn edits_affect_every_occurrence_of_a_pass() {
    let mut pipeline = Pipeline::named(["canon", "gvn", "canon", "dce"]).unwrap();
    let unedited = pipeline.clone();
    pipeline.insert_before("canon", Own("a")).unwrap();
    pipeline.insert_after("canon", Own("b")).unwrap();
    assert_eq!(pipeline.names().collect::<Vec<_>>(), ["a", "canon", "gvn", "canon", "b", "dce"]);
    pipeline.replace("canon", Own("c")).unwrap();
    pipeline.remove("gvn").unwrap();
    pipeline.push(Own("d"));
    assert_eq!(pipeline.names().collect::<Vec<_>>(), ["a", "c", "c", "b", "dce", "d"]);
    assert_eq!(unedited.names().collect::<Vec<_>>(), ["canon", "gvn", "canon", "dce"]);
    let error = pipeline.insert_after("dces", Own("e")).unwrap_err();
    assert_eq!(error.to_string(), "unknown pass `dces`, did you mean `dce`?; the passes are a, c, b, dce, d");
}

#[test]
fn the_default_is_the_order() {
    assert_eq!(Pipeline::default().names().collect::<Vec<_>>(), ORDER);
}

#[test]
fn the_default_order_satisfies_all_constraints() {
    for pass in PASSES {
        assert!(ORDER.contains(&pass.name), "{} is not in the order", pass.name);
        for (order, reason) in pass.order {
            assert!(order.is_kept(pass.name, ORDER), "{} runs {order}: {reason}", pass.name);
            let mut wrong: Vec<&str> = ORDER.iter().copied().filter(|&other| other != pass.name).collect();
            let at = if matches!(order, Order::First | Order::Before(_)) { wrong.len() } else { 0 };
            wrong.insert(at, pass.name);
            assert!(!order.is_kept(pass.name, &wrong), "{} {order}: {wrong:?}", pass.name);
            if let Order::Before(other) | Order::After(other) | Order::Again(other) = order {
                assert!(PASSES.iter().any(|pass| pass.name == *other), "{other} is no pass");
            }
        }
    }
    assert!(ORDER.iter().all(|name| PASSES.iter().any(|pass| pass.name == *name)));
}
