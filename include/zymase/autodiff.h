/* Requests for derivatives, in C and C++.
 *
 * Every function declared here is a word to the compiler: `zymase cc` and `zymase c++` replace its
 * calls by calls of derivatives. What each word means is in docs/requests.md. C++ programs may
 * prefer <zymase/autodiff>, which builds on this file.
 */
#ifndef ZYMASE_AUTODIFF_H
#define ZYMASE_AUTODIFF_H

#include <stddef.h>

/* The activity of the next argument. */
extern int enzyme_const, enzyme_dup, enzyme_dupnoneed, enzyme_out;
/* Several shadows at a stride: the stride in bytes comes first. */
extern int enzyme_dupv, enzyme_dupnoneedv;
/* All values come before this word, all shadows after it. */
extern int enzyme_interleave;
/* The memory behind the next argument stays as it is until the reverse sweep. */
extern int enzyme_not_overwritten;
/* So many derivatives at once: a constant follows. */
extern int enzyme_width;
/* Where the tape of split mode is, and how many bytes there are for it. */
extern int enzyme_tape, enzyme_allocated;
/* The result: returned too, and its activity where the default is not meant. */
extern int enzyme_primal_return, enzyme_const_return, enzyme_active_return, enzyme_dup_return,
    enzyme_noret;
/* A shadow that equals its value means inactive; zero times infinity is zero; the tape stays. */
extern int enzyme_runtime_activity, enzyme_strong_zero, enzyme_nofree;

#ifdef __cplusplus

/* In C++ the type of the result is the first template argument:
 * `__enzyme_autodiff<double>((void *)f, x)`. */
template <typename Result = void, typename... Arguments>
Result __enzyme_autodiff(void *function, Arguments... arguments);
template <typename Result = void, typename... Arguments>
Result __enzyme_fwddiff(void *function, Arguments... arguments);
template <typename Result = void *, typename... Arguments>
Result __enzyme_augmentfwd(void *function, Arguments... arguments);
template <typename Result = void, typename... Arguments>
Result __enzyme_reverse(void *function, Arguments... arguments);
template <typename... Arguments>
size_t __enzyme_augmentsize(void *function, Arguments... arguments);
template <typename Result = void, typename... Arguments>
Result __enzyme_call_inactive(void *function, Arguments... arguments);
template <typename Value> Value __enzyme_ignore_derivatives(Value value);

extern "C" {
#else

/* Names that go on after the word make room for other types of results;
 * ZYMASE_REQUESTS(float, _float) declares __enzyme_autodiff_float and its siblings. */
#define ZYMASE_REQUESTS(type, suffix)                                                              \
    type __enzyme_autodiff##suffix(void *function, ...);                                           \
    type __enzyme_fwddiff##suffix(void *function, ...);                                            \
    type __enzyme_reverse##suffix(void *function, ...)

/* Derivatives that are a double, a float, or all behind pointers. */
ZYMASE_REQUESTS(double, );
ZYMASE_REQUESTS(float, _float);
ZYMASE_REQUESTS(void, _void);

/* The first half of reverse mode gives the tape, which the second half takes last. */
void *__enzyme_augmentfwd(void *function, ...);
/* The size of that tape in bytes. */
size_t __enzyme_augmentsize(void *function, ...);
/* The identity, with derivative zero. */
double __enzyme_ignore_derivatives(double value);
#endif

/* What the memory at a pointer holds, where the program itself does not show it. */
void __enzyme_float(void *memory, ...);
void __enzyme_double(void *memory, ...);
void __enzyme_integer(void *memory, ...);
void __enzyme_pointer(void *memory, ...);

/* Large products of matrices may be computed by several threads: the number that was set, else what
 * the environment says in ZYMASE_THREADS, else one. 0 stands for all cores, and less than that takes
 * back what was set. In a program without such products there is nothing to set. */
extern long long __zymase_threads_chosen __attribute__((weak));
extern long long __zymase_threads(void) __attribute__((weak));
static inline void zymase_set_threads(long long threads) {
    if (&__zymase_threads_chosen)
        __atomic_store_n(&__zymase_threads_chosen, threads, __ATOMIC_RELAXED);
}
static inline long long zymase_threads(void) { return __zymase_threads ? __zymase_threads() : 1; }

#ifdef __cplusplus
}
#endif

#endif
