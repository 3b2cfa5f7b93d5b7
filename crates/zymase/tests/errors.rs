//! What users read who write an attribute that cannot be: the programs of `errors/`, and what the
//! compiler says about each. `TRYBUILD=overwrite` accepts what it says now; read it first.

#[test]
fn mistakes_are_shown_at_the_word() {
    trybuild::TestCases::new().compile_fail("tests/errors/*.rs");
}
