"""Enzyme, by the package enzyme-ad: it compiles a program of bench/ as it is, and runs its main.

    python3 enzyme_cpp.py SOURCE [FLAG...] -- [WORD...]

The requests for derivatives are calls of Enzyme's own names, so nothing is translated: this is the
same program, with the same inputs, gradients by hand and measurements, compiled by the clang and the
Enzyme in that package. It is compiled as C++. Functions under test are `weak` rather than `noinline`,
which also keeps them from being inlined: Enzyme gives derivatives `alwaysinline`, which LLVM refuses
beside `noinline`.
"""

import ctypes
import os
import subprocess
import sys

SOURCE = """
#define main program_main
#define restrict __restrict__
#include "{path}"
#undef main

void enter(enzyme::tensor<int32_t, 1> &out, const enzyme::tensor<int32_t, 1> &in) {{
  const char *words[] = {{{words}}};
  program_main({count}, (char **)words);
  out[0] = 0;
  fflush(stdout);
}}
"""


def headers():
    """Where a clang of this machine has its own headers: the package comes without."""
    for clang in [os.environ.get("ZYMASE_CLANG"), "clang", *(f"clang-{v}" for v in range(22, 13, -1))]:
        try:
            command = [clang, "-print-resource-dir"]
            return subprocess.check_output(command, text=True, stderr=subprocess.DEVNULL).strip() + "/include"
        except (OSError, TypeError, subprocess.CalledProcessError):
            continue
    sys.exit("enzyme-ad has no C headers of its own, and there is no clang to take them from")


def main():
    split = sys.argv.index("--")
    path, flags, words = sys.argv[1], sys.argv[2:split], sys.argv[split + 1 :]
    # Programs in C++ find their library among those that are loaded.
    ctypes.CDLL("libstdc++.so.6", mode=ctypes.RTLD_GLOBAL)
    import jax
    import jax.numpy as jnp
    from enzyme_ad.jax import cpp_call

    quoted = ", ".join(f'"{word}"' for word in ["program", *words])
    source = SOURCE.format(path=os.path.abspath(path), words=quoted, count=len(words) + 1)
    # These go to clang behind its driver: what the driver would add is said here.
    driver = ["-fgnuc-version=4.2.1", "-fno-strict-return", "-fmath-errno", "-ffp-contract=on", "-vectorize-loops", "-vectorize-slp"]
    options = (*flags, *driver, "-DUNDER_TEST=__attribute__((weak))", "-isystem", headers())
    shape = jax.core.ShapedArray([1], jnp.int32)

    @jax.jit
    def run(x):
        return cpp_call(x, out_shapes=[shape], source=source, fn="enter", argv=options)

    sys.exit(int(run(jnp.zeros(1, jnp.int32))[0][0]))


if __name__ == "__main__":
    main()
