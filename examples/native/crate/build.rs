fn main() -> Result<(), halfbyte_build::Error> {
    halfbyte_build::compile("kernels")
}
