//! Machine functions as text, for people who look at what the compiler does.

use std::fmt;

use halfbyte_isa::object::Loc;
use halfbyte_isel::mach::MachFunc;
use halfbyte_isel::vcode::{Access, Edge, RegClass, Terminator, VCode, VReg};

/// Selected instructions. Beside each stands what its register fields become: `rd=v3.w` is a definition in field `rd`.
pub struct Selected<'a>(pub &'a VCode);

impl fmt::Display for Selected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.0;
        writeln!(f, "@{}", code.signature.name())?;
        let reg = |reg: &VReg| {
            let class = match code.vregs.get(reg.0 as usize) {
                Some(RegClass::Pred) => ".p",
                Some(RegClass::Pair) => ".d",
                Some(RegClass::Quad) => ".q",
                Some(RegClass::Word) | None => "",
            };
            format!("v{}{class}", reg.0)
        };
        let list = |regs: &[VReg]| regs.iter().map(reg).collect::<Vec<_>>().join(", ");
        let edge = |edge: &Edge| format!("b{}({})", edge.block, list(code.list(&edge.args)));
        for (number, block) in code.blocks.iter().enumerate() {
            writeln!(f, "b{number}({}):", list(code.list(&block.params)))?;
            let insts = code.insts.get(block.insts.start as usize..block.insts.end as usize).unwrap_or_default();
            for inst in insts {
                let operands = code.operands(inst).iter().map(|operand| {
                    let part = if operand.part == 0 { String::new() } else { format!("[{}]", operand.part) };
                    let access = match operand.access {
                        Access::Use => String::new(),
                        Access::Def => " def".into(),
                        Access::Replace(old) => format!(" replaces {}", reg(&old)),
                    };
                    format!("{}={}{part}{access}", operand.field.name, reg(&operand.reg))
                });
                let operands = operands.collect::<Vec<_>>().join(", ");
                line(f, &format!("{:<40}  {operands}", inst.inst.to_string()), inst.loc)?;
            }
            let terminator = match &block.terminator {
                Terminator::Exit => "exit".into(),
                Terminator::Jump(to) => format!("jump {}", edge(to)),
                Terminator::Branch { cond, not, then, otherwise } => {
                    let not = if *not { "!" } else { "" };
                    format!("branch {not}{}, {}, {}", reg(cond), edge(then), edge(otherwise))
                }
            };
            line(f, &terminator, block.loc)?;
        }
        Ok(())
    }
}

/// Instructions with registers, block by block.
pub struct Allocated<'a>(pub &'a MachFunc);

impl fmt::Display for Allocated<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MachFunc { signature, blocks, local_bytes, registers, spills } = self.0;
        let name = signature.name();
        writeln!(f, "@{name}: {registers} registers, {spills} spills, {local_bytes} bytes of local memory")?;
        for (number, block) in blocks.iter().enumerate() {
            writeln!(f, "b{number}:")?;
            for inst in &block.insts {
                let target = inst.target.map_or(String::new(), |target| format!(" -> b{target}"));
                line(f, &format!("{}{target}", inst.inst), inst.loc)?;
            }
        }
        Ok(())
    }
}

fn line(f: &mut fmt::Formatter<'_>, text: &str, loc: Loc) -> fmt::Result {
    if loc.is_known() {
        writeln!(f, "    {text:<72}  // {}:{}", loc.line, loc.column)
    } else {
        writeln!(f, "    {}", text.trim_end())
    }
}
