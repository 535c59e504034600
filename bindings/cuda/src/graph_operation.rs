//! Operations of the nodes of graphs, with their parameters.

use std::ffi::{c_uint, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use halfbyte::Shape;

use crate::context::{self, Context};
use crate::copy_pitched::Copy3D;
use crate::fill::{Element, Fill};
use crate::function;
use crate::host_function::{self, HostFunction};
use crate::launch::{Launch, arguments};
use crate::status::{Result, Status};

/// Types of nodes, a `CUgraphNodeType`.
pub mod node_type {
    use std::ffi::c_uint;

    pub const KERNEL: c_uint = 0;
    pub const COPY: c_uint = 1;
    pub const FILL: c_uint = 2;
    pub const HOST: c_uint = 3;
    pub const GRAPH: c_uint = 4;
    pub const EMPTY: c_uint = 5;
}

/// Results of updates of executable graphs, a `CUgraphExecUpdateResult`.
pub mod update_result {
    use std::ffi::c_uint;

    pub const SUCCESS: c_uint = 0;
    pub const ERROR: c_uint = 1;
    pub const TOPOLOGY_CHANGED: c_uint = 2;
    pub const NODE_TYPE_CHANGED: c_uint = 3;
    pub const PARAMETERS_CHANGED: c_uint = 5;
}

/// Operation of a node.
#[derive(Clone)]
pub enum Operation {
    Kernel(KernelOperation),
    Copy(CopyOperation),
    Fill(FillOperation),
    Host(HostParams),
    Empty,
}

// SAFETY: pointers of the program are usable from each thread that launches the graph; the program ensures this. All
// other pointers refer to the parameters of a kernel, which do not change.
unsafe impl Send for Operation {}
// SAFETY: as above.
unsafe impl Sync for Operation {}

impl Operation {
    pub fn node_type(&self) -> c_uint {
        match self {
            Operation::Kernel(_) => node_type::KERNEL,
            Operation::Copy(_) => node_type::COPY,
            Operation::Fill(_) => node_type::FILL,
            Operation::Host(_) => node_type::HOST,
            Operation::Empty => node_type::EMPTY,
        }
    }

    /// Returns the context of the operation, if it needs one.
    pub fn context(&self) -> Option<&Arc<Context>> {
        match self {
            Operation::Kernel(kernel) => Some(&kernel.context),
            Operation::Copy(copy) => Some(&copy.context),
            Operation::Fill(fill) => Some(&fill.context),
            Operation::Host(_) | Operation::Empty => None,
        }
    }

    /// Checks that the operation can replace this one in an executable graph. Otherwise, returns the result of the
    /// update.
    pub fn check_update(&self, new: &Operation) -> std::result::Result<(), c_uint> {
        let is_same_context = match (self.context(), new.context()) {
            (Some(context), Some(new)) => Arc::ptr_eq(context, new),
            (context, new) => context.is_none() && new.is_none(),
        };
        match (self, new) {
            _ if self.node_type() != new.node_type() => Err(update_result::NODE_TYPE_CHANGED),
            // A kernel runs in the context of its function. The context that was current at the node's creation does
            // not matter.
            (Operation::Kernel(_), Operation::Kernel(_)) => Ok(()),
            _ if !is_same_context => Err(update_result::PARAMETERS_CHANGED),
            (Operation::Fill(fill), Operation::Fill(new)) if !fill.params.admits(&new.params) => {
                Err(update_result::PARAMETERS_CHANGED)
            }
            _ => Ok(()),
        }
    }

    /// Runs the operation. An error of a kernel becomes the sticky error of its context.
    ///
    /// # Safety
    /// Host memory is valid for its accesses, and a host function can be called with its data. No other code
    /// accesses memory that the operation writes, or writes memory that it accesses.
    pub unsafe fn run(&self) -> Result<()> {
        match self {
            Operation::Kernel(kernel) => kernel.run(),
            // SAFETY: the caller upholds this function's contract.
            Operation::Copy(copy) => unsafe { copy.params.run() },
            // SAFETY: as above.
            Operation::Fill(fill) => unsafe { fill.params.fill()?.run() },
            // SAFETY: as above.
            Operation::Host(host) => unsafe { host.run() },
            Operation::Empty => Ok(()),
        }
    }
}

/// Returns the context with the given handle, or the current context if the handle is null.
fn context_of(handle: *mut c_void) -> Result<Arc<Context>> {
    let context = if handle.is_null() { context::current()? } else { context::find(handle)? };
    context.check()?;
    Ok(context)
}

/// Parameters of a kernel node, a `CUDA_KERNEL_NODE_PARAMS_v1`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelParams {
    function: *mut c_void,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    params: *const *const c_void,
    extra: *const *const c_void,
}

