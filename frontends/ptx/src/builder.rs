//! State of the import of a kernel: the IR builder, the IR value of each PTX value, the lookup of
//! operands, and the errors.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use halfbyte_ir::builder::Builder;
use halfbyte_ir::{Diagnostic, Op, Span, Type, Value};
use halfbyte_isa::halu::domain::Domain;
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::module::SharedLayout;
use halfbyte_isa::ptx::types::Space;
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg, Var};

use crate::domain::IrBuilder;
use crate::options::{LineMap, Options, Shape, ir_name};
use crate::provenance::Parameters;
use crate::ssa::{Def, Function, Val};
use crate::types::{Types, integer};

/// Maximum number of definitions that an analysis follows from a value backwards.
pub(crate) const DEPTH: u32 = 48;

/// Address at which local memory begins in its address space.
pub(crate) const LOCAL_START: u64 = 0x1000;

/// State of the import of one kernel.
pub(crate) struct Import<'a> {
    pub function: &'a Function<'a>,
    pub parameters: &'a Parameters,
    pub types: &'a Types,
    pub shape: Shape,
    /// Set if pointers may alias.
    pub may_alias: bool,
    /// Set if an instruction without a corresponding op becomes a PTX intrinsic instead of several
    /// ops.
    pub keeps_intrinsics: bool,
    /// Set if products and sums that PTX permits to fuse become fused multiply-adds.
    pub contract: bool,
    /// Numbers of the products and sums that PTX permits the assembler to fuse.
    pub fusable: HashSet<usize>,
    pub code: IrBuilder,
    /// Parameters of the IR kernel, in the order of [`Parameters::places`].
    pub params: Vec<Value>,
    /// Arrays of the IR kernel for shared and local memory.
    pub arrays: Arrays,
    /// Layout of shared memory.
    pub shared: SharedLayout,
    /// Byte offset of each frame variable in the stack frame.
    pub frame: Vec<u32>,
    /// Names of the blocks of the IR kernel.
    pub block_names: HashSet<String>,
    /// Cache of the index values in the current block. The key is the address and the scale.
    pub indices: HashMap<(Val, u32), Value>,
    /// Cache of the minimum and maximum of each PTX value.
    pub ranges: RefCell<HashMap<Val, (u64, u64)>>,
    /// IR value of each PTX value, indexed by its number.
    values: Vec<Option<Value>>,
    /// Number of the current instruction.
    pub number: usize,
    pub errors: Vec<Diagnostic>,
    locs: &'a [Loc],
    places: &'a LineMap<'a>,
}

/// Arrays of the IR kernel for shared and local memory. `None` for a memory that the kernel does
/// not use.
#[derive(Clone, Copy, Default)]
pub(crate) struct Arrays {
    pub shared: Option<Value>,
    pub local: Option<Value>,
}

impl<'a> Import<'a> {
    /// Creates the initial state, in which the IR kernel has no parameters, arrays or blocks.
    pub(crate) fn new(
        function: &'a Function<'a>,
        parameters: &'a Parameters,
        types: &'a Types,
        fusable: HashSet<usize>,
        options: Options,
        (locs, places): (&'a [Loc], &'a LineMap<'a>),
    ) -> Import<'a> {
        Import {
            function,
            parameters,
            types,
            shape: options.shape,
            may_alias: options.may_alias,
            keeps_intrinsics: options.keep,
            contract: options.contract,
            fusable,
            code: IrBuilder::new(Builder::new(ir_name(&function.entry.name))),
            params: Vec::new(),
            arrays: Arrays::default(),
            shared: function.entry.shared_layout(),
            frame: function.entry.body.layout().0,
            block_names: HashSet::new(),
            indices: HashMap::new(),
            ranges: RefCell::new(HashMap::new()),
            values: vec![None; function.defs.len()],
            number: 0,
            errors: Vec::new(),
            locs,
            places,
        }
    }

    fn loc(&self, number: usize) -> Loc {
        self.locs.get(number).copied().unwrap_or_default()
    }

    /// Returns the span of the instruction with the given number.
    pub(crate) fn span(&self, number: usize) -> Span {
        self.places.span(self.loc(number))
    }

    /// Reports that the current instruction cannot be imported.
    pub(crate) fn refuse(&mut self, message: impl Into<String>, expected: &str) {
        let span = self.span(self.number);
        self.errors.push(Diagnostic::new(span, message).expected(expected));
    }

    /// Sets the IR value of a PTX value.
    pub(crate) fn set(&mut self, val: Val, value: Value) {
        if let Some(of) = self.values.get_mut(val.0 as usize) {
            *of = Some(value);
        }
    }

    /// Returns a constant zero of a type.
    pub(crate) fn zero(&mut self, ty: Type) -> Value {
        if ty == Type::PTR {
            let zero = self.code.constant(Type::I64, 0);
            return self.code.cast(zero, ty);
        }
        self.code.constant(ty, 0)
    }

    /// Returns the IR value of a PTX value.
    pub(crate) fn value(&mut self, val: Val) -> Value {
        let val = self.function.resolve(val);
        match self.values.get(val.0 as usize).copied().flatten() {
            Some(value) => value,
            None => self.zero(self.types.get(val)),
        }
    }

    /// Returns the value of a register before the current instruction.
    pub(crate) fn register(&mut self, reg: Reg) -> Value {
        match self.function.read(self.number, reg) {
            Some(val) => self.value(val),
            None => self.code.constant(Type::I32, 0),
        }
    }

