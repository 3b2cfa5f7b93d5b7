//! The interpreter of the IR, on plain and on dual numbers: the oracle of every test.
