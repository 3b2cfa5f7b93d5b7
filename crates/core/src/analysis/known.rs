//! What library functions do with memory, by name.
//!
//! One row for each effect: names, what happens to the memory behind each argument (the last letter
//! group repeats for further arguments), what is returned, and whether derivatives stop there.
//! A name that ends in `*` stands for every name that starts so. Letters: `r` reads, `w` writes,
//! `f` frees, `c` keeps a copy of the pointer, `m` leaves new memory there, `i` changes integers in
//! the memory that pointers there lead to, `x` does anything to it, `-` nothing (an argument that is
//! no pointer, or one that is only compared). State of the library itself (streams behind `FILE`, the
//! seed of random numbers, `errno`, the heap) is memory that no IR of the program can reach.

pub mod rust;

use crate::blas;
use crate::ir::{AllocInfo, AllocKind, Call, Callee, FnFlags, Function, InstData, Module};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What is known of a library function.
#[derive(Copy, Clone, Debug)]
pub struct Known {
    args: Args,
    /// What the result points to.
    pub result: KnownResult,
    /// Whether no derivative flows through it, whatever its arguments are.
    pub inactive: bool,
}

/// What the result of a library function points to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum KnownResult {
    /// Nothing, or memory of the library.
    Nothing,
    /// New memory, which no other pointer reaches.
    Fresh,
    /// What this argument points to.
    Argument(usize),
}

/// What stands in names between that of a local symbol and what makes it unique in the program.
pub const UNIQUE: &str = ".zymase.";

/// What is known of a declared function, by its name.
pub fn known(function: &Function) -> Option<Known> {
    is_library(function).then(|| known_name(&function.name))?
}

/// Whether a function is what its name says. Clang marks the operators `new` and `delete` as no
/// builtins because programs may replace them, but by the standard the replacement, too, returns
/// new memory or frees it.
fn is_library(function: &Function) -> bool {
    let replaceable = ["_Znw", "_Zna", "_Zdl", "_Zda"];
    let replaceable = replaceable.iter().any(|p| function.name.starts_with(p));
    has_no_body_to_look_into(function)
        && (replaceable || !function.attrs.flags.contains(FnFlags::NOBUILTIN))
}

/// The function of a library that a call means by its name: one without a body, which neither the
/// call nor the declaration says is the program's own.
pub fn library_callee<'m>(module: &'m Module, call: &Call) -> Option<&'m Function> {
    let Callee::Direct(callee) = call.callee else {
        return None;
    };
    let callee = &module.funcs[callee];
    let flags = call.attrs.flags | callee.attrs.flags;
    let is_own = !callee.is_declaration() || flags.contains(FnFlags::NOBUILTIN);
    (!is_own).then_some(callee)
}

/// Whether a function is known by its name and attributes alone: it has no body, or one that is
/// not looked into (see [`is_opaque`]).
pub fn has_no_body_to_look_into(function: &Function) -> bool {
    function.is_declaration() || is_opaque(&function.name)
}

/// Whether a function is known by its name though the program may have its body: it makes text.
pub fn is_opaque(name: &str) -> bool {
    moves_characters(name) || rust::formatting(name).is_some()
}

