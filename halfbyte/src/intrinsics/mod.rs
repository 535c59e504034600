//! What targets' instructions mean in a kernel: the machines' own meanings, on registers that hold the operands.

#[cfg(feature = "halu")]
pub(crate) mod halu;
#[cfg(feature = "vp1")]
pub(crate) mod vp1;

#[cfg(all(test, feature = "halu", feature = "vp1"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use halfbyte_ir::eval::{Intrinsics, Operand};
    use halfbyte_ir::{IntrinsicData, Type};

    use crate::targets::Meanings;

    fn run(text: &str, args: &[(Type, &[u64])], result: Type) -> Result<Vec<u64>, String> {
        run_on("halu", text, args, result)
    }

    fn run_on(target: &str, text: &str, args: &[(Type, &[u64])], result: Type) -> Result<Vec<u64>, String> {
        let intrinsic = IntrinsicData { target: target.into(), text: text.into() };
        let types: Vec<Type> = args.iter().map(|(ty, _)| *ty).collect();
        let operands: Vec<Operand<'_>> = args.iter().map(|&(ty, lanes)| Operand { ty, lanes }).collect();
        let mut out = vec![0; result.lanes()];
        Meanings::default().resolve(&intrinsic, &types, result)?(&operands, &mut out);
        Ok(out)
    }

    #[test]
    fn a_word_computes_on_lanes() {
        let (a, b, c) = ([1, 2, 250, 255], [1, 2, 10, 1], [9, 9, 9, 9]);
        fn bytes(lanes: &[u64]) -> (Type, &[u64]) {
            (Type::I8X4, lanes)
        }
        let sum = run("vadd4.u32.u32.u32.sat $d.b10, $0, $1, $2", &[bytes(&a), bytes(&b), bytes(&c)], Type::I8X4);
        assert_eq!(sum, Ok(vec![2, 4, 9, 9]));
        let halves: (Type, &[u64]) = (Type::F16X2, &[0x3c00, 0x4000]);
        assert_eq!(run("HADD2 $d, $0, $0", &[halves], Type::F16X2), Ok(vec![0x4000, 0x4400]));
        let truth: (Type, &[u64]) = (Type::I1, &[1]);
        let word: (Type, &[u64]) = (Type::I32, &[7]);
        assert_eq!(run("SEL $d, $1, RZ, $0", &[truth, word], Type::I32), Ok(vec![7]));
        assert_eq!(run("SEL $d, $1, RZ, !$0", &[truth, word], Type::I32), Ok(vec![0]));
        assert_eq!(
            run("IMAD.WIDE.U32 $d, $0, $0, RZ", &[(Type::I32, &[0xffff_ffff])], Type::I64),
            Ok(vec![0xffff_fffe_0000_0001])
        );
    }

    #[test]
    fn what_is_no_intrinsic_says_why() {
        let a: (Type, &[u64]) = (Type::I32, &[1]);
        for (text, reason) in [
            ("HADD2 $d, R7, $0", "register `R7` cannot be named"),
            ("HADD2 $d, $1, $0", "`$1` is no placeholder"),
            ("FROB $d, $0", "unknown instruction"),
            ("EXIT", "an intrinsic only computes"),
        ] {
            let error = run(text, &[a], Type::I32).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert!(
            run("MOV $d, $0", &[(Type::I16X16, &[0; 16])], Type::I32).unwrap_err().contains("no register holds i16x16")
        );
    }

    #[test]
    fn bundles_compute_on_lanes() {
        let (a, b): ([u64; 16], [u64; 16]) = (std::array::from_fn(|i| 20 * i as u64 % 256), [100; 16]);
        let vectors = [(Type::I8X16, &a[..]), (Type::I8X16, &b[..])];
        let difference: Vec<u64> = a.iter().map(|&a| a.saturating_sub(100)).collect();
        assert_eq!(run_on("vp1", "vsub u $d $0 $1", &vectors, Type::I8X16), Ok(difference));
        // The sign bit of a lane is what counts.
        let signs = a.iter().map(|&a| a >> 7).collect();
        assert_eq!(run_on("vp1", "mov $d $0", &vectors[..1], Type::I1X16), Ok(signs));
        let mask: (Type, &[u64]) = (Type::I1X4, &[1, 0, 0, 1]);
        assert_eq!(run_on("vp1", "or $d $0 0x0", &[mask], Type::I32), Ok(vec![0xff00_00ff]));
        assert_eq!(run_on("vp1", "sub $d 0x0 $0", &[(Type::I1, &[1])], Type::I32), Ok(vec![1]));
        assert_eq!(run_on("vp1", "sub $d 0x0 $0", &[(Type::I32, &[5])], Type::I1), Ok(vec![1]));
        // A narrow operand comes zero-extended.
        assert_eq!(run_on("vp1", "or $d $0 0x0", &[(Type::I16, &[0x8001])], Type::I32), Ok(vec![0x8001]));
        let twice = "vmul s rd int 0x0 lo # u $0 u $1; vmac u rd int 0x0 lo $d u $0 u $1";
        let products = a.iter().map(|&a| (200 * a) & 0xff).collect();
        assert_eq!(run_on("vp1", twice, &vectors, Type::I8X16), Ok(products));
    }

    #[test]
    fn what_is_no_bundle_says_why() {
        let a: (Type, &[u64]) = (Type::I32, &[1]);
        for (target, text, result, reason) in [
            ("vp1", "add $d $0 $r7", Type::I32, "register `$r7` cannot be named"),
            ("vp1", "add $d $0 $1", Type::I32, "`$1` is no placeholder"),
            ("vp1", "add $d $0 0x1", Type::I64, "no register holds i64"),
            ("vp1", "add $d $0 0x1", Type::I1X2, "no register holds i1x2"),
            ("vp1", "add $d $0 0x1", Type::I8X16, "must be a `$r`"),
            ("vp2", "add $d $0 0x1", Type::I32, "instructions of `vp2` have no meaning here"),
        ] {
            let error = run_on(target, text, &[a], result).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
