//! Recognition of module images: PTX text, fatbin containers, and code that only a GPU can execute.

use std::borrow::Cow;
use std::ffi::{CStr, c_void};
use std::fmt;

use crate::fatbin;
use crate::status::Status;

/// First bytes of a fatbin wrapper, which points to a fatbin container.
const WRAPPER: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();
/// Offset of the pointer in a fatbin wrapper.
const WRAPPED: usize = 8;
/// First bytes of an ELF file.
const ELF: [u8; 4] = *b"\x7fELF";
/// Number of bytes of an ELF file up to the end of the machine's number.
const ELF_HEADER: usize = 20;
/// Offset of the machine's number in an ELF file.
const ELF_MACHINE: usize = 18;
/// Number of the machine in a cubin.
const CUDA_MACHINE: [u8; 2] = 190_u16.to_le_bytes();
/// First bytes of LTO-IR, the intermediate code for link-time optimisation.
const LTO_IR: [u8; 4] = 0x7f4e_43ed_u32.to_le_bytes();
/// Byte order mark in UTF-8.
const BYTE_ORDER_MARK: [u8; 3] = *b"\xef\xbb\xbf";

/// Error of an image that cannot be loaded.
#[derive(PartialEq, Eq, Debug)]
pub struct ImageError {
    /// Result code of the function that loads the image.
    pub status: Status,
    /// Description of the problem, and on a second line what to do about it.
    pub message: String,
}

impl ImageError {
    /// Creates an error.
    pub fn new(status: Status, message: impl Into<String>) -> ImageError {
        ImageError { status, message: message.into() }
    }

