//! A kernel in PTX run as it stands, by the interpreter of its text or on a GPU, on arguments as its import has them.

use halfbyte_ir::{Diagnostic, Span};
use halfbyte_runtime::Stats;
use halfbyte_runtime::ptx::{Arg, Kernel, Launch, LaunchError, LoadError};

use super::sources::{Of, Place};
use super::{Places, emit, read};
use crate::Report;
use crate::launch::{Engine, How, Param};

/// A kernel that can be launched.
#[derive(Debug)]
pub struct Host {
    kernel: Kernel,
    params: Vec<Param>,
    places: Vec<Place>,
}

impl Host {
    /// Takes the kernel of that name from a text.
    ///
    /// # Errors
    /// All that is wrong with the text; a parameter of which it is not known what it is.
    pub fn load(file: &str, text: &str, name: &str) -> Result<Host, Report> {
        let read = read(file, text)?;
        let places = Places::new(text);
        let report = |errors: Vec<Diagnostic>| Report::new(file, text, errors);
        let entries = read.module.entries.iter().zip(&read.locs);
        let found = entries.into_iter().find(|(entry, _)| super::ir_name(&entry.name) == super::ir_name(name));
        let Some((entry, locs)) = found else {
            return Err(report(vec![Diagnostic::new(Span::default(), format!("there is no kernel `{name}`"))]));
        };
        let (declared, params) = emit::parameters(entry, locs, &places).map_err(report)?;
        let whole = |place: &Place| {
            // A variable is no parameter.
            place.of.param(entry).is_none_or(|param| param.bytes() == u64::from(place.bytes))
        };
        if let Some(place) = params.iter().find(|place| place.is_buffer && !whole(place)) {
            let message = format!("`{}` is an address within a structure, which a launch cannot give", place.name);
            return Err(report(vec![Diagnostic::new(Span::default(), message)]));
        }
        // What a kernel of the file writes is not what its text says.
        let all = read.module.entries.iter().zip(&read.locs);
        let written: Vec<Diagnostic> = all.flat_map(|(entry, locs)| emit::written(entry, locs, &places)).collect();
        if !written.is_empty() {
            return Err(report(written));
        }
        let kernel = Kernel::load(&read, &entry.name, file).map_err(|error| {
            let span = match &error {
                LoadError::Parameter { loc, .. } | LoadError::Axis { loc, .. } => places.span(*loc),
                LoadError::Name(_) | LoadError::Signature => Span::default(),
            };
            report(vec![Diagnostic::new(span, error.to_string())])
        })?;
        Ok(Host { kernel, params: Param::of_kernel(&declared), places: params })
    }

    /// The parameters, as the import has them.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Runs the kernel's work items on the interpreter, on the bytes of each parameter.
    ///
    /// # Errors
    /// A trap; arguments that do not fit the parameters.
    pub fn launch(&self, grid: u32, block: u32, args: &mut [Vec<u8>]) -> Result<Stats, LaunchError> {
        self.launch_on(Engine::Interp, grid, block, args)
    }

    /// The same, on another engine or with another budget.
    ///
    /// # Errors
    /// A trap; arguments that do not fit the parameters; an engine that does not run PTX, or a GPU's errors.
    pub fn launch_on<'h>(
        &self,
        how: impl Into<How<'h>>,
        grid: u32,
        block: u32,
        args: &mut [Vec<u8>],
    ) -> Result<Stats, LaunchError> {
        // Each parameter of the text is put together of those of the import.
        let declared = &self.kernel.entry().params;
        let mut values: Vec<Vec<u8>> = declared.iter().map(|param| vec![0; param.bytes() as usize]).collect();
        let mut buffers: Vec<Option<&mut Vec<u8>>> = declared.iter().map(|_| None).collect();
        for (place, bytes) in self.places.iter().zip(args) {
            let Of::Param(number) = place.of else { continue };
            let number = number as usize;
            if place.is_buffer {
                if let Some(buffer) = buffers.get_mut(number) {
                    *buffer = Some(bytes);
                }
            } else if let Some(value) = values.get_mut(number).and_then(|value| value.get_mut(place.offset as usize..))
            {
                value.iter_mut().zip(bytes.iter()).for_each(|(to, from)| *to = *from);
            }
        }
        let mut args: Vec<Arg<'_>> = values
            .iter()
            .zip(buffers)
            .map(|(value, buffer)| match buffer {
                Some(buffer) => Arg::Buffer(buffer),
                None => Arg::Value(value),
            })
            .collect();
        let How { engine, budget, watchdog, .. } = how.into();
        self.kernel.launch(Launch { budget, engine, watchdog, ..Launch::new(grid, block, &mut args) })
    }
}
