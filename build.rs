//! Links the plain build at a fixed address: docs/adr/0008 has the reason, the price and the measurements.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let env = |name: &str| std::env::var(name).unwrap_or_default();
    let gnu_linux = env("CARGO_CFG_TARGET_OS") == "linux" && env("CARGO_CFG_TARGET_ENV") == "gnu";
    // Whoever chooses a code model or a static build has chosen; released binaries are static and position independent.
    let chosen =
        ["relocation-model", "crt-static"].iter().any(|flag| env("CARGO_ENCODED_RUSTFLAGS").contains(flag));
    if gnu_linux && !chosen {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
