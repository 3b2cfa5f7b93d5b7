//! Passes that bring functions into simpler forms with the same meaning.

pub mod canonical_loops;
pub mod check_allocations;
pub mod choose_undefined;
pub mod copy_operands;
pub mod dead_code;
pub mod dispatch_calls;
pub mod expand_nests;
pub mod group_accumulations;
pub mod hoist_loads;
pub mod lasting_memory;
pub mod lower_allocations;
pub mod lower_library_calls;
pub mod lower_products;
pub mod merge_equal;
pub mod outline_iterations;
pub mod raise_moves;
pub mod read_back;
pub mod recognize_absolute_values;
pub mod restore_pointers;
pub mod specialize;
pub mod split_loads;
pub mod split_triangles;
pub mod stack_tapes;
pub mod use_library_bodies;
