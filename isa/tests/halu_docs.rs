//! `docs/isa/halu` is what the rows say. `HALFBYTE_BLESS=1 cargo test -p halfbyte-isa --test halu_docs` rewrites it.
#![allow(clippy::unwrap_used, clippy::panic)]

use halfbyte_isa::{docs, halu};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn the_pages_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/isa/halu");
    let mut pages: BTreeMap<String, String> =
        halu::mnemonics().map(|m| (format!("{m}.md"), docs::page(m).unwrap())).collect();
    pages.insert("README.md".to_owned(), docs::index());
    if std::env::var_os("HALFBYTE_BLESS").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        for entry in std::fs::read_dir(&folder).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        for (name, text) in &pages {
            std::fs::write(folder.join(name), text).unwrap();
        }
    }
    let found: BTreeMap<String, String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    assert_eq!(found.keys().collect::<Vec<_>>(), pages.keys().collect::<Vec<_>>());
    for (name, text) in &pages {
        assert!(found[name] == *text, "docs/isa/halu/{name} is stale: run again with HALFBYTE_BLESS=1");
    }
}

#[test]
fn there_is_a_page_for_each_mnemonic_and_no_other() {
    for op in halu::Opcode::ALL {
        let page = docs::page(op.row().mnemonic).unwrap();
        assert_eq!(page.matches(&format!("\n## {}\n", op.name())).count(), 1);
    }
    assert_eq!(docs::page("HADD3"), None);
    assert_eq!(docs::page(""), None);
}
