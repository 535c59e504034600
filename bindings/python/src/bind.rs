//! Binding of call arguments to parameters. Numbers become bits, arrays become memory, and missing
//! output buffers become new arrays.

use halfbyte::abi::{Direction, Elem, ParamKind, Type};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;

use crate::array::{Array, refuse_masked};
use crate::memory::Memory;
use crate::params::{ParamClass, Parameter};
use crate::scalar;

/// The name and the parameters of a kernel.
#[derive(Debug)]
pub(crate) struct Signature {
    pub kernel: String,
    /// Name of the kernel in messages, if it differs from the name in the kernel's text. It is the
    /// name of the function from which the kernel was compiled.
    pub label: Option<String>,
    pub params: Vec<Parameter>,
}

/// The value that a call passes for a parameter.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// The bits of a scalar.
    Bits(u128),
    /// The bytes of a structure parameter of PTX.
    Bytes(Vec<u8>),
    /// The memory of a buffer.
    Memory(Memory),
}

/// The bound arguments of a call. Their memory stays alive as long as this value exists.
pub(crate) struct BoundArguments<'py> {
    /// The value of each parameter, in order.
    pub values: SmallVec<[Value; 8]>,
    /// The arrays that the kernel writes, with the indices of their parameters.
    results: SmallVec<[(usize, Bound<'py, PyAny>); 4]>,
    /// The arrays of all buffers, with the indices of their parameters.
    arrays: SmallVec<[(usize, Array<'py>); 8]>,
    /// Python functions to be called after the launch. Each writes a copy back to an argument whose
    /// memory could not be used in place.
    after: Vec<Bound<'py, PyAny>>,
}

impl Signature {
    /// Creates the signature of a kernel that has the same names in its text and in messages.
    pub(crate) fn new(kernel: String, params: Vec<Parameter>) -> Signature {
        Signature { kernel, label: None, params }
    }

    /// Returns the signature with other names for messages: of the kernel, and of its first parameters.
    pub(crate) fn labelled(&self, py: Python<'_>, kernel: String, labels: Vec<String>) -> Signature {
        let mut labels = labels.into_iter();
        let params = self.params.iter().map(|param| param.labelled(py, labels.next())).collect();
        Signature { kernel: self.kernel.clone(), label: Some(kernel), params }
    }

    /// Returns the name of the kernel in messages.
    pub(crate) fn shown(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.kernel)
    }

    /// Replaces the names from the kernel's text in a message by the names for messages.
    pub(crate) fn relabelled(&self, message: &str) -> String {
        let params = self.params.iter().map(|param| (param.name.as_str(), param.shown_name()));
        let names = params.chain([(self.kernel.as_str(), self.shown())]);
        names.fold(message.to_owned(), |message, (name, label)| replace_word(&message, name, label))
    }

    /// Binds the arguments of a call over `items` work items to the parameters.
    ///
    /// # Errors
    /// Fails if arguments are too many, missing or unknown, or do not match their parameter.
    pub(crate) fn bind<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
        items: u32,
    ) -> PyResult<BoundArguments<'py>> {
        let py = args.py();
        let count = args.len();
        if count > self.params.len() {
            let (kernel, most) = (self.shown(), self.params.len());
            return Err(PyTypeError::new_err(format!(
                "@{kernel} takes {most} arguments; {count} were given by position"
            )));
        }
        let mut given = BoundArguments::default();
        let mut found = 0;
        for (number, param) in self.params.iter().enumerate() {
            let keyword = keywords.map_or(Ok(None), |keywords| param.keyword(keywords))?;
            found += usize::from(keyword.is_some());
            let by_position = if number < count { Some(args.get_item(number)?) } else { None };
            let object = match (by_position, keyword) {
                (Some(_), Some(_)) => return Err(self.wrong(param, "it is given by position and by keyword")),
                (Some(object), None) | (None, Some(object)) => Some(object),
                (None, None) => None,
            };
            match object {
                Some(object) => self.take(&mut given, param, &object)?,
                None => self.make(py, &mut given, param, items)?,
            }
        }
        match keywords {
            Some(keywords) if keywords.len() > found => Err(self.unknown(keywords)),
            _ => Ok(given),
        }
    }

    fn wrong(&self, param: &Parameter, reason: &str) -> PyErr {
        PyTypeError::new_err(format!("{}; {reason}", param.described(self.shown())))
    }

    /// Returns the error for an unknown keyword argument.
    fn unknown(&self, keywords: &Bound<'_, PyDict>) -> PyErr {
        let names: Vec<&str> = self.params.iter().map(Parameter::shown_name).collect();
        let is_unknown =
            |key: &String| !self.params.iter().any(|param| param.name == *key || param.shown_name() == key);
        let given = keywords.keys().iter().map(|key| key.to_string()).find(is_unknown).unwrap_or_default();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        PyTypeError::new_err(format!("@{} has no parameter `{given}`; there are {names}", self.shown()))
    }

    /// Binds one argument to its parameter.
    fn take<'py>(
        &self,
        given: &mut BoundArguments<'py>,
        param: &Parameter,
        object: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let what = || param.described(self.shown());
        refuse_masked(object, &what)?;
        match &param.kind {
            &ParamClass::Declared(ParamKind::Scalar(ty)) => {
                given.values.push(Value::Bits(scalar::bits(object, ty, &what)?));
            }
            &ParamClass::Declared(ParamKind::Buffer { direction, elem, .. }) => {
                let Some(array) = given.array(object)? else {
                    return Err(self.wrong(param, &format!("{} was given", scalar::described(object))));
                };
                let array = match array.is_unpacked_mask(elem) {
                    true => given.pack(&array, elem)?,
                    false => array,
                };
                array.check(elem, what)?;
                let memory = array.memory(direction != Direction::In, what)?;
                if direction != Direction::In {
                    given.results.push((given.values.len(), object.clone()));
                }
                given.values.push(Value::Memory(memory));
                given.arrays.push((given.values.len() - 1, array));
            }
            ParamClass::Ptx(of) => {
                let (value, array) = of.take(given, object, &what)?;
                let is_read = of.used.is_some_and(|used| !used.is_written());
                if matches!(value, Value::Memory(memory) if memory.written) && !is_read {
                    given.results.push((given.values.len(), object.clone()));
                }
                given.arrays.extend(array.map(|array| (given.values.len(), array)));
                given.values.push(value);
            }
        }
        Ok(())
    }

    /// Creates the array for an output buffer for which the call passes no argument.
    fn make<'py>(
        &self,
        py: Python<'py>,
        given: &mut BoundArguments<'py>,
        param: &Parameter,
        items: u32,
    ) -> PyResult<()> {
        let ParamClass::Declared(ParamKind::Buffer { direction: Direction::Out, elem, .. }) = param.kind else {
            return Err(self.wrong(param, "it is not given"));
        };
        static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let make = MAKE.import(py, "halfbyte._arrays", "make")?;
        let made = make.call1((dtype(elem, given), items, elem.lanes()))?;
        self.take(given, param, &made)
    }
}

