//! Tests of asynchronous copies to shared memory (`cp.async`), in direct execution and after import.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::common::{Called, halfbyte};

/// Number of items. Each item copies 16 bytes to its own part of shared memory.
const ITEMS: u32 = 18;

struct File {
    _folder: TempDir,
    path: String,
    /// Path of a file with the bytes 0, 1, 2 and so on.
    x: String,
}

/// Returns a PTX kernel that executes `body` and stores the item's 16 bytes of shared memory in
/// `y`. `%s` is the address of these bytes, and `%d3` the address of the item's 16 bytes of `x`.
fn file(version: &str, body: &str) -> File {
    let text = format!(
        ".version {version} .target sm_90 .address_size 64
.shared .align 16 .b8 tile[512];
.visible .entry k(.param .u64 x, .param .u64 y) {{
.reg .pred %p<4>; .reg .b32 %r<9>, %t, %s; .reg .b64 %d<6>;
mov.u32 %t, %tid.x; ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; mul.wide.u32 %d2, %t, 16; add.s64 %d3, %d0, %d2; add.s64 %d4, %d1, %d2;
mov.u32 %s, tile; shl.b32 %r0, %t, 4; add.u32 %s, %s, %r0; ld.global.u8 %r1, [%d3]; mov.u32 %r1, -1; st.shared.v4.b32 [%s], {{%r1, %r1, %r1, %r1}};
{body}
ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%s]; st.global.v4.u32 [%d4], {{%r4, %r5, %r6, %r7}};
ret;
}}
"
    );
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("k.ptx");
    std::fs::write(&path, text).unwrap();
    let x: PathBuf = folder.path().join("x.bin");
    std::fs::write(&x, (0..16 * ITEMS).map(|byte| byte as u8).collect::<Vec<u8>>()).unwrap();
    File { path: path.display().to_string(), x: x.display().to_string(), _folder: folder }
}

impl File {
    fn run(&self, more: &[&str]) -> Called {
        let (x, block) = (format!("x=@{}", self.x), ITEMS.to_string());
        let args = ["run", &self.path, "--grid", "1", "--block", &block, "--arg", &x, "--arg", "y=zeros:i32:72"];
        halfbyte(&[&args[..], more].concat())
    }
}

/// Returns the expected output. Item n copies from byte 16 n of `x` on. A copy of `bytes` bytes
/// reads `taken` bytes and fills its remaining bytes with zeros. The bytes after the copy keep
/// their earlier contents.
fn expected(bytes: u32, taken: impl Fn(u32) -> u32) -> String {
    let byte = |at: u32| match (at / 16, at % 16) {
        (item, within) if within < taken(item).min(bytes) => at as u8,
        (_, within) if within < bytes => 0,
        _ => 0xff,
    };
    let words = (0..4 * ITEMS).map(|word| u32::from_le_bytes([0, 1, 2, 3].map(|of| byte(4 * word + of))).to_string());
    format!("y=[{}]\n", words.collect::<Vec<_>>().join(", "))
}

const WAIT: &str = "cp.async.commit_group; cp.async.wait_group 0;";

#[test]
fn as_many_bytes_as_are_taken_are_copied() {
    type Taken = fn(u32) -> u32;
    let cases: [(&str, u32, Taken); 12] =
        [
            ("cp.async.cg.shared.global [%s], [%d3], 16;", 16, |_| 16),
            ("cp.async.ca.shared::cta.global.L2::128B [%s], [%d3], 16;", 16, |_| 16),
            ("cp.async.ca.shared.global [%s], [%d3], 8;", 8, |_| 8),
            ("cp.async.ca.shared.global [%s], [%d3], 4;", 4, |_| 4),
            ("cp.async.ca.shared.global.L2::cache_hint [%s], [%d3], 4, 4, %d5;", 4, |_| 4),
            ("cp.async.ca.shared.global [%s], [%d3], 16, 0;", 16, |_| 0),
            ("cp.async.ca.shared.global [%s], [%d3], 16, 5;", 16, |_| 5),
            ("cp.async.cg.shared.global [%s], [%d3], 16, %t;", 16, |item| item),
            ("cp.async.ca.shared.global [%s], [%d3], 8, %t;", 8, |item| item),
            (
                "setp.lt.u32 %p0, %t, 9; selp.b32 %r2, 16, 0, %p0; cp.async.cg.shared.global [%s], [%d3], 16, %r2;",
                16,
                |item| if item < 9 { 16 } else { 0 },
            ),
            ("setp.lt.u32 %p0, %t, 9; cp.async.cg.shared.global [%s], [%d3], 16, %p0;", 16, |item| {
                if item < 9 { 0 } else { 16 }
            }),
            ("setp.lt.u32 %p0, %t, 20; @%p0 cp.async.cg.shared.global [%s], [%d3], 16, %t;", 16, |item| item),
        ];
    for (copy, bytes, taken) in cases {
        for wait in [WAIT, "cp.async.wait_all;"] {
            let file = file("8.3", &format!("{copy}\n{wait}"));
            let y = expected(bytes, taken);
            for to in
                [&["--target", "ptx"][..], &["--target", "ptx", "--races"], &["--target", "ir"], &["--target", "halu"]]
            {
                assert_eq!(file.run(to).output(), y, "{copy} {to:?}");
            }
        }
    }
}

