//! Tests of the messages for arguments that do not fit the signature. No item runs and no buffer
//! changes in these cases.

use crate::common::{program, run};
use halfbyte_runtime::Arg;

const PARAMS: &str = "a: f16x2, m: i1x4, v: i8x16, x: in i32, y: out f16x2";

fn message(args: &mut [Arg<'_>]) -> String {
    let program = program(PARAMS, "    EXIT ;");
    run(&program, 1, args).unwrap_err().to_string()
}

#[test]
fn accepts_arguments_that_fit_the_signature() {
    let program = program(PARAMS, "    EXIT ;");
    let mut bytes = [[1; 4]; 2];
    let [x, y] = &mut bytes;
    let mut args = [Arg::Scalar(0xffff_ffff), Arg::Scalar(0xf), Arg::Scalar(u128::MAX), Arg::In(x), Arg::Buffer(y)];
    assert!(run(&program, 1, &mut args).is_ok());
    assert_eq!(bytes, [[1; 4], [0; 4]]);
    let mut args = [Arg::Scalar(0), Arg::Scalar(0), Arg::Scalar(0), Arg::Buffer(&mut []), Arg::Buffer(&mut [])];
    assert!(run(&program, 1, &mut args).is_ok());
}

#[test]
fn rejects_arguments_that_do_not_fit_the_signature() {
    let (a, m, v) = (|| Arg::Scalar(0), || Arg::Scalar(0), || Arg::Scalar(0));
    let mut y = [9; 4];
    assert_eq!(message(&mut []), "kernel `k` takes 5 arguments; found 0");
    assert_eq!(
        message(&mut [a(), m(), v(), Arg::In(&[]), Arg::Buffer(&mut y), a()]),
        "kernel `k` takes 5 arguments; found 6"
    );
    assert_eq!(
        message(&mut [Arg::Scalar(1 << 32), m(), v(), Arg::In(&[]), Arg::Buffer(&mut y)]),
        "argument `a` of kernel `k`: 0x100000000 does not fit f16x2"
    );
    assert_eq!(
        message(&mut [a(), Arg::Scalar(0x1f), v(), Arg::In(&[]), Arg::Buffer(&mut y)]),
        "argument `m` of kernel `k`: 0x1f does not fit i1x4"
    );
    assert_eq!(
        message(&mut [Arg::In(&[]), m(), v(), Arg::In(&[]), Arg::Buffer(&mut y)]),
        "argument `a` of kernel `k` must be a scalar f16x2; found a read-only buffer"
    );
    assert_eq!(
        message(&mut [a(), m(), v(), Arg::Scalar(0), Arg::Buffer(&mut y)]),
        "argument `x` of kernel `k` must be an `in` buffer of i32; found a scalar"
    );
    assert_eq!(
        message(&mut [a(), m(), v(), Arg::In(&[]), Arg::In(&[])]),
        "argument `y` of kernel `k` must be an `out` buffer of f16x2; found a read-only buffer"
    );
    assert_eq!(
        message(&mut [a(), m(), v(), Arg::In(&[0; 7]), Arg::Buffer(&mut y)]),
        "argument `x` of kernel `k` has 7 bytes; expected a multiple of 4 for i32"
    );
    assert_eq!(
        message(&mut [a(), m(), v(), Arg::In(&[]), Arg::Buffer(&mut y[..2])]),
        "argument `y` of kernel `k` has 2 bytes; expected a multiple of 4 for f16x2"
    );
    assert_eq!(y, [9; 4]);
}
