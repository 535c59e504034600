//! Values bound to a kernel's parameters, as the bytes of a launch.

use halfbyte_abi::{Exceeded, Param};
use halfbyte_ir::diag::Diagnostic;
use halfbyte_ir::{Direction, ParamKind, Span};

use crate::runlines::Name;
use crate::values::{Loader, Value, brief};

/// The bytes of a launch, and those expected of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Bound {
    /// By parameter: a scalar's bytes or a buffer's.
    pub args: Vec<Vec<u8>>,
    /// By number of the parameter: what a buffer holds afterwards.
    pub results: Vec<(usize, Vec<u8>)>,
}

/// Binds values to the parameters of a kernel. An `out` buffer without a value is as long as its expected result.
///
/// # Errors
/// Names that are no parameter's, values that do not fit, and, at `place`, parameters without a value.
pub fn bind(
    params: &[Param],
    values: &[(Name, Value)],
    results: &[(Name, Value)],
    loader: &Loader,
    place: Span,
) -> Result<Bound, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut size = 0;
    let mut sized = |value: &Value, bytes: Vec<u8>| {
        size += bytes.len() as u64;
        let limit = loader.limits().buffer_bytes;
        let exceeded = |found, limit| Exceeded::Buffers { found, limit };
        let checked = loader.watchdog().map_or(Ok(()), |watchdog| watchdog.check(size, limit, exceeded));
        checked.map(|()| bytes).map_err(|exceeded| Diagnostic::new(value.span, exceeded.to_string()))
    };
    let mut args: Vec<Option<Vec<u8>>> = vec![None; params.len()];
    let names = |which: &dyn Fn(&Param) -> bool| {
        let names: Vec<&str> = params.iter().filter(|param| which(param)).map(|param| param.name.as_str()).collect();
        if names.is_empty() { "none".into() } else { names.join(", ") }
    };
    let find = |(name, span): &Name| {
        let found = params.iter().enumerate().find(|(_, param)| param.name == *name);
        let unknown = || Diagnostic::new(*span, format!("`{}` is no parameter", brief(name)));
        found.ok_or_else(|| unknown().expected(format!("one of: {}", names(&|_| true))))
    };
    for (name, value) in values {
        let bytes = find(name).and_then(|(number, param)| Ok((number, value.bytes(param.kind, loader)?)));
        match bytes.and_then(|(number, bytes)| Ok((number, sized(value, bytes)?))) {
            Ok((number, bytes)) => args[number] = Some(bytes),
            Err(error) => errors.push(error),
        }
        if loader.is_exceeded() {
            return Err(errors);
        }
    }
    let mut expected = Vec::new();
    for (name, value) in results {
        let bytes = find(name).and_then(|(number, param)| {
            if !param.is_result() {
                let wrong = Diagnostic::new(name.1, format!("`{}` is not written", param.name));
                return Err(wrong.expected(format!("an out or inout buffer: {}", names(&Param::is_result))));
            }
            Ok((number, sized(value, value.bytes(param.kind, loader)?)?))
        });
        if loader.is_exceeded() {
            errors.extend(bytes.err());
            return Err(errors);
        }
        match bytes {
            Ok((number, bytes)) => {
                let before = args[number].get_or_insert_with(|| vec![0; bytes.len()]);
                if before.len() == bytes.len() {
                    expected.push((number, bytes));
                } else {
                    let size = params[number].ty().bytes() as usize;
                    let message =
                        format!("{} elements are expected of a buffer of {}", bytes.len() / size, before.len() / size);
                    errors.push(Diagnostic::new(value.span, message));
                }
            }
            Err(error) => errors.push(error),
        }
    }
    for (param, _) in params.iter().zip(&args).filter(|(_, arg)| arg.is_none()) {
        // A value that is wrong has been reported.
        if !values.iter().chain(results).any(|((name, _), _)| *name == param.name) {
            let hint = match param.kind {
                ParamKind::Scalar(_) => format!("`{}=VALUE`", param.name),
                ParamKind::Buffer { direction: Direction::Out, .. } => format!("`{}=zeros(N)`", param.name),
                ParamKind::Buffer { .. } => format!("`{}=[..]`, @file.npy, zeros(N) or random(N, SEED)", param.name),
            };
            errors.push(Diagnostic::new(place, format!("`{}` has no value", param.name)).expected(hint));
        }
    }
    if errors.is_empty() {
        Ok(Bound { args: args.into_iter().flatten().collect(), results: expected })
    } else {
        Err(errors)
    }
}
