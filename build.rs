//! Links the plain build at a fixed address, and with the static half of the C library where the machine has one:
//! docs/adr/0008 has the reason, the price and the measurements.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

/// The libraries that Rust's own part of the program names, and the archives that stand in for each.
const STAND_INS: [(&str, &[&str]); 7] = [
    ("c", &["c", "gcc_eh", "gcc"]),
    ("gcc_s", &["gcc_eh", "gcc", "c"]),
    ("m", &["m"]),
    ("pthread", &["pthread"]),
    ("dl", &["dl"]),
    ("rt", &["rt"]),
    ("util", &["util"]),
];

/// Uses what the trial is about: start-up, a thread, mathematics that libc chooses by the processor, and unwinding.
const TRIAL: &str = r#"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unwind.h>
static _Unwind_Reason_Code step(struct _Unwind_Context *c, void *n) { ++*(int *)n; return (void)c, _URC_NO_REASON; }
static void *work(void *n) { _Unwind_Backtrace(step, n); return n; }
int main(int argc, char **argv) {
    int frames = 0;
    pthread_t thread;
    (void)argv;
    if (pthread_create(&thread, 0, work, &frames) || pthread_join(thread, 0) || frames < 1) return 1;
    return printf("%.0f", log2(argc * 8.0)) == 1 ? 0 : 1;
}
"#;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=BUILD_TOOLCTL_DYNAMIC");
    let var = |name: &str| env::var(name).unwrap_or_default();
    let gnu_linux = var("CARGO_CFG_TARGET_OS") == "linux" && var("CARGO_CFG_TARGET_ENV") == "gnu";
    // Whoever chooses a code model, a static build or a linker has chosen; released binaries are static and position
    // independent.
    let chosen = ["relocation-model", "crt-static", "linker"]
        .iter()
        .any(|flag| var("CARGO_ENCODED_RUSTFLAGS").contains(flag));
    if !gnu_linux || chosen {
        return;
    }
    println!("cargo:rustc-link-arg-bins=-no-pie");
    let wanted = var("HOST") == var("TARGET") && env::var_os("BUILD_TOOLCTL_DYNAMIC").is_none();
    let folder = PathBuf::from(var("OUT_DIR")).join("static");
    if wanted && stand_ins(&folder).is_ok() && trial(&folder).is_ok() {
        println!("cargo:rustc-link-arg-bins=-L{}", folder.display());
        println!("cargo:rustc-link-arg-bins=-Wl,--no-dynamic-linker");
    }
}

/// Rust names the shared libraries; linker scripts of their names lead the linker to the archives.
fn stand_ins(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (library, archives) in STAND_INS {
        let paths = archives.iter().map(|name| archive(name)).collect::<io::Result<Vec<_>>>()?;
        let list: Vec<String> = paths.iter().map(|path| format!("\"{}\"", path.display())).collect();
        fs::write(folder.join(format!("lib{library}.so")), format!("GROUP ( {} )\n", list.join(" ")))?;
    }
    Ok(())
}

/// Where the C compiler finds an archive. Asked for one that is not there, it only repeats the name.
fn archive(name: &str) -> io::Result<PathBuf> {
    let answer = Command::new("cc").arg(format!("-print-file-name=lib{name}.a")).output()?;
    let path = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim());
    if path.is_absolute() && path.is_file() { Ok(path) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// Links a small program in the same way and runs it: what does not work here is not used.
fn trial(folder: &Path) -> io::Result<()> {
    let source = folder.join("trial.c");
    let program = folder.join("trial");
    fs::write(&source, TRIAL)?;
    let linked = Command::new("cc")
        .arg(&source)
        .args(["-no-pie", "-Wl,--no-dynamic-linker", "-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl"])
        .arg(format!("-L{}", folder.display()))
        .arg("-o")
        .arg(&program)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    // With a shared library and no loader it would not even start.
    if linked.success() && Command::new(&program).stdout(Stdio::null()).status()?.success() {
        Ok(())
    } else {
        Err(io::ErrorKind::Unsupported.into())
    }
}
