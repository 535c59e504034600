//! Tests of further features of the page: rules, differences, refusals, search and copying.

use std::fs;

use super::browser::browse;
use super::page_of;
use crate::common::{halfbyte, halfbyte_on, root};

/// Functions that the scripts of several tests use.
const HANDS: &str = "
    const view = () => document.querySelector('.view:not([hidden])');
    const stage = name => view().querySelector(`.stage[data-stage=${name}]`);
    const press = selector => document.querySelector(selector).click();
    const key = (on, key, shiftKey) => on.dispatchEvent(new KeyboardEvent('keydown', { key, shiftKey, bubbles: true, cancelable: true }));
    const choose = (select, value) => { select.value = value; select.dispatchEvent(new Event('change', { bubbles: true })); };
    const isShown = part => part.getClientRects().length > 0;
    const said = [];
    const say = (...what) => said.push(what.join(' '));
";

fn hands(page: &str, hash: &str, script: &str) -> Option<String> {
    browse(page, "1280,900", hash, &format!("{HANDS} {script}; return said.join(' | ')"))
}

/// Two kernels. VP1 refuses one of them, at three source locations and for two reasons.
const REFUSED: &str = "kernel @good(%x: inout i32) {\n^entry:\n  %i = item_id\n  %a = load %x[%i]\n  %b = add.i32 %a, %a\n  \
    store %b, %x[%i]\n  ret\n}\nkernel @bad(%x: inout f32) {\n^entry:\n  %i = item_id\n  %a = load %x[%i]\n  \
    %b = ffma.f32 %a, %a, %a\n  %c = ffma.f32 %b, %a, %a\n  %d = fdiv.f32 %c, %a\n  store %d, %x[%i]\n  ret\n}\n";

/// The refusals of the visible kernel are collapsed below the panes, and each reason is shown once.
#[test]
fn refusals_are_folded() {
    let page = halfbyte_on(&["view", "-"], REFUSED.as_bytes());
    let script = "const of = () => [...document.querySelectorAll('.refused')].filter(isShown); \
        say(of().length); press('[data-choose=kernel][value=bad]'); \
        const [one] = of(); say(of().length, one.open, one.querySelector('summary').textContent); \
        say(one.getBoundingClientRect().top >= view().querySelector('.strip').getBoundingClientRect().bottom); \
        one.open = true; const reasons = [...one.querySelectorAll('li')].map(reason => reason.firstChild.textContent); \
        say(new Set(reasons).size === reasons.length, one.querySelectorAll('a').length); \
        one.querySelector('a').click(); say(location.hash)";
    let Some(seen) = hands(page.output(), "kernel=good", script) else { return };
    assert_eq!(seen, "0 | 1 false vp1 refuses @bad: 2 reasons at 3 places | true | true 3 | #at=13:3");
}

/// The page shows the rule of a selected instruction. For a pinned instruction, it shows the same reasons as `explain`.
#[test]
fn rules_are_named_and_explained() {
    let script = "const line = stage('selected').querySelector('li[data-k=\"56:3\"]'); say(line.querySelector('.r').textContent); \
        line.click(); const why = document.querySelector('#about .why'); \
        say(why.querySelector('.made').textContent); \
        say([...why.querySelectorAll('.near .rule b')].map(rule => rule.textContent).join(' ')); \
        say(why.querySelector('.near li p').textContent); \
        stage('text').querySelector('li[data-k=\"9:3\"]').click(); \
        say(document.querySelector('#about .why section').textContent)";
    let Some(seen) = hands(&page_of("median"), "target=halu", script) else { return };
    let seen: Vec<&str> = seen.split(" | ").collect();
    let told = halfbyte(&["explain", "examples/median.hb", "--at", "%m18a", "--target", "halu"]).output().to_owned();
    let by = told.lines().find_map(|line| line.trim().strip_prefix("by video")).unwrap();
    let rule = format!("video{}", by.split(' ').next().unwrap());
    assert_eq!(seen[0], rule);
    assert!(seen[1].starts_with(&format!("selected by {rule}isel/rules/halu/video.isle:")), "{}", seen[1]);
    let (_, not_taken) = told.split_once("not taken").unwrap();
    let near = not_taken.lines().filter(|line| line.contains(", priority "));
    let near: Vec<&str> = near.map(|line| line.trim().split(' ').next().unwrap()).collect();
    assert_eq!(seen[2], near.join(" "));
    let missed = not_taken.lines().find_map(|line| line.split_once(": expected ")).unwrap().1;
    assert!(seen[3].ends_with(&missed.replace('`', "")), "{} is not {missed}", seen[3]);
    assert!(seen[4].starts_with("%i = item_id"), "{}", seen[4]);
}

