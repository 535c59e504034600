//! Tests of the output of commands with `--json`. An independent validator checks the output
//! against the schemas in `docs/json/`.

use std::collections::BTreeMap;

use boon::{Compiler, Schemas};
use serde_json::{Value, json};

use crate::common::{Called, halfbyte, halfbyte_on, root};

/// Asserts that a call printed one JSON object as its only line, and that the object is valid by
/// `docs/json/<command>.schema.json`. Returns the object.
#[track_caller]
pub fn object(command: &str, called: &Called) -> Value {
    assert_eq!(called.out.lines().count(), 1, "{}{}", called.out, called.err);
    let found: Value = serde_json::from_str(&called.out).unwrap();
    if let Err(wrong) = wrong_with(command, &found) {
        panic!("{wrong}\n{found:#}");
    }
    assert_eq!(found["ok"], called.code == 0, "{found:#}");
    found
}

/// Returns an error if an object is not valid by the schema of a command.
fn wrong_with(command: &str, found: &Value) -> Result<(), String> {
    let path = root().join(format!("docs/json/{command}.schema.json"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
    compiler.add_resource("halfbyte:schema", schema).unwrap();
    let number = compiler.compile("halfbyte:schema", &mut schemas).unwrap();
    schemas.validate(found, number).map_err(|wrong| format!("{wrong:#}"))
}

/// Returns the schemas of all commands, by the name of the command.
fn schemas() -> BTreeMap<String, Value> {
    let of = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let name = path.file_name()?.to_str()?.strip_suffix(".schema.json")?.to_owned();
        Some((name, serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()))
    };
    std::fs::read_dir(root().join("docs/json")).unwrap().filter_map(of).collect()
}

const ADD: &str = "kernel @add(%x: in i16x2, %y: inout i16x2) {\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  %w = load %y[%i]\n  \
                   %r = add.i16x2 %v, %w\n  store %r, %y[%i]\n  ret\n}\n";

/// A kernel that VP1 refuses. The refused op is on the fourth line.
const ROOT: &str = "kernel @root(%a: f32, %y: out f32) {\n^entry:\n  %i = item_id\n  %r = fsqrt.f32 %a\n  store %r, %y[%i]\n  ret\n}\n";

fn compile(args: &[&str], text: &str) -> Value {
    let args = [&["compile", "-", "--json", "--target"], args].concat();
    object("compile", &halfbyte_on(&args, text.as_bytes()))
}

/// All schemas describe the common members alike, and each schema contains the name of its command.
#[test]
fn schemas_agree_on_what_all_objects_have() {
    let schemas = schemas();
    let (_, first) = schemas.first_key_value().unwrap();
    for (command, schema) in &schemas {
        assert_eq!(schema["$defs"]["diagnostic"], first["$defs"]["diagnostic"], "{command}");
        assert_eq!(schema["properties"]["command"]["const"], **command);
        for member in ["version", "ok", "diagnostics"] {
            assert_eq!(schema["properties"][member], first["properties"][member], "{command}");
        }
    }
}

/// Returns the arguments of a call that prints a JSON object, for a command.
fn call_of(command: &str) -> Vec<&str> {
    match command {
        "compile" => vec!["compile", "examples/axpy.hb", "--target", "halu", "--json"],
        "corpus" => vec!["corpus", "docs/launch/corpus.jsonl", "--json"],
        "prove" => vec!["prove", "assembly::undefined", "--json"],
        "run" => vec![
            "run",
            "examples/axpy.hb",
            "--target",
            "halu",
            "--items",
            "1",
            "--arg",
            "a=1",
            "--arg",
            "x=[1]",
            "--arg",
            "y=[1]",
            "--json",
        ],
        "test" => vec!["test", "tests/files/isel", "--json"],
        other => vec![other, "examples/axpy.hb", "--json"],
    }
}

/// Each schema rejects objects with invalid members.
#[test]
fn schemas_reject_invalid_members() {
    for command in schemas().keys() {
        let right = object(command, &halfbyte(&call_of(command)));
        for (member, value) in [
            ("version", json!(2)),
            ("command", json!("other")),
            ("ok", json!("yes")),
            ("diagnostics", json!([{ "severity": "error" }])),
            ("diagnostics", json!([{ "severity": "error", "message": "m", "line": 0 }])),
            ("diagnostics", json!([{ "severity": "error", "message": "m", "line": 1 }])),
            ("unheard", json!(1)),
        ] {
            let mut wrong = right.clone();
            wrong[member] = value;
            assert!(wrong_with(command, &wrong).is_err(), "{wrong}");
        }
        for member in ["version", "command", "ok", "diagnostics"] {
            let mut wrong = right.clone();
            wrong.as_object_mut().unwrap().remove(member);
            assert!(wrong_with(command, &wrong).is_err(), "{wrong}");
        }
    }
}

#[test]
fn compile_answers_with_the_text_or_names_the_file() {
    let found = compile(&["halu", "--stats", "--time-passes"], ADD);
    assert!(found["output"]["text"].as_str().unwrap().contains("EXIT ;"), "{found:#}");
    assert_eq!((&found["stats"][0]["kernel"], &found["stats"][0]["ops"]), (&json!("add"), &json!(6)));
    assert!(found["times"].as_array().unwrap().iter().any(|time| time["step"] == "isel"), "{found:#}");
    compile(&["vp1", "--stats"], ADD);
    compile(&["ptx", "--sm", "80"], ADD);
    for kind in ["ir", "lowered", "mach", "words", "listing"] {
        assert_eq!(compile(&["vp1", "--emit", kind], ADD)["emit"], kind);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("add.o").display().to_string();
    let found = compile(&["halu", "--emit", "obj", "-o", &file], ADD);
    assert_eq!(found["output"], json!({ "file": file }));
    assert!(std::fs::read(&file).unwrap().starts_with(b"\x7fELF"));
    let object = ["compile", "-", "--json", "--target", "halu", "--emit", "obj"];
    halfbyte_on(&object, ADD.as_bytes())
        .fails(2, "an object file cannot be printed as JSON; write it to a file with -o FILE");
}

#[test]
fn compile_says_where_a_text_is_wrong() {
    let found = compile(&["halu"], &ADD.replace("%v, %w", "%v, %q"));
    let wrong = &found["diagnostics"][0];
    assert_eq!(wrong["message"], "`%q` is not defined");
    assert_eq!((&wrong["file"], &wrong["line"], &wrong["column"]), (&json!("<stdin>"), &json!(6), &json!(22)));
    assert_eq!(wrong["end"], json!({ "line": 6, "column": 24 }));
    assert_eq!((wrong.get("op"), found.get("output")), (None, None));
    compile(&["vp1"], "kernel @k(\n");
    let called = halfbyte_on(&["compile", "-", "--target", "halu", "--json"], b"\xff");
    assert_eq!(object("compile", &called)["diagnostics"][0]["message"], "this is not UTF-8 text");
    assert_eq!(called.err, "");
}

#[test]
fn compile_names_the_op_that_a_target_refuses() {
    for kind in ["asm", "mach", "words", "listing"] {
        let found = compile(&["vp1", "--emit", kind], ROOT);
        let wrong = &found["diagnostics"][0];
        assert_eq!(
            (&wrong["op"], &wrong["target"], &wrong["kernel"]),
            (&json!("fsqrt.f32"), &json!("vp1"), &json!("root"))
        );
        assert_eq!((&wrong["line"], &wrong["column"]), (&json!(4), &json!(3)), "{found:#}");
    }
}

/// An invalid command line prints a message in place of an object, even with `--json`.
#[test]
fn a_wrong_call_has_no_object() {
    for call in [
        ["compile", "no/such.hb", "--json", "--target", "halu"].as_slice(),
        &["compile", "examples/axpy.hb", "--json", "--target", "halu", "--kernel", "axpi"],
        &["compile", "examples/axpy.hb", "--json", "--target", "halu", "--passes", "gvm"],
        &["test", "no/such.hb", "--json"],
    ] {
        let called = halfbyte(call);
        assert_eq!((called.code, called.out.as_str()), (2, ""), "{}", called.err);
        assert!(called.err.starts_with("error: "), "{}", called.err);
    }
}

#[test]
fn test_answers_with_each_kernel() {
    let on = |text: &str| object("test", &halfbyte_on(&["test", "-", "--json"], text.as_bytes()));
    let right = format!("; test: isel halu\n{ADD}; check: NO_SUCH\n");
    let found = on(&right.replace("NO_SUCH", "LDG"));
    assert_eq!((&found["passed"], &found["failed"]), (&json!(1), &json!(0)), "{found:#}");
    let found = on(&right);
    let test = &found["files"][0]["tests"][0];
    assert_eq!((&test["kernel"], &test["ok"], &test["line"]), (&json!("add"), &json!(false), &json!(11)));
    assert_eq!(test["failures"][0]["line"], 11);
    let found = on(ADD);
    assert_eq!((&found["failed"], &found["files"][0]["tests"]), (&json!(1), &json!([])));
    assert_eq!(found["diagnostics"][0]["message"], "there is no `; test:` line for @add");
    let called = halfbyte_on(&["test", "-", "--json", "--coverage"], right.replace("NO_SUCH", "LDG").as_bytes());
    assert!(object("test", &called)["rules"].as_array().unwrap().len() > 100);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let found = object("test", &halfbyte(&["test", &path, "--json"]));
    assert!(found["diagnostics"][0]["message"].as_str().unwrap().contains("the folder has no *.hb files"));
}

#[test]
fn quality_answers_with_each_kernel_on_each_target() {
    let found = object("quality", &halfbyte(&["quality", "examples/axpy.hb", "--json"]));
    let measured = found["measured"].as_array().unwrap();
    let on = |target: &str| measured.iter().filter(|of| of["target"] == target).collect::<Vec<_>>();
    assert_eq!((on("halu").len(), on("halu")[0]["compute"].as_u64()), (1, Some(1)), "{found:#}");
    assert!(on("ptx").iter().all(|of| of["sm"].is_u64()) && on("ptx").len() > 1, "{found:#}");
    let found = object(
        "quality",
        &halfbyte_on(&["quality", "-", "--json", "--target", "vp1"], [ROOT, ADD].concat().as_bytes()),
    );
    assert_eq!((&found["refused"][0]["kernel"], &found["measured"][0]["kernel"]), (&json!("root"), &json!("add")));
    assert!(found["measured"][0]["bundles"]["count"].is_u64(), "{found:#}");
    let found = object("quality", &halfbyte_on(&["quality", "-", "--json"], b"kernel"));
    assert_eq!(found["diagnostics"][0]["line"], 1);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("quality.json");
    let called = halfbyte(&["quality", "examples/axpy.hb", "--json", "-o", &file.display().to_string()]);
    assert_eq!(called.output(), "");
    assert!(wrong_with("quality", &serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()).is_ok());
}

#[test]
fn prove_answers_with_each_subject() {
    let found = object("prove", &halfbyte(&["prove", "assembly::undefined", "--seed", "3", "--json"]));
    assert_eq!((&found["seed"], &found["shard"], &found["failures"]), (&json!(3), &json!("1/1"), &json!([])));
    let subject = &found["subjects"][0];
    assert_eq!((&subject["verdict"], &subject["is_rule"]), (&json!("ok"), &json!(false)), "{found:#}");
    assert_eq!(found["cases"], subject["cases"]);
    halfbyte(&["prove", "no such subject", "--json"]).fails(2, "no subject has no such subject in its name");
}