/// An access to the copied bytes before the wait races with the copy, even if the same item copies and accesses them.
#[test]
fn reports_accesses_before_the_wait() {
    let copy = "cp.async.ca.shared.global [%s], [%d3], 16; cp.async.commit_group;";
    let others = "setp.ne.u32 %p1, %t, 0; selp.b32 %r2, 16, 0, %p1; sub.u32 %r3, %s, %r2;";
    let written = "which is written by a copy that item 0 has not waited for, at line 7";
    let races = [
        // No wait at all, a wait for another group, and a copy that is in no committed group.
        (copy.to_owned(), written),
        (format!("{copy} cp.async.commit_group; cp.async.wait_group 1;"), ""),
        (format!("{copy} cp.async.wait_group 1;"), written),
        ("cp.async.ca.shared.global [%s], [%d3], 16; cp.async.wait_group 0;".to_owned(), written),
        ("cp.async.ca.shared.global [%s], [%d3], 16; cp.async.wait_all;".to_owned(), ""),
        // Stores to the destination and to the source of the copy.
        (format!("{copy} st.shared.u32 [%s], 7; cp.async.wait_all;"), written),
        (
            format!("{copy} st.global.u32 [%d3+12], 7; cp.async.wait_all;"),
            "store of the byte at global address 0xd0000000000000c, which is read by a copy that item 0 has not waited for",
        ),
        (format!("{copy} ld.global.u32 %r2, [%d3]; cp.async.wait_all;"), ""),
        // Two copies to the same address are not ordered.
        (format!("{copy} {copy} cp.async.wait_all;"), written),
        (format!("{copy} cp.async.wait_all; {copy} cp.async.wait_all;"), ""),
        // Other items may read the copied bytes after the wait and a barrier that follows it.
        (format!("{copy} cp.async.wait_all; bar.sync 0; {others} ld.shared.u32 %r2, [%r3];"), ""),
        (
            format!("{copy} bar.sync 0; {others} ld.shared.u32 %r2, [%r3]; bar.sync 0; cp.async.wait_all;"),
            "has not waited for",
        ),
        (
            format!("{copy} cp.async.wait_all; {others} ld.shared.u32 %r2, [%r3];"),
            "which is written by item 0, at line 7",
        ),
    ];
    for (body, told) in races {
        let file = file("8.3", &body);
        file.run(&["--target", "ptx"]).output();
        let called = file.run(&["--target", "ptx", "--races"]);
        if told.is_empty() {
            called.output();
        } else {
            called.fails(1, told);
        }
    }
}

#[test]
fn what_no_copy_is_is_refused_at_its_place() {
    for (version, body, told) in [
        ("8.3", "cp.async.cg.shared.global [%s], [%d3], 8;", "7:40"),
        ("8.3", "cp.async.ca.shared.global [%s], [%d3], 12;", "operand `size` of `cp` must be the number 4, 8 or 16"),
        ("8.3", "cp.async.ca.shared.global [%s], [%d3], %t;", "operand `size` of `cp` must be"),
        (
            "8.3",
            "cp.async.ca.shared.global [%s], [%d3], 8, 9;",
            "operand `taken` of `cp` must be a register of type .u32 or a number up to",
        ),
        ("8.3", "cp.async.ca.shared.global [%s], [tile], 16;", "operand `a` of `cp` must be an address"),
        ("8.3", "cp.async.cs.shared.global [%s], [%d3], 16;", "7:9"),
        ("8.3", "cp.async.bulk.shared::cta.global [%s], [%d3], 16;", "a bulk copy (`cp.bulk`) is not supported"),
        ("6.5", "cp.async.wait_all;", "`sm_90` needs PTX 7.8, but `.version` is 6.5"),
    ] {
        for target in ["ptx", "halu"] {
            file(version, body).run(&["--target", target]).fails(1, told);
        }
    }
    // The error of an invalid copy refers to the copy instruction.
    let file = file("8.3", "cp.async.ca.shared.global [%s+512], [%d3], 16;");
    file.run(&["--target", "ptx"]).fails(1, "store of 16 bytes at shared address 0x200 is out of bounds");
    let file = self::file("8.3", "cp.async.ca.shared.global [%s], [%d3+4], 16;");
    file.run(&["--target", "ptx"]).fails(1, "global address 0xd00000000000004 is misaligned");
}
