//! A cache of compilations on disk.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::id;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use crate::Compiled;
use crate::hash::hash;

/// Environment variable with the cache folder of halfbyte, or `off`.
const VARIABLE: &str = "HALFBYTE_CACHE";

/// Value of the variable that turns the cache off.
const OFF: &str = "off";

/// First line of an entry. The number changes with the format.
const MAGIC: &str = "halfbyte-cuda-cpp 1";

/// Extension of the files of entries.
const EXTENSION: &str = "entry";

/// Default maximum size of all entries in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Cache of compilations in a folder. The least recently used entries are removed when the cache is
/// full. I/O errors are ignored, because a compilation succeeds without a cache.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
    max_bytes: u64,
}

impl Cache {
    /// Returns the cache of this user, in the folder that `HALFBYTE_CACHE` names or else in the
    /// cache folder of the system. If the variable is `off`, the cache stores nothing.
    pub fn of_environment() -> Cache {
        Cache::of(|name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))
    }

    fn of(variable: impl Fn(&str) -> Option<PathBuf>) -> Cache {
        let folder = match variable(VARIABLE) {
            Some(folder) if folder == Path::new(OFF) => return Cache::off(),
            Some(folder) => Some(folder),
            None => system_folder(variable).map(|folder| folder.join("halfbyte")),
        };
        folder.map_or(Cache::off(), |folder| Cache::in_folder(folder.join("cuda")))
    }

    /// Returns a cache that stores nothing.
    pub fn off() -> Cache {
        Cache { folder: None, max_bytes: 0 }
    }

    /// Returns a cache in a folder, which need not exist.
    pub fn in_folder(folder: PathBuf) -> Cache {
        Cache { folder: Some(folder), max_bytes: MAX_BYTES }
    }

    /// Returns the entry with a key, if it exists and is intact.
    pub(crate) fn get(&self, key: &str) -> Option<Compiled> {
        let path = self.path(key)?;
        let compiled = decode(&fs::read_to_string(&path).ok()?)?;
        // The time of the file is the time of its last use.
        let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(compiled)
    }

    /// Stores an entry, and removes old entries if the cache is full.
    pub(crate) fn put(&self, key: &str, compiled: &Compiled) {
        let Some(path) = self.path(key) else { return };
        if self.write(&path, &encode(compiled)).is_ok() {
            self.shrink();
        }
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(key).with_extension(EXTENSION))
    }

    /// Writes a file atomically, so that other processes see either the complete file or none.
    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let draft = folder.join(format!("draft-{}-{number}.{EXTENSION}", id()));
        let written = File::create(&draft).and_then(|mut file| file.write_all(text.as_bytes()));
        written.and_then(|()| fs::rename(&draft, path)).inspect_err(|_| {
            let _ = fs::remove_file(&draft);
        })
    }

    /// Removes the least recently used entries until the cache does not exceed its maximum size.
    fn shrink(&self) {
        let Some(folder) = &self.folder else { return };
        let mut entries: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != EXTENSION) {
                continue;
            }
            if let Ok(data) = entry.metadata() {
                entries.push((data.modified().unwrap_or(SystemTime::UNIX_EPOCH), data.len(), path));
            }
        }
        let mut bytes: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        entries.sort();
        for (_, size, path) in entries {
            if bytes <= self.max_bytes {
                break;
            }
            let _ = fs::remove_file(path);
            bytes -= size;
        }
    }
}

/// Returns the folder for caches of the system, if it is known.
fn system_folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if cfg!(windows) {
        return variable("LOCALAPPDATA");
    }
    let home = || variable("HOME");
    if cfg!(target_os = "macos") {
        return home().map(|home| home.join("Library/Caches"));
    }
    // The specification of XDG requires an absolute path.
    variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute()).or_else(|| home().map(|home| home.join(".cache")))
}

/// Returns the text of an entry.
fn encode(compiled: &Compiled) -> String {
    let Compiled { ptx, names, log, .. } = compiled;
    let mut rest = format!("{} {}\n", names.len(), log.len());
    for name in names {
        rest += name;
        rest.push('\n');
    }
    rest += log;
    rest += ptx;
    format!("{MAGIC}\n{}\n{rest}", hash(rest.as_bytes()))
}