    /// Creates an error of an image without PTX, with advice for the compute capability `sm`.
    pub fn without_ptx(message: impl fmt::Display, sm: u32) -> ImageError {
        let virtual_arch = format!("compute_{sm}");
        let message = format!(
            "{message}\nhelp: compile to PTX: `nvcc -ptx -arch={virtual_arch}`, or for a fatbin `nvcc -gencode \
             arch={virtual_arch},code={virtual_arch}`, or NVRTC with `--gpu-architecture={virtual_arch}` and \
             nvrtcGetPTX\nhelp: if the program caches compiled kernels, use an empty cache folder"
        );
        ImageError { status: Status::NO_BINARY_FOR_GPU, message }
    }
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ImageError {}

/// Kind of an image, with its bytes if it can contain PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Image<'a> {
    /// PTX text, up to the first NUL.
    Ptx(&'a [u8]),
    /// Fatbin container.
    Fatbin(&'a [u8]),
    /// Machine code of a GPU.
    Cubin,
    /// Intermediate code for link-time optimisation.
    LtoIr,
}

impl<'a> Image<'a> {
    /// Recognises an image.
    pub fn new(bytes: &'a [u8]) -> Result<Image<'a>, ImageError> {
        if bytes.starts_with(&fatbin::MAGIC) {
            return Ok(Image::Fatbin(bytes));
        }
        if bytes.starts_with(&LTO_IR) {
            return Ok(Image::LtoIr);
        }
        if bytes.starts_with(&ELF) {
            let is_cubin = bytes.get(ELF_MACHINE..ELF_HEADER) == Some(CUDA_MACHINE.as_slice());
            return if is_cubin { Ok(Image::Cubin) } else { Err(host_code()) };
        }
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        if begins_as_ptx(text.iter().copied()) { Ok(Image::Ptx(text)) } else { Err(unknown()) }
    }

    /// Returns the PTX text of the image. Of several texts in a fatbin, this is the best one for the compute capability
    /// `sm`. Bytes that are not UTF-8, for example in comments, are replaced.
    pub fn ptx(self, sm: u32) -> Result<Cow<'a, str>, ImageError> {
        match self {
            Image::Ptx(bytes) => Ok(text(bytes)),
            Image::Fatbin(bytes) => Ok(match fatbin::ptx(bytes, sm)? {
                Cow::Borrowed(bytes) => text(bytes),
                Cow::Owned(bytes) => Cow::Owned(text(&bytes).into_owned()),
            }),
            Image::Cubin => Err(ImageError::without_ptx("the image is a cubin, machine code that needs a GPU", sm)),
            Image::LtoIr => {
                Err(ImageError::without_ptx("the image is LTO-IR, which only the linker of a GPU can read", sm))
            }
        }
    }
}

/// Recognises an image of known length, such as a file, and returns its PTX text as [`Image::ptx`] does.
pub fn ptx_of(image: &[u8], sm: u32) -> Result<Cow<'_, str>, ImageError> {
    Image::new(image)?.ptx(sm)
}

/// Recognises an image of unknown length in memory. A fatbin wrapper is followed to its container.
///
/// # Safety
/// `image` is null or points to an image: a text that ends with a NUL, a fatbin wrapper, a fatbin container with its
/// declared size, an ELF file, or LTO-IR. The image lives for `'a`, and is not written meanwhile.
pub unsafe fn read<'a>(image: *const c_void) -> Result<Image<'a>, ImageError> {
    let mut image = image.cast::<u8>();
    if image.is_null() {
        return Err(ImageError::new(Status::INVALID_VALUE, "the pointer to the image is null"));
    }
    // SAFETY: the pointer is not null. The caller upholds the rest of the contract, for the container as well.
    unsafe {
        if begins_with(image, &WRAPPER) {
            image = image.add(WRAPPED).cast::<*const u8>().read_unaligned();
            if image.is_null() {
                return Err(ImageError::new(Status::INVALID_IMAGE, "the fatbin wrapper has no container"));
            }
        }
        Image::new(std::slice::from_raw_parts(image, length(image)?))
    }
}

/// Returns the number of bytes from which [`Image::new`] recognises an image in memory.
///
/// # Safety
/// As [`read`], except that the image is neither null nor a fatbin wrapper.
unsafe fn length(image: *const u8) -> Result<usize, ImageError> {
    // SAFETY: the caller upholds this function's contract, so the first bytes of an image identify a complete header.
    // No byte after the NUL of a text is read.
    unsafe {
        if begins_with(image, &fatbin::MAGIC) {
            return fatbin::size(&image.cast::<[u8; fatbin::HEADER]>().read());
        }
        if begins_with(image, &LTO_IR) {
            return Ok(LTO_IR.len());
        }
        if begins_with(image, &ELF) {
            return Ok(ELF_HEADER);
        }
        // A sequence that does not begin as PTX need not end with a NUL.
        let bytes = (0..).map(|offset| image.add(offset).read()).take_while(|byte| *byte != 0);
        if begins_as_ptx(bytes) { Ok(CStr::from_ptr(image.cast()).count_bytes()) } else { Err(unknown()) }
    }
}

/// Returns `true` if an image in memory has the given first bytes. Reads no byte after the first difference.
///
/// # Safety
/// `image` points to an image, as in [`read`]. None of the first bytes is a NUL.
unsafe fn begins_with(image: *const u8, first: &[u8]) -> bool {
    // SAFETY: all earlier bytes are equal, so they are not the NUL at the end of a text.
    first.iter().enumerate().all(|(offset, byte)| unsafe { image.add(offset).read() } == *byte)
}

/// Returns `true` if a text begins with a directive, after blanks and comments. Reads no more bytes than necessary.
fn begins_as_ptx(text: impl Iterator<Item = u8>) -> bool {
    let mut text = text.fuse().peekable();
    for byte in BYTE_ORDER_MARK {
        if text.next_if_eq(&byte).is_none() {
            break;
        }
    }
    loop {
        match text.next() {
            Some(b'.') => return true,
            Some(byte) if byte.is_ascii_whitespace() => {}
            Some(b'/') => match text.next() {
                Some(b'/') => {
                    text.by_ref().find(|byte| *byte == b'\n');
                }
                Some(b'*') => {
                    let mut before = 0;
                    text.by_ref().find(|byte| std::mem::replace(&mut before, *byte) == b'*' && *byte == b'/');
                }
                _ => return false,
            },
            _ => return false,
        }
    }
}

/// Returns a text up to its first NUL, without a byte order mark.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(text))
}

fn unknown() -> ImageError {
    let message = "the image is neither PTX nor a fatbin\nhelp: PTX begins with `.version`, after comments if any";
    ImageError::new(Status::INVALID_IMAGE, message)
}

