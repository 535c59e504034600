//! A sample of everything that `halfbyte prove --full` runs: every rule, the half arithmetic, encodings. `halfbyte prove NAME` runs
//! one subject.

use halfbyte_testkit::prove::{Effort, subjects};
use rayon::prelude::*;

#[test]
fn a_sample_of_every_subject_holds() {
    let subjects: Vec<_> = subjects(Effort::Sample).into_iter().filter(|subject| !subject.is_absent).collect();
    assert!(subjects.len() > 1000, "{} subjects", subjects.len());
    // A subject may take a thousand times as long as another: each is its own piece of work.
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
