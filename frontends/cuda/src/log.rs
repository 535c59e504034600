//! The messages in the log of a compiler.

/// Severity of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The compilation fails.
    Error,
    /// The compilation succeeds.
    Warning,
}

/// Message of a compiler with a location in a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// Name of the source file.
    pub file: String,
    /// Line in the file, counted from 1.
    pub line: u32,
    /// Column in the line, counted from 1, if the compiler gives it.
    pub column: Option<u32>,
    /// The message, such as `identifier "x" is undefined`.
    pub message: String,
}

/// Indentation of quoted lines in the logs of NVRTC and nvcc.
const INDENTATION: &str = "  ";

/// Returns the messages of a log. NVRTC and nvcc write `k.cu(3): error: text`; clang and gcc write
/// `k.cu:3:7: error: text`.
pub(crate) fn diagnostics(log: &str) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for line in log.lines() {
        if let Some(diagnostic) = of_nvidia(line).or_else(|| of_clang(line)) {
            found.push(diagnostic);
        } else if let Some(last) = found.last_mut()
            && last.column.is_none()
            && line.trim() == "^"
        {
            // NVRTC marks the column below the quoted line.
            let column = line.strip_prefix(INDENTATION).and_then(|rest| rest.find('^'));
            last.column = column.and_then(|column| u32::try_from(column + 1).ok());
        }
    }
    found
}

/// Parses a line such as `k.cu(3): catastrophic error: text`.
fn of_nvidia(line: &str) -> Option<Diagnostic> {
    let (place, rest) = line.split_once("): ")?;
    let (file, number) = place.rsplit_once('(')?;
    let (severity, message) = severity(rest)?;
    Some(Diagnostic { severity, file: file.to_owned(), line: number.parse().ok()?, column: None, message })
}

/// Parses a line such as `k.cu:3:7: error: text`.
fn of_clang(line: &str) -> Option<Diagnostic> {
    let (place, rest) = line.split_once(": ")?;
    let (severity, message) = severity(rest)?;
    let (place, column) = place.rsplit_once(':')?;
    let (file, number) = place.rsplit_once(':')?;
    let column = Some(column.parse().ok()?);
    Some(Diagnostic { severity, file: file.to_owned(), line: number.parse().ok()?, column, message })
}

/// Splits a text such as `warning #177-D: text` into the severity and the message.
fn severity(text: &str) -> Option<(Severity, String)> {
    let (kind, message) = text.split_once(": ")?;
    let kind = kind.split(" #").next().unwrap_or(kind);
    let severity = match kind {
        "error" | "catastrophic error" | "fatal error" | "internal error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    Some((severity, message.to_owned()))
}

/// Returns the name of the header that could not be opened, if a message says so.
pub(crate) fn missing_header(message: &str) -> Option<&str> {
    let quoted = |start: &str, quote: char| message.strip_prefix(start)?.split(quote).next();
    quoted("cannot open source file \"", '"')
        .or_else(|| quoted("could not open source file \"", '"'))
        .or_else(|| message.strip_suffix("' file not found")?.strip_prefix('\''))
        .or_else(|| message.strip_suffix(": No such file or directory"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_log_of_nvrtc() {
        let log = "/a/k (1).cu(7): error: expected an expression\n  __global__ void k() { int x = ; }\n                                ^\n\n\
                   k.cu(9): warning #177-D: variable \"unused\" was declared\n  int unused;\n      ^\n\n\
                   Remark: The warnings can be suppressed\n\n\
                   k.cu(10): catastrophic error: cannot open source file \"crt/mma.h\"\n  #include \"crt/mma.h\"\n                      ^\n\n\
                   2 errors detected in the compilation of \"k.cu\".\n";
        let found = diagnostics(log);
        let places: Vec<_> = found.iter().map(|found| (found.file.as_str(), found.line, found.column)).collect();
        assert_eq!(places, [("/a/k (1).cu", 7, Some(31)), ("k.cu", 9, Some(5)), ("k.cu", 10, Some(21))]);
        let kinds: Vec<_> = found.iter().map(|found| found.severity).collect();
        assert_eq!(kinds, [Severity::Error, Severity::Warning, Severity::Error]);
        assert_eq!(found[0].message, "expected an expression");
        assert_eq!(missing_header(&found[2].message), Some("crt/mma.h"));
    }

    #[test]
    fn parses_the_log_of_clang_and_gcc() {
        let log = "In file included from <built-in>:1:\nk.cu:3:12: error: use of undeclared identifier 'y'\n    3 |  int x = y;\n      |          ^\n\
                   k.cu:1:10: fatal error: 'nosuch.h' file not found\nk.cu:2:10: fatal error: other.h: No such file or directory\n1 error generated.\n";
        let found = diagnostics(log);
        let places: Vec<_> = found.iter().map(|found| (found.line, found.column)).collect();
        assert_eq!(places, [(3, Some(12)), (1, Some(10)), (2, Some(10))]);
        let missing: Vec<_> = found.iter().map(|found| missing_header(&found.message)).collect();
        assert_eq!(missing, [None, Some("nosuch.h"), Some("other.h")]);
    }

    #[test]
    fn other_lines_are_no_messages() {
        assert!(diagnostics("nvrtc: error: unrecognized option --nosuch found\n  ^\n\n(x): y: z\n").is_empty());
    }
}