fn host_code() -> ImageError {
    let message = "the image is an ELF file for the host\nhelp: load the PTX text or the fatbin of the kernels instead";
    ImageError::new(Status::INVALID_IMAGE, message)
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;
    use crate::fatbin::tests::{Entry, container};

    const PTX: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

    /// Returns the status of the error of an image, or `Status::SUCCESS`.
    fn status(bytes: &[u8]) -> Status {
        ptx_of(bytes, 80).map_or_else(|error| error.status, |_| Status::SUCCESS)
    }

    /// Returns an ELF header for a machine.
    fn elf(machine: u16) -> Vec<u8> {
        let mut header = b"\x7fELF\x02\x01\x01A\x08\0\0\0\0\0\0\0\x02\0".to_vec();
        header.extend(machine.to_le_bytes());
        header
    }

    #[test]
    fn texts_that_begin_with_a_directive_are_ptx() {
        let before =
            ["", "\n\n\t ", "// made by hand\n", "/* a **/ /***/ /* // */\r\n", "\u{feff}// mark\n", "//\n//\n\n"];
        for before in before {
            let image = format!("{before}{PTX}");
            let expected = image.trim_start_matches('\u{feff}');
            assert_eq!(ptx_of(image.as_bytes(), 80).as_deref(), Ok(expected), "{before:?}");
            assert_eq!(ptx_of(format!("{image}\0\0garbage").as_bytes(), 80).as_deref(), Ok(expected), "{before:?}");
        }
    }

    #[test]
    fn other_texts_and_bytes_are_not_images() {
        let texts =
            ["", "\0.version 8.0", " \n", "version 8.0", "/", "/. */", "// .version", "/* .version 8.0 *", "/*/ ."];
        for text in texts {
            assert_eq!(status(text.as_bytes()), Status::INVALID_IMAGE, "{text:?}");
        }
        for bytes in [b"\xff\xfe.\0".as_slice(), b"\xef\xbb", b"\x50\xed\x55", b"\x7fEL", b"BC\xc0\xde"] {
            assert_eq!(status(bytes), Status::INVALID_IMAGE, "{bytes:?}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_replaced() {
        let replaced = ptx_of(b"// a\xe9\n.version 8.0", 80);
        assert_eq!(replaced.as_deref(), Ok("// a\u{fffd}\n.version 8.0"));
    }

    #[test]
    fn code_for_a_gpu_is_refused_with_advice() {
        for image in [elf(190), b"\xed\x43\x4e\x7f\x01\x43".to_vec()] {
            let refused = ptx_of(&image, 90).map_err(|error| (error.status, error.message.contains("compute_90")));
            assert_eq!(refused, Err((Status::NO_BINARY_FOR_GPU, true)));
        }
    }

    #[test]
    fn code_for_the_host_is_not_an_image() {
        assert_eq!(status(&elf(62)), Status::INVALID_IMAGE);
        assert_eq!(status(b"\x7fELF"), Status::INVALID_IMAGE);
        assert_eq!(status(&elf(190)[..19]), Status::INVALID_IMAGE);
    }

    #[test]
    fn images_in_memory_have_the_length_that_they_declare() {
        let text = format!("// text\n{PTX}\0");
        // SAFETY: the text ends with a NUL.
        assert_eq!(unsafe { read(text.as_ptr().cast()) }, Image::new(text.as_bytes()));
        let fatbin = container(&[Entry::ptx(80, PTX.as_bytes())]);
        let mut longer = fatbin.clone();
        longer.extend(b"behind");
        // SAFETY: the container has its declared size.
        assert_eq!(unsafe { read(longer.as_ptr().cast()) }, Ok(Image::Fatbin(&fatbin)));
        // SAFETY: the ELF header is complete.
        assert_eq!(unsafe { read(elf(190).as_ptr().cast()) }, Ok(Image::Cubin));
        // Texts end within the bytes that tell one image from another.
        for image in [c"", c"P", c"\x7fE", c"/", c"//", c"\xef", c"\xed\x43"] {
            // SAFETY: the text ends with a NUL.
            assert_eq!(unsafe { read(image.as_ptr().cast()) }, Err(unknown()), "{image:?}");
        }
        // SAFETY: null is permitted.
        let null = unsafe { read(ptr::null()) };
        assert_eq!(null.map_err(|error| error.status), Err(Status::INVALID_VALUE));
    }

    #[test]
    fn wrappers_are_followed_to_their_container() {
        #[repr(C)]
        struct Wrapper(u32, u32, *const u8, usize);
        let fatbin = container(&[Entry::ptx(80, PTX.as_bytes())]);
        let wrapper = Wrapper(0x4662_43b1, 1, fatbin.as_ptr(), 0);
        // SAFETY: the wrapper points to a container of the declared size.
        let image = unsafe { read(ptr::from_ref(&wrapper).cast()) };
        assert_eq!(image.and_then(|image| image.ptx(80)).as_deref(), Ok(PTX));
        let empty = Wrapper(0x4662_43b1, 1, ptr::null(), 0);
        // SAFETY: the wrapper is complete.
        let image = unsafe { read(ptr::from_ref(&empty).cast()) };
        assert_eq!(image.map_err(|error| error.status), Err(Status::INVALID_IMAGE));
        // The pointer means nothing in a file.
        assert_eq!(status(&WRAPPER), Status::INVALID_IMAGE);
    }
}
