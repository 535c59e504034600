//! Tests of highlighting by the pointer, by keys and by the address of the page.

use super::browser::browse;
use super::page_of;
use crate::common::{halfbyte, halfbyte_on};

/// A script that returns the number of highlighted lines of each visible stage, and the first of these lines.
const LIT: &str = "return [...document.querySelectorAll('.view:not([hidden]) .stage')].map(stage => { \
     const lines = [...stage.querySelectorAll('ol:not([hidden]) > .on')]; \
     return lines.length + ' ' + (lines[0]?.querySelector('code').textContent.trim() ?? stage.querySelector('output').textContent); \
     }).join(' | ')";

#[test]
fn a_value_lights_in_every_stage() {
    let Some(lit) = browse(&page_of("median"), "1280,900", "target=halu&at=m18a", LIT) else { return };
    let expected = "1 %m18a = min_u.i8x4 %m17b, %m16b | 1 %m18a = min_u.i8x4 %m17b, %m16b | \
                    1 vmin4.u32.u32.u32 v4, v7, v10, RZ | 1 vmin4.u32.u32.u32 R1, R2, R1, RZ | \
                    1 vmin4.u32.u32.u32 R1, R2, R1, RZ";
    assert_eq!(lit, expected);
    let lit = browse(&page_of("median"), "1280,900", "target=vp1&at=56:3", LIT).unwrap();
    let expected = "1 %m18a = min_u.i8x4 %m17b, %m16b | 1 %m18a = min_u.i8x16 %m17b, %m16b | 1 vmin u v3 v6 v9 | \
                    1 vmin u $v7 $v8 $v7 | 3 vmin u $v7 $v8 $v7";
    assert_eq!(lit, expected, "what a pipelined loop repeats is lit wherever it stands");
}

/// If an instruction reads a register that another instruction of its bundle writes, the page does
/// not connect the two, because the bundle reads first.
#[test]
fn words_of_a_bundle_are_told_apart() {
    let page = halfbyte(&["view", "examples/median.hb", "--target", "vp1"]);
    let line = |digits: &str| page.output().lines().find(|line| line.contains(digits)).unwrap().to_owned();
    let (load, vmax) = (line("0xd0510087</span>"), line("0x99421407</span>"));
    assert!(load.contains("<span class=\"n def\" data-d=\"16:3\">$v10</span>"), "{load}");
    assert!(vmax.contains("<span class=\"n\" data-d=\"53:3\">$v10</span>"), "{vmax}");
}

/// For an op without instructions of its own, the page highlights the instructions of its users.
#[test]
fn what_was_folded_lights_its_users() {
    let Some(lit) = browse(&page_of("median"), "1280,900", "target=vp1&at=row1", LIT) else { return };
    let expected = "1 %row1 = add.i32 %i, %width | 0 in its users | 0 in its users | 0 in its users | 0 in its users";
    assert_eq!(lit, expected);
}

#[test]
fn pointer_keys_and_passes_light_too() {
    let script = "const view = document.querySelector('.view:not([hidden])'); \
        const line = view.querySelector('.stage[data-stage=words] li[data-k=\"12:3\"]'); \
        const over = (target, type) => target.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerType: 'mouse' })); \
        const seen = []; const say = () => seen.push(document.documentElement.dataset.lit ?? '-'); \
        say(); over(line, 'pointerover'); say(); \
        over(view.querySelector('.stage[data-stage=allocated] .n[data-d=\"9:3\"]'), 'pointerover'); say(); \
        line.click(); over(view.querySelector('.stage li[data-k=\"20:3\"]'), 'pointerover'); say(); \
        seen.push(location.hash); \
        document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })); say(); \
        const key = (on, key) => on.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })); \
        line.focus(); key(line, 'ArrowDown'); key(document.activeElement, 'Enter'); say(); \
        key(document.activeElement, 'ArrowLeft'); seen.push(document.activeElement.closest('.stage').dataset.stage); \
        document.querySelector('[data-choose=target][value=vp1]').click(); say(); \
        const next = document.querySelector('.view:not([hidden])'); seen.push(next.dataset.target); \
        const select = next.querySelector('select'); select.value = '1'; \
        select.dispatchEvent(new Event('change', { bubbles: true })); \
        seen.push(next.querySelectorAll('ol[data-pass]:not([hidden]) > .inst').length > 60); \
        return seen.join(' ')";
    let Some(seen) = browse(&page_of("median"), "1280,900", "target=halu", script) else { return };
    let pinned = "12:3 #kernel=median&target=halu&at=12%3A3";
    assert_eq!(seen, format!("- 12:3 9:3 {pinned} - 13:3 allocated 13:3 vp1 true"));
}

/// The page escapes the source text, which therefore cannot become markup or script.
#[test]
fn a_hostile_text_stays_text() {
    let text = "; </script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\n\
                kernel @k(%x: inout i32) { ; </style><svg onload=\"document.title='owned'\">\n^entry:\n  %i = item_id ; <!--\n  \
                %a = load %x[%i]\n  store %a, %x[%i]\n  ret\n}\n";
    let page = halfbyte_on(&["view", "-"], text.as_bytes());
    let script = "return document.title + ' ' + document.scripts.length + document.querySelectorAll('img, svg[onload]').length + ' ' + \
                  document.querySelector('.c').textContent.slice(0, 11)";
    let Some(seen) = browse(page.output(), "1280,900", "at=</script>", script) else { return };
    assert_eq!(seen, "<stdin> · halfbyte 30 ; </script>");
}
