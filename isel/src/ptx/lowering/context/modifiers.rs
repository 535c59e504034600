//! Extractors for the PTX rules that match half-precision modifiers and constants.

/// Extractors of the rules' `Context` that match half-precision modifiers and constants.
macro_rules! modifier_methods {
    () => {
        fn add_flags(&mut self, ty: Type, flags: FloatFlags) -> Option<Unit> {
            self.has(of_half(ADD, ty), &arithmetic_words(ty, flags)).then_some(())
        }

        fn mul_flags(&mut self, ty: Type, flags: FloatFlags) -> Option<Unit> {
            if flags.ftz { None } else { self.add_flags(ty, flags) }
        }

        fn fma_flags(&mut self, ty: Type, flags: FloatFlags) -> Option<Unit> {
            if flags.ftz || flags.clamp == Clamp::Relu { None } else { self.instruction_flags(ty, flags) }
        }

        fn instruction_flags(&mut self, ty: Type, flags: FloatFlags) -> Option<Unit> {
            self.has(of_half(FMA, ty), &arithmetic_words(ty, flags)).then_some(())
        }

        fn relu_flags(&mut self, ty: Type, flags: FloatFlags) -> Option<Unit> {
            if flags.clamp == Clamp::Relu { self.instruction_flags(ty, flags) } else { None }
        }

        fn apart_flags(&mut self, ty: Type, flags: FloatFlags) -> Option<Unit> {
            let is_apart = flags.rounding == Rounding::Rn && (flags.ftz || flags.clamp == Clamp::Relu);
            // Before sm_90, bf16 has no add and no compare instruction.
            let has_instructions =
                !is_bf16(ty) || !flags.ftz && self.has(Opcode::SET_BF16X2, &[Token::Lt, U32, halves(ty)]);
            (is_apart && has_instructions).then_some(())
        }

        fn directed(&mut self, flags: FloatFlags) -> Option<Unit> {
            (flags.rounding != Rounding::Rn).then_some(())
        }

        fn rounding_and_sat(&mut self, flags: FloatFlags) -> FloatFlags {
            let clamp = if flags.clamp == Clamp::Sat { Clamp::Sat } else { Clamp::None };
            FloatFlags { clamp, ..self.only_rounding(flags) }
        }

        fn only_rounding(&mut self, flags: FloatFlags) -> FloatFlags {
            FloatFlags { rounding: flags.rounding, ..FloatFlags::default() }
        }

        fn only_sat(&mut self) -> FloatFlags {
            FloatFlags { clamp: Clamp::Sat, ..FloatFlags::default() }
        }

        fn with_relu(&mut self, flags: FloatFlags) -> FloatFlags {
            FloatFlags { clamp: Clamp::Relu, ..flags }
        }

        fn tiny_flags(
            &mut self,
            plain: FloatFlags,
            flags: FloatFlags,
            cond: FloatCond,
            truncating: FloatFlags,
        ) -> Option<Unit> {
            let flushes =
                FloatFlags { clamp: Clamp::None, ..flags } == FloatFlags { ftz: true, ..FloatFlags::default() };
            let truncates = truncating == FloatFlags { rounding: Rounding::Rz, ftz: true, ..FloatFlags::default() };
            let is_plain = plain == FloatFlags::default() && cond == (FloatCC::Neu, false);
            (is_plain && truncates && flushes && flags.clamp != Clamp::Relu).then_some(())
        }

        fn keeps_only_nan(&mut self, flags: FloatFlags) -> Option<Unit> {
            (flags.nan && !flags.ftz).then_some(())
        }

        fn rectifying(&mut self, ty: Type, nan: FloatFlags, flags: FloatFlags) -> Option<Unit> {
            self.keeps_only_nan(nan)?;
            (flags.clamp == Clamp::None).then_some(())?;
            let flags = self.with_relu(flags);
            self.instruction_flags(ty, flags)
        }

        fn bf16_sat_flags(&mut self, ty: Type, flags: FloatFlags) -> Option<Unit> {
            let plain = arithmetic_words(ty, FloatFlags { clamp: Clamp::None, ..flags });
            (is_bf16(ty) && flags.clamp == Clamp::Sat && self.has(of_half(FMA, ty), &plain)).then_some(())
        }

        fn single_flags(&mut self, flags: FloatFlags) -> Option<Unit> {
            (!flags.ftz && flags.rounding == Rounding::Rn).then_some(())
        }

        fn ordinary(&mut self, value: Value) -> Option<Unit> {
            self.magnitudes_from(value, [1, 1])
        }

        fn half_normal(&mut self, value: Value) -> Option<Unit> {
            self.magnitudes_from(value, [0x0400, 0x0080])
        }

        fn half_result(&mut self, value: Value) -> Option<Unit> {
            let inst = self.kernel.insts.get(self.kernel.def_inst(value)?)?;
            matches!(inst.op, Op::Fadd | Op::Fsub | Op::Fmul | Op::Ffma).then_some(())
        }

        fn half_large(&mut self, value: Value) -> Option<Unit> {
            // The bounds are 2^-2 for f16 and 2^-117 for bf16. A tiny sum is only possible with a product of at least
            // half the constant. Such a product has 22 or 16 bits, so its last bit is at least 2^-24 or 2^-133.
            self.magnitudes_from(value, [0x3400, 0x0500])
        }
    };
}

pub(super) use modifier_methods;