/// Parameters of a kernel node, a `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelParamsV2 {
    pub base: KernelParams,
    /// The kernel, if the function is null.
    kernel: *mut c_void,
    context: *mut c_void,
}

impl From<KernelParams> for KernelParamsV2 {
    fn from(base: KernelParams) -> KernelParamsV2 {
        KernelParamsV2 { base, kernel: null_mut(), context: null_mut() }
    }
}

/// Parameters of a kernel, each with a pointer that a program can read.
struct Arguments {
    values: Vec<Vec<u8>>,
    pointers: Vec<*const c_void>,
}

// SAFETY: the pointers refer to the values, which do not change.
unsafe impl Send for Arguments {}
// SAFETY: as above.
unsafe impl Sync for Arguments {}

/// Launch of a kernel.
#[derive(Clone)]
pub struct KernelOperation {
    /// The parameters of the node, with pointers to `arguments`.
    params: KernelParamsV2,
    arguments: Arc<Arguments>,
    context: Arc<Context>,
}

impl KernelOperation {
    /// Creates an operation, and copies the parameters of the kernel.
    ///
    /// # Safety
    /// As [`arguments`].
    pub unsafe fn new(params: &KernelParamsV2) -> Result<KernelOperation> {
        let context = context_of(params.context)?;
        let mut params = KernelParamsV2 { context: context.handle(), ..*params };
        // SAFETY: the caller upholds this function's contract.
        let values =
            unsafe { arguments(&*function::checked(params.handle()?)?, params.base.params, params.base.extra) }?;
        let pointers: Vec<*const c_void> = values.iter().map(|value| value.as_ptr().cast()).collect();
        let arguments = Arc::new(Arguments { values, pointers });
        params.base.params = if arguments.pointers.is_empty() { null() } else { arguments.pointers.as_ptr() };
        params.base.extra = null();
        Ok(KernelOperation { params, arguments, context })
    }

    /// Returns the parameters of the node. The parameters of the kernel are always separate. They live as long as the
    /// operation.
    pub fn params(&self) -> KernelParamsV2 {
        self.params
    }

    fn run(&self) -> Result<()> {
        let KernelParams { grid, block, shared, .. } = self.params.base;
        let shape = Shape { grid, block, shared };
        let function = function::checked(self.params.handle()?)?;
        Launch { function, shape, args: self.arguments.values.clone(), cooperative: false }.run(&self.context)
    }
}

impl KernelParamsV2 {
    /// Returns the handle of the function or of the kernel.
    fn handle(&self) -> Result<*mut c_void> {
        let handles = [self.base.function, self.kernel];
        handles.into_iter().find(|handle| !handle.is_null()).ok_or(Status::INVALID_VALUE)
    }
}

/// Copy of layers of rows.
#[derive(Clone)]
pub struct CopyOperation {
    pub params: Box<Copy3D>,
    context: Arc<Context>,
}

impl CopyOperation {
    /// Creates an operation in a context, or in the current context if the handle is null.
    pub fn new(params: Copy3D, context: *mut c_void) -> Result<CopyOperation> {
        Ok(CopyOperation { params: Box::new(params), context: context_of(context)? })
    }
}

/// Parameters of a fill, a `CUDA_MEMSET_NODE_PARAMS_v1`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FillParams {
    to: u64,
    pitch: usize,
    value: c_uint,
    element_bytes: c_uint,
    width: usize,
    height: usize,
}

impl FillParams {
    /// Returns the fill, or [`Status::INVALID_VALUE`] if the size of the elements is invalid.
    fn fill(&self) -> Result<Fill> {
        let FillParams { to, pitch, value, element_bytes, width, height } = *self;
        let element = match element_bytes {
            1 => Element::D8(value as u8),
            2 => Element::D16(value as u16),
            4 => Element::D32(value),
            _ => return Err(Status::INVALID_VALUE),
        };
        Ok(Fill { to, pitch, element, width, height })
    }

