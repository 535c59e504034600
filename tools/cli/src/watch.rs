//! `--watch`: does something again whenever a file changes.
//!
//! Files are looked at every fifth of a second. That needs nothing of the system, sees editors that replace a file by another, and
//! costs little: some thousand kernels are looked at in a millisecond or two.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::output::mention;
use super::{Done, Failure, Message, complain, interrupt};

/// How long a change may go unseen.
const EVERY: Duration = Duration::from_millis(200);

/// The changes that are named; of more only the number is said.
const NAMED: usize = 5;

/// The time and the size of each file.
type Seen = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Does it, and again after every change of a file that is named or lies below a folder that is, until Ctrl-C.
pub(super) fn each_change(paths: &[PathBuf], mut once: impl FnMut() -> Done) -> Done {
    if paths.iter().any(|path| path == Path::new("-")) {
        return Err(Failure::Call("--watch: standard input does not change; name a file or a folder".into()));
    }
    let mut seen = look(paths);
    // A path that there is not is a mistake; one that goes away later may come back.
    let mut done = once();
    if let Err(Failure::Call(_)) = done {
        return done;
    }
    loop {
        match done {
            Ok(()) | Err(Failure::Input(Message::Said)) => {}
            Err(Failure::Closed) => return done,
            Err(failure) => drop(complain(failure)),
        }
        let files = seen.len();
        mention(&format!("watching {files} file{}; Ctrl-C ends it", if files == 1 { "" } else { "s" }));
        let changed = loop {
            if interrupt::is_pending() {
                return Ok(());
            }
            std::thread::sleep(EVERY);
            let now = look(paths);
            if now != seen {
                break changes(&std::mem::replace(&mut seen, now), &seen);
            }
        };
        mention(&changed);
        done = once();
    }
}

/// All files that are named or lie below folders that are; none where something cannot be read.
fn look(paths: &[PathBuf]) -> Seen {
    let mut seen = Seen::new();
    let mut left = paths.to_vec();
    while let Some(path) = left.pop() {
        let Ok(about) = path.metadata() else { continue };
        if !about.is_dir() {
            seen.insert(path, (about.modified().ok(), about.len()));
            continue;
        }
        // Links to folders are not followed, for they may lead back.
        let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
        let entries =
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir() || !entry.path().is_dir()));
        left.extend(entries.map(|entry| entry.path()));
    }
    seen
}

/// What has changed, in a line.
fn changes(before: &Seen, now: &Seen) -> String {
    let new = now.iter().filter_map(|(path, state)| match before.get(path) {
        None => Some(("new", path)),
        Some(old) => (old != state).then_some(("changed", path)),
    });
    let gone = before.keys().filter(|path| !now.contains_key(*path)).map(|path| ("gone", path));
    let all: Vec<String> = new.chain(gone).map(|(what, path)| format!("{what} {}", path.display())).collect();
    let more = all.len().saturating_sub(NAMED);
    let named = all.get(..all.len() - more).unwrap_or_default().join(", ");
    if more == 0 { named } else { format!("{named}, and {more} more") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn seen(files: &[(&str, u64)]) -> Seen {
        files.iter().map(|(name, size)| (PathBuf::from(name), (None, *size))).collect()
    }

    #[test]
    fn a_line_says_what_has_changed() {
        let (before, now) = (seen(&[("a", 1), ("b", 2), ("c", 3)]), seen(&[("a", 1), ("b", 3), ("d", 3)]));
        assert_eq!(changes(&before, &now), "changed b, new d, gone c");
        let many: Vec<String> = (0..9).map(|number| number.to_string()).collect();
        let many: Vec<(&str, u64)> = many.iter().map(|name| (name.as_str(), 0)).collect();
        assert_eq!(changes(&seen(&[]), &seen(&many)), "new 0, new 1, new 2, new 3, new 4, and 4 more");
    }

    #[test]
    fn files_below_folders_are_seen_and_links_to_folders_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        std::fs::create_dir(path.join("below")).unwrap();
        std::fs::write(path.join("below/a.hb"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&path, path.join("below/back")).unwrap();
        let before = look(&[path.clone(), path.join("missing")]);
        assert_eq!(before.keys().collect::<Vec<_>>(), [&path.join("below/a.hb")]);
        std::fs::write(path.join("below/a.hb"), "; longer").unwrap();
        assert_ne!(before, look(&[path]));
    }
}
