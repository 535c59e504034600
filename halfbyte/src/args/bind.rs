//! Binding of values to a kernel's parameters, which gives the argument bytes of a launch.

use std::collections::HashMap;

use crate::launch::{Evaluation, evaluate, show_aliases};
use halfbyte_abi::{Alias, Exceeded, Param, Shape, Watchdog, buffer_of};
use halfbyte_ir::diag::Diagnostic;
use halfbyte_ir::eval::{self, Fault};
use halfbyte_ir::{Direction, Elem, Kernel, ParamKind, Span};

use super::array::Array;
use super::names::{Name, param_names};
use super::picture::size_of;
use super::print::Sign;
use super::{Loaded, Loader, MAX_BYTES, Value, ValueKind, shortened};

/// The argument bytes of a launch, and its expected results.
#[derive(Clone, PartialEq, Debug)]
pub struct Bound {
    /// The bytes of each scalar or buffer, indexed by parameter.
    pub args: Vec<Vec<u8>>,
    /// The expected contents of buffers after the launch, each with the index of its parameter.
    pub results: Vec<(usize, Vec<u8>)>,
    /// The dtype and shape of each parameter's buffer, if the buffer was read from a file.
    pub arrays: Vec<Option<Array>>,
    /// The indices of the `out` buffers whose size is not given. They have no bytes until
    /// [`Bound::size_open_buffers`] sets their sizes.
    pub open: Vec<usize>,
    /// The arguments that alias the buffers of other arguments. The entry of an alias in `args` is
    /// a copy of the aliased bytes.
    pub aliases: Vec<Alias>,
    /// The lane types for which a negative value or a file of signed integers was given.
    signed: Vec<Elem>,
}

/// The bytes of scalars and buffers after earlier launches, by parameter name.
#[derive(Clone, Default, Debug)]
pub struct RetainedBuffers(HashMap<String, RetainedArgument>);

#[derive(Clone, Debug)]
struct RetainedArgument {
    is_scalar: bool,
    bytes: Vec<u8>,
}

impl RetainedBuffers {
    /// Stores the arguments after a launch. Aliases are not stored, because their bytes belong to another buffer.
    pub fn keep(&mut self, params: &[Param], aliases: &[Alias], args: Vec<Vec<u8>>) {
        let own = |(number, _): &(usize, _)| !aliases.iter().any(|alias| alias.param == *number);
        for (_, (param, bytes)) in params.iter().zip(args).enumerate().filter(own) {
            let is_scalar = matches!(param.kind, ParamKind::Scalar(_));
            self.0.insert(param.name.clone(), RetainedArgument { is_scalar, bytes });
        }
    }

    /// Returns the stored bytes for a parameter. Returns an error message if the stored argument of
    /// the same name does not fit the parameter.
    fn find(&self, param: &Param) -> Option<Result<&[u8], String>> {
        let RetainedArgument { is_scalar, bytes } = self.0.get(&param.name)?;
        let (name, size) = (&param.name, param.ty().bytes() as usize);
        Some(match (param.kind, is_scalar) {
            (ParamKind::Scalar(_), true) if bytes.len() == size => Ok(bytes),
            (ParamKind::Buffer { .. }, false) if bytes.len() % size == 0 => Ok(bytes),
            (_, true) => {
                Err(format!("`{name}` has no value: the previous launch had a scalar of {} bytes", bytes.len()))
            }
            (_, false) => {
                Err(format!("`{name}` has no value: the previous launch had a buffer of {} bytes", bytes.len()))
            }
        })
    }
}

/// Binds values to the parameters of a kernel. An `out` buffer without a value gets the size of its
/// expected result. Without an expected result, its index is added to [`Bound::open`].
///
/// # Errors
/// Fails if a name is not a parameter, or if a value does not fit its parameter. Also fails if a
/// parameter has no value; that error has the span `place`.
pub fn bind(
    params: &[Param],
    values: &[(Name, Value)],
    results: &[(Name, Value)],
    loader: &Loader,
    place: Span,
) -> Result<Bound, Vec<Diagnostic>> {
    bind_after(&RetainedBuffers::default(), params, values, results, loader, place)
}

