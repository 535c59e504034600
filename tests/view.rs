//! `view`: the page that it writes, and what a browser makes of it. Where there is no Chromium, what needs one is skipped.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::common::{halfbyte, halfbyte_on, root};

#[test]
fn every_example_has_its_page() {
    for example in fs::read_dir(root().join("examples")).unwrap() {
        let path = example.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "hb") {
            let page = halfbyte(&["view", &path.display().to_string()]);
            assert!(page.output().starts_with("<!doctype html>"), "{}", path.display());
            assert!(page.out.ends_with("</html>\n"), "{}", path.display());
        }
    }
}

#[test]
fn pages_go_where_they_are_asked_to_and_are_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html").display().to_string();
    assert_eq!(halfbyte(&["view", "examples/median.hb", "-o", &file]).output(), "");
    let page = fs::read_to_string(&file).unwrap();
    assert_eq!(halfbyte(&["view", "examples/median.hb", "-o", "-"]).output(), page);
    let median = fs::read(root().join("examples/median.hb")).unwrap();
    let named = page.replace("examples/median.hb", "&lt;stdin&gt;");
    assert_eq!(halfbyte_on(&["view", "-"], &median).output(), named);
    let halu = halfbyte(&["view", "examples/median.hb", "--target", "halu", "--kernel", "@median"]);
    let shows = |target: &str| halu.out.contains(&format!("data-kernel=\"median\" data-target=\"{target}\">"));
    assert!(shows("halu") && !shows("vp1"), "{}", halu.err);
    // Of a word: its address, its digits, its assembly, and a register with the place that it comes from.
    assert!(halu.out.contains("<i>0037</i>") && halu.out.contains("0x0000000000000000000000000000724d"));
    assert!(
        halu.out.contains("<b data-m=\"halu.STG_U_32\">STG</b> [<span class=\"n\" data-d=\"10:3\">R0</span>"),
        "{}",
        halu.out
    );
}

#[test]
fn what_cannot_be_shown_is_told() {
    halfbyte(&["view", "examples/median.hb", "--kernel", "none"]).fails(2, "has no kernel `@none`; it has @median");
    halfbyte(&["view", "examples/axpy.hb", "--target", "vp1"]).fails(1, "examples/axpy.hb:");
    halfbyte(&["view", "examples/axpy.hb", "--target", "gpu"]).fails(2, "gpu");
    halfbyte(&["view", "no-such.hb"]).fails(2, "no-such.hb");
    halfbyte_on(&["view", "-"], b"kernel").fails(1, "<stdin>:1:");
    halfbyte_on(&["view", "-"], b"; nothing\n").fails(1, "there is no kernel here");
}

