#!/usr/bin/env bash
# Installs what the tests need and runs all of them.
#
# To build and use Zymase, the Rust toolchain is enough. The tests also compile C and C++ with
# clang, at both ends of the range of versions that Zymase supports, and Fortran, and look at a page
# in a browser.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(
    clang-14 clang-22 libclang-rt-22-dev flang-22 llvm-22 llvm-22-dev libboost-dev libeigen3-dev libopenblas-dev binutils g++ valgrind
    chromium-headless-shell libadolc-dev
)

# Whether everything is there already.
installed() {
    local package
    for package in "${packages[@]}"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || return 1
    done
}

if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    if ! installed; then
        as_root=()
        if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
        "${as_root[@]}" apt-get update
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y --no-install-recommends "${packages[@]}"
    fi
elif ! command -v clang-22 >/dev/null; then
    echo "the tests need clang-22, LLVM 22, flang-22, Boost and Eigen 3 (in Debian: ${packages[*]})" >&2
    exit 1
fi

step() {
    printf '\n== %s\n' "$*"
    "$@"
}

if cargo fmt --version >/dev/null 2>&1; then
    step cargo fmt --all --check
else
    echo "rustfmt is not part of this toolchain: the format is not checked"
fi
if cargo clippy --version >/dev/null 2>&1; then
    step cargo clippy --workspace --all-targets -- -D warnings
else
    echo "clippy is not part of this toolchain: lints are not checked"
fi
# The documentation is for contributors: private items are part of it, and may be linked to.
step env RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" \
    cargo doc --workspace --no-deps --document-private-items
step cargo test --workspace --doc
if cargo nextest --version >/dev/null 2>&1; then
    step cargo nextest run --workspace --no-fail-fast
else
    step cargo test --workspace --lib --bins --tests --no-fail-fast
fi