/// Binds values as [`bind`] does, but after earlier launches: a parameter without a value takes the
/// bytes that `kept` stores for its name.
///
/// # Errors
/// Fails if a name is not a parameter, or if a value does not fit its parameter. Also fails if a
/// parameter has no value; that error has the span `place`.
pub fn bind_after(
    kept: &RetainedBuffers,
    params: &[Param],
    values: &[(Name, Value)],
    results: &[(Name, Value)],
    loader: &Loader,
    place: Span,
) -> Result<Bound, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut size = 0;
    let mut sized = |value: &Value, loaded: Loaded| {
        size += loaded.bytes.len() as u64;
        let limit = loader.limits().buffer_bytes;
        let exceeded = |found, limit| Exceeded::Buffers { found, limit };
        let checked = loader.watchdog().map_or(Ok(()), |watchdog| watchdog.check(size, limit, exceeded));
        checked.map(|()| loaded).map_err(|exceeded| Diagnostic::new(value.span, exceeded.to_string()))
    };
    let mut args: Vec<Option<Vec<u8>>> = vec![None; params.len()];
    let (mut arrays, mut signed) = (vec![None; params.len()], Vec::new());
    let mut note_sign = |param: &Param, value: &Value, array: Option<&Array>| {
        if param.ty().is_int() && (value.has_minus() || array.is_some_and(|array| array.dtype.is_signed())) {
            signed.push(param.ty().elem());
        }
    };
    let names = |which: &dyn Fn(&Param) -> bool| -> Vec<&str> {
        params.iter().filter(|param| which(param)).map(|param| param.name.as_str()).collect()
    };
    let find = |(name, span): &Name| {
        let found = params.iter().enumerate().find(|(_, param)| param.name == *name);
        let unknown = || Diagnostic::new(*span, format!("`{}` is not a parameter", shortened(name)));
        found.ok_or_else(|| unknown().expected(format!("one of: {}", param_names(&names(&|_| true), name))))
    };
    let mut inside: Vec<(usize, &Name, u64, Span)> = Vec::new();
    for (name, value) in values {
        if let ValueKind::Alias { of, offset } = &value.kind {
            match find(name) {
                Ok((number, _)) => inside.push((number, of, *offset, value.span)),
                Err(error) => errors.push(error),
            }
            continue;
        }
        let loaded = find(name).and_then(|(number, param)| Ok((number, param, value.load(param.kind, loader)?)));
        match loaded.and_then(|(number, param, loaded)| Ok((number, param, sized(value, loaded)?))) {
            Ok((number, param, Loaded { bytes, array })) => {
                note_sign(param, value, array.as_ref());
                (args[number], arrays[number]) = (Some(bytes), array);
            }
            Err(error) => errors.push(error),
        }
        if loader.is_exceeded() {
            return Err(errors);
        }
    }
    for (number, param) in params.iter().enumerate() {
        // The error of this parameter's invalid value is already in `errors`.
        if args[number].is_some() || values.iter().any(|((name, _), _)| *name == param.name) {
            continue;
        }
        match kept.find(param) {
            Some(Ok(bytes)) => args[number] = Some(bytes.to_vec()),
            Some(Err(reason)) => errors.push(Diagnostic::new(place, reason).expected(hint(param))),
            None => {}
        }
    }
    let mut aliases = Vec::new();
    for &(number, of, offset, span) in &inside {
        let lies = find(of).and_then(|(owner, _)| alias(params, &args, (number, owner, offset), span));
        match lies {
            Ok(alias) => aliases.push(alias),
            Err(error) => errors.push(error),
        }
    }
    for alias in &aliases {
        args[alias.param] = Some(Vec::new());
    }
    let kinds = || params.iter().map(|param| param.kind);
    if !aliases.is_empty() {
        let mut bytes: Vec<Vec<u8>> = args.iter().map(|arg| arg.clone().unwrap_or_default()).collect();
        show_aliases(kinds(), &aliases, &mut bytes);
        for alias in &aliases {
            args[alias.param] = bytes.get(alias.param).cloned();
        }
    }
    let mut expected = Vec::new();
    for (name, value) in results {
        let loaded = find(name).and_then(|(number, param)| {
            if !param.is_result() {
                let wrong = Diagnostic::new(name.1, format!("the kernel does not write `{}`", param.name));
                let names = param_names(&names(&Param::is_result), &name.0);
                return Err(wrong.expected(format!("an out or inout buffer: {names}")));
            }
            Ok((number, param, sized(value, value.load(param.kind, loader)?)?))
        });
        if loader.is_exceeded() {
            errors.extend(loaded.err());
            return Err(errors);
        }
        match loaded {
            Ok((number, param, Loaded { bytes, array })) => {
                note_sign(param, value, array.as_ref());
                let before = args[number].get_or_insert_with(|| vec![0; bytes.len()]);
                if before.len() == bytes.len() {
                    expected.push((number, bytes));
                } else {
                    let size = params[number].ty().bytes() as usize;
                    let message = format!(
                        "{} elements are expected, but the buffer has {}",
                        bytes.len() / size,
                        before.len() / size
                    );
                    errors.push(Diagnostic::new(value.span, message));
                }
            }
            Err(error) => errors.push(error),
        }
    }
    let mut open = Vec::new();
    for (number, param) in params.iter().enumerate().filter(|(number, _)| args[*number].is_none()) {
        if matches!(param.kind, ParamKind::Buffer { direction: Direction::Out, .. }) {
            open.push(number);
        } else if !values.iter().chain(results).any(|((name, _), _)| *name == param.name) && kept.find(param).is_none()
        {
            errors.push(Diagnostic::new(place, format!("`{}` has no value", param.name)).expected(hint(param)));
        }
    }
    if errors.is_empty() {
        let args = args.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Bound { args, results: expected, arrays, open, aliases, signed })
    } else {
        Err(errors)
    }
}