    /// Returns the PTX value of operand `i` of the current instruction, or `None` if the operand is
    /// not a register.
    pub(crate) fn operand_val(&self, inst: &Inst, i: usize) -> Option<Val> {
        match inst.operands.get(i) {
            Some(&Operand::Register(reg)) => self.function.read(self.number, reg),
            _ => None,
        }
    }

    /// Casts a value to a type of any width. A narrower value is zero-extended, and a wider one is
    /// truncated.
    pub(crate) fn convert(&mut self, value: Value, ty: Type) -> Value {
        let (from, to) = (self.code.ty(value).bits(), ty.bits());
        if from == to {
            return self.code.cast(value, ty);
        }
        let whole = self.code.cast(value, integer(from));
        let known = self.code.known(whole);
        let narrow = match (known, from < to) {
            (Some(bits), _) => self.code.constant(integer(to), bits & (u64::MAX >> (64 - to))),
            (None, true) => self.code.op(Op::Zext, integer(to), &[whole]),
            (None, false) => self.code.op(Op::Trunc, integer(to), &[whole]),
        };
        self.code.cast(narrow, ty)
    }

    /// Returns a register operand or a constant operand as a value of type `ty`.
    pub(crate) fn operand(&mut self, inst: &Inst, i: usize, ty: Type) -> Value {
        match inst.operands.get(i) {
            Some(&Operand::Not(reg)) => {
                let value = self.register(reg);
                self.code.negate(value)
            }
            Some(&Operand::Number(bits)) => {
                let value = self.code.constant(integer(ty.bits()), bits & (u64::MAX >> (64 - ty.bits())));
                self.code.cast(value, ty)
            }
            operand => match operand.and_then(Operand::register) {
                Some(reg) => {
                    let value = self.register(reg);
                    self.convert(value, ty)
                }
                None => self.zero(ty),
            },
        }
    }

    /// Returns the value of an operand, if it is a constant or a copy of a constant.
    pub(crate) fn known(&self, inst: &Inst, i: usize) -> Option<u64> {
        match inst.operands.get(i) {
            Some(&Operand::Number(bits)) => Some(bits),
            _ => {
                let val = self.operand_val(inst, i)?;
                self.constant_of(val)
            }
        }
    }

    /// Sets the value of a register that the current instruction writes. If the guard is false, the
    /// register keeps its previous value.
    pub(crate) fn define(&mut self, reg: Reg, value: Value) {
        let Some((_, val)) = self.function.writes(self.number).find(|(written, _)| *written == reg) else { return };
        let ty = self.types.get(val);
        let mut value = self.convert(value, ty);
        if let (Def::Inst(_, Some(old)), Some(guard)) =
            (self.function.def(val), self.function.inst(self.number).and_then(|inst| inst.guard))
        {
            let (condition, old) = (self.register(guard.reg), self.value(*old));
            let old = self.convert(old, ty);
            let (yes, no) = if guard.not { (old, value) } else { (value, old) };
            value = self.code.select(condition, yes, no);
        }
        self.set(val, value);
    }

    /// Sets the value of the register that is the first operand of an instruction.
    pub(crate) fn result(&mut self, inst: &Inst, value: Value) {
        if let Some(reg) = inst.operands.first().and_then(Operand::register) {
            self.define(reg, value);
        }
    }

    /// Returns the PTX value of operand `i` of instruction `number`, or `None` if the operand is
    /// not a register.
    pub(crate) fn read_of(&self, number: usize, inst: &Inst, i: usize) -> Option<Val> {
        match inst.operands.get(i) {
            Some(&Operand::Register(reg)) => self.function.read(number, reg),
            _ => None,
        }
    }

    /// Returns the value of an operand of the instruction with the given number, if it is a
    /// constant or a copy of a constant.
    pub(crate) fn number_at(&self, number: usize, inst: &Inst, i: usize) -> Option<u64> {
        match inst.operands.get(i) {
            Some(&Operand::Number(bits)) => Some(bits),
            _ => self.constant_of(self.read_of(number, inst, i)?),
        }
    }

    /// Returns the constant of which a value is a copy, if any.
    pub(crate) fn constant_of(&self, val: Val) -> Option<u64> {
        let mut val = val;
        for _ in 0..DEPTH {
            let &Def::Inst(number, None) = self.function.def(val) else { return None };
            let inst = self.function.inst(number)?;
            let address = inst.operands.get(1).and_then(|operand| self.private_address(operand));
            if let (Opcode::MOV_ADDRESS, Some((_, address))) = (inst.opcode, address) {
                return Some(address);
            }
            if inst.opcode != Opcode::MOV {
                return None;
            }
            match inst.operands.get(1) {
                Some(&Operand::Number(bits)) => return Some(bits),
                _ => val = self.read_of(number, inst, 1)?,
            }
        }
        None
    }

    /// Returns the space and the address of a shared variable or a frame variable. Returns `None`
    /// for other operands.
    pub(crate) fn private_address(&self, operand: &Operand) -> Option<(Space, u64)> {
        let (space, start, offset) = match *operand {
            Operand::Variable { var: Var { number, space: Space::Shared }, offset } => {
                (Space::Shared, self.shared.places.get(&number).copied()?, offset)
            }
            Operand::Frame { var, offset } => {
                (Space::Local, LOCAL_START + u64::from(self.frame.get(var.number as usize).copied()?), offset)
            }
            _ => return None,
        };
        Some((space, start.wrapping_add_signed(offset.into())))
    }
}