/// Replaces each occurrence of a name in a text that is not part of a longer name.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    if word == by || word.is_empty() {
        return text.to_owned();
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(word) {
        replaced.push_str(before);
        let is_whole = !replaced.ends_with(is_word) && !after.starts_with(is_word);
        replaced.push_str(if is_whole { by } else { word });
        rest = after;
    }
    replaced.push_str(rest);
    replaced
}

/// Returns the dtype of a new array for elements of a type. An integer dtype has the signedness of
/// an argument with integers of the same size. Without such an argument, bytes are unsigned.
fn dtype(ty: Type, given: &BoundArguments<'_>) -> &'static str {
    let signed = |bytes, name, unsigned| {
        let alike = given
            .arrays
            .iter()
            .map(|(_, array)| array.dtype())
            .find(|&(kind, size)| size == bytes && b"iu".contains(&kind));
        match alike {
            Some((b'u', _)) => unsigned,
            None if bytes == 1 => unsigned,
            _ => name,
        }
    };
    match ty.elem() {
        Elem::I1 => "bool",
        Elem::I8 => signed(1, "int8", "uint8"),
        Elem::I16 => signed(2, "int16", "uint16"),
        Elem::I32 => signed(4, "int32", "uint32"),
        Elem::I64 => signed(8, "int64", "uint64"),
        Elem::F16 => "float16",
        Elem::BF16 => "bfloat16",
        Elem::F32 => "float32",
        Elem::F64 => "float64",
        Elem::E4M3 => "float8_e4m3fn",
        Elem::E5M2 => "float8_e5m2",
        Elem::Ptr => "uint64",
    }
}

impl Default for BoundArguments<'_> {
    fn default() -> Self {
        BoundArguments { values: SmallVec::new(), results: SmallVec::new(), arrays: SmallVec::new(), after: Vec::new() }
    }
}

impl<'py> BoundArguments<'py> {
    /// Returns the array of an argument, or `None` if the argument is not an array. If the
    /// argument's memory is not in this process, the array is a copy that is written back after the
    /// launch.
    pub(crate) fn array(&mut self, object: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
        let (array, after) = Array::of_any(object)?;
        self.after.extend(after);
        Ok(array)
    }

    /// Packs a bool array to the bits of a mask type.
    fn pack(&mut self, array: &Array<'py>, elem: Type) -> PyResult<Array<'py>> {
        static PACK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = array.object().py();
        let pack = PACK.import(py, "halfbyte._arrays", "pack_mask")?;
        let (packed, after): (Bound<'py, PyAny>, Bound<'py, PyAny>) =
            pack.call1((array.object(), elem.lanes()))?.extract()?;
        self.after.push(after);
        let none = || PyTypeError::new_err("a mask must be an array of bool");
        Array::of(&packed)?.ok_or_else(none)
    }

    /// Describes a parameter with its array, for a message. Returns `None` for a parameter without
    /// an array.
    fn described(&self, signature: &Signature, number: usize) -> Option<String> {
        let (_, array) = self.arrays.iter().find(|(of, _)| *of == number)?;
        let param = signature.params.get(number)?;
        Some(format!("{}; a {} was given", param.described(signature.shown()), array.named()))
    }

    /// Returns a function that describes a parameter for a message, given its index and its name.
    /// The function uses the name if the index is out of range.
    pub(crate) fn describer<'a>(&'a self, signature: &'a Signature) -> impl Fn(usize, &str) -> Option<String> + 'a {
        |number, name| {
            let by_name = || signature.params.iter().position(|param| param.name == name);
            let number = if number < signature.params.len() { Some(number) } else { by_name() };
            self.described(signature, number?)
        }
    }

    /// Returns the memory of each parameter, or `None` for a parameter without memory.
    pub(crate) fn memory(&self) -> SmallVec<[Option<Memory>; 8]> {
        let memory = |value: &Value| if let Value::Memory(memory) = value { Some(*memory) } else { None };
        self.values.iter().map(memory).collect()
    }

    /// Writes copies back after the launch, and returns the written arrays by parameter name.
    pub(crate) fn finish(self, py: Python<'py>, params: &[Parameter]) -> PyResult<Bound<'py, PyDict>> {
        for after in &self.after {
            after.call0()?;
        }
        let results = PyDict::new(py);
        for (number, object) in self.results {
            if let Some(param) = params.get(number) {
                results.set_item(&param.key, object)?;
            }
        }
        Ok(results)
    }
}
