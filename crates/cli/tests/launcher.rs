//! The launcher: what users read when LLVM or the driver is not as it should be.
#![cfg(unix)]

mod common;

use common::{Folder, shown, succeed};
use expect_test::expect;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = "define double @f(double %x) {\n  ret double %x\n}\n";

/// A copy of the launcher in a folder of its own, with a script as its driver.
fn with_driver(script: &str) -> Folder {
    let folder = Folder::with(&[("zymase-driver", script)]);
    let driver = folder.path().join("zymase-driver");
    std::fs::set_permissions(&driver, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_zymase"), folder.path().join("zymase")).unwrap();
    folder
}

fn launch(folder: &Folder) -> Output {
    folder.command(folder.path().join("zymase").to_str().unwrap(), "opt in.ll")
}

/// Runs the real command with a prefix for LLVM.
fn with_prefix(folder: &Folder, prefix: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zymase"))
        .args(["opt", "in.ll"])
        .env("ZYMASE_LLVM_PREFIX", prefix)
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .current_dir(folder.path())
        .output()
        .unwrap()
}

#[test]
fn links_no_llvm() {
    let libraries = succeed(&Folder::with(&[]).command("ldd", env!("CARGO_BIN_EXE_zymase")));
    assert!(!libraries.contains("LLVM"), "{libraries}");
}

#[test]
fn exit_code_is_passed_through() {
    assert_eq!(
        launch(&with_driver("#!/bin/sh\nexit 42\n")).status.code(),
        Some(42)
    );
}

/// The message names the step, and the file that was begun is gone.
#[test]
fn crash() {
    let script = "#!/bin/sh
touch unfinished
printf 'step\\treading in.ll\\ntemp\\tunfinished\\nstep\\toptimizing in.ll\\n' >> \"$ZYMASE_JOURNAL\"
kill -SEGV $$
";
    let folder = with_driver(script);
    expect![[r#"
        exit code 1
        error[Z0002]: the compiler crashed inside LLVM (signal 11 SIGSEGV) while optimizing in.ll
          help: this is a bug of Zymase or a broken input; nothing was written
    "#]]
    .assert_eq(&shown(&launch(&folder)));
    assert_eq!(folder.files(), ["zymase", "zymase-driver"]);
}

#[test]
fn driver_is_missing() {
    let folder = with_driver("");
    std::fs::remove_file(folder.path().join("zymase-driver")).unwrap();
    let text = shown(&launch(&folder)).replace(folder.path().to_str().unwrap(), "FOLDER");
    expect![[r#"
        exit code 1
        error[Z0811]: zymase-driver is missing in FOLDER; install Zymase again with `cargo install zymase-cli`
    "#]]
    .assert_eq(&text);
}

#[test]
fn no_library() {
    let folder = Folder::with(&[("in.ll", PROGRAM)]);
    let text = shown(&with_prefix(&folder, Path::new("empty")));
    expect![[r#"
        exit code 1
        error[Z0811]: ZYMASE_LLVM_PREFIX is empty, but there is no LLVM 22.1 library in empty/lib
    "#]]
    .assert_eq(&text);
}

/// A file that is called like the library and is none: one sentence, not the loader's.
#[test]
fn broken_library() {
    let folder = Folder::with(&[("in.ll", PROGRAM)]);
    std::fs::create_dir_all(folder.path().join("llvm/lib")).unwrap();
    std::fs::write(folder.path().join("llvm/lib/libLLVM.so.22.1"), "").unwrap();
    let output = with_prefix(&folder, &folder.path().join("llvm"));
    let text = shown(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("does not fit this build of Zymase"), "{text}");
}

/// A system LLVM of the same version has another name, and works.
#[test]
fn system_library() {
    let Ok(output) = Command::new("llvm-config-22").arg("--prefix").output() else {
        return;
    };
    let prefix = String::from_utf8(output.stdout).unwrap();
    let folder = Folder::with(&[("in.ll", PROGRAM)]);
    succeed(&with_prefix(&folder, Path::new(prefix.trim())));
}