/// The browser, if there is one.
fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// Opens a page, runs a script in it, and gives what the script returns; `None` without a browser. Whatever the page says on its
/// console is an error.
fn browse(page: &str, size: &str, hash: &str, script: &str) -> Option<String> {
    let Some(browser) = chromium() else {
        eprintln!("skipped: there is no chromium");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    let ending = format!(
        "<script>addEventListener('load', () => setTimeout(() => {{ const at = (() => {{ {script} }})(); \
         document.body.replaceChildren('RESULT[' + at + ']'); }}, 100))</script></body>"
    );
    fs::write(&path, page.replace("</body>", &ending)).unwrap();
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=3000", "--dump-dom"])
        .arg(format!("--window-size={size}"))
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}#{hash}", path.display()))
        .output()
        .unwrap();
    let (dom, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let on_console: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(on_console.is_empty(), "{on_console:#?}");
    let result = dom.split_once("RESULT[").and_then(|(_, rest)| rest.rsplit_once(']'));
    Some(result.unwrap_or_else(|| panic!("{said}\n{dom}")).0.replace("&gt;", ">").replace("&lt;", "<"))
}

/// Of each stage that is shown: how many lines are lit, and the first of them.
const LIT: &str = "return [...document.querySelectorAll('.view:not([hidden]) .stage')].map(stage => { \
     const lines = [...stage.querySelectorAll('ol:not([hidden]) > .on')]; \
     return lines.length + ' ' + (lines[0]?.querySelector('code').textContent.trim() ?? stage.querySelector('output').textContent); \
     }).join(' | ')";

fn median() -> String {
    halfbyte(&["view", "examples/median.hb"]).output().to_owned()
}

#[test]
fn a_value_lights_in_every_stage() {
    let Some(lit) = browse(&median(), "1280,900", "target=halu&at=m18a", LIT) else { return };
    let expected = "1 %m18a = min_u.i8x4 %m17b, %m16b | 1 %m18a = min_u.i8x4 %m17b, %m16b | \
                    1 vmin4.u32.u32.u32 v4, v7, v10, RZ | 1 vmin4.u32.u32.u32 R1, R2, R1, RZ | \
                    1 vmin4.u32.u32.u32 R1, R2, R1, RZ";
    assert_eq!(lit, expected);
    let lit = browse(&median(), "1280,900", "target=vp1&at=56:3", LIT).unwrap();
    let expected = "1 %m18a = min_u.i8x4 %m17b, %m16b | 1 %m18a = min_u.i8x16 %m17b, %m16b | 1 vmin u v3 v6 v9 | \
                    1 vmin u $v7 $v8 $v7 | 3 vmin u $v7 $v8 $v7";
    assert_eq!(lit, expected, "what a pipelined loop repeats is lit wherever it stands");
}

/// A word reads what another of its bundle overwrites, and does not write that itself.
#[test]
fn words_of_a_bundle_are_told_apart() {
    let page = halfbyte(&["view", "examples/median.hb", "--target", "vp1"]);
    let line = |digits: &str| page.output().lines().find(|line| line.contains(digits)).unwrap().to_owned();
    let (load, vmax) = (line("0xd0510087</span>"), line("0x99421407</span>"));
    assert!(load.contains("<span class=\"n def\" data-d=\"16:3\">$v10</span>"), "{load}");
    assert!(vmax.contains("<span class=\"n\" data-d=\"53:3\">$v10</span>"), "{vmax}");
}

/// An op that has no instruction of its own is found in those that use it.
#[test]
fn what_was_folded_lights_its_users() {
    let Some(lit) = browse(&median(), "1280,900", "target=vp1&at=row1", LIT) else { return };
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
        const select = next.querySelector('select'); select.value = '0'; \
        select.dispatchEvent(new Event('change', { bubbles: true })); \
        seen.push(next.querySelectorAll('ol[data-pass]:not([hidden]) > .inst').length > 60); \
        return seen.join(' ')";
    let Some(seen) = browse(&median(), "1280,900", "target=halu", script) else { return };
    let pinned = "12:3 #kernel=median&amp;target=halu&amp;at=12%3A3";
    assert_eq!(seen, format!("- 12:3 9:3 {pinned} - 13:3 allocated 13:3 vp1 true"));
}

/// No stage makes the page wider than the screen. Windows of the browser have a least width, frames have none.
#[test]
fn the_page_fits_its_screen() {
    let escaped = median().replace('&', "&amp;").replace('"', "&quot;");
    for width in [1280, 768, 390] {
        let frame = format!(
            "<body><iframe style=\"width:{width}px;height:844px;border:0\" srcdoc=\"{escaped}\"></iframe></body>"
        );
        let script = "const frame = document.querySelector('iframe').contentWindow; const seen = []; \
            const root = frame.document.documentElement; \
            for (const target of ['halu', 'vp1']) { \
              frame.document.querySelector(`[value=${target}]`).click(); \
              const view = frame.document.querySelector('.view:not([hidden])'); \
              view.querySelector('[data-stage=text] [data-k=\"56:3\"]').click(); \
              const widths = [...view.querySelectorAll('.stage')].map(stage => stage.scrollWidth - stage.clientWidth); \
              seen.push(root.scrollWidth, Math.max(...widths), root.dataset.lit ?? '-'); \
            } \
            return seen.join(' ')";
        let Some(seen) = browse(&frame, "1400,900", "", script) else { return };
        assert_eq!(seen, format!("{width} 0 56:3 {width} 0 -"), "a second click lets go");
    }
}

/// Nothing of a text is markup or script.
#[test]
fn a_hostile_text_stays_text() {
    let text = "; </script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\n\
                kernel @k(%x: inout i32) { ; </style><svg onload=\"document.title='owned'\">\n^entry:\n  %i = item_id ; <!--\n  \
                %a = load %x[%i]\n  store %a, %x[%i]\n  ret\n}\n";
    let page = halfbyte_on(&["view", "-"], text.as_bytes());
    let script = "return document.title + ' ' + document.scripts.length + document.querySelectorAll('img, svg[onload]').length + ' ' + \
                  document.querySelector('.c').textContent.slice(0, 11)";
    let Some(seen) = browse(page.output(), "1280,900", "at=</script>", script) else { return };
    assert_eq!(seen, "<stdin> · halfbyte 20 ; </script>");
}