/// Checks an alias, which makes argument `param` the address of byte `offset` in the buffer of argument `of`.
fn alias(
    params: &[Param],
    args: &[Option<Vec<u8>>],
    (param, of, offset): (usize, usize, u64),
    span: Span,
) -> Result<Alias, Diagnostic> {
    let is_buffer =
        |number: usize| matches!(params.get(number).map(|param| param.kind), Some(ParamKind::Buffer { .. }));
    let name = |number: usize| params.get(number).map_or("", |param| param.name.as_str());
    let wrong = |message: String, expected: &str| Err(Diagnostic::new(span, message).expected(expected));
    if !is_buffer(param) {
        return wrong(format!("`{}` is a scalar and cannot be an alias", name(param)), "a number");
    }
    let Some(Some(bytes)) = args.get(of).filter(|_| is_buffer(of)) else {
        let expected = "a buffer whose contents are given, as `[..]`, @file.npy, zeros(N) or random(N, SEED)";
        return wrong(format!("`{}` is not a buffer that `{}` can alias", name(of), name(param)), expected);
    };
    let size = bytes.len();
    if offset > size as u64 {
        return wrong(format!("`{}` has {size} bytes", name(of)), &format!("at most &{}+{size}", name(of)));
    }
    Ok(Alias { param, of, offset })
}

/// Returns an example of a value for a parameter.
fn hint(param: &Param) -> String {
    let name = &param.name;
    match param.kind {
        ParamKind::Scalar(_) => format!("`{name}=VALUE`"),
        ParamKind::Buffer { direction: Direction::Out, .. } => format!("`{name}=zeros(N)`"),
        ParamKind::Buffer { .. } => format!("`{name}=[..]`, @file.npy, zeros(N) or random(N, SEED)"),
    }
}

