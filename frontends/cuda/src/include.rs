//! The files that a source text includes from the user's folders.
//!
//! NVRTC does not report the files that it reads. The key of a cached compilation needs the contents of the user's
//! files, so this module searches for `#include` in the texts. The search ignores preprocessor conditions. A file that
//! is found but not included only makes the key more specific.

use std::collections::BTreeSet;
use std::fs::read;
use std::path::{Path, PathBuf};

use crate::hash::hash;

/// Maximum number of files that are read.
const MAX_FILES: usize = 4096;

/// Words that make the result of a compilation depend on more than the included files.
const VARIABLE_WORDS: [&str; 5] = ["__has_include", "__DATE__", "__TIME__", "__TIMESTAMP__", "#embed"];

/// The includes of a source text.
#[derive(Debug, Default)]
pub(crate) struct Includes {
    /// The included files in the user's folders, each with the hash of its contents.
    pub(crate) own: Vec<(PathBuf, String)>,
    /// Names of the other headers.
    pub(crate) others: BTreeSet<String>,
    /// `true` if the includes are unknown, for example because a macro gives the name of a header.
    pub(crate) is_unknown: bool,
}

/// One `#include` directive.
#[derive(PartialEq, Eq, Debug)]
enum Directive<'a> {
    Quoted(&'a str),
    Angled(&'a str),
    /// The name cannot be determined without a preprocessor.
    Computed,
}

impl Includes {
    /// Returns the includes of a text in a folder. `folders` are the user's folders with headers.
    pub(crate) fn of(text: &str, folder: &Path, folders: &[PathBuf]) -> Includes {
        let mut includes = Includes::default();
        let mut waiting = includes.add(text, folder, folders);
        while let Some(path) = waiting.pop() {
            if includes.own.iter().any(|(known, _)| *known == path) {
                continue;
            }
            let Ok(bytes) = read(&path) else {
                includes.is_unknown = true;
                continue;
            };
            includes.own.push((path.clone(), hash(&bytes)));
            if includes.own.len() > MAX_FILES {
                includes.is_unknown = true;
                break;
            }
            let text = String::from_utf8_lossy(&bytes);
            waiting.extend(includes.add(&text, path.parent().unwrap_or(folder), folders));
        }
        includes.own.sort();
        includes
    }

    /// Adds the directives of one text. Returns the paths of the included files in the user's folders.
    fn add(&mut self, text: &str, folder: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
        self.is_unknown |= VARIABLE_WORDS.iter().any(|word| text.contains(word));
        let mut paths = Vec::new();
        for directive in directives(text) {
            let (name, first) = match directive {
                Directive::Quoted(name) => (name, Some(folder)),
                Directive::Angled(name) => (name, None),
                Directive::Computed => {
                    self.is_unknown = true;
                    continue;
                }
            };
            let places = first.into_iter().chain(folders.iter().map(PathBuf::as_path));
            match places.map(|place| place.join(name)).find(|path| path.is_file()) {
                // The same file may have several paths, such as `a.h` and `b/../a.h`.
                Some(path) => paths.push(path.canonicalize().unwrap_or(path)),
                None => {
                    self.others.insert(name.to_owned());
                }
            }
        }
        paths
    }
}

/// Returns the `#include` directives of a text, including those in comments.
fn directives(text: &str) -> impl Iterator<Item = Directive<'_>> {
    text.match_indices('#').filter_map(move |(at, _)| {
        let rest = text.get(at + 1..)?.trim_start_matches([' ', '\t']);
        let rest = rest.strip_prefix("include").or_else(|| rest.strip_prefix("import"))?;
        let line = rest.lines().next().unwrap_or_default().trim_start();
        let name = |start: char, end: char| line.strip_prefix(start)?.split_once(end).map(|(name, _)| name);
        let quoted = name('"', '"').map(Directive::Quoted);
        Some(quoted.or_else(|| name('<', '>').map(Directive::Angled)).unwrap_or(Directive::Computed))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::{create_dir_all, write};

    use super::*;

    #[test]
    fn finds_directives() {
        let text = "#include <cuda_fp16.h>\n  #  include \"own.h\" // text\n/* */ #include <cub/cub.cuh>\n#include NAME\n#define X #x\n#include_next <a.h>\n";
        let found: Vec<_> = directives(text).collect();
        let expected = [
            Directive::Angled("cuda_fp16.h"),
            Directive::Quoted("own.h"),
            Directive::Angled("cub/cub.cuh"),
            Directive::Computed,
            Directive::Computed,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn reads_the_files_of_the_user_and_their_includes() {
        let folder = tempfile::tempdir().unwrap();
        let [own, more] = ["own", "more"].map(|name| folder.path().join(name));
        create_dir_all(own.join("sub")).unwrap();
        create_dir_all(&more).unwrap();
        write(own.join("a.h"), "#include \"sub/b.h\"\n#include <c.h>\n").unwrap();
        write(own.join("sub/b.h"), "#include \"d.h\"\n#include \"../a.h\"\n").unwrap();
        write(own.join("sub/d.h"), "").unwrap();
        write(more.join("c.h"), "#include <cuda_fp16.h>\n").unwrap();
        let text = "#include \"a.h\"\n#include <nosuch.h>\n";
        let includes = Includes::of(text, &own, std::slice::from_ref(&more));
        let names: BTreeSet<_> =
            includes.own.iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, BTreeSet::from(["a.h", "b.h", "c.h", "d.h"]));
        assert_eq!(includes.others, BTreeSet::from(["cuda_fp16.h", "nosuch.h"].map(str::to_owned)));
        assert!(!includes.is_unknown);
        // The key depends on the contents.
        write(own.join("sub/d.h"), "int x;").unwrap();
        assert_ne!(Includes::of(text, &own, &[more]).own, includes.own);
    }

    #[test]
    fn some_includes_are_unknown() {
        let of = |text| Includes::of(text, Path::new("/nosuch"), &[]).is_unknown;
        assert!(of("#include HEADER"));
        assert!(of("#if __has_include(\"x.h\")"));
        assert!(of("const char *built = __DATE__;"));
        assert!(!of("#include <x.h>\n#define include 3"));
    }
}