/// The page shows the change of an instruction by a pass, with the rule.
#[test]
fn passes_are_explained() {
    let text = "kernel @k(%x: inout i32) {\n^entry:\n  %i = item_id\n  %a = load %x[%i]\n  %n = neg.i32 %a\n  %m = neg.i32 %n\n  \
                store %m, %x[%i]\n  ret\n}\n";
    let page = halfbyte_on(&["view", "-"], text.as_bytes());
    let Some(seen) = hands(page.output(), "target=halu&at=m", "say(document.querySelector('.why').textContent)") else {
        return;
    };
    let told = halfbyte_on(&["explain", "-", "--at", "%m", "--target", "halu"], text.as_bytes()).output().to_owned();
    let rule = told.lines().find_map(|line| line.split_once("canon: rewritten by ")).unwrap().1;
    let rule = rule.split(' ').next().unwrap();
    assert!(seen.contains(&format!("canon: rewritten by {rule}lower/rules/")), "{seen}");
}

/// The page compares any two stages of the IR line by line. The address of the page can request a comparison.
#[test]
fn passes_are_compared() {
    let script = "const [pick, base] = ['.pass', '.base'].map(name => stage('lowered').querySelector(name)); \
        const texts = kind => [...stage('lowered').querySelectorAll(`.diff > .${kind} code`)].map(line => line.textContent); \
        choose(base, '0'); say(texts('gone').join(';')); say(texts('new').join(';')); \
        say(stage('lowered').querySelectorAll('.diff > li').length, location.hash); \
        const [line] = stage('lowered').querySelectorAll('.new'); line.click(); say(line.classList.contains('on')); line.click(); \
        choose(pick, '0'); say(texts('gone').length + texts('new').length); \
        choose(base, ''); say(stage('lowered').querySelectorAll('.gone, .new').length)";
    let text = "kernel @k(%x: inout i32) {\n^entry:\n  %i = item_id\n  %a = load %x[%i]\n  %n = neg.i32 %a\n  %m = neg.i32 %n\n  \
                %s = add.i32 %m, %i\n  store %s, %x[%i]\n  ret\n}\n";
    let page = halfbyte_on(&["view", "-"], text.as_bytes());
    let Some(seen) = hands(page.output(), "target=halu", script) else { return };
    let expected = "%n = neg.i32 %a;%m = neg.i32 %n;%s = add.i32 %m, %i | %s = add.i32 %a, %i | 11 \
                    #kernel=k&target=halu&with=0 | true | 0 | 0";
    assert_eq!(seen, expected);
    let script =
        "say(stage('lowered').querySelectorAll('.gone, .new').length, stage('lowered').querySelector('.base').value)";
    assert_eq!(hands(page.output(), "target=halu&with=0", script).unwrap(), "4 0");
    // The compared texts are those that `compile` prints.
    let script = "const printed = number => { choose(stage('lowered').querySelector('.pass'), String(number)); \
            return [...stage('lowered').querySelectorAll('ol > li code')].map(line => line.textContent.trim()).join('\\n'); }; \
        say(printed(0))";
    let printed = hands(page.output(), "target=halu", script).unwrap();
    let ir = halfbyte_on(&["compile", "-", "--target", "halu", "--emit", "ir"], text.as_bytes()).output().to_owned();
    let ir: Vec<&str> = ir.lines().map(str::trim).collect();
    assert_eq!(printed.trim(), ir.join("\n").trim());
}

/// Comments and digits can be hidden, and the address of the page records this state.
#[test]
fn comments_and_digits_are_folded() {
    let script = "const shown = selector => [...view().querySelectorAll(selector)].filter(isShown).length; \
        const all = () => say(shown('.c') > 0, shown('.note') > 0, shown('.x') > 0, shown('[data-stage=words] li > i') > 0, shown('.r') > 0); \
        all(); for (const name of ['comments', 'digits', 'rules']) press(`[data-toggle=${name}]`); all(); say(location.hash); \
        location.hash = '#kernel=median&target=halu&hide=digits'; dispatchEvent(new Event('hashchange')); all()";
    let Some(seen) = hands(&page_of("median"), "target=halu&hide=comments", script) else { return };
    let expected = "false false true true true | true true false false false | #kernel=median&target=halu&hide=digits%2Crules | \
                    true true false false true";
    assert_eq!(seen, expected);
}

