//! Attributes of the emulated device, by number, and the occupancy of its multiprocessors.

use std::ffi::c_int;

use crate::status::{Result, Status};

/// Number of threads in a warp.
pub const WARP: u32 = 32;
/// Largest number of threads in a block.
pub const MAX_THREADS: u32 = 1024;
/// Largest block in each dimension.
pub const MAX_BLOCK: (u32, u32, u32) = (1024, 1024, 64);
/// Largest grid in each dimension.
pub const MAX_GRID: (u32, u32, u32) = (i32::MAX.unsigned_abs(), 65535, 65535);
/// Bytes of shared memory that a block can use without opting in.
pub const SHARED: u32 = 48 << 10;
/// Registers of a multiprocessor. A block can use all of them.
const REGISTERS: u32 = 65536;
/// Largest number of registers of a thread.
const MAX_REGISTERS: u32 = 255;
/// Number of parts of a multiprocessor, each with its own registers.
const PARTITIONS: u32 = 4;
/// Granularity of the register allocation of a warp, in registers.
const REGISTER_UNIT: u32 = 256;

/// Limits that depend on the compute capability.
#[derive(PartialEq, Eq, Debug)]
pub struct Model {
    /// Compute capability, such as 80 for 8.0.
    pub sm: u32,
    /// Threads that are resident on a multiprocessor.
    pub threads: u32,
    /// Blocks that are resident on a multiprocessor.
    pub blocks: u32,
    /// Bytes of shared memory of a multiprocessor.
    pub shared: u32,
    /// Bytes of shared memory that a block can use after opting in.
    pub shared_opt_in: u32,
    /// Bytes of shared memory that the driver takes for each block.
    pub shared_reserved: u32,
    /// Bytes of the second-level cache. Nothing depends on this value.
    pub cache: u32,
}

/// Returns a row of [`MODELS`] with sizes in KiB, except for the cache, whose size is in MiB.
const fn model(sm: u32, threads: u32, blocks: u32, shared: u32, opt_in: u32, reserved: u32, cache: u32) -> Model {
    let (shared, shared_opt_in, shared_reserved) = (shared << 10, opt_in << 10, reserved << 10);
    Model { sm, threads, blocks, shared, shared_opt_in, shared_reserved, cache: cache << 20 }
}

/// Compute capabilities that a device can have.
pub const MODELS: &[Model] = &[
    model(75, 1024, 16, 64, 64, 0, 4),
    model(80, 2048, 32, 164, 163, 1, 40),
    model(86, 1536, 16, 100, 99, 1, 6),
    model(87, 1536, 16, 164, 163, 1, 4),
    model(89, 1536, 24, 100, 99, 1, 72),
    model(90, 2048, 32, 228, 227, 1, 50),
    model(100, 2048, 32, 228, 227, 1, 126),
    model(103, 2048, 32, 228, 227, 1, 126),
    model(120, 1536, 24, 100, 99, 1, 96),
    model(121, 1536, 24, 100, 99, 1, 96),
];

/// Returns the limits of a compute capability, if a device can have it.
pub fn model_of(sm: u32) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.sm == sm)
}

/// Properties of a device from which its attributes follow.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// Limits of the compute capability.
    pub model: &'static Model,
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// Number of the PCI bus. The domain and the number on the bus are 0.
    pub pci_bus: u32,
}

/// Number of the last attribute of CUDA 13.5.
const LAST: c_int = 161;

/// Value of an attribute, as a function of the device's properties.
type AttributeValue = fn(&Device) -> u32;