impl Bound {
    /// Sets the size of each `out` buffer without a given size. The evaluator runs the launch with growing buffers, at
    /// first one element for each work item, until no access to them is out of bounds. Each buffer then ends after the
    /// last accessed element. If the launch fails for another reason, the buffers keep the sizes of that launch.
    pub fn size_open_buffers(&mut self, kernel: &Kernel, shape: Shape, watchdog: Option<&Watchdog>) {
        if self.open.is_empty() {
            return;
        }
        let items = shape.items().unwrap_or(0);
        let given = kernel.given_params();
        let size = |number: usize| given.get(number).map_or(1, |param| param.kind.ty().bytes() as usize);
        let most = watchdog.map_or(MAX_BYTES, |watchdog| MAX_BYTES.min(watchdog.limits().buffer_bytes));
        let largest = |number: usize| most as usize / size(number) * size(number);
        let plain = |number: usize| (items as usize).saturating_mul(size(number)).min(largest(number));
        let mut sizes: Vec<(usize, usize)> = self.open.iter().map(|&number| (number, plain(number))).collect();
        let reached = loop {
            let mut args = self.args.clone();
            for &(number, bytes) in &sizes {
                if let Some(arg) = args.get_mut(number) {
                    *arg = vec![0; bytes];
                }
            }
            let how = Evaluation { watchdog, aliases: &self.aliases, ..Evaluation::from(shape) };
            let trap = match evaluate(kernel, how, &mut args) {
                Ok(writers) => break Some(writers),
                Err(Fault::Trap(trap)) => trap.kind,
                Err(_) => break None,
            };
            let eval::TrapKind::OutOfBounds { address, bytes } = trap else { break None };
            let Some((param, offset)) = buffer_of(address) else { break None };
            let Some((_, found)) = sizes.iter_mut().find(|(number, _)| *number == param) else { break None };
            let needed = offset.saturating_add(bytes.into());
            if needed > most || needed <= *found as u64 {
                break None;
            }
            let grown = (needed as usize).max(*found * 2).next_multiple_of(size(param));
            *found = grown.min(largest(param));
            if needed > *found as u64 {
                break None;
            }
        };
        for (number, size_so_far) in sizes {
            let bytes = reached.as_ref().map_or(size_so_far, |writers| writers.reached(number));
            if let Some(arg) = self.args.get_mut(number) {
                *arg = vec![0; bytes.next_multiple_of(size(number))];
            }
        }
        self.open.clear();
    }

    /// Returns the arguments unchanged if the size of every buffer is given.
    ///
    /// # Errors
    /// Returns one error with the span `place` for each `out` buffer without a size.
    pub fn require_sizes(self, params: &[Param], place: Span) -> Result<Bound, Vec<Diagnostic>> {
        let open = self.open.iter().filter_map(|&number| params.get(number));
        let wrong =
            open.map(|param| Diagnostic::new(place, format!("`{}` has no value", param.name)).expected(hint(param)));
        let wrong: Vec<Diagnostic> = wrong.collect();
        if wrong.is_empty() { Ok(self) } else { Err(wrong) }
    }

    /// Returns the signedness with which a parameter's integers are printed. They are signed if a
    /// negative value or a file of signed integers was given for a parameter of their lane type.
    pub fn sign(&self, param: &Param) -> Sign {
        self.signs()(param.ty().elem())
    }

    /// Returns a function from lane types to the signedness that [`Bound::sign`] gives. It also
    /// applies to values that are not parameters.
    pub fn signs(&self) -> impl Fn(Elem) -> Sign + use<> {
        let signed = self.signed.clone();
        move |elem| Sign::signed(signed.contains(&elem))
    }

    /// Returns the first parameter whose input array is a picture, with this array, if any.
    pub fn picture<'p>(&self, params: &'p [Param]) -> Option<(&'p Param, &Array)> {
        let came = params.iter().zip(&self.arrays).filter_map(|(param, array)| Some((param, array.as_ref()?)));
        came.into_iter().find(|(_, array)| size_of(array).is_some())
    }

    /// Returns the input array whose shape is used to print a parameter's buffer. This is the
    /// parameter's own array, if any. Otherwise it is another parameter's array of the same lane
    /// type, preferably of the same size. Returns `None` if there is no such array.
    pub fn output_array(&self, params: &[Param], number: usize) -> Option<&Array> {
        if let Some(Some(own)) = self.arrays.get(number) {
            return Some(own);
        }
        let ty = params.get(number)?.ty();
        let size = self.args.get(number)?.len() as u128;
        let same = params.iter().zip(&self.arrays).filter(|(param, _)| param.ty().elem() == ty.elem());
        let mut arrays = same.filter_map(|(_, array)| array.as_ref());
        let all = arrays.clone();
        arrays.find(|array| array.bytes() == size).or_else(|| all.into_iter().next())
    }
}