/// Parses the text of an entry. Returns `None` if the text is damaged.
pub(crate) fn decode(text: &str) -> Option<Compiled> {
    let (magic, text) = text.split_once('\n')?;
    let (sum, text) = text.split_once('\n')?;
    if magic != MAGIC || sum != hash(text.as_bytes()) {
        return None;
    }
    let (counts, mut text) = text.split_once('\n')?;
    let (count, log_bytes) = counts.split_once(' ')?;
    let mut names = Vec::new();
    for _ in 0..count.parse::<u32>().ok()? {
        let (name, rest) = text.split_once('\n')?;
        names.push(name.to_owned());
        text = rest;
    }
    let (log, ptx) = text.split_at_checked(log_bytes.parse().ok()?)?;
    Some(Compiled { ptx: ptx.to_owned(), names, log: log.to_owned(), is_cached: true })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn compiled(ptx: &str) -> Compiled {
        let names = vec!["_Z1aPi".to_owned(), "b".to_owned()];
        Compiled { ptx: ptx.to_owned(), names, log: "k.cu(1): warning: ü\n".to_owned(), is_cached: false }
    }

    #[test]
    fn entries_are_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(folder.path().join("a/b"));
        assert!(cache.get("key").is_none());
        cache.put("key", &compiled(".version 8.0\n"));
        let found = cache.get("key").unwrap();
        assert!(found.is_cached);
        assert_eq!(Compiled { is_cached: false, ..found }, compiled(".version 8.0\n"));
        assert!(cache.get("other").is_none());
        cache.put("key", &compiled(".version 9.0\n"));
        assert_eq!(cache.get("key").unwrap().ptx, ".version 9.0\n");
        let off = Cache::off();
        off.put("key", &compiled(""));
        assert!(off.get("key").is_none());
    }

    #[test]
    fn damaged_entries_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(folder.path().to_owned());
        cache.put("key", &compiled(".version 8.0\n.target sm_80\n"));
        let path = cache.path("key").unwrap();
        let text = fs::read(&path).unwrap();
        let damages = [
            text[..text.len() - 1].to_vec(),
            [&text[..], b"x"].concat(),
            text.iter().map(|&byte| if byte == b'8' { b'9' } else { byte }).collect(),
            Vec::new(),
            vec![0xFF; 100],
        ];
        for damaged in damages {
            fs::write(&path, damaged).unwrap();
            assert!(cache.get("key").is_none());
        }
        cache.put("key", &compiled(""));
        assert!(cache.get("key").is_some());
    }

    #[test]
    fn the_least_recently_used_entries_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let size = encode(&compiled("")).len() as u64;
        let cache = Cache { folder: Some(folder.path().to_owned()), max_bytes: 2 * size };
        let long_ago = SystemTime::now() - Duration::from_secs(1000);
        for (age, key) in ["a", "b"].into_iter().enumerate() {
            cache.put(key, &compiled(""));
            let file = File::options().append(true).open(cache.path(key).unwrap()).unwrap();
            file.set_modified(long_ago + Duration::from_secs(age as u64)).unwrap();
        }
        // The use of an entry makes it recent.
        assert!(cache.get("a").is_some());
        cache.put("c", &compiled(""));
        let kept = ["a", "b", "c"].map(|key| cache.get(key).is_some());
        assert_eq!(kept, [true, false, true]);
    }

    #[test]
    fn the_environment_names_the_folder() {
        let folder = |variables: &[(&str, &str)]| {
            let value =
                |name: &str| variables.iter().find(|(set, _)| *set == name).map(|(_, value)| PathBuf::from(value));
            Cache::of(value).folder
        };
        assert_eq!(folder(&[("HALFBYTE_CACHE", "/c"), ("HOME", "/h")]), Some("/c/cuda".into()));
        assert_eq!(folder(&[("HALFBYTE_CACHE", "off"), ("HOME", "/h")]), None);
        assert_eq!(folder(&[]), None);
        if cfg!(target_os = "linux") {
            assert_eq!(folder(&[("HOME", "/h")]), Some("/h/.cache/halfbyte/cuda".into()));
            let xdg = |path| folder(&[("HOME", "/h"), ("XDG_CACHE_HOME", path)]);
            assert_eq!(xdg("/x"), Some("/x/halfbyte/cuda".into()));
            assert_eq!(xdg("x"), Some("/h/.cache/halfbyte/cuda".into()));
        }
    }
}
