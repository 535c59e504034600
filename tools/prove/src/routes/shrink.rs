//! Reduction of PTX texts on which routes disagree.

use std::time::{Duration, Instant};

use super::{Disagreement, LaunchLimits, Verdict, compare};
use halfbyte_testkit::harness::Request;

/// Time limit for the reduction of one text.
const TIME: Duration = Duration::from_secs(30);

/// Removes lines from the text of a launch, in smaller and smaller groups. A removal is undone if
/// the routes no longer disagree in the same way.
pub(super) fn shrink(
    mut request: Request,
    mut difference: Box<Disagreement>,
    patience: &LaunchLimits,
) -> (Request, Box<Disagreement>) {
    let end = Instant::now() + TIME;
    let mut lines: Vec<String> = request.text.split_inclusive('\n').map(str::to_owned).collect();
    let mut size = lines.len() / 2;
    while size > 0 {
        let mut at = 0;
        let mut has_changed = false;
        while at < lines.len() {
            if Instant::now() > end || patience.cancel.is_cancelled() {
                return (request, difference);
            }
            let to = (at + size).min(lines.len());
            let rest = [&lines[..at], &lines[to..]].concat();
            let smaller = Request { text: rest.concat(), ..request.clone() };
            match smaller.is_read().then(|| compare(&smaller, patience)) {
                Some(Verdict::Differs(found)) if found.is_like(&difference) => {
                    (request, difference, lines, has_changed) = (smaller, found, rest, true);
                }
                _ => at = to,
            }
        }
        if !has_changed || size > 1 {
            size /= 2;
        }
    }
    (request, difference)
}
