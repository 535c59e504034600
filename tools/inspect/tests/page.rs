//! Tests of the HTML page.

use halfbyte::Module;
use halfbyte_abi::Target;
use halfbyte_inspect::view;
use halfbyte_ir::diag::Diagnostic;

const TARGETS: [Target; 2] = [halfbyte::HALU, halfbyte::VP1];

fn shown(text: &str) -> Result<String, Vec<Diagnostic>> {
    let module = Module::named("<b>&\"'.hb", text).unwrap();
    view::page(&module, &module.ir().kernels, &TARGETS)
}

const HOSTILE: &str = "; </script><script>alert(1)</script> <!-- \u{202e}\u{0}\u{7f}\n\
    kernel @k(%x: inout i32) { ; </style></title>&lt;\n^entry:\n  %i = item_id ; '\"><img src=x onerror=alert(1)>\n  \
    %a = load %x[%i]\n  %b = intrinsic.i32 halu \"IADD3 $d, $0, $1, RZ\", %a, %a\n  store %b, %x[%i]\n  ret\n}\n";

#[test]
fn all_of_the_text_is_escaped() {
    let page = shown(HOSTILE).unwrap();
    assert_eq!(page.matches("<script").count(), 2, "the data and the script");
    assert_eq!(page.matches("</script").count(), 2);
    assert_eq!(page.matches("</style").count(), 1);
    assert!(page.contains("; &lt;/style&gt;&lt;/title&gt;"));
    assert!(!page.contains("<img") && !page.contains("<!--"), "{page}");
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)"), "{page}");
    assert!(page.contains("&amp;lt;"));
    assert!(page.contains("\\u{202e}\\u{0}\\u{7f}") && !page.contains(['\u{202e}', '\u{0}', '\u{7f}']));
}

#[test]
fn page_is_self_contained_and_deterministic() {
    let page = shown(include_str!("../../../examples/median.hb")).unwrap();
    assert_eq!(shown(include_str!("../../../examples/median.hb")).unwrap(), page);
    for outside in ["http:", "https:", "@import", "url(", "src="] {
        assert!(!page.contains(outside), "{outside}");
    }
}

const LANGUAGE: &str = "; of no place\nfn weigh(a: i32, w: i32) -> i32 {\n  let p = a * w\n  p >>_s 2\n}\n\nkernel k(x: in i32, y: out i32, n: i32) {\n  \
    let i = item_id()\n  var sum = 0\n  for j in 0..n {\n    let v = weigh(x[i + j], 3)\n    if v >_s 7 {\n      sum += v\n    }\n  }\n  \
    y[i] = sum\n}\n";

/// Returns the lines of the source on the page: the line number, the source positions and the markup.
fn source(page: &str) -> Vec<(u32, String, String)> {
    let stage = page.split("data-stage=\"text\"").nth(1).unwrap().split("</ol>").next().unwrap();
    let lines = stage.split("<li ").skip(1).map(|line| {
        let places = line.split("data-k=\"").nth(1).map_or("", |rest| rest.split('"').next().unwrap());
        let margin = line.split("<i>").nth(1).unwrap().split('<').next().unwrap().parse().unwrap();
        (margin, places.to_owned(), line.split("<code>").nth(1).unwrap().to_owned())
    });
    lines.collect()
}

/// Each statement in the kernel language has the source positions of its own ops, also in loops and
/// functions. The page preserves the indentation of the statement.
#[test]
fn language_statements_have_their_source_positions() {
    let page = shown(LANGUAGE).unwrap();
    let lines = source(&page);
    let numbers: Vec<u32> = lines.iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]);
    let line = |number: u32| lines.iter().find(|(of, ..)| *of == number).unwrap();
    for number in [3, 4, 8, 9, 10, 11, 12, 13, 16] {
        let (_, places, text) = line(number);
        assert!(!places.is_empty(), "{number}: {text}");
        let own = format!("{number}:");
        assert!(places.split(' ').all(|place| place.starts_with(&own)), "{number}: {places}");
    }
    for number in [1, 5, 14, 15] {
        assert_eq!(line(number).1, "", "{number}");
    }
    assert!(line(13).2.starts_with("      <span") && line(11).2.starts_with("    let <span"), "{}", line(13).2);
    // The machine code of an inlined function has source positions in the function.
    let words = page.split("<section class=\"stage\" data-stage=\"words\"").nth(1).unwrap();
    assert!(words.contains("data-k=\"3:11\"") && !page.contains("data-k=\"1:1\""), "{page}");
}

#[test]
fn kernel_language_names_link_to_definitions() {
    let page = shown(LANGUAGE).unwrap();
    let lines = source(&page);
    let line = |number: u32| &lines.iter().find(|(of, ..)| *of == number).unwrap().2;
    assert!(line(8).contains("<span class=\"n def\" data-d=\"8:11\">i</span>"), "{}", line(8));
    assert!(line(3).contains("<span class=\"n def\" data-d=\"3:11") && line(3).contains(">p</span>"), "{}", line(3));
    // A variable has the source positions of all its assignments.
    let sum = line(16).split("data-d=\"").last().unwrap().split('"').next().unwrap();
    assert!(sum.contains("9:13") && sum.contains("13:"), "{sum}");
}