/// Attributes that are not 0, in ascending order. Textures and surfaces are not supported, so their limits are 0.
#[rustfmt::skip]
const ATTRIBUTES: &[(c_int, AttributeValue)] = &[
    (1, |_| MAX_THREADS),                               // MAX_THREADS_PER_BLOCK
    (2, |_| MAX_BLOCK.0),                               // MAX_BLOCK_DIM_X
    (3, |_| MAX_BLOCK.1),                               // MAX_BLOCK_DIM_Y
    (4, |_| MAX_BLOCK.2),                               // MAX_BLOCK_DIM_Z
    (5, |_| MAX_GRID.0),                                // MAX_GRID_DIM_X
    (6, |_| MAX_GRID.1),                                // MAX_GRID_DIM_Y
    (7, |_| MAX_GRID.2),                                // MAX_GRID_DIM_Z
    (8, |_| SHARED),                                    // MAX_SHARED_MEMORY_PER_BLOCK
    (9, |_| 65536),                                     // TOTAL_CONSTANT_MEMORY
    (10, |_| WARP),                                     // WARP_SIZE
    (11, |_| i32::MAX.unsigned_abs()),                  // MAX_PITCH
    (12, |_| REGISTERS),                                // MAX_REGISTERS_PER_BLOCK
    (15, |_| 1),                                        // GPU_OVERLAP
    (16, |device| device.multiprocessors),              // MULTIPROCESSOR_COUNT
    (19, |_| 1),                                        // CAN_MAP_HOST_MEMORY
    (31, |_| 1),                                        // CONCURRENT_KERNELS
    (33, |device| device.pci_bus),                      // PCI_BUS_ID
    (38, |device| device.model.cache),                  // L2_CACHE_SIZE
    (39, |device| device.model.threads),                // MAX_THREADS_PER_MULTIPROCESSOR
    (40, |_| 2),                                        // ASYNC_ENGINE_COUNT
    (41, |_| 1),                                        // UNIFIED_ADDRESSING
    (75, |device| device.model.sm / 10),                // COMPUTE_CAPABILITY_MAJOR
    (76, |device| device.model.sm % 10),                // COMPUTE_CAPABILITY_MINOR
    (78, |_| 1),                                        // STREAM_PRIORITIES_SUPPORTED
    (79, |_| 1),                                        // GLOBAL_L1_CACHE_SUPPORTED
    (80, |_| 1),                                        // LOCAL_L1_CACHE_SUPPORTED
    (81, |device| device.model.shared),                 // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    (82, |_| REGISTERS),                                // MAX_REGISTERS_PER_MULTIPROCESSOR
    (83, |_| 1),                                        // MANAGED_MEMORY
    (89, |_| 1),                                        // CONCURRENT_MANAGED_ACCESS
    (91, |_| 1),                                        // CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
    (95, |_| 1),                                        // COOPERATIVE_LAUNCH
    (97, |device| device.model.shared_opt_in),          // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    (99, |_| 1),                                        // HOST_REGISTER_SUPPORTED
    (106, |device| device.model.blocks),                // MAX_BLOCKS_PER_MULTIPROCESSOR
    (111, |device| device.model.shared_reserved),       // RESERVED_SHARED_MEMORY_PER_BLOCK
    (115, |_| 1),                                       // MEMORY_POOLS_SUPPORTED
    (120, |device| u32::from(device.model.sm >= 90)),   // CLUSTER_LAUNCH
];

/// Returns an attribute of a device, or `Status::INVALID_VALUE` if no attribute has this number.
pub fn attribute(number: c_int, device: &Device) -> Result<c_int> {
    if !(1..=LAST).contains(&number) {
        return Err(Status::INVALID_VALUE);
    }
    let value = ATTRIBUTES.iter().find(|(listed, _)| *listed == number).map_or(0, |(_, value)| value(device));
    Ok(c_int::try_from(value).unwrap_or(c_int::MAX))
}

