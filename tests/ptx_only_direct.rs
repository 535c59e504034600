//! Tests of `check` on PTX kernels that are only executed directly: `tests/checks/*.ptx`. The lines
//! that begin with `//=` are the exit code and the output of the program. `HALFBYTE_BLESS=1`
//! updates the lines that begin with `//=`.

use serde_json::{Value, json};

use crate::common::{Called, halfbyte, root};
use crate::json::object;

const OUTPUT: &str = "//=";

/// Returns the lines of a test without its expected output.
fn text(test: &str) -> String {
    test.lines().filter(|line| !line.starts_with(OUTPUT)).map(|line| line.to_owned() + "\n").collect()
}

#[test]
fn each_kernel_is_checked_where_it_runs() {
    let bless = std::env::var_os("HALFBYTE_BLESS").is_some();
    let mut wrong = String::new();
    let mut paths: Vec<_> =
        std::fs::read_dir(root().join("tests/checks")).unwrap().map(|of| of.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 9);
    for path in paths {
        let test = std::fs::read_to_string(&path).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("k.ptx");
        std::fs::write(&file, text(&test)).unwrap();
        let called = halfbyte(&["check", &file.display().to_string()]);
        let said = format!("exit code {}\n{}{}", called.code, called.out, called.err);
        let said = said.replace(&format!("{}/", folder.path().display()), "");
        let said: String = said.lines().map(|line| format!("{OUTPUT} {line}").trim_end().to_owned() + "\n").collect();
        let whole = text(&test) + &said;
        if whole != test && bless {
            std::fs::write(&path, &whole).unwrap();
        } else if whole != test {
            wrong += &format!("{}:\n{said}", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn check(test: &str, options: &[&str]) -> Called {
    let path = root().join(format!("tests/checks/{test}.ptx"));
    halfbyte(&[&["check", &path.display().to_string()], options].concat())
}

/// Returns the members of the first kernel, and the target, the engine and the verdict of each result.
fn json_of(test: &str) -> (Value, Vec<Value>) {
    let found = object("check", &check(test, &["--json"]));
    let file = &found["files"][0];
    let result = |of: &Value| json!([of["target"], of["engine"], of["verdict"]]);
    (file["kernels"][0].clone(), file["results"].as_array().unwrap().iter().map(result).collect())
}

#[test]
fn json_says_where_each_kernel_ran() {
    let (kernel, results) = json_of("matrix_product");
    assert_eq!((&kernel["state"], &kernel["launches"], &kernel["equal"]), (&json!("equal"), &json!(1), &json!(1)));
    assert_eq!(kernel["not_imported"][0]["line"], 14);
    assert!(kernel.get("refused").is_none(), "{kernel}");
    assert_eq!(results, [json!(["ptx", "interp", "passed"]), json!(["ptx", "jit", "passed"])]);
    let (kernel, results) = json_of("matrix_product_on_halu");
    assert_eq!((&kernel["state"], &kernel["refused"][0]["line"]), (&json!("refused"), &json!(14)));
    assert!(kernel.get("not_imported").is_none(), "{kernel}");
    let [halu, on_ptx @ ..] = results.as_slice() else { panic!("{results:?}") };
    assert_eq!(halu, &json!(["halu", null, "failed"]));
    assert_eq!(on_ptx, [json!(["ptx", "interp", "passed"]), json!(["ptx", "jit", "passed"])]);
    let (kernel, results) = json_of("matrix_product_differs");
    assert_eq!((&kernel["state"], &kernel["run"], &kernel["equal"]), (&json!("run"), &json!(1), &json!(0)));
    assert_eq!(results, [json!(["ptx", "interp", "failed"]), json!(["ptx", "jit", "passed"])]);
    let found = object("check", &check("matrix_product_differs", &["--json"]));
    let mismatch = &found["files"][0]["results"][0]["mismatches"][0];
    assert_eq!((&mismatch["expected_by"], &mismatch["found_on"]), (&json!("the run line"), &json!("ptx (interp)")));
}

#[test]
fn junit_has_an_error_only_if_the_import_is_needed() {
    for (test, code, errors, failures) in [
        ("matrix_product", 0, 0, 0),
        ("without_run_lines", 0, 0, 0),
        ("matrix_product_differs", 1, 0, 1),
        ("matrix_product_on_halu", 1, 1, 1),
    ] {
        let called = check(test, &["--junit", "-"]);
        assert_eq!(called.code, code, "{test}: {}", called.out);
        let counts = format!("failures=\"{failures}\" errors=\"{errors}\"");
        assert!(called.out.contains(&counts), "{test}: {}", called.out);
    }
}

#[test]
fn one_engine_is_checked_alone() {
    let called = check("matrix_product", &["--engine", "interp"]);
    assert!(called.output().contains("1 launch on ptx"), "{}", called.out);
    check("matrix_product_differs", &["--engine", "jit"]).fails(1, "@ones on ptx (jit): y[3]");
    let called = check("matrix_product", &["--races"]);
    assert!(called.output().contains("1 launch on ptx"), "{}", called.out);
}