/// `/` starts a search in all panes; Enter moves to the next or previous match, and a counter shows the current match.
#[test]
fn all_panes_are_searched() {
    let script = "const box = document.getElementById('search'); const count = () => document.getElementById('found').textContent; \
        key(document.body, '/'); say(document.activeElement === box); \
        box.value = 'MIN_U'; box.dispatchEvent(new Event('input', { bubbles: true })); \
        const stages = [...new Set([...view().querySelectorAll('li.found')].map(line => line.closest('.stage').dataset.stage))]; \
        say(stages.join(','), count().replace(/of \\d+/, 'of n')); const first = view().querySelector('li.now'); \
        key(box, 'Enter'); say(count().startsWith('2 of'), view().querySelector('li.now') !== first); \
        key(box, 'Enter', true); key(box, 'Enter', true); const [now, all] = count().split(' of '); say(now === all); \
        const line = view().querySelector('li.now').getBoundingClientRect(); const pane = view().querySelector('li.now').closest('.stage'); \
        say(line.bottom <= pane.getBoundingClientRect().bottom); press('[data-find=next]'); say(count().startsWith('1 of')); \
        press('[data-toggle=rules]'); say(view().querySelectorAll('[data-stage=selected] li.found').length); \
        box.value = 'no such'; box.dispatchEvent(new Event('input', { bubbles: true })); say(count()); \
        key(box, 'Escape'); say(view().querySelectorAll('.found').length, box.value.length)";
    let Some(seen) = hands(&page_of("median"), "target=halu", script) else { return };
    assert_eq!(seen, "true | text,lowered,selected 1 of n | true true | true | true | true | 0 | 0 | 0 0");
}

/// A copied pane is a valid file: machine code can be assembled again, and source can be compiled.
#[test]
fn panes_are_copied() {
    let script = "for (const name of ['words', 'text']) { const button = stage(name).querySelector('.copy'); button.click(); \
            say(button.dataset.copied.replaceAll('\\n', '⏎')); }";
    let Some(seen) = hands(&page_of("median"), "target=halu", script) else { return };
    let (code, source) = seen.split_once(" | ").unwrap();
    let assembled = halfbyte_on(&["asm", "--target", "halu", "-"], code.replace('⏎', "\n").as_bytes());
    let compiled = halfbyte(&["compile", "examples/median.hb", "--target", "halu", "--emit", "words"]);
    assert_eq!(assembled.output(), compiled.output());
    let copied =
        halfbyte_on(&["compile", "-", "--target", "halu", "--emit", "words"], source.replace('⏎', "\n").as_bytes());
    assert_eq!(copied.output(), compiled.output());
}

/// All lines that are derived from one source line have the same colour in all stages. The next
/// source line has another colour.
#[test]
fn lines_have_colours() {
    let script = "const colours = key => new Set([...view().querySelectorAll(`.stage .inst[data-k=\"${key}\"]`)].map(line => getComputedStyle(line).backgroundColor)); \
        say(colours('55:3').size, [...colours('55:3')][0] === 'rgba(0, 0, 0, 0)'); press('[data-toggle=colours]'); \
        say(colours('55:3').size, colours('56:3').size, [...colours('55:3')][0] === [...colours('56:3')][0], location.hash); \
        press('[data-choose=target][value=vp1]'); say(colours('55:3').size, [...colours('55:3')][0] === 'rgba(0, 0, 0, 0)')";
    let Some(seen) = hands(&page_of("median"), "target=halu", script) else { return };
    assert_eq!(seen, "1 true | 1 1 false #kernel=median&target=halu&show=colours | 1 false");
}

/// A page contains the name of the file, but not its folder.
#[test]
fn a_page_knows_no_folders() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("median.hb");
    fs::copy(root().join("examples/median.hb"), &copy).unwrap();
    let page = page_of("median");
    assert_eq!(halfbyte(&["view", &copy.display().to_string()]).output(), page);
    assert_eq!(halfbyte(&["view", "./examples/../examples/median.hb"]).output(), page);
    assert!(page.contains("<title>median.hb · halfbyte</title>") && !page.contains("examples/median.hb"));
}

/// A page with its explanations and passes does not exceed a maximum size in bytes.
#[test]
fn pages_are_no_larger_than_their_kernels_need() {
    for (name, most) in [("median", 450_000), ("yadif", 4_700_000)] {
        let bytes = page_of(name).len();
        assert!(bytes < most, "{name}: {bytes}");
    }
}
