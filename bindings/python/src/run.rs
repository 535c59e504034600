//! `run_ptx`: executes a PTX kernel with arguments in one call.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PySequence, PyTuple};

use crate::error;
use crate::keyword::Races;
use crate::launch::{Keywords, Launch};
use crate::ptx::{PtxKernel, PtxText};
use crate::watch::{limits, watched};

/// Executes a PTX kernel directly, over ``grid`` blocks of ``block`` threads. Each is a number, or up to three numbers
/// along x, y and z.
///
/// ``args`` are arrays and numbers in the order of the parameters, or a mapping by parameter name. An array of any
/// dtype is memory, which the kernel reads and writes in place; two views of one array alias, as two pointers do. A
/// number is converted to the declared type of the parameter. A NumPy scalar may give the bits of an untyped parameter:
/// ``np.float16(2)`` for a ``.b16``. Bytes, or an array of the same size, give a structure. ``0`` is null.
///
/// >>> import numpy as np
/// >>> import halfbyte as hb
/// >>> source = """.version 8.0
/// ... .target sm_80
/// ... .address_size 64
/// ... .visible .entry number(.param .u64 out) {
/// ...   .reg .b32 %r; .reg .b64 %d<3>;
/// ...   ld.param.u64 %d0, [out];
/// ...   mov.u32 %r, %tid.x;
/// ...   mul.wide.u32 %d1, %r, 4;
/// ...   add.u64 %d2, %d0, %d1;
/// ...   st.global.u32 [%d2], %r;
/// ...   ret;
/// ... }
/// ... """
/// >>> out = np.zeros(4, np.int32)
/// >>> hb.run_ptx(source, grid=1, block=4, args=[out])
/// >>> out
/// array([0, 1, 2, 3], dtype=int32)
///
/// ``entry`` is the kernel, if there are several. With ``races``, ``Race`` is raised if two threads access a byte
/// without ordering and one of them writes it, and ``Trap`` for a read of uninitialised shared memory. Two stores of
/// the same value by the same instruction only give a ``RaceWarning``, unless ``races`` is ``"strict"``. With
/// ``cooperative``, all blocks are resident, so that blocks can wait for each other, as a barrier of the grid does.
#[pyfunction]
#[pyo3(
    signature = (source, grid, block, args=None, shared=None, entry=None, races=Races::OFF, budget=None, timeout=None, file="<ptx>", cooperative=false),
    text_signature = "(source, grid, block, args=None, shared=None, entry=None, races=False, budget=None, timeout=None, file='<ptx>', cooperative=False)"
)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn run_ptx(
    py: Python<'_>,
    source: &str,
    grid: &Bound<'_, PyAny>,
    block: &Bound<'_, PyAny>,
    args: Option<&Bound<'_, PyAny>>,
    shared: Option<&Bound<'_, PyAny>>,
    entry: Option<&str>,
    races: Races,
    budget: Option<&Bound<'_, PyAny>>,
    timeout: Option<&Bound<'_, PyAny>>,
    file: &str,
    cooperative: bool,
) -> PyResult<()> {
    let (grid, block) = (Some(grid), Some(block));
    let keywords = Keywords { items: None, grid, block, shared, engine: None, threads: None, budget, timeout };
    let launch = Launch { cooperative, ..keywords.launch()? };
    let read = watched(py, limits(timeout)?, false, |_| PtxText::read(file, source))?;
    let text = Arc::new(read.map_err(|report| error::of_report(py, &report))?);
    let number = choose(py, &text, entry)?;
    let kernel = PtxKernel::new(&text, number).map_err(|reason| error::plain(py, "ParseError", &reason))?;
    let signature = kernel.signature(py);
    let none = || PyTuple::empty(py);
    let (by_position, by_name) = match args {
        None => (none(), None),
        Some(args) => match (args.cast::<PyMapping>(), args.cast::<PySequence>()) {
            (Ok(mapping), _) => {
                let by_name = PyDict::new(py);
                by_name.update(mapping)?;
                (none(), Some(by_name))
            }
            (Err(_), Ok(sequence)) if !args.hasattr("__array_struct__")? => (sequence.to_tuple()?, None),
            _ => {
                return Err(PyTypeError::new_err(
                    "args must be a sequence of arrays and numbers, or a mapping from parameter names",
                ));
            }
        },
    };
    let given = signature.bind(&by_position, by_name.as_ref(), launch.items)?;
    kernel.run(py, &signature, &given, &launch, races.0)?;
    given.finish(py, &signature.params).map(drop)
}

/// Returns the index of the kernel with the name `entry`. Without `entry`, returns the index of the first kernel.
fn choose(py: Python<'_>, text: &PtxText, entry: Option<&str>) -> PyResult<usize> {
    let names: Vec<&str> = text.read.module.entries.iter().map(|entry| entry.name.as_str()).collect();
    let found = match entry {
        None if names.is_empty() => None,
        None => Some(0),
        Some(entry) => names.iter().position(|name| *name == entry.trim_start_matches('@')),
    };
    if let Some(found) = found {
        return Ok(found);
    }
    let refused = text.read.refused.iter().find(|refused| entry.is_none_or(|entry| entry == refused.name));
    if let Some(refused) = refused {
        return Err(error::of_report(py, &text.report(refused)));
    }
    match entry {
        Some(entry) => {
            Err(PyValueError::new_err(format!("unknown kernel {entry:?}; the kernels are {}", names.join(", "))))
        }
        None => Err(error::of_report(py, &text.without_kernel())),
    }
}
