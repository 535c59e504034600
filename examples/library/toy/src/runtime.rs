//! The interpreter of the toy target: each work item executes the machine code from its start to `exit`.

use std::sync::Arc;

use halfbyte_abi::buffer_base;
use halfbyte_isa::isa::{Isa, SharedCode};
use halfbyte_isa::object::{KernelInfo, Loc};
use halfbyte_isa::row_isa;
use halfbyte_runtime::{
    Access, Arguments, Buffers, Engine, Executable, Fault, Kernel, LaunchError, LaunchOptions, Machine, Stats, TrapKind,
};

use crate::isa::{ADD, ARG, CONST, ISA, ITEM, LOAD, MUL, REGISTERS, STORE};

/// Interpreter of the toy target's machine code.
#[derive(Clone, Copy, Debug)]
pub struct Toy;

impl Machine for Toy {
    fn isa(&self) -> &'static dyn Isa {
        &ISA
    }

    fn runs(&self, engine: Engine) -> bool {
        engine == Engine::Interp
    }

    fn prepare(&self, _: &KernelInfo, words: &SharedCode, _: &[Loc]) -> Result<Arc<dyn Executable>, String> {
        let words = words.downcast_ref::<row_isa::RowCode>().ok_or("its words are another target's")?;
        Ok(Arc::new(Program(words.words().to_vec())))
    }
}

#[derive(Debug)]
struct Program(Vec<u32>);

impl Executable for Program {
    fn launch(
        &self,
        kernel: &Kernel,
        order: LaunchOptions<'_>,
        args: &mut Arguments<'_>,
    ) -> Result<Stats, LaunchError> {
        args.start();
        let Arguments { scalars, buffers, .. } = args;
        let scalars: Vec<u32> = scalars.iter().map(|bits| *bits as u32).collect();
        let (mut stats, mut work) = (Stats::default(), order.work());
        for item in 0..order.items {
            let issued = run(&self.0, item, &scalars, buffers);
            let issued = issued.map_err(|fault| Box::new(kernel.trap_of(&order.shape, item, fault, buffers)))?;
            work.add(issued).map_err(|exceeded| kernel.exceeded(exceeded))?;
            stats.issued += issued;
            order.advance(1);
        }
        Ok(stats)
    }
}

/// Executes a work item to its end. Returns the number of executed instructions.
fn run(words: &[u32], item: u32, scalars: &[u32], buffers: &mut Buffers<'_>) -> Result<u64, Fault> {
    let mut registers = [0u32; REGISTERS as usize];
    for (address, &word) in words.iter().enumerate() {
        let fault = |kind| Fault { address, kind };
        let undefined = || fault(TrapKind::Undefined { word: word.into(), bytes: 4 });
        let row_isa::Inst { opcode, operands } = ISA.decode(word).ok_or_else(undefined)?;
        // `first` and `second` are the operands as register numbers. `b` and `c` are the contents
        // of the second and third register.
        let [first, second, ..] = operands;
        let [_, b, c, _] = operands.map(|register| registers.get(register as usize).copied().unwrap_or(0));
        let result = match opcode {
            ITEM => item,
            CONST => i32::from((second as u16).cast_signed()).cast_unsigned(),
            ARG => scalars.get(second as usize).copied().unwrap_or(0),
            ADD => b.wrapping_add(c),
            MUL => b.wrapping_mul(c),
            LOAD => {
                let at = buffer_base(second as usize) + u64::from(c) * 4;
                let bytes = buffers.get(at, 4).and_then(|bytes| bytes.try_into().ok());
                let bytes = bytes.ok_or_else(|| fault(buffers.trap_of_access(Access::Load, at, 4)))?;
                u32::from_le_bytes(bytes)
            }
            STORE => {
                let at = buffer_base(first as usize) + u64::from(b) * 4;
                let Some(bytes) = buffers.get_mut(at, 4) else {
                    return Err(fault(buffers.trap_of_access(Access::Store, at, 4)));
                };
                bytes.copy_from_slice(&c.to_le_bytes());
                continue;
            }
            _ => return Ok(address as u64 + 1),
        };
        if let Some(register) = registers.get_mut(first as usize) {
            *register = result;
        }
    }
    Err(Fault { address: words.len().saturating_sub(1), kind: TrapKind::RanPastEnd })
}
