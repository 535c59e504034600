//! Result codes of the driver.

use std::ffi::CStr;
use std::fmt;

/// Result of the body of a driver function.
pub type Result<T> = std::result::Result<T, Status>;

/// Result code of a driver function, a `CUresult`.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status(pub u32);

/// Converts a text that ends in a zero byte to a C string.
const fn c_string(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => c"",
    }
}

/// Defines the codes of errors: number, name without `CUDA_ERROR_`, and description.
macro_rules! errors {
    ($($code:literal $name:ident $description:literal)*) => {
        impl Status {
            $(
                #[doc = $description]
                pub const $name: Status = Status($code);
            )*

            /// Returns the name and the description of an error, or `None` if the code is not that of an error.
            fn error(self) -> Option<(&'static CStr, &'static CStr)> {
                match self {
                    $(
                        Status::$name => Some((
                            const { c_string(concat!("CUDA_ERROR_", stringify!($name), "\0")) },
                            const { c_string(concat!($description, "\0")) },
                        )),
                    )*
                    _ => None,
                }
            }
        }
    };
}

errors! {
      1 INVALID_VALUE "invalid argument"
      2 OUT_OF_MEMORY "out of memory"
      3 NOT_INITIALIZED "the driver is not initialised"
      4 DEINITIALIZED "the driver is shutting down"
      5 PROFILER_DISABLED "the profiler is disabled"
      6 PROFILER_NOT_INITIALIZED "the profiler is not initialised"
      7 PROFILER_ALREADY_STARTED "the profiler is already started"
      8 PROFILER_ALREADY_STOPPED "the profiler is already stopped"
     34 STUB_LIBRARY "the driver is a stub library"
     36 CALL_REQUIRES_NEWER_DRIVER "the call requires a newer driver"
     46 DEVICE_UNAVAILABLE "the device is unavailable"
     47 MULTICAST_RESOURCE_FULL "no resources are left to bind memory to a multicast object"
    100 NO_DEVICE "no device was found"
    101 INVALID_DEVICE "invalid device ordinal"
    102 DEVICE_NOT_LICENSED "the device is not licensed"
    200 INVALID_IMAGE "invalid module image"
    201 INVALID_CONTEXT "no current context, or invalid context"
    202 CONTEXT_ALREADY_CURRENT "the context is already current"
    205 MAP_FAILED "mapping or registration failed"
    206 UNMAP_FAILED "unmapping or unregistration failed"
    207 ARRAY_IS_MAPPED "the array is mapped"
    208 ALREADY_MAPPED "the resource is already mapped"
    209 NO_BINARY_FOR_GPU "the image contains no code that the device can execute"
    210 ALREADY_ACQUIRED "the resource is already acquired"
    211 NOT_MAPPED "the resource is not mapped"
    212 NOT_MAPPED_AS_ARRAY "the resource is not mapped as an array"
    213 NOT_MAPPED_AS_POINTER "the resource is not mapped as a pointer"
    214 ECC_UNCORRECTABLE "uncorrectable memory error"
    215 UNSUPPORTED_LIMIT "the device does not support the limit"
    216 CONTEXT_ALREADY_IN_USE "another thread uses the context exclusively"
    217 PEER_ACCESS_UNSUPPORTED "the devices do not support peer access"
    218 INVALID_PTX "invalid PTX"
    219 INVALID_GRAPHICS_CONTEXT "invalid graphics context"
    220 NVLINK_UNCORRECTABLE "uncorrectable NVLink error"
    221 JIT_COMPILER_NOT_FOUND "the PTX compiler was not found"
    222 UNSUPPORTED_PTX_VERSION "unsupported PTX version"
    223 JIT_COMPILATION_DISABLED "PTX compilation is disabled"
    224 UNSUPPORTED_EXEC_AFFINITY "the device does not support the execution affinity"
    225 UNSUPPORTED_DEVSIDE_SYNC "device code calls cudaDeviceSynchronize, which is unsupported"
    226 CONTAINED "contained device error"
    227 INSUFFICIENT_LOADER_VERSION "the fat binary requires a newer loader"
    300 INVALID_SOURCE "invalid kernel source"
    301 FILE_NOT_FOUND "file not found"
    302 SHARED_OBJECT_SYMBOL_NOT_FOUND "a symbol of a shared object was not found"
    303 SHARED_OBJECT_INIT_FAILED "initialisation of a shared object failed"
    304 OPERATING_SYSTEM "a call of the operating system failed"
    400 INVALID_HANDLE "invalid handle"
    401 ILLEGAL_STATE "a resource is in an invalid state for the operation"
    402 LOSSY_QUERY "the query would lose information"
    500 NOT_FOUND "symbol not found"
    600 NOT_READY "the operation is not complete"
    700 ILLEGAL_ADDRESS "access to an invalid address"
    701 LAUNCH_OUT_OF_RESOURCES "too many resources requested for the launch"
    702 LAUNCH_TIMEOUT "the kernel exceeded the time limit"
    703 LAUNCH_INCOMPATIBLE_TEXTURING "incompatible texturing mode"
    704 PEER_ACCESS_ALREADY_ENABLED "peer access is already enabled"
    705 PEER_ACCESS_NOT_ENABLED "peer access is not enabled"
    708 PRIMARY_CONTEXT_ACTIVE "the primary context is active"
    709 CONTEXT_IS_DESTROYED "the context is destroyed"
    710 ASSERT "an assertion in device code failed"
    711 TOO_MANY_PEERS "too many peer devices"
    712 HOST_MEMORY_ALREADY_REGISTERED "the host memory is already registered"
    713 HOST_MEMORY_NOT_REGISTERED "the host memory is not registered"
    714 HARDWARE_STACK_ERROR "stack error in device code"
    715 ILLEGAL_INSTRUCTION "illegal instruction"
    716 MISALIGNED_ADDRESS "misaligned access"
    717 INVALID_ADDRESS_SPACE "an instruction does not support the state space of its address"
    718 INVALID_PC "invalid program counter"
    719 LAUNCH_FAILED "the kernel failed"
    720 COOPERATIVE_LAUNCH_TOO_LARGE "too many blocks for a cooperative launch"
    721 TENSOR_MEMORY_LEAK "the kernel did not free its tensor memory"
    800 NOT_PERMITTED "the operation is not permitted"
    801 NOT_SUPPORTED "the operation is not supported"
    802 SYSTEM_NOT_READY "the system is not ready"
    803 SYSTEM_DRIVER_MISMATCH "the versions of the display driver and the CUDA driver differ"
    804 COMPAT_NOT_SUPPORTED_ON_DEVICE "the device does not support forward compatibility"
    805 MPS_CONNECTION_FAILED "connection to the MPS server failed"
    806 MPS_RPC_FAILURE "remote call to the MPS server failed"
    807 MPS_SERVER_NOT_READY "the MPS server is not ready"
    808 MPS_MAX_CLIENTS_REACHED "too many MPS clients"
    809 MPS_MAX_CONNECTIONS_REACHED "too many MPS connections"
    810 MPS_CLIENT_TERMINATED "the MPS server terminated the client"
    811 CDP_NOT_SUPPORTED "dynamic parallelism is not supported"
    812 CDP_VERSION_MISMATCH "the versions of dynamic parallelism are incompatible"
    900 STREAM_CAPTURE_UNSUPPORTED "the operation is not permitted during stream capture"
    901 STREAM_CAPTURE_INVALIDATED "an earlier error invalidated the stream capture"
    902 STREAM_CAPTURE_MERGE "the operation would merge two stream captures"
    903 STREAM_CAPTURE_UNMATCHED "the capture did not begin in this stream"
    904 STREAM_CAPTURE_UNJOINED "the stream capture has a branch that was not joined"
    905 STREAM_CAPTURE_ISOLATION "a dependency would cross the border of the stream capture"
    906 STREAM_CAPTURE_IMPLICIT "the legacy stream would depend on a stream capture"
    907 CAPTURED_EVENT "the event was last recorded in a stream capture"
    908 STREAM_CAPTURE_WRONG_THREAD "another thread began the stream capture"
    909 TIMEOUT "the wait timed out"
    910 GRAPH_EXEC_UPDATE_FAILURE "the update of the executable graph is not permitted"
    911 EXTERNAL_DEVICE "error of an external device"
    912 INVALID_CLUSTER_SIZE "invalid cluster size"
    913 FUNCTION_NOT_LOADED "the function is not loaded"
    914 INVALID_RESOURCE_TYPE "invalid resource type"
    915 INVALID_RESOURCE_CONFIGURATION "insufficient or unsuitable resources"
    916 KEY_ROTATION "key rotation failed"
    917 STREAM_DETACHED "the stream is detached from its context"
    918 GRAPH_RECAPTURE_FAILURE "recapture of the graph failed"
    919 FABRIC_NOT_READY "the fabric is not ready"
    999 UNKNOWN "unknown error"
}

impl Status {
    /// Success.
    pub const SUCCESS: Status = Status(0);

    /// Returns the name and the description of a code, or `None` if the code is unknown.
    fn known(self) -> Option<(&'static CStr, &'static CStr)> {
        if self == Status::SUCCESS { Some((c"CUDA_SUCCESS", c"no error")) } else { self.error() }
    }

    /// Returns the name of the code, such as `CUDA_ERROR_INVALID_VALUE`, or `None` if the code is unknown.
    pub fn name(self) -> Option<&'static CStr> {
        self.known().map(|(name, _)| name)
    }

    /// Returns a description of the code, or `None` if the code is unknown.
    pub fn description(self) -> Option<&'static CStr> {
        self.known().map(|(_, description)| description)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} ({})", name.to_string_lossy(), self.0),
            None => write!(f, "unknown result code {}", self.0),
        }
    }
}