/// Returns the number of blocks of a kernel that are resident on a multiprocessor at once. The arguments are the
/// threads of a block, the registers of a thread, and the bytes of shared memory of a block, static and dynamic. The
/// result is 0 if a block exceeds the limits of compute capability `sm`, or if `sm` is unknown.
pub fn resident_blocks(sm: u32, threads: u32, registers: u32, shared: u32) -> u32 {
    let Some(model) = model_of(sm) else { return 0 };
    let exceeds = threads > MAX_THREADS || registers > MAX_REGISTERS || shared > model.shared_opt_in;
    if threads == 0 || exceeds {
        return 0;
    }
    let warps = threads.div_ceil(WARP);
    let by_threads = model.threads / WARP / warps;
    // A partition of the multiprocessor hosts whole warps only.
    let by_registers = match (registers * WARP).next_multiple_of(REGISTER_UNIT) {
        0 => u32::MAX,
        of_warp if of_warp * warps.next_multiple_of(PARTITIONS) > REGISTERS => 0,
        of_warp => REGISTERS / PARTITIONS / of_warp * PARTITIONS / warps,
    };
    let shared_unit = if sm < 80 { 256 } else { 128 };
    let by_shared = match (shared + model.shared_reserved).next_multiple_of(shared_unit) {
        0 => u32::MAX,
        of_block => model.shared / of_block,
    };
    model.blocks.min(by_threads).min(by_registers).min(by_shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(sm: u32, number: c_int) -> Result<c_int> {
        let model = model_of(sm).ok_or(Status::INVALID_DEVICE)?;
        attribute(number, &Device { model, multiprocessors: 4, pci_bus: 1 })
    }

    #[test]
    fn numbers_are_ascending_and_in_range() {
        assert!(ATTRIBUTES.is_sorted_by(|(before, _), (after, _)| before < after));
        assert!(ATTRIBUTES.iter().all(|(number, _)| (1..=LAST).contains(number)));
        assert!(MODELS.is_sorted_by(|before, after| before.sm < after.sm));
    }

    #[test]
    fn attributes_have_the_values_of_the_model() {
        let expected = [
            (80, 5, i32::MAX),
            (80, 16, 4),
            (80, 33, 1),
            (80, 81, 167_936),
            (80, 97, 166_912),
            (80, 111, 1024),
            (80, 120, 0),
            (90, 81, 233_472),
            (90, 97, 232_448),
            (90, 120, 1),
            (120, 75, 12),
            (120, 76, 0),
            (103, 75, 10),
            (103, 76, 3),
            (75, 97, 65536),
            (86, 81, 102_400),
            (86, 97, 101_376),
        ];
        for (sm, number, wanted) in expected {
            assert_eq!(value(sm, number), Ok(wanted), "attribute {number} of sm_{sm}");
        }
    }

    #[test]
    fn unlisted_numbers_are_0_and_unknown_numbers_are_errors() {
        for number in [13, 21, 102, LAST] {
            assert_eq!(value(80, number), Ok(0), "attribute {number}");
        }
        for number in [c_int::MIN, -1, 0, LAST + 1, c_int::MAX] {
            assert_eq!(value(80, number), Err(Status::INVALID_VALUE), "attribute {number}");
        }
    }

    #[test]
    fn each_resource_limits_the_resident_blocks() {
        let expected = [
            // Compute capability, threads, registers and shared memory, then blocks.
            ((80, 32, 16, 0), 32),
            ((86, 32, 16, 0), 16),
            ((80, 256, 32, 0), 8),
            ((86, 1024, 16, 0), 1),
            ((80, 1, 0, 0), 32),
            ((80, 256, 40, 0), 6),
            ((80, 1024, 64, 0), 1),
            ((80, 64, 32, 49152), 3),
            ((75, 64, 32, 65536), 1),
            ((80, 64, 32, 166_912), 1),
        ];
        for ((sm, threads, registers, shared), blocks) in expected {
            let shape = format!("{threads} threads, {registers} registers, {shared} bytes of sm_{sm}");
            assert_eq!(resident_blocks(sm, threads, registers, shared), blocks, "{shape}");
        }
    }

    #[test]
    fn a_block_beyond_the_limits_is_not_resident() {
        let beyond = [
            (80, 0, 32, 0),
            (80, 1025, 32, 0),
            (80, 1024, 65, 0),
            (80, 32, 256, 0),
            (80, 32, 32, 166_913),
            (80, u32::MAX, u32::MAX, u32::MAX),
            (81, 32, 32, 0),
        ];
        for (sm, threads, registers, shared) in beyond {
            assert_eq!(resident_blocks(sm, threads, registers, shared), 0);
        }
    }
}