/// A page may contain kernels in the IR and kernels in the kernel language. All lines of a
/// statement have the same source positions.
#[test]
fn kernels_of_both_kinds_are_shown() {
    let text =
        "kernel @a() {\n^entry:\n  ret\n}\n\nkernel b(y: out i32) {\n  y[item_id()] = item_id() *\n    item_id()\n}\n";
    let page = shown(text).unwrap();
    let lines = source(page.split("data-kernel=\"b\"").nth(1).unwrap());
    let places = |number: u32| lines.iter().find(|(of, ..)| *of == number).unwrap().1.as_str();
    assert!(!places(7).is_empty());
    assert_eq!(places(7), places(8));
}

/// Collective operations are marked in every stage.
#[test]
fn marks_collective_operations_in_every_stage() {
    let text = "kernel @k(%y: out i32) {\n  shared %s: i32[64]\n^entry:\n  %i = local_id\n  store %i, %s[%i]\n  barrier\n  \
                %all = const.i32 -1\n  %v = load %s[0]\n  %r = subgroup_reduce_add %v, %all\n  store %r, %y[%i]\n  ret\n}\n";
    let page = shown(text).unwrap();
    let marked = |party: &str| page.matches(&format!("title=\"collective operation of a {party}\"")).count();
    assert!(marked("group") >= 5 && marked("subgroup") >= 5, "{page}");
    assert!(page.contains("<b>2</b> collective ops"));
    assert!(!shown("kernel @k() {\n^entry:\n  ret\n}\n").unwrap().contains("collective op"));
}

/// The page shows a refusal with its reason. Creating the page fails only if no target accepts the kernel.
#[test]
fn shows_refusals_with_their_reasons() {
    let page = shown(HOSTILE).unwrap();
    let shows = |target: &str| page.contains(&format!("data-kernel=\"k\" data-target=\"{target}\">"));
    assert!(shows("halu") && !shows("vp1"), "{page}");
    assert!(page.contains("<summary>vp1 refuses @k: 1 reason at 1 place</summary>"), "{page}");
    let module = Module::parse(HOSTILE).unwrap();
    assert!(view::page(&module, &module.ir().kernels, &[halfbyte::VP1]).is_err());
    assert!(shown("; nothing\n").is_err());
}

/// In the chart of bundles, blocks are contiguous, and the width of a loop's bracket is the initiation interval.
#[test]
fn bundle_chart_shows_blocks_and_loops() {
    const COLUMN: usize = 12;
    let module = Module::parse(include_str!("../../../examples/median.hb")).unwrap();
    let blocks = &module.compile(halfbyte::VP1).unwrap().code[0].stats;
    let page = view::page(&module, &module.ir().kernels[..1], &[halfbyte::VP1]).unwrap();
    let chart = between(&page, "<figure data-panel=\"slots\">", "</svg>");
    let number = |text: &str, before: &str, after: &str| between(text, before, after).parse::<usize>().unwrap();
    let starts: Vec<usize> =
        chart.split("<path class=\"edge\"").skip(1).map(|edge| number(edge, "d=\"M", " ") / COLUMN).collect();
    assert_eq!(starts, blocks.iter().map(|block| block.start as usize).collect::<Vec<_>>());
    let bundles = number(between(chart, "<svg ", ">"), " width=\"", "\"") / COLUMN;
    let ends = starts.iter().skip(1).copied().chain([bundles]);
    for ((block, start), end) in blocks.iter().zip(&starts).zip(ends) {
        let (found, bundles) = (end - start, block.bundles as usize);
        assert!(if block.pipelined { found > bundles } else { found == bundles }, "{block:?}");
    }
    let loops: Vec<&str> = chart.split("<path class=\"loop\"").skip(1).collect();
    let [bracket] = loops[..] else { panic!("{loops:?}") };
    let pipelined = blocks.iter().find(|block| block.pipelined).unwrap();
    // On each side, the bracket is two pixels narrower than the columns of its bundles. The delay
    // slot is the last bundle of an iteration.
    let (left, right) = (number(bracket, "d=\"M", " ") - 2, number(bracket, "H", "V") + 2);
    assert_eq!(right - left, pipelined.bundles as usize * COLUMN);
    let slots: Vec<&str> = chart.split("<rect class=\"slot").skip(1).collect();
    assert!(slots.iter().any(|slot| slot.starts_with(" nop\"")) && slots.iter().any(|slot| slot.starts_with('"')));
    for slot in slots {
        let text = between(slot, "<title>", "</title>");
        assert_eq!(slot.starts_with(" nop\""), text.ends_with("nop"), "{text}");
    }
}

/// Returns the text between the texts `before` and `after`.
fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    text.split_once(before).unwrap().1.split_once(after).unwrap().0
}