/// Whether a function of the C++ library is known by its name though the program may have its body.
///
/// Strings and what is made of them hold characters, and no derivative flows through characters.
/// Half of their functions are in the native library and half in headers, and which half depends
/// on the level of optimization; memory that one makes the other frees. So all of them are left to
/// run as they are, on primal memory only. No address of memory with derivatives is found through
/// them, except that of the string itself.
pub fn moves_characters(name: &str) -> bool {
    const PREFIXES: [&str; 4] = [
        "_ZNSt7__cxx11",
        "_ZNKSt7__cxx11",
        // What `std::to_string` and `std::stod` are made of.
        "_ZN9__gnu_cxx12__to_xstringI",
        "_ZN9__gnu_cxx6__stoaI",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        && known_name(name).is_some_and(|known| known.inactive)
}

/// Whether a function of this name throws an exception.
pub fn throws(name: &str) -> bool {
    name.starts_with("__cxa_throw") || name == "_Unwind_RaiseException"
}

/// Whether nothing of a derivative runs after a call of a function: it never returns, as one that
/// panics. What is thrown goes on somewhere, and takes its value along.
pub fn is_last(function: &Function) -> bool {
    function.attrs.flags.contains(FnFlags::NORETURN) && !throws(&function.name)
}

/// Whether an instruction is a call that never returns, because the function says so or the call.
pub fn never_returns(module: &Module, data: &InstData) -> bool {
    let Some(call) = data.op.call() else {
        return false;
    };
    let callee = match call.callee {
        Callee::Direct(func) => module.funcs[func].attrs.flags,
        Callee::Indirect => FnFlags::empty(),
    };
    (callee | call.attrs.flags).contains(FnFlags::NORETURN)
}

/// What is known of a library function of this name.
pub fn known_name(name: &str) -> Option<Known> {
    if let Some(routine) = blas::by_name(name) {
        return Some(Known {
            args: Args::Blas(routine),
            result: Nothing,
            inactive: false,
        });
    }
    if let Some(args) = rust::inactive(name) {
        return Some(Known {
            args: Args::Groups(args),
            result: Nothing,
            inactive: true,
        });
    }
    let name = rust::allocator(name).unwrap_or(name);
    let by_prefix = (PATTERNS.prefixes.iter()).find(|(prefix, _)| name.starts_with(prefix));
    let rows = PATTERNS.names.get(name).into_iter();
    // The first row counts.
    let row = rows.chain(by_prefix.map(|(_, row)| row)).min()?;
    let row = &ROWS[*row];
    Some(Known {
        args: Args::Groups(row.1),
        result: row.2,
        inactive: row.3,
    })
}

/// The rows by what is written in them.
static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let mut patterns = Patterns::default();
    for (index, row) in ROWS.iter().enumerate() {
        for pattern in row.0.split_whitespace() {
            match pattern.strip_suffix('*') {
                Some(prefix) => patterns.prefixes.push((prefix, index)),
                None => {
                    patterns.names.entry(pattern).or_insert(index);
                }
            }
        }
    }
    patterns
});

