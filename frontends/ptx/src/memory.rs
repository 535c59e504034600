//! Import of parameters, loads and stores.

use halfbyte_abi::Contents;
use halfbyte_abi::cooperative::Strength;
use halfbyte_ir::{AtomicAttr, Attr, Direction, MemAttr, Op, Type, Value};
use halfbyte_isa::ptx::meaning::{function_address, strength};
use halfbyte_isa::ptx::module::{MAX_ALIGN, Symbol, Variable};
use halfbyte_isa::ptx::types::{Space, Type as PtxType};
use halfbyte_isa::ptx::{Base, Inst, Operand, Reg};
use halfbyte_isa::row::{InstClass, OperandRole};

use crate::address::Address;
use crate::builder::Import;
use crate::domain::IrBuilder;
use crate::flow::loads_parameter;
use crate::provenance::{Origin, Parameter, is_store, loaded, named, reached, writes};
use crate::ssa::Val;
use crate::types::{integer, of_ptx};

/// Summary of the accesses to a buffer.
#[derive(Clone, Default)]
struct Accesses {
    /// Types of the values that are loaded from or stored to the buffer.
    types: Vec<Type>,
    /// Size in bytes of the largest access, to which the buffer must be aligned.
    align: u32,
    stored: bool,
}

impl Import<'_> {
    /// Declares the parameters of the IR kernel.
    pub(crate) fn declare(&mut self) {
        let parameters = self.parameters;
        let accesses = self.accesses();
        let scalars = self.scalars();
        for ((place, of), scalar) in parameters.places.iter().zip(accesses).zip(scalars) {
            let param = place.of.param(self.function.entry);
            if let Origin::Variable(_) = place.of {
                let value = self.declare_data(place, &of);
                self.params.push(value);
                continue;
            }
            let builder = &mut self.code.builder;
            let value = if place.is_buffer {
                let elem = element(&of.types);
                let direction = if of.stored { Direction::InOut } else { Direction::In };
                let promised = param.and_then(|param| param.pointer?.align).map_or(1, |align| align.min(MAX_ALIGN));
                let value =
                    builder.buffer_aligned(&place.name, direction, elem, elem.bytes().max(of.align).max(promised));
                if self.may_alias {
                    builder.may_alias();
                }
                value
            } else {
                builder.scalar(&place.name, scalar)
            };
            self.params.push(value);
        }
    }

    /// Declares a buffer with the contents of a module variable.
    fn declare_data(&mut self, place: &Parameter, of: &Accesses) -> Value {
        let entry = self.function.entry;
        let variable = match place.of {
            Origin::Variable(var) => entry.variables.get(var.number as usize),
            Origin::Param(_) => None,
        };
        let (bytes, align) = variable.map_or((Default::default(), 1), |of| (contents(of), of.alignment()));
        let mut elem = element(&of.types);
        if !bytes.len().is_multiple_of(elem.bytes().max(1) as usize) {
            elem = integer(8 << bytes.len().trailing_zeros().min(3));
        }
        // The kernel itself contains this buffer, so a larger alignment than in the PTX text is possible.
        self.code.builder.data(&place.name, elem, elem.bytes().max(of.align).max(align), bytes)
    }

    fn accesses(&self) -> Vec<Accesses> {
        let mut accesses = vec![Accesses::default(); self.parameters.places.len()];
        let mut untraced = Accesses::default();
        for number in reached(self.function) {
            let Some(inst) = self.function.inst(number) else { continue };
            let reached = self.parameters.accessed(self.function, number, inst);
            let is_untraced = self.parameters.is_untraced(self.function, number, inst);
            if reached.is_empty() && !is_untraced {
                continue;
            }
            let element = inst.element();
            let mut types = Vec::new();
            for (o, operand) in inst.operands_with_rows() {
                if matches!(operand, Operand::Memory(_)) {
                    continue;
                }
                let vals = operand.registers().filter_map(|reg| match o.role {
                    OperandRole::Def => self.function.writes(number).find(|(of, _)| *of == reg).map(|(_, val)| val),
                    _ => self.function.read(number, reg),
                });
                types.extend(vals.map(|val| self.in_memory(val, element)));
            }
            if types.is_empty() {
                types.push(of_memory(element));
            }
            let stored = writes(inst);
            let bytes = element.bits() / 8 * count(inst);
            if inst.is_warp_level() {
                // A register of a warp-level instruction holds several elements. Elements of less
                // than 8 bits are accessed as bytes.
                types = vec![if element.bits() < 8 { Type::I8 } else { of_memory(element) }];
            }
            if self.is_narrow(inst) {
                types = vec![single_access_type(bytes)];
            }
            if is_untraced {
                untraced.types.extend(&types);
                untraced.stored |= stored;
            }
            for source in reached {
                if let Some(of) = accesses.get_mut(source as usize) {
                    of.types.extend(&types);
                    of.align = of.align.max(bytes);
                    of.stored |= stored;
                }
            }
        }
        // An access of unknown origin may go to any buffer. The types of such accesses apply to
        // buffers without known accesses.
        let buffers = accesses.iter_mut().zip(&self.parameters.places).filter(|(_, place)| place.is_buffer);
        for (of, _) in buffers.filter(|(_, place)| matches!(place.of, Origin::Param(_))) {
            of.stored |= untraced.stored;
            if of.types.is_empty() {
                of.types.clone_from(&untraced.types);
            }
        }
        accesses
    }

    /// Returns the type of each parameter. The entries of buffers are not used.
    fn scalars(&self) -> Vec<Type> {
        let mut types: Vec<Option<Type>> = vec![None; self.parameters.places.len()];
        for number in reached(self.function) {
            let Some(inst) = self.function.inst(number).filter(|inst| loads_parameter(inst)) else { continue };
            for (reg, param, at) in loaded(inst) {
                let Some((source, place)) = self.parameters.place(param, at) else { continue };
                let val = self.function.writes(number).find(|(written, _)| Some(*written) == reg);
                let ty = val.map_or(of_memory(inst.element()), |(_, val)| self.in_memory(val, inst.element()));
                let whole = integer(8 * place.bytes);
                let ty = if ty.bits() == whole.bits() { ty } else { whole };
                if let Some(of) = types.get_mut(source as usize) {
                    *of = Some(match *of {
                        Some(before) if before != ty => whole,
                        _ => ty,
                    });
                }
            }
        }
        types.iter().zip(&self.parameters.places).map(|(ty, place)| ty.unwrap_or(integer(8 * place.bytes))).collect()
    }

    /// Returns the IR type in memory of a value whose access has the PTX type `element`.
    fn in_memory(&self, val: Val, element: PtxType) -> Type {
        match self.types.get(val) {
            ty if ty.bits() == element.bits() && ty != Type::PTR => ty,
            _ => of_memory(element),
        }
    }

    /// Imports a memory access. Returns `false` for other instructions.
    pub(crate) fn memory(&mut self, inst: &Inst) -> bool {
        if inst.row().class != InstClass::Memory {
            return false;
        }
        let is_atomic = matches!(inst.row().mnemonic, "atom" | "red");
        match inst.opcode {
            _ if loads_parameter(inst) => self.load_param(inst),
            _ if is_atomic && self.parameters.private_space(self.function, self.number, inst) == Some(Space::Local) => {
                self.refuse(
                    "an atomic operation on local memory is not supported",
                    "a load and a store, because no other thread accesses local memory",
                );
            }
            _ if is_atomic => self.atomic(inst),
            _ if strength(inst).is_some() && inst.ty(0) == PtxType::B128 => self.refuse(
                "a strong access of 128 bits has no counterpart in the IR",
                "direct execution with `--target ptx`",
            ),
            _ if is_store(inst) => self.store(inst),
            _ => self.load(inst),
        }
        true
    }

    fn load_param(&mut self, inst: &Inst) {
        let element = inst.element();
        let bytes = element.bits() / 8;
        for (reg, param, offset) in loaded(inst) {
            let Some((source, place)) = self.parameters.place(param, offset) else { continue };
            let Some(&value) = self.params.get(source as usize) else { continue };
            let part = offset - place.offset;
            if part + bytes > place.bytes || part % bytes != 0 {
                self.refuse(
                    "this load is misaligned or outside of its parameter",
                    "an offset in the parameter that is a multiple of the load's size",
                );
                return;
            }
            let value = match place.bytes == bytes {
                true => value,
                false => {
                    let whole = self.code.cast(value, integer(8 * place.bytes));
                    self.code.builder.lane(Op::Split, integer(element.bits()), &[whole], (part / bytes) as u8)
                }
            };
            if let Some(reg) = reg {
                self.extend(reg, value, element);
            }
        }
    }

    fn load(&mut self, inst: &Inst) {
        let element = inst.element();
        let regs: Vec<Option<Reg>> = match inst.operands.first() {
            Some(&Operand::Register(reg)) => vec![Some(reg)],
            Some(Operand::Vector(regs)) => regs.iter().collect(),
            _ => return,
        };
        let Some(address) = self.access_address(inst) else { return };
        let (bytes, count) = (element.bits() / 8, regs.len() as u32);
        let whole = match self.whole(&address, bytes * count) {
            Ok(whole) => whole.map(|ty| self.load_at(&address, ty, 0)),
            Err(()) => return,
        };
        for (i, reg) in (0..).zip(regs) {
            let val = reg.and_then(|reg| self.function.writes(self.number).find(|(of, _)| *of == reg));
            let ty = val.map_or(of_memory(element), |(_, val)| self.in_memory(val, element));
            let value = match whole {
                Some(Some(whole)) => self.code.builder.lane(Op::Split, ty, &[whole], i),
                Some(None) => return,
                None => match self.load_at(&address, ty, u32::from(i) * bytes) {
                    Some(value) => value,
                    None => return,
                },
            };
            if let Some(reg) = reg {
                self.extend(reg, value, element);
            }
        }
    }

    fn store(&mut self, inst: &Inst) {
        let element = inst.element();
        let plain: Vec<Value> = match inst.operands.get(1) {
            Some(Operand::Vector(regs)) => regs.iter().flatten().map(|reg| self.register(reg)).collect(),
            Some(&Operand::Register(reg)) => vec![self.register(reg)],
            _ => vec![self.operand(inst, 1, integer(element.bits()))],
        };
        let mut values = Vec::with_capacity(plain.len());
        for value in plain {
            // The value is stored with its own type if that type has the width of the element.
            let ty = self.code.ty(value);
            let ty = if ty.bits() == element.bits() && ty != Type::PTR { ty } else { of_memory(element) };
            values.push(self.convert(value, ty));
        }
        let Some(address) = self.access_address(inst) else { return };
        let (bytes, count) = (element.bits() / 8, values.len() as u32);
        match self.whole(&address, bytes * count) {
            Ok(None) => {}
            Ok(Some(ty)) => values = vec![self.whole_of(&values, ty)],
            Err(()) => return,
        }
        for (i, value) in (0..).zip(values) {
            let ty = self.code.ty(value);
            let Some(mem) = self.mem(&address, i * bytes, ty.bytes()) else { return };
            let args: Vec<Value> = [value, address.base].into_iter().chain(address.index).collect();
            match strength(inst) {
                None => self.code.builder.inst(Op::Store, ty, Attr::Mem(mem), &args),
                Some(Strength { order, scope, .. }) => {
                    let attr = Attr::Atomic(AtomicAttr { mem, order, scope });
                    self.code.builder.inst(Op::AtomicStore, ty, attr, &args)
                }
            };
        }
    }

    /// Concatenates the elements of a vector access to one value. Halves are first concatenated to
    /// pairs, because targets have instructions that convert two floats to packed halves.
    fn whole_of(&mut self, values: &[Value], ty: Type) -> Value {
        let pair = values.first().and_then(|&first| match self.code.ty(first) {
            Type::F16 => Some(Type::F16X2),
            Type::BF16 => Some(Type::BF16X2),
            _ => None,
        });
        let alike = |code: &IrBuilder, pair: Type| values.iter().all(|&value| code.ty(value) == pair.lane_type());
        let parts: Vec<Value> = match pair.filter(|&pair| alike(&self.code, pair)) {
            Some(pair) => values
                .chunks(2)
                .map(|two| {
                    let both = self.code.op(Op::Concat, pair, two);
                    self.code.cast(both, Type::I32)
                })
                .collect(),
            None => values
                .iter()
                .map(|&value| {
                    let bits = self.code.ty(value).bits();
                    self.code.cast(value, integer(bits))
                })
                .collect(),
        };
        match parts.as_slice() {
            &[only] => only,
            parts => self.code.op(Op::Concat, ty, parts),
        }
    }

    /// Returns the type of a vector access that is performed as a single access, or `None` if each element is accessed
    /// separately. A single access is used if the alignment to the total size is not proved, or if the elements are
    /// narrow.
    ///
    /// # Errors
    /// Fails if the access is not supported. The error has then been reported.
    fn whole(&mut self, address: &Address, bytes: u32) -> Result<Option<Type>, ()> {
        let inst = self.function.inst(self.number).filter(|inst| count(inst) > 1);
        let is_whole = inst.is_some_and(|inst| address.known_align < bytes || self.is_narrow(inst));
        if !is_whole {
            return Ok(None);
        }
        // A strong vector access is a separate access per element. Separate accesses would not
        // check the alignment to the total size.
        if inst.is_some_and(|inst| strength(inst).is_some()) {
            self.refuse(
                "a strong vector access whose alignment is not proved has no counterpart in the IR",
                "an address that is a multiple of the access size, or direct execution with `--target ptx`",
            );
            return Err(());
        }
        // A value in a buffer of the IR has at most 16 bytes.
        if bytes > 16 {
            self.refuse(
                format!("an access of {bytes} bytes whose alignment is not proved has no counterpart in the IR"),
                "an address that is a multiple of the access size, or direct execution with `--target ptx`",
            );
            return Err(());
        }
        Ok(Some(single_access_type(bytes)))
    }

    /// Returns `true` for a vector access to elements of less than 32 bits that becomes a single access. Splitting the
    /// loaded value costs nothing in PTX, but other targets need an instruction per element.
    fn is_narrow(&self, inst: &Inst) -> bool {
        self.keeps_intrinsics && count(inst) > 1 && inst.ty(0).bits() < 32 && strength(inst).is_none()
    }

    fn load_at(&mut self, address: &Address, ty: Type, bytes: u32) -> Option<Value> {
        let mem = self.mem(address, bytes, ty.bytes())?;
        let args: Vec<Value> = [address.base].into_iter().chain(address.index).collect();
        let order = self.function.inst(self.number).and_then(strength);
        Some(match order {
            None => self.code.builder.value(Op::Load, ty, Attr::Mem(mem), &args),
            Some(Strength { order, scope, .. }) => {
                let attr = Attr::Atomic(AtomicAttr { mem, order, scope });
                self.code.builder.value(Op::AtomicLoad, ty, attr, &args)
            }
        })
    }

    pub(crate) fn mem(&mut self, address: &Address, bytes: u32, align: u32) -> Option<MemAttr> {
        let mem = address.mem(bytes, align);
        if mem.is_none() {
            self.refuse("this offset does not fit in 32 bits", "an offset from -2147483648 to 2147483647");
        }
        mem
    }

    /// Returns the address of the first element that an instruction accesses. Returns `None` if the
    /// access cannot be imported.
    pub(crate) fn access_address(&mut self, inst: &Inst) -> Option<Address> {
        let space = self.parameters.private_space(self.function, self.number, inst);
        if let Some(space) = space.filter(|_| named(inst).is_some() || !self.parameters.is_flat) {
            return self.private_access_address(inst, space);
        }
        let operand = inst.operands.iter().find_map(|operand| match operand {
            Operand::Memory(address) => Some(*address),
            _ => None,
        })?;
        let bytes = inst.element().bits() / 8 * if self.is_narrow(inst) { count(inst) } else { 1 };
        if let Base::Variable(var) = operand.base {
            let source = self.parameters.variable(var)?;
            return self.in_buffer(source, operand.offset, bytes);
        }
        let val = self.function.read(self.number, operand.register()?)?;
        Some(self.address(val, operand.offset, bytes))
    }

    /// Sets a register to a loaded value, which is extended to the register's width.
    fn extend(&mut self, reg: Reg, value: Value, element: PtxType) {
        let bits = self.function.entry.body.registers.held(reg).map_or(32, PtxType::bits);
        let value = if bits > element.bits() {
            let narrow = self.code.cast(value, integer(element.bits()));
            let op = if element.is_signed() { Op::Sext } else { Op::Zext };
            self.code.op(op, integer(bits), &[narrow])
        } else {
            value
        };
        self.define(reg, value);
    }
}