    /// Returns `true` if a fill with new parameters can replace this one in an executable graph. The number of rows
    /// must be equal. If there are several rows, their sizes must also be equal.
    fn admits(&self, new: &FillParams) -> bool {
        let size = |params: &FillParams| (params.pitch, params.element_bytes, params.width);
        let is_empty = new.width == 0 || new.height == 0;
        !is_empty && self.height == new.height && (self.height <= 1 || size(self) == size(new))
    }
}

/// Fill of memory.
#[derive(Clone)]
pub struct FillOperation {
    pub params: FillParams,
    context: Arc<Context>,
}

impl FillOperation {
    /// Creates an operation in a context, or in the current context if the handle is null.
    pub fn new(params: FillParams, context: *mut c_void) -> Result<FillOperation> {
        params.fill()?;
        Ok(FillOperation { params, context: context_of(context)? })
    }

    /// Checks and replaces the parameters.
    pub fn set(&mut self, params: FillParams) -> Result<()> {
        params.fill()?;
        self.params = params;
        Ok(())
    }
}

/// Call of a host function, a `CUDA_HOST_NODE_PARAMS_v1`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostParams {
    pub function: HostFunction,
    pub data: *mut c_void,
}

impl HostParams {
    /// Returns the parameters, or [`Status::INVALID_VALUE`] if the function is null.
    pub fn checked(self) -> Result<HostParams> {
        if self.function.is_some() { Ok(self) } else { Err(Status::INVALID_VALUE) }
    }

    /// Calls the function.
    ///
    /// # Safety
    /// The function can be called with the data.
    unsafe fn run(self) -> Result<()> {
        let function = self.function.ok_or(Status::INVALID_VALUE)?;
        // SAFETY: the caller upholds this function's contract.
        host_function::run(|| unsafe { function(self.data) });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: FillParams = FillParams { to: 0x1000, pitch: 0, value: 0x1_2345, element_bytes: 2, width: 7, height: 1 };

    #[test]
    fn structures_have_the_sizes_of_the_interface() {
        assert_eq!((size_of::<KernelParams>(), size_of::<KernelParamsV2>()), (56, 72));
        assert_eq!((size_of::<FillParams>(), size_of::<HostParams>()), (40, 16));
    }

    #[test]
    fn elements_have_1_2_or_4_bytes() {
        let element = |element_bytes| FillParams { element_bytes, ..ROW }.fill().map(|fill| fill.element);
        assert_eq!(element(1), Ok(Element::D8(0x45)));
        assert_eq!(element(2), Ok(Element::D16(0x2345)));
        assert_eq!(element(4), Ok(Element::D32(0x1_2345)));
        for bytes in [0, 3, 8] {
            assert_eq!(element(bytes), Err(Status::INVALID_VALUE));
        }
    }

    #[test]
    fn the_size_of_a_single_row_can_change() {
        assert!(ROW.admits(&FillParams { to: 0x2000, value: 1, width: 9, element_bytes: 4, ..ROW }));
        assert!(!ROW.admits(&FillParams { width: 0, ..ROW }));
        assert!(!ROW.admits(&FillParams { height: 0, ..ROW }));
        assert!(!ROW.admits(&FillParams { height: 2, ..ROW }));
        let rows = FillParams { pitch: 32, height: 3, ..ROW };
        assert!(rows.admits(&FillParams { to: 0x2000, value: 1, ..rows }));
        assert!(!rows.admits(&FillParams { width: 8, ..rows }));
        assert!(!rows.admits(&FillParams { pitch: 64, ..rows }));
        assert!(!rows.admits(&FillParams { height: 1, ..rows }));
    }

    #[test]
    fn updates_keep_the_type_of_a_node() {
        unsafe extern "C" fn function(_data: *mut c_void) {}
        let host = Operation::Host(HostParams { function: Some(function), data: null_mut() });
        assert_eq!(host.check_update(&host), Ok(()));
        assert_eq!(host.check_update(&Operation::Empty), Err(update_result::NODE_TYPE_CHANGED));
        assert_eq!(HostParams { function: None, data: null_mut() }.checked().err(), Some(Status::INVALID_VALUE));
    }
}
