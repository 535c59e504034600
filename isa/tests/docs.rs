//! Tests of the generated documentation pages of instructions. `HALFBYTE_BLESS=1 cargo test -p
//! halfbyte-isa docs::` rewrites the expected pages in `tests/pages`.

use std::path::Path;

use halfbyte_isa::docs::Set;
use halfbyte_isa::{halu, ptx, vp1};

/// Compares the pages of a simple and a packed instruction of each instruction set with the expected pages.
#[test]
fn pages_are_as_expected() {
    let of = |set: Set, folder: &'static str, names: [&'static str; 2]| {
        names.map(|name| (format!("{folder}/{name}.md"), set.page(name).unwrap()))
    };
    let ptx = ["fma", "vadd4"].map(|name| (format!("ptx/{name}.md"), ptx::docs::page(name).unwrap()));
    let halu = of(Set::Halu, "halu", ["HFMA2", "vadd4"]);
    let vp1 = of(Set::Vp1, "vp1", ["vadd", "vmac"]);
    for (name, page) in [halu, vp1, ptx].into_iter().flatten() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages").join(&name);
        if std::env::var_os("HALFBYTE_BLESS").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), page, "{name} is stale: HALFBYTE_BLESS=1 rewrites it");
    }
}

/// Every link of an index must lead to a page of the same instruction set.
#[test]
fn indexes_link_to_pages() {
    let of_set = |set: Set| (set.index(), set.mnemonics());
    for (index, mnemonics) in Set::ALL.map(of_set).into_iter().chain([(ptx::docs::index(), ptx::docs::mnemonics())]) {
        for mnemonic in &mnemonics {
            assert!(index.contains(&format!("({mnemonic}.md")), "{mnemonic}");
        }
        let links = index.matches(".md").count();
        assert!(links >= mnemonics.len(), "{links} links, {} pages", mnemonics.len());
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