#[derive(Default)]
struct Patterns {
    names: HashMap<&'static str, usize>,
    /// In the order of the rows.
    prefixes: Vec<(&'static str, usize)>,
}

/// Whether a library function of this name computes with vectors and matrices, and has derivatives
/// that do.
pub fn is_linear_algebra(name: &str) -> bool {
    blas::by_name(name).is_some()
}

/// What happens to the memory behind arguments.
#[derive(Copy, Clone, Debug)]
enum Args {
    /// One group of letters for each argument.
    Groups(&'static str),
    /// What linear algebra does.
    Blas(blas::Routine),
}

/// Whether a function is known or marked to let no derivative through.
pub fn is_inactive(function: &Function) -> bool {
    function.attrs.flags.contains(FnFlags::INACTIVE) || known(function).is_some_and(|k| k.inactive)
}

/// What a function allocates or frees: by its attributes, or by its name.
pub fn allocation(function: &Function) -> Option<AllocInfo> {
    if let Some(info) = &function.attrs.alloc {
        return Some(info.clone());
    }
    if !is_library(function) {
        return None;
    }
    let name = function.name.as_str();
    let name = rust::allocator(name).unwrap_or(name);
    let info = |kind, zeroed, family: &str, size_args: &[u32], ptr_arg| {
        Some(AllocInfo {
            kind,
            zeroed,
            family: family.to_string(),
            size_args: size_args.to_vec(),
            ptr_arg,
            freed: None,
        })
    };
    // Operators that are given an alignment are a family of their own.
    let aligned = "St11align_val_t";
    let operators = |family: &str| match name.contains(aligned) {
        true => format!("{family}{aligned}"),
        false => family.to_string(),
    };
    use AllocKind::{Alloc, Free, Realloc};
    match name {
        "malloc" | "valloc" => info(Alloc, false, "malloc", &[0], None),
        "calloc" => info(Alloc, true, "malloc", &[0, 1], None),
        "aligned_alloc" | "memalign" => info(Alloc, false, "malloc", &[1], None),
        "realloc" => info(Realloc, false, "malloc", &[1], Some(0)),
        "reallocarray" => info(Realloc, false, "malloc", &[1, 2], Some(0)),
        // How much they allocate, only the library knows.
        "strdup" | "strndup" => info(Alloc, false, "malloc", &[], None),
        "free" | "cfree" => info(Free, false, "malloc", &[], Some(0)),
        _ if name.starts_with("_Znw") => info(Alloc, false, &operators("_Znwm"), &[0], None),
        _ if name.starts_with("_Zna") => info(Alloc, false, &operators("_Znam"), &[0], None),
        _ if name.starts_with("_ZdlPv") => info(Free, false, &operators("_Znwm"), &[], Some(0)),
        _ if name.starts_with("_ZdaPv") => info(Free, false, &operators("_Znam"), &[], Some(0)),
        "__rust_alloc" => info(Alloc, false, "__rust_alloc", &[0], None),
        "__rust_alloc_zeroed" => info(Alloc, true, "__rust_alloc", &[0], None),
        "__rust_realloc" => info(Realloc, false, "__rust_alloc", &[3], Some(0)),
        "__rust_dealloc" => info(Free, false, "__rust_alloc", &[], Some(0)),
        _ => None,
    }
}

impl Known {
    /// What happens to the memory behind an argument, as letters.
    pub fn argument(&self, index: usize) -> &'static str {
        let args = match self.args {
            Args::Groups(args) => args,
            Args::Blas(routine) => return routine.effect(index),
        };
        let mut groups = args.split(' ');
        let last = groups.clone().next_back().unwrap_or("-");
        groups.nth(index).unwrap_or(last)
    }
}

use KnownResult::{Argument, Fresh, Nothing};

type Row = (&'static str, &'static str, KnownResult, bool);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // The heap.
    ("malloc calloc valloc aligned_alloc memalign _Znw* _Zna* __rust_alloc __rust_alloc_zeroed",
                                                              "-",      Fresh,       false),
    ("realloc reallocarray __rust_realloc",                   "rf -",   Fresh,       false),
    ("free cfree _ZdlPv* _ZdaPv* __rust_dealloc",             "f -",    Nothing,     false),
    ("posix_memalign",                                        "w -",    Nothing,     false),
    ("malloc_usable_size",                                    "-",      Nothing,     true),
    ("mallinfo malloc_trim",               "-",      Nothing,     true),
    // Memory and strings.
    ("memcpy memmove mempcpy __memcpy_chk __memmove_chk",     "w r -",  Argument(0), false),
    ("memset __memset_chk",                                   "w -",    Argument(0), false),
    ("bzero explicit_bzero",                                  "w -",    Nothing,     false),
    ("memset_pattern16",                                      "w r -",  Nothing,     false),
    ("memcmp bcmp strcmp strncmp strcasecmp strncasecmp strcoll",
                                                              "r r -",  Nothing,     true),
    ("strlen strnlen atoi atol atoll atof",                   "r -",    Nothing,     true),
    ("memchr memrchr strchr strrchr rawmemchr strchrnul",     "r -",    Argument(0), true),
    ("strstr strpbrk strcasestr",                             "r r",    Argument(0), true),
    ("strspn strcspn",                                        "r r",    Nothing,     true),
    ("strcpy strncpy strcat strncat stpcpy stpncpy __strcpy_chk __strcat_chk __strncpy_chk",
                                                              "w r -",  Argument(0), true),
    ("strdup strndup",                                        "r -",    Fresh,       false),
    ("strerror getenv setlocale",                             "r",      Nothing,     true),
    ("setenv unsetenv putenv",                                "rc r -", Nothing,     true),
    ("strtol strtoll strtoul strtoull strtod strtof strtold", "rc w -", Nothing,     true),
    // Characters.
    ("isalpha isdigit isalnum isspace isupper islower ispunct isprint toupper tolower",
                                                              "-",      Nothing,     true),
    ("__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __errno_location",
                                                              "-",      Nothing,     true),
    // Input and output. Streams are the library's, but a pointer to one is an argument.
    ("printf vprintf puts putchar perror putchar_unlocked __printf_chk __vprintf_chk",
                                                              "r",      Nothing,     true),
    ("fprintf vfprintf __fprintf_chk __vfprintf_chk dprintf", "rw r",   Nothing,     true),
    ("sprintf snprintf vsprintf vsnprintf",                   "w r",    Nothing,     true),
    ("__sprintf_chk __snprintf_chk __vsnprintf_chk",          "w - - r", Nothing,    true),
    ("fputs fputc putc fwrite fputs_unlocked fwrite_unlocked","r rw rw rw", Nothing, true),
    ("fread fread_unlocked",                                  "w - - rw", Nothing,   true),
    ("fgets",                                                 "w - rw", Argument(0), true),
    ("scanf sscanf fscanf __isoc99_scanf __isoc99_sscanf __isoc99_fscanf __isoc23_sscanf __isoc23_fscanf __isoc23_scanf",
                                                              "rw w",   Nothing,     true),
    ("fopen fdopen fopen64 tmpfile",                          "r r",    Fresh,       true),
    ("fclose",                                                "rwf",    Nothing,     true),
    ("fflush fseek ftell rewind feof ferror fileno setvbuf setbuf clearerr fgetc getc getchar ungetc",
                                                              "rw rwc", Nothing,     true),
    ("write",                                                 "- r -",  Nothing,     true),
    ("read",                                                  "- w -",  Nothing,     true),
    ("open close lseek unlink remove access isatty",          "r",      Nothing,     true),
    // Whatever it asks the system for, such as to wait for another thread.
    ("syscall",                                               "- rwc",  Nothing,     true),
    ("puts_unlocked __overflow wprintf vwprintf", "r", Nothing,     true),
    ("putc_unlocked fputc_unlocked _IO_putc fputwc fputws putw",
                                                              "r rw",   Nothing,     true),
    ("fwprintf vfwprintf vdprintf",                           "rw r",   Nothing,     true),
    ("fflush_unlocked flockfile funlockfile freopen fsync",   "rw rw",  Nothing,     true),
    ("syslog vsyslog openlog closelog",                       "rc r",   Nothing,     true),
    ("backtrace",                                             "w -",    Nothing,     true),
    ("backtrace_symbols_fd",                                  "r -",    Nothing,     true),
    // Time, random numbers, the process.
    ("time",                                                  "w",      Nothing,     true),
    ("clock getpid sched_yield usleep sleep difftime omp_get_wtime omp_get_thread_num omp_get_num_threads omp_get_max_threads",
                                                              "-",      Nothing,     true),
    ("clock_gettime gettimeofday clock_getres getrusage timespec_get times ftime",
                                                              "w w",    Nothing,     true),
    ("clock_gettime_nsec_np _ZNSt6chrono3_V2*",               "-",      Nothing,     true),
    ("localtime gmtime ctime asctime mktime timegm",          "rw",     Nothing,     true),
    ("localtime_r gmtime_r nanosleep clock_nanosleep",        "r rw rw", Nothing,    true),
    ("ctime_r asctime_r",                                     "r w",    Argument(1), true),
    ("strftime",                                              "w - r r", Nothing,    true),
    ("rand srand random srandom drand48 srand48 lrand48 mrand48 arc4random arc4random_uniform",
                                                              "-",      Nothing,     true),
    ("rand_r erand48 nrand48 jrand48 seed48",                 "rw",     Nothing,     true),
    ("random_r drand48_r lrand48_r mrand48_r",                "rw w",   Nothing,     true),
    ("srand48_r srandom_r",                                   "- rw",   Nothing,     true),
    ("getrandom getentropy arc4random_buf",                   "w -",    Nothing,     true),
    ("_ZNSt13random_device*",                                 "rwc r",  Nothing,     true),
    ("feclearexcept feraiseexcept fetestexcept fegetround fesetround feenableexcept fedisableexcept sysconf getpagesize sched_getcpu raise alarm pthread_self",
                                                              "-",      Nothing,     true),
    ("fegetenv fesetenv feholdexcept feupdateenv",            "rw",     Nothing,     true),
    ("abort exit _exit quick_exit __cxa_pure_virtual __stack_chk_fail _ZSt9terminatev __cxa_rethrow __cxa_bad_cast __cxa_throw_bad_array_new_length",
                                                              "-",      Nothing,     true),
    ("__assert_fail __assert_rtn __assert _ZSt20__throw_length_errorPKc _ZSt17__throw_bad_allocv _ZSt24__throw_out_of_range_fmtPKcz _ZSt28__throw_bad_array_new_lengthv _ZSt19__throw_logic_errorPKc _ZSt16__throw_bad_castv _ZSt19__throw_range_errorPKc _ZSt20__throw_out_of_rangePKc _ZSt24__throw_invalid_argumentPKc _ZSt20__throw_domain_errorPKc _ZSt21__throw_runtime_errorPKc _ZSt22__throw_overflow_errorPKc _ZSt20__throw_system_errori _ZSt25__throw_bad_function_callv __assert_perror_fail",
                                                              "r",      Nothing,     true),
    // Exceptions of the C++ library free their own texts, and themselves if they are deleted. They
    // fit calls of virtual destructors, whether anybody throws them or not.
    ("_ZNSt9exceptionD* _ZNSt13runtime_errorD* _ZNSt11logic_errorD* _ZNSt16invalid_argumentD* _ZNSt12out_of_rangeD* _ZNSt12length_errorD* _ZNSt12domain_errorD* _ZNSt11range_errorD* _ZNSt14overflow_errorD* _ZNSt15underflow_errorD* _ZNSt9bad_allocD* _ZNSt8bad_castD* _ZNSt10bad_typeidD* _ZNSt13bad_exceptionD* _ZNSt20bad_array_new_lengthD* _ZNSt12system_errorD* _ZNSt17bad_function_callD* _ZNSt12bad_weak_ptrD*",
                                                              "rwf",    Nothing,     true),
    ("_ZNSt9exceptionC* _ZNSt9exceptionaSE* _ZNSt13runtime_errorC* _ZNSt13runtime_erroraSE* _ZNSt11logic_errorC* _ZNSt11logic_erroraSE* _ZNSt16invalid_argumentC* _ZNSt16invalid_argumentaSE* _ZNSt12out_of_rangeC* _ZNSt12out_of_rangeaSE* _ZNSt12length_errorC* _ZNSt12length_erroraSE* _ZNSt12domain_errorC* _ZNSt12domain_erroraSE* _ZNSt11range_errorC* _ZNSt11range_erroraSE* _ZNSt14overflow_errorC* _ZNSt14overflow_erroraSE* _ZNSt15underflow_errorC* _ZNSt15underflow_erroraSE* _ZNSt9bad_allocC* _ZNSt9bad_allocaSE* _ZNSt8bad_castC* _ZNSt8bad_castaSE* _ZNSt10bad_typeidC* _ZNSt10bad_typeidaSE* _ZNSt13bad_exceptionC* _ZNSt13bad_exceptionaSE* _ZNSt20bad_array_new_lengthC* _ZNSt20bad_array_new_lengthaSE* _ZNSt12system_errorC* _ZNSt12system_erroraSE* _ZNSt17bad_function_callC* _ZNSt17bad_function_callaSE* _ZNSt12bad_weak_ptrC* _ZNSt12bad_weak_ptraSE*",
                                                              "rwc r",  Nothing,     true),
    ("_ZNKSt9exception4whatEv _ZNKSt13runtime_error4whatEv _ZNKSt11logic_error4whatEv _ZNKSt16invalid_argument4whatEv _ZNKSt12out_of_range4whatEv _ZNKSt12length_error4whatEv _ZNKSt12domain_error4whatEv _ZNKSt11range_error4whatEv _ZNKSt14overflow_error4whatEv _ZNKSt15underflow_error4whatEv _ZNKSt9bad_alloc4whatEv _ZNKSt8bad_cast4whatEv _ZNKSt10bad_typeid4whatEv _ZNKSt13bad_exception4whatEv _ZNKSt20bad_array_new_length4whatEv _ZNKSt12system_error4whatEv _ZNKSt17bad_function_call4whatEv _ZNKSt12bad_weak_ptr4whatEv",
                                                              "r",      Nothing,     true),
    // UndefinedBehaviorSanitizer reports: what it says goes out, and what it has said it notes.
    ("__ubsan_handle_*",                                      "rw r",   Nothing,     true),
    ("__cxa_allocate_exception",                              "-",      Fresh,       true),
    ("__cxa_free_exception",                                  "f",      Nothing,     true),
    ("__cxa_guard_acquire __cxa_guard_release __cxa_guard_abort",
                                                              "rw",     Nothing,     true),
    ("pthread_mutex_lock pthread_mutex_unlock pthread_mutex_trylock pthread_mutex_init pthread_mutex_destroy pthread_spin_lock pthread_spin_unlock pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_unlock omp_set_lock omp_unset_lock omp_init_lock omp_destroy_lock",
                                                              "rw r",   Nothing,     true),
    // What hash tables of C++ ask for.
    ("_ZNKSt8__detail20_Prime_rehash_policy*",                "rw -",   Nothing,     true),
    ("_ZSt11_Hash_bytesPKvmm _ZSt15_Fnv_hash_bytesPKvmm",     "r -",    Nothing,     true),
    // C++ streams that print or read: `_ZNSo` is ostream, `_ZNSi` istream, `_ZStls` operator<<.
    ("_ZNSo9_M_insertI* _ZNSolsE* _ZSt16__ostream_insertI* _ZNSo3putEc _ZNSo5flushEv _ZNSo5writeEPKcl _ZStlsI* _ZSt4endlI* _ZSt4endsI* _ZSt5flushI*",
                                                              "rw r",   Argument(0), true),
    ("_ZNSirsE* _ZNSi10_M_extractI* _ZNSi4readEPcl _ZNSi3getERc _ZNSi7getlineEPcl _ZStrsI*",
                                                              "rw w",   Argument(0), true),
    ("_ZSt7getlineI*",                                        "rw rwx", Argument(0), true),
    // What streams are made of, and strings, which hold characters.
    ("_ZNSo* _ZNSi* _ZNSt9basic_iosIc* _ZNKSt9basic_iosIc* _ZNSt8ios_base* _ZNKSt8ios_base* _ZNSt6locale* _ZNKSt6locale* _ZSt9use_facetI* _ZNKSt5ctypeIc*",
                                                              "rwcx",   Nothing,     true),
    ("_ZNSt7__cxx1119basic_ostringstreamI* _ZNKSt7__cxx1119basic_ostringstreamI* _ZNSt7__cxx1118basic_stringstreamI* _ZNKSt7__cxx1118basic_stringstreamI* _ZNSt7__cxx1119basic_istringstreamI* _ZNSt7__cxx1115basic_stringbufI* _ZNKSt7__cxx1115basic_stringbufI*",
                                                              "rwcx",   Nothing,     true),
    ("_ZNSt14basic_ofstreamI* _ZNSt14basic_ifstreamI* _ZNSt13basic_fstreamI* _ZNSt13basic_filebufI* _ZNKSt12__basic_fileIc* _ZNSt12__basic_fileIc* _ZNSt15basic_streambufIc*",
                                                              "rwcx",   Nothing,     true),
    ("_ZN9__gnu_cxx12__to_xstringI* _ZNSt7__cxx119to_stringE*",
                                                              "w -",    Nothing,     true),
    ("_ZN9__gnu_cxx6__stoaI*",                                "- r r w", Nothing,    true),
    ("_ZNSt7__cxx114stoiE* _ZNSt7__cxx114stolE* _ZNSt7__cxx114stofE* _ZNSt7__cxx114stodE* _ZNSt7__cxx115stoulE* _ZNSt7__cxx115stollE* _ZNSt7__cxx115stoldE* _ZNSt7__cxx116stoullE*",
                                                              "rx w",   Nothing,     true),
    ("_ZNSaIcEC* _ZNSaIcED*",                                 "-",      Nothing,     true),
    // Characters of a string are in the string or in memory of its own, and count as part of it: they
    // are found through what the string itself returns only. First what returns the string.
    ("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6append* _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6assign* _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6insertEm* _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7replace* _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5eraseEmm* _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEpLE* _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEaSE* _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_append* _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE10_M_replace* _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE14_M_replace_aux* _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE20_M_replace_dispatch*",
                                                              "rwc",    Argument(0), true),
    ("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE*",
                                                              "rwc",    Nothing,     true),
    ("_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4copy* _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6substr* _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE13get_allocator*",
                                                              "rwc",    Nothing,     true),
    ("_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE*",
                                                              "rc",     Nothing,     true),
    // Mathematics with results in memory, and that of integers.
    ("sincos sincosf sincosl",                                "- w w",  Nothing,     false),
    ("frexp frexpf frexpl modf modff modfl lgamma_r lgammaf_r",
                                                              "- w",    Nothing,     false),
    ("remquo remquof",                                        "- - w",  Nothing,     false),
    ("nan nanf nanl",                                         "r",      Nothing,     true),
    ("ilogb ilogbf lround lroundf llround llroundf lrint lrintf llrint llrintf __fpclassify __isnan __isinf __finite abs labs llabs div ldiv",
                                                              "-",      Nothing,     true),
    // LLVM's intrinsics that only look as if they did something. The start and the end of a
    // lifetime change what is in memory.
    ("llvm.lifetime.*",                                       "w w",    Nothing,     true),
    ("llvm.dbg.* llvm.assume llvm.donothing llvm.experimental.noalias.scope.decl llvm.pseudoprobe llvm.fake.use llvm.var.annotation* llvm.sideeffect",
                                                              "-",      Nothing,     true),
    ("llvm.prefetch* llvm.trap llvm.debugtrap llvm.ubsantrap llvm.stacksave* llvm.eh.* llvm.readcyclecounter llvm.objectsize* llvm.is.constant* llvm.expect* llvm.is.fpclass*",
                                                              "-",      Nothing,     true),
    // Integers, also from floats. Those that compute with bits of floats are refused elsewhere.
    ("llvm.fptosi.sat.* llvm.fptoui.sat.* llvm.ctpop.* llvm.ctlz.* llvm.cttz.* llvm.bswap.* llvm.bitreverse.* llvm.abs.* llvm.fshl.* llvm.fshr.* llvm.scmp.* llvm.ucmp.* llvm.uadd.* llvm.usub.* llvm.umul.* llvm.sadd.* llvm.ssub.* llvm.smul.*",
                                                              "-",      Nothing,     true),
    // What the processor can do, and that the upper halves of its registers are free.
    ("llvm.x86.xgetbv* llvm.x86.avx.vzero*",                  "-",      Nothing,     true),
    ("zymase.hint.*",                                         "-",      Nothing,     true),
    ("llvm.invariant.start* llvm.invariant.end*",             "-",      Nothing,     true),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_answer_by_name_and_prefix() {
        let check = |name: &str, args: &[&str], inactive: bool| {
            let row = known_name(name).unwrap();
            let found: Vec<&str> = (0..args.len()).map(|i| row.argument(i)).collect();
            assert_eq!((found.as_slice(), row.inactive), (args, inactive), "{name}");
        };
        check("memcpy", &["w", "r", "-"], false);
        check("printf", &["r", "r", "r"], true);
        check("_Znwm", &["-"], false);
        check("llvm.lifetime.end.p0", &["w", "w"], true);
        assert!(known_name("my_malloc").is_none());
    }

    #[test]
    fn no_name_is_in_two_rows() {
        let mut names: Vec<&str> = ROWS.iter().flat_map(|r| r.0.split_whitespace()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
