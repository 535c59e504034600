//! Checks that `docs/isa` matches the rows. `HALFBYTE_BLESS=1 cargo test -p halfbyte-isa --test
//! docs` regenerates it.

use halfbyte_isa::docs::Set;
use halfbyte_isa::{halu, ptx, vp1};
use std::collections::BTreeMap;
use std::path::Path;

fn folder(set: Set) -> &'static str {
    match set {
        Set::Halu => "docs/isa/halu",
        Set::Vp1 => "docs/isa/vp1",
    }
}

#[test]
fn the_pages_are_up_to_date() {
    let of_set = |set: Set| {
        let pages = set.mnemonics().into_iter().map(|m| (format!("{m}.md"), set.page(m).unwrap()));
        (folder(set), pages.collect(), set.index())
    };
    let ptx: BTreeMap<String, String> =
        ptx::docs::mnemonics().into_iter().map(|m| (format!("{m}.md"), ptx::docs::page(m).unwrap())).collect();
    let documents = Set::ALL.map(of_set).into_iter().chain([("docs/isa/ptx", ptx, ptx::docs::index())]);
    for (folder, mut pages, index) in documents {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
        pages.insert("README.md".to_owned(), index);
        if std::env::var_os("HALFBYTE_BLESS").is_some() {
            std::fs::create_dir_all(&path).unwrap();
            for entry in std::fs::read_dir(&path).unwrap() {
                std::fs::remove_file(entry.unwrap().path()).unwrap();
            }
            for (name, text) in &pages {
                std::fs::write(path.join(name), text).unwrap();
            }
        }
        let found: BTreeMap<String, String> = std::fs::read_dir(&path)
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap())
            })
            .collect();
        assert_eq!(found.keys().collect::<Vec<_>>(), pages.keys().collect::<Vec<_>>());
        for (name, text) in &pages {
            assert!(found[name] == *text, "{folder}/{name} is stale: run again with HALFBYTE_BLESS=1");
        }
    }
}

#[test]
fn there_is_a_page_for_each_mnemonic_and_no_other() {
    let halu = halu::Opcode::ALL.iter().map(|o| (Set::Halu, o.name(), o.row()));
    let vp1 = vp1::Opcode::ALL.iter().filter(|o| o.is_named()).map(|o| (Set::Vp1, o.name(), o.row()));
    for (set, name, row) in halu.chain(vp1) {
        for mnemonic in std::iter::once(row.mnemonic).chain(row.aliases.iter().map(|a| a.mnemonic)) {
            let page = set.page(mnemonic).unwrap();
            assert!(page.starts_with(&format!("# {mnemonic}\n")));
            assert_eq!(page.matches(&format!("\n## {name}\n")).count(), 1, "{name} on the page of {mnemonic}");
        }
    }
    for opcode in ptx::Opcode::ALL {
        let page = ptx::docs::page(opcode.row().mnemonic).unwrap();
        assert_eq!(page.matches(&format!("\n## {}\n", opcode.name())).count(), 1, "{}", opcode.name());
    }
    assert_eq!(ptx::docs::page("vadd3"), None);
    for set in Set::ALL {
        for none in ["HADD3", "", "bad"] {
            assert_eq!(set.page(none), None);
        }
    }
}
