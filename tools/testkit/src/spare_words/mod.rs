//! Patterns of HALU instructions that fewer or cheaper instructions could replace. A match is a hint
//! for a missed optimisation, not a proof.

mod known_bits;
mod listing;
mod patterns;

use std::fmt::Write;

use halfbyte::pipeline::{Compiler, Options};
use halfbyte::{HALU, Module};
use halfbyte_isa::isa::MachineCode;

use listing::Listing;
use patterns::{bits, bytes, compares, constants, lanes, loops, shifts, sums};

/// A pattern of HALU instructions that fewer or cheaper instructions could replace.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// The pattern's name.
    pub name: &'static str,
    /// The instructions of the pattern, and their better replacement.
    pub description: &'static str,
    /// A predicate that returns `true` if the pattern is at an instruction index. For each match, the predicate accepts
    /// exactly one of the pattern's instructions.
    find: fn(&Listing, usize) -> bool,
}

/// All patterns.
pub const PATTERNS: &[Pattern] = &[
    Pattern { name: "rotation", description: "SHF to each side and LOP3, for one SHF", find: shifts::rotation },
    Pattern {
        name: "bytes",
        description: "bytes moved by SHF or masked by LOP3 and moved by PRMT or masked, for one PRMT",
        find: bytes::bytes,
    },
    Pattern { name: "extension", description: "PRMT that extends what a load can extend", find: bytes::extension },
    Pattern { name: "bits", description: "LOP3 of a LOP3 over no more than three words, for one", find: bits::bits },
    Pattern { name: "sum", description: "IADD3 of an IADD3 over no more than three words, for one", find: sums::sum },
    Pattern { name: "product", description: "IADD3 of IMAD, for IMAD that adds", find: sums::product },
    Pattern { name: "scaled", description: "IADD3 of a left SHF, for LEA", find: sums::scaled },
    Pattern {
        name: "second term",
        description: "MOV of constant memory for IADD3 that has another such term",
        find: sums::second_term,
    },
    Pattern {
        name: "number",
        description: "SHF or PRMT of a number that MOV makes, for the number",
        find: constants::number,
    },
    Pattern {
        name: "latch",
        description: "a branch out of a loop and then the one back, for the one back",
        find: loops::latch,
    },
    Pattern {
        name: "lanes",
        description: "lanes extracted, added one by one and joined by PRMT, for one packed addition",
        find: lanes::lanes,
    },
    Pattern {
        name: "lane selection",
        description: "lanes extracted, compared, selected one by one and joined by PRMT, for packed instructions",
        find: lanes::lane_selection,
    },
    Pattern {
        name: "zero term",
        description: "video addition or subtraction of RZ, for the other operand",
        find: lanes::zero_term,
    },
    Pattern {
        name: "shared bits",
        description: "LOP3 whose users are all LOP3s that can absorb it, for the users alone",
        find: bits::shared_bits,
    },
    Pattern {
        name: "no change",
        description: "LOP3 mask or PRMT that keeps every bit of its source that can be set, for the source",
        find: bits::no_change,
    },
    Pattern {
        name: "joined signs",
        description: "LOP3 of two PRMTs that replicate signs, for one PRMT of the LOP3",
        find: bytes::joined_signs,
    },
    Pattern {
        name: "rounding shift",
        description: "IADD3 of a right SHF and the last bit that it drops, for SHF by one less, IADD3 and SHF",
        find: shifts::rounding_shift,
    },
    Pattern {
        name: "insertion",
        description: "LOP3 that joins a left SHF to bits that the shift clears, for LEA",
        find: shifts::insertion,
    },
    Pattern {
        name: "bit test",
        description: "ISETP of a LOP3 mask of SHF, for ISETP of a mask",
        find: compares::bit_test,
    },
    Pattern {
        name: "repeated comparison",
        description: "comparison whose result or its inverse a predicate already holds, for that predicate",
        find: compares::repeated_comparison,
    },
    Pattern {
        name: "repeated constant",
        description: "MOV of a constant that a register already holds, for that register",
        find: constants::repeated_constant,
    },
    Pattern {
        name: "division",
        description: "IDIV or IREM by a number that MOV makes, for a product with the reciprocal",
        find: constants::division,
    },
    Pattern {
        name: "partial sum",
        description: "IADD3 of two words of a sum of four, for an IADD3 of three of them that is there anyway",
        find: sums::partial_sum,
    },
    Pattern {
        name: "invariant load",
        description: "first load in a loop that changes neither the address nor the memory, for a load before the loop",
        find: loops::invariant_load,
    },
];

