//! Tests of arguments that alias the buffers of other arguments. Native code must preserve the
//! order of the accesses of an item.

use crate::common::{bytes, program, run, words};
use halfbyte_runtime::{Arg, LaunchError};

/// Kernel: item i stores `y[i] = x[i] + 1`, and stores to `z[i]` the sum of `x[i]` before and after that store.
const BETWEEN: &str = "
    S2R R0, SR_ITEM ;
    SHF.L.U32 R1, R0, 0x2, RZ ;
    ULDC.64 UR0, c[0x0][0x160] ;
    ULDC.64 UR2, c[0x0][0x168] ;
    ULDC.64 UR4, c[0x0][0x170] ;
    LDG R2, [R1.U32+UR0] ;
    IADD3 R3, R2, 0x1, RZ ;
    STG [R1.U32+UR2], R3 ;
    LDG R4, [R1.U32+UR0] ;
    IADD3 R5, R2, R4, RZ ;
    STG [R1.U32+UR4], R5 ;
    EXIT ;
";

/// Kernel: item i loads `x[i]`, doubles `y[i]`, and then stores twice the loaded value to `z[i]`.
const LATE: &str = "
    S2R R0, SR_ITEM ;
    SHF.L.U32 R1, R0, 0x2, RZ ;
    ULDC.64 UR0, c[0x0][0x160] ;
    ULDC.64 UR2, c[0x0][0x168] ;
    ULDC.64 UR4, c[0x0][0x170] ;
    LDG R2, [R1.U32+UR0] ;
    LDG R3, [R1.U32+UR2] ;
    vadd4.u32.u32.u32.sat R3, R3, R3, RZ ;
    STG [R1.U32+UR2], R3 ;
    vadd4.u32.u32.u32.sat R4, R2, R2, RZ ;
    STG [R1.U32+UR4], R4 ;
    EXIT ;
";

const PARAMS: &str = "x: in i32, y: inout may_alias i32, z: out i32";

#[test]
fn a_store_between_loads_is_seen() {
    let program = program(PARAMS, BETWEEN);
    for items in [1, 4, 15, 16, 17, 100, 512, 1040] {
        let numbers: Vec<u32> = (0..2 * items).map(|item| item * 77).collect();
        for offset in [0, u64::from(4 * items)] {
            let (mut y, mut z) = (bytes(&numbers), vec![0; 4 * items as usize]);
            run(&program, items, &mut [Arg::Alias { of: 1, offset }, Arg::Buffer(&mut y), Arg::Buffer(&mut z)])
                .unwrap();
            let expected = |item: u32| match offset {
                0 => 2 * 77 * item + 1,
                _ => 2 * 77 * (items + item),
            };
            assert_eq!(words(&z), (0..items).map(expected).collect::<Vec<_>>(), "{items} items at {offset}");
        }
        // In this launch, the read parameter is an alias, and the written parameter owns the
        // buffer.
        let (mut x, mut z) = (bytes(&numbers), vec![0; 4 * items as usize]);
        run(&program, items, &mut [Arg::Buffer(&mut x), Arg::Alias { of: 0, offset: 0 }, Arg::Buffer(&mut z)]).unwrap();
        assert_eq!(words(&z), (0..items).map(|item| 2 * 77 * item + 1).collect::<Vec<_>>(), "{items} items");
        assert_eq!(words(&x)[0], 1);
    }
}

#[test]
fn keeps_values_loaded_before_an_aliased_store() {
    let program = program(PARAMS, LATE);
    for items in [1, 16, 17, 512] {
        let numbers: Vec<u32> = (0..items).map(|item| item % 7).collect();
        let (mut y, mut z) = (bytes(&numbers), vec![0; 4 * items as usize]);
        run(&program, items, &mut [Arg::Alias { of: 1, offset: 0 }, Arg::Buffer(&mut y), Arg::Buffer(&mut z)]).unwrap();
        assert_eq!(words(&z), numbers.iter().map(|number| 2 * number).collect::<Vec<_>>(), "{items} items");
        assert_eq!(words(&y), numbers.iter().map(|number| 2 * number).collect::<Vec<_>>(), "{items} items");
    }
}

#[test]
fn rejects_aliases_without_may_alias() {
    let may = program(PARAMS, BETWEEN);
    let may_not = program("x: in may_alias i32, y: inout i32, z: out i32", BETWEEN);
    let message = |program, args: &mut [Arg<'_>]| match run(program, 1, args) {
        Ok(_) => "none".to_owned(),
        Err(error @ (LaunchError::Unique { .. } | LaunchError::Alias { .. } | LaunchError::Kind { .. })) => {
            error.to_string()
        }
        Err(error) => panic!("{error}"),
    };
    let (mut x, mut y, mut z) = ([0; 8], [0; 8], [0; 8]);
    let at = |of, offset| Arg::Alias { of, offset };
    let found = message(&may_not, &mut [at(1, 0), Arg::Buffer(&mut y), Arg::Buffer(&mut z)]);
    assert_eq!(found, "arguments `x` and `y` of kernel `k` overlap, but `y` is written without `may_alias`");
    let found = message(&may, &mut [Arg::Buffer(&mut x), at(0, 0), at(0, 4)]);
    assert_eq!(found, "arguments `x` and `z` of kernel `k` overlap, but `z` is written without `may_alias`");
    let found = message(&may, &mut [at(1, 9), Arg::Buffer(&mut y), Arg::Buffer(&mut z)]);
    assert_eq!(found, "argument `x` of kernel `k` is the address of byte 9 of `y`, which has 8 bytes");
    let found = message(&may, &mut [at(1, 2), Arg::Buffer(&mut y), Arg::Buffer(&mut z)]);
    assert_eq!(found, "argument `x` of kernel `k` is the address of byte 2 of `y`; expected a multiple of 4");
    let found = message(&may, &mut [at(7, 0), Arg::Buffer(&mut y), Arg::Buffer(&mut z)]);
    assert_eq!(found, "argument `x` of kernel `k` is the address of argument 7, which is not a buffer");
    let found = message(&may, &mut [Arg::In(&x), at(0, 0), Arg::Buffer(&mut z)]);
    assert_eq!(found, "argument `y` of kernel `k` is the address of `x`, which was passed as read-only");
    let found = message(&may, &mut [Arg::Scalar(0), at(0, 0), Arg::Buffer(&mut z)]);
    assert_eq!(found, "argument `x` of kernel `k` must be an `in` buffer of i32; found a scalar");
}

#[test]
fn a_bound_launch_shows_the_buffer_by_each_parameter() {
    let program = program(PARAMS, BETWEEN);
    let (mut y, mut z) = (bytes(&[1, 2, 3]), vec![0; 8]);
    let args = [Arg::Alias { of: 1, offset: 4 }, Arg::Buffer(&mut y), Arg::Buffer(&mut z)];
    let mut bound = program.kernel("k").unwrap().bind(args).unwrap();
    assert_eq!(words(bound.buffer(0).unwrap()), [2, 3]);
    bound.buffer_mut(0).unwrap()[0] = 7;
    bound.run(1).unwrap();
    assert_eq!(words(bound.buffer(1).unwrap()), [8, 7, 3]);
    assert_eq!(words(bound.buffer(2).unwrap()), [14, 0]);
    assert_eq!(bound.buffer(3), None);
}
