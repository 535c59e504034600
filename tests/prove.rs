//! Runs a sample of the proofs of `halfbyte prove --full`: all rules, the arithmetic of halves, and
//! the encodings. `halfbyte prove NAME` runs the proofs of one subject.

use halfbyte_prove::prove::{Effort, Plan, prove, subjects};
use rayon::prelude::*;

#[test]
fn a_sample_of_every_subject_holds() {
    let subjects = subjects(Effort::Sample).into_iter().filter(|subject| !subject.is_absent);
    // An elementary function of `f32` executes the same code for all operands, so a sixteenth of
    // the usual sample is enough.
    let (long, subjects): (Vec<_>, Vec<_>) =
        subjects.partition(|subject| subject.part == "approx" && subject.name.ends_with(".f32"));
    assert!(subjects.len() > 1000, "{} subjects", subjects.len());
    assert_eq!(long.len(), 6);
    let part = Plan { shard: "1/16".parse().unwrap(), seed: 1, threads: 2 };
    for (subject, finding) in long.iter().zip(prove(&long, part, &mut |_| {})) {
        assert!(finding.cases > 200_000, "{}: {} cases", subject.name, finding.cases);
        assert_eq!(finding.failure, None, "{}", subject.name);
    }
    // Each subject is a separate task, because some take a thousand times as long as others.
    let failed: Vec<String> = subjects
        .par_iter()
        .with_max_len(1)
        .filter_map(|subject| match subject.prove(1) {
            Ok(0) => Some(format!("{}: it has no cases", subject.name)),
            Ok(_) => None,
            Err(failure) => Some(format!("{}: {failure}", subject.name)),
        })
        .collect();
    assert!(failed.is_empty(), "{} of {} subjects fail\n{}", failed.len(), subjects.len(), failed.join("\n"));
}
