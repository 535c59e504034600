//! The JSON object that a command prints with `--json`, on one line of standard output.
//! `docs/json/` contains a schema for each command.

use std::path::Path;

use halfbyte::CompileError;
use halfbyte::abi::Type;
use halfbyte::ir::diag::{Lines, Position};
use halfbyte::ir::{Diagnostic, Op, Span};
use halfbyte::report::Report;
use serde_json::{Value, json};

use super::io::write;
use super::json::Members;
use super::{Done, Failure, Message};

/// Version number in all JSON objects. The number increases if a member is removed or its meaning
/// changes, but not if a member is added.
const VERSION: u64 = 1;

/// Builder of the JSON object of a command.
pub(super) struct JsonOutput {
    members: Members,
    diagnostics: Vec<Value>,
}

impl JsonOutput {
    /// Creates the JSON object of the command with this name.
    pub(super) fn new(command: &str) -> JsonOutput {
        let mut answer = JsonOutput { members: Members::new(), diagnostics: Vec::new() };
        answer.set("version", VERSION);
        answer.set("command", command);
        answer
    }

    /// Sets a member of the JSON object.
    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.members.insert(name.to_owned(), value.into());
    }

    /// Adds the diagnostics of a message.
    pub(super) fn wrong(&mut self, message: &Message) {
        self.diagnostics.extend(diagnostics(message));
    }

    /// Adds the diagnostics of a report.
    pub(super) fn report(&mut self, report: &Report) {
        self.diagnostics.extend(of_report(report, &[]));
    }

    /// Prints the JSON object with the outcome of the command. If the command line has an error,
    /// only a message is printed.
    pub(super) fn finish(self, done: Done) -> Done {
        self.finish_to(None, done)
    }

    /// Writes the JSON object with the outcome of the command to a file, or to standard output. If
    /// the command line has an error, only a message is printed.
    pub(super) fn finish_to(mut self, path: Option<&Path>, done: Done) -> Done {
        match &done {
            Ok(()) => {}
            Err(Failure::Input(message)) => self.wrong(message),
            Err(Failure::Call(_) | Failure::Closed | Failure::Program(_)) => return done,
        }
        self.set("ok", done.is_ok());
        let diagnostics = std::mem::take(&mut self.diagnostics);
        self.set("diagnostics", diagnostics);
        write(path, format!("{}\n", Value::Object(self.members)).as_bytes())?;
        done.map_err(|_| Failure::Input(Message::Said))
    }
}

/// Converts a message to JSON: one object for each diagnostic.
fn diagnostics(message: &Message) -> Vec<Value> {
    match message {
        Message::Report(report) => of_report(report, &[]),
        Message::Compiler(report, errors) => of_report(report, errors),
        Message::Text(text) => vec![json!({ "severity": "error", "message": text })],
        Message::Said => Vec::new(),
    }
}

/// Converts a report to JSON: one object for each diagnostic, with the details of compiler errors.
pub(super) fn of_report(report: &Report, errors: &[CompileError]) -> Vec<Value> {
    let refused = errors.iter().flat_map(|error| match error {
        CompileError::Refused(refused) => refused.as_slice(),
        _ => &[],
    });
    let lines = report.lines();
    let object = |diagnostic: &Diagnostic| {
        let mut object = Members::new();
        object.insert("severity".into(), report.severity().name().into());
        object.insert("message".into(), diagnostic.message.as_str().into());
        object.insert("file".into(), report.file().into());
        if !report.text().is_empty() {
            place(&mut object, &lines, diagnostic.span);
        }
        if let Some(expected) = &diagnostic.expected {
            object.insert("expected".into(), expected.as_str().into());
        }
        if let Some(found) = refused.clone().find(|refused| refused.refusal.span == diagnostic.span) {
            object.insert("target".into(), found.refusal.target.into());
            object.insert("kernel".into(), found.at.kernel.as_str().into());
            object.extend(found.refusal.op.map(|of| ("op".to_owned(), op(of).into())));
        }
        let help = diagnostic.help.iter().map(|help| json!({ "message": help }));
        let notes = diagnostic.notes.iter().map(|note| {
            let mut help = Members::new();
            help.insert("message".into(), note.message.as_str().into());
            if let Some(span) = note.span {
                place(&mut help, &lines, span);
            }
            Value::Object(help)
        });
        object.insert("help".into(), help.chain(notes).collect());
        Value::Object(object)
    };
    report.diagnostics().iter().map(object).collect()
}

/// Formats an op with its type as in source text: `add.i16x2`.
fn op((op, ty): (Op, Type)) -> String {
    if op.row().types.is_some() { format!("{}.{ty}", op.name()) } else { op.name().to_owned() }
}

/// Sets the members for the line and column of a span's start and end, counted from 1.
fn place(object: &mut Members, lines: &Lines<'_>, span: Span) {
    let Position { line, column } = lines.position(span.start);
    object.insert("line".into(), line.into());
    object.insert("column".into(), column.into());
    let Position { line, column } = lines.position(span.end.max(span.start));
    object.insert("end".into(), json!({ "line": line, "column": column }));
}
