#!/usr/bin/env bash
# Makes linux.ll and other.ll from tape_memory.c: for no target. The files of a program share what
# is kept, so symbols are the same in each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
make() {
    clang-22 "$@" -O2 -fno-ident -fno-unroll-loops -fno-vectorize -fno-slp-vectorize -ffreestanding -S -emit-llvm tape_memory.c -o - |
        grep -v -E '^(target|source_filename|; ModuleID|; Function Attrs|attributes)' |
        sed -E 's/^define dso_local( noalias)?/define linkonce_odr hidden/; s/ #[0-9]+( \{|$)/ nounwind noinline\1/; s/ #[0-9]+//g
                s/^(@__zymase_[a-z]+ = )dso_local (thread_local )?global/\1linkonce_odr hidden \2global/; s/, !llvm.loop ![0-9]+//; s/, !tbaa(.struct)? ![0-9]+//
                s/^define linkonce_odr hidden( noundef)? ptr @__zymase_(take|push)/define linkonce_odr hidden noalias ptr @__zymase_\2/
                /^!/d' | cat -s
}
make >linux.ll
make -U__linux__ >other.ll
