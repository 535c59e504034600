//! Tests of `format` on every valid text of the project: examples, tests, the standard library, the
//! documentation, and random programs. Formatting is idempotent, preserves the meaning and the
//! comments, and restores randomly changed spaces.

use std::path::{Path, PathBuf};

use halfbyte_lang::{StdOnly, format, is_language, read};

/// Collects the `.hb` files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "hb") {
            found.push(path);
        }
    }
}

/// Returns texts, each with the place where it was found. Some texts are not valid: negative tests,
/// assembly tests, and excerpts in the documentation.
fn texts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut paths, mut texts) = (Vec::new(), Vec::new());
    for folder in ["examples", "tests", "frontends/lang/std"] {
        files(&root.join(folder), &mut paths);
    }
    for path in paths {
        texts.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
    }
    for entry in std::fs::read_dir(root.join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let page = std::fs::read_to_string(&path).unwrap();
            for fenced in page.split("```").skip(1).step_by(2) {
                let text = fenced.split_once('\n').map_or("", |(_, text)| text);
                texts.push((path.display().to_string(), text.to_owned()));
            }
        }
    }
    texts.sort();
    texts
}

/// Returns the offset at which the comment of a line begins, if any.
fn comment(line: &str) -> Option<usize> {
    let mut quoted = false;
    line.bytes().position(|byte| {
        quoted ^= byte == b'"';
        byte == b';' && !quoted
    })
}

fn comments(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| Some(line[comment(line)?..].trim_end())).collect()
}

/// Returns a text with randomly changed spaces between tokens and before lines. Comments and strings are unchanged.
fn disturbed(text: &str, random: &mut u64) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let (code, comment) = line.split_at(comment(line).unwrap_or(line.len()));
        let mut quoted = false;
        let code_end = code.trim_end().len();
        out.push_str(["", " ", "\t", "       "][below(random, 4)]);
        for character in code.trim_start().chars() {
            quoted ^= character == '"';
            match character {
                ' ' if !quoted => out.push_str([" ", "  ", "\t"][below(random, 3)]),
                // No longer token begins with one of these characters, so that a space may follow.
                '(' | '[' | ',' if !quoted => {
                    out.push(character);
                    out.push_str(["", " ", "   "][below(random, 3)]);
                }
                _ => out.push(character),
            }
        }
        // The formatter preserves the spaces before a comment.
        let end = out.trim_end_matches([' ', '\t']).len();
        out.truncate(end);
        out.push_str(&code[code_end..]);
        out.push_str(comment);
        out.push('\n');
    }
    out
}

fn below(random: &mut u64, most: usize) -> usize {
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*random >> 33) as usize % most
}

/// Checks the formatting of a text. Returns `false` if the text is invalid and so cannot be checked.
fn check_formatting(name: &str, text: &str) -> bool {
    let Ok(module) = read(text, "k.hb", &StdOnly) else { return false };
    let once = format(text).unwrap_or_else(|errors| panic!("{name} reads, and is not formatted: {errors:?}"));
    assert_eq!(format(&once).unwrap(), once, "{name}: formatted again");
    assert_eq!(comments(&once), comments(text), "{name}: comments");
    assert_eq!(once.lines().count(), text.lines().count(), "{name}: lines");
    let again = read(&once, "k.hb", &StdOnly).unwrap();
    assert_eq!(again.to_string(), module.to_string(), "{name}: what it means");
    if !is_language(text) {
        assert_eq!(once, text, "{name}: plain IR");
    }
    true
}

#[test]
fn all_texts_that_read_are_formatted_to_the_same() {
    let (mut plain, mut language) = (0, 0);
    for (name, text) in texts() {
        if check_formatting(&name, &text) {
            *(if is_language(&text) { &mut language } else { &mut plain }) += 1;
        }
    }
    assert!(plain >= 200 && language >= 80, "{plain} texts of plain IR and {language} of the language");
}

#[test]
fn restores_randomly_changed_spaces() {
    let (mut random, mut count) = (1, 0);
    for (name, text) in texts() {
        if !is_language(&text) || text.contains("kernel @") || read(&text, "k.hb", &StdOnly).is_err() {
            continue;
        }
        let once = format(&text).unwrap();
        for _ in 0..4 {
            let other = disturbed(&text, &mut random);
            let written = format(&other).unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{other}"));
            let wrong = written.lines().zip(once.lines()).find(|(one, two)| one != two);
            assert_eq!(wrong, None, "{name} of\n{other}");
        }
        count += 1;
    }
    assert!(count >= 80, "{count} texts");
}

#[test]
fn all_lines_end_as_the_first_does() {
    let text = "kernel k(y: out i32) {\n  y[0]=1   ; one\n}\n\nkernel @p(%y: out i32) {\n^e:\n  ret\n}\n";
    let written = format(text).unwrap();
    assert!(!written.contains('\r') && written != text, "{written}");
    let of_two = |text: &str| text.replace('\n', "\r\n");
    assert_eq!(format(&of_two(text)).unwrap(), of_two(&written));
    assert_eq!(format(&of_two(&written)).unwrap(), of_two(&written));
}

#[test]
fn blanks_lines_and_comments() {
    let text = "\n\n; head\ninclude \"std/x\"\n\n\n; run: halu: @k items=1\nkernel   k(a:i32,\n x :in f16x2 , %in: i8){ ; why\n\n let p=-a*( a+ - 1 ) ;\n\n\n  ; a remark\n  if p<_s 3&&a==1{p()}else{ }\n  let (q,r) = f(p,\n a) +\n g.rz(!p)\n  y[ i*4+j wide+1 ] = load.f16( b[i].q[2] align 2 )\n  return  \n ; last\n\n}\nfn f<T,U>(a:T)->(T,U){ (a,a) }\nstruct s{d:f16,q:i8[ 3 ]}\n\n\n";
    let written = format(text).unwrap();
    let wanted = "; head\ninclude \"std/x\"\n\n; run: halu: @k items=1\nkernel k(a: i32,\n  x: in f16x2, %in: i8) { ; why\n  let p = -a * (a + -1)\n\n  ; a remark\n  if p <_s 3 && a == 1 { p() } else { }\n  let (q, r) = f(p,\n    a) +\n    g.rz(!p)\n  y[i * 4 + j wide + 1] = load.f16(b[i].q[2] align 2)\n  return\n  ; last\n}\nfn f<T, U>(a: T) -> (T, U) { (a, a) }\nstruct s { d: f16, q: i8[3] }\n";
    assert_eq!(written, wanted);
    assert_eq!(format(&written).unwrap(), written);
}

#[test]
fn plain_ir_stays_as_it_is() {
    let plain = "; c\nkernel @k(%a:  i32) {\n^entry:\n      %r   = add.i32 %a, 3\n  ret }\n";
    assert_eq!(format(plain).unwrap(), plain);
    let both = format!("fn  f( ) {{ }}\n\n{plain}\nconst N=3\n");
    assert_eq!(format(&both).unwrap(), format!("fn f() {{ }}\n\n{plain}\nconst N = 3\n"));
}