/// Returns the instruction indices at which each pattern matches, in the order of [`PATTERNS`]. For
/// code of other targets than HALU, no pattern matches.
pub fn redundant_instructions(code: &dyn MachineCode) -> Vec<Vec<usize>> {
    let listing = Listing::new(code);
    let places = |pattern: &Pattern| (0..listing.len()).filter(|&at| (pattern.find)(&listing, at)).collect();
    PATTERNS.iter().map(places).collect()
}

/// Returns a report on the kernels that HALU accepts: for each pattern the number of matches, and
/// the instruction indices in each kernel.
pub fn page(modules: &[Module]) -> String {
    let (mut words, mut found) = (0, Vec::new());
    let options = Options::new(HALU);
    for module in modules {
        let mut compiler = Compiler::new(module, &options);
        for kernel in &module.ir().kernels {
            let Ok((code, _)) = compiler.compile(kernel, &mut |_| {}) else { continue };
            words += code.words.len();
            found.push((module.file(), &kernel.name, redundant_instructions(&*code.words)));
        }
    }
    let all: usize = found.iter().flat_map(|(.., places)| places).map(Vec::len).sum();
    let mut page = format!("{all} of {words} instructions match a pattern of redundant code\n");
    for (number, pattern) in PATTERNS.iter().enumerate() {
        let places = || found.iter().map(|(file, kernel, places)| (file, kernel, &places[number]));
        let count: usize = places().map(|(.., at)| at.len()).sum();
        // Writing to a string cannot fail.
        let _ = writeln!(page, "{count:6}  {}: {}", pattern.name, pattern.description);
        for (file, kernel, at) in places().filter(|(.., at)| !at.is_empty()) {
            let at: Vec<String> = at.iter().map(usize::to_string).collect();
            let _ = writeln!(page, "        {file} @{kernel}: {}", at.join(" "));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use halfbyte_isa::halu::{HaluCode, assemble};

    use super::patterns::examples;
    use super::*;

    /// Returns the number of matches of each pattern in a text.
    fn matches(text: &str) -> Vec<(&'static str, usize)> {
        let code = HaluCode(assemble(&format!("{text}\nEXIT\n")).unwrap().words);
        let places = redundant_instructions(&code);
        PATTERNS.iter().zip(places).map(|(pattern, places)| (pattern.name, places.len())).collect()
    }

    #[test]
    fn each_pattern_is_found_where_it_is() {
        for example in examples() {
            for text in example.found {
                for (name, count) in matches(text) {
                    assert_eq!(count, usize::from(name == example.name), "{name}: {text}");
                }
            }
        }
    }

    #[test]
    fn no_pattern_is_found_where_it_is_not() {
        for example in examples() {
            for text in example.not_found {
                let count = matches(text).into_iter().find(|(name, _)| *name == example.name);
                assert_eq!(count, Some((example.name, 0)), "{text}");
            }
        }
    }

    #[test]
    fn each_pattern_has_examples() {
        for pattern in PATTERNS {
            let example = examples().find(|example| example.name == pattern.name);
            let is_complete = |example: &patterns::Example| {
                !example.found.is_empty() && example.not_found.len() >= example.found.len()
            };
            assert!(example.is_some_and(is_complete), "{}", pattern.name);
        }
    }
}
