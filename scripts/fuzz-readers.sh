#!/usr/bin/env bash
# Fuzzes everything that reads bytes from outside, guided by coverage, on stable Rust.
#
#   scripts/fuzz-readers.sh [SECONDS] [TARGET...]
#
# Builds fuzz/ with the instrumentation of libFuzzer, makes seeds from the tests, runs each target
# for so many seconds (60 if nothing is said), and prints executions and findings. What it finds is
# in fuzz/artifacts, and `fuzz/target/.../TARGET FILE` runs it again.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(core_text modules requests command_lines objects)

export CARGO_TARGET_DIR=${ZYMASE_FUZZ_TARGET_DIR:-$PWD/fuzz/target}
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1 \
  -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
  -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-trace-compares"
# With a target of its own, build scripts and macros are not instrumented.
host=$(rustc -vV | sed -n 's/^host: //p')
flags=()
for target in "${targets[@]}"; do flags+=(--bin "$target"); done
cargo build --release --manifest-path fuzz/Cargo.toml --target "$host" "${flags[@]}"
export LD_LIBRARY_PATH="$(rustc --print sysroot)/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

clang=${ZYMASE_CLANG:-$(command -v clang || command -v clang-22)}

# Seeds: the programs of the tests in the form that each reader takes.
seeds() {
  case $1 in
    core_text)
      for file in tests/filetests/*/*.zir; do
        grep -v '^;' "$file" >"$2/$(basename "$(dirname "$file")")-$(basename "$file")" || true
      done
      ;;
    modules)
      for file in tests/programs/gradients/*.c crates/llvm/tests/programs/c/*.c; do
        for level in 0 2; do
          # Long programs are slow to read; small ones find the same.
          [ "$(wc -c <"$file")" -lt 6000 ] || continue
          "$clang" -w -O$level -Iinclude -Itests/programs/gradients -fno-discard-value-names -S -emit-llvm "$file" \
            -o "$2/$(basename "$file" .c).$level.ll" 2>/dev/null || true
        done
      done
      ;;
    objects)
      echo 'double f(double x) { return x * x; }' >"$2/seed.c"
      "$clang" -c "$2/seed.c" -o "$2/native.o"
      "$clang" -c -fembed-bitcode "$2/seed.c" -o "$2/embedded.o" 2>/dev/null || true
      "$clang" -c -emit-llvm "$2/seed.c" -o "$2/bitcode.o"
      (cd "$2" && ar rc both.a native.o bitcode.o && ar rcT thin.a native.o && rm seed.c)
      ;;
    command_lines)
      printf -- '-O2\n@@\n-lm\n-L\n.\n--checks\n\na.o "b c.o" -plugin-opt=O3 @@' >"$2/link"
      printf -- 'cc\n-c\na.c\n-o\nb.o\n-MMD\n-x\nc\n-\n-flto' >"$2/compile"
      ;;
    requests) head -c 64 /dev/zero >"$2/zeros" ;;
  esac
}

status=0
for target in "${targets[@]}"; do
  corpus=fuzz/corpus/$target
  mkdir -p "$corpus" fuzz/artifacts
  seeds "$target" "$corpus"
  # A finding does not end the run; LLVM itself may die on what nobody else would give it.
  "$CARGO_TARGET_DIR/$host/release/$target" "$corpus" \
    -max_total_time="$seconds" -max_len=16384 -rss_limit_mb=2048 -timeout=20 \
    -artifact_prefix="fuzz/artifacts/$target-" -fork=1 -ignore_crashes=1 -ignore_timeouts=1 \
    -ignore_ooms=1 -print_final_stats=1 >"fuzz/artifacts/$target.log" 2>&1 || true
  executions=$(grep -oE '^#[0-9]+' "fuzz/artifacts/$target.log" | tail -1)
  found=$(find fuzz/artifacts -name "$target-*" | wc -l)
  echo "$target: ${executions:-none} executions in $seconds s, $found findings"
  [ "$found" -eq 0 ] || status=1
done
exit $status
