#!/usr/bin/env bash
# Makes containers.ll from containers.c: for no target, hardly optimized, but with classes of
# aliases, from which types are deduced. A program that has a function itself keeps its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
clang-22 -O1 -Xclang -disable-llvm-passes -fno-ident -S -emit-llvm containers.c -o - |
    opt-22 -S -passes='function(sroa,simplifycfg)' |
    grep -v -E '^(target|source_filename|; ModuleID|attributes|declare)' |
    sed -E 's/^define dso_local/define linkonce_odr/; s/ #[0-9]+//g; s/, !llvm.loop ![0-9]+//; s/^(define.*) \{/\1 nounwind {/' >containers.ll