/// Returns the contents of a module variable, with the addresses of functions in it.
fn contents(variable: &Variable) -> Contents {
    let mut bytes = variable.bytes.to_vec();
    for address in &variable.addresses {
        let Symbol::Function(number) = address.of else { continue };
        let value = function_address(number).wrapping_add_signed(address.offset);
        let place = bytes.iter_mut().skip(address.at as usize);
        place.zip(value.to_le_bytes()).for_each(|(to, byte)| *to = byte);
    }
    bytes.into()
}

/// Returns the type of a single access of `bytes` bytes.
fn single_access_type(bytes: u32) -> Type {
    match bytes {
        16 => Type::I8X16,
        bytes => integer(8 * bytes),
    }
}

/// Returns the number of elements of an access.
fn count(inst: &Inst) -> u32 {
    inst.elements() as u32
}

/// Returns the IR type of an element in memory, given its PTX type.
fn of_memory(element: PtxType) -> Type {
    of_ptx(element).unwrap_or(integer(element.bits()))
}

/// Returns the element type of a buffer: the common type of all accesses, or an integer of the
/// narrowest accessed width.
fn element(types: &[Type]) -> Type {
    match types {
        [] => Type::I8,
        [first, rest @ ..] if rest.iter().all(|ty| ty == first) => *first,
        types => integer(types.iter().map(|ty| ty.bits()).min().unwrap_or(8)),
    }
}
