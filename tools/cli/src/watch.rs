//! `--watch`: runs a command again whenever a file changes.
//!
//! Files are polled five times a second. Polling needs no interface of the operating system and works with editors that
//! replace files. Polling several thousand files takes one or two milliseconds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::output::mention;
use super::{Done, Failure, Message, complain, interrupt};

/// Time between two polls of the files.
const EVERY: Duration = Duration::from_millis(200);

/// Maximum number of changed files that a message names.
const NAMED: usize = 5;

/// Modification time and size of each file.
type FileStates = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Calls `once`, and calls it again after every change of a file in `paths` or below a folder in `paths`, until Ctrl-C.
pub(super) fn each_change(paths: &[PathBuf], mut once: impl FnMut() -> Done) -> Done {
    if paths.iter().any(|path| path == Path::new("-")) {
        return Err(Failure::Call("--watch: standard input does not change; name a file or a folder".into()));
    }
    let mut seen = look(paths);
    // A path that does not exist at the start is an error. A path that disappears later may appear again.
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

/// Returns the state of all files in `paths` and below folders in `paths`. Files that cannot be read are left out.
fn look(paths: &[PathBuf]) -> FileStates {
    let mut seen = FileStates::new();
    let mut left = paths.to_vec();
    while let Some(path) = left.pop() {
        let Ok(about) = path.metadata() else { continue };
        if !about.is_dir() {
            seen.insert(path, (about.modified().ok(), about.len()));
            continue;
        }
        // Links to folders are not followed, to avoid cycles.
        let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
        let entries =
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir() || !entry.path().is_dir()));
        left.extend(entries.map(|entry| entry.path()));
    }
    seen
}

/// Describes the changed files in one line of text.
fn changes(before: &FileStates, now: &FileStates) -> String {
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

    fn seen(files: &[(&str, u64)]) -> FileStates {
        files.iter().map(|(name, size)| (PathBuf::from(name), (None, *size))).collect()
    }

    #[test]
    fn describes_changes_in_one_line() {
        let (before, now) = (seen(&[("a", 1), ("b", 2), ("c", 3)]), seen(&[("a", 1), ("b", 3), ("d", 3)]));
        assert_eq!(changes(&before, &now), "changed b, new d, gone c");
        let many: Vec<String> = (0..9).map(|number| number.to_string()).collect();
        let many: Vec<(&str, u64)> = many.iter().map(|name| (name.as_str(), 0)).collect();
        assert_eq!(changes(&seen(&[]), &seen(&many)), "new 0, new 1, new 2, new 3, new 4, and 4 more");
    }

    #[test]
    fn finds_files_below_folders_without_following_links() {
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
