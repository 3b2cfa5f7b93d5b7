//! Every rule against an independent answer.

use super::*;

#[test]
fn every_float_operation_has_a_rule() {
    let math = MathFn::ALL.iter().map(|&function| Op::Math(function));
    let binary = BinaryOp::ALL.iter().filter(|op| op.is_float());
    let binary = binary.map(|&op| Op::Binary(op));
    for op in math.chain(binary).chain([Op::Unary(UnaryOp::FNeg)]) {
        let expected = op != Op::Math(MathFn::Digamma);
        assert_eq!(rule_for(&op).is_some(), expected, "{op:?}");
    }
    assert_eq!(
        RULES.len(),
        table::TABLE.len(),
        "an operation has two rules"
    );
}
