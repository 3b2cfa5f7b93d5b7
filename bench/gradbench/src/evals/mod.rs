//! The evals, one module each.

pub mod ba;
pub mod det;
pub mod gmm;
pub mod hello;
pub mod ht;
pub mod kmeans;
pub mod llsq;
pub mod lse;
pub mod lstm;
pub mod ode;
pub mod particle;
pub mod saddle;
pub mod solver;

use crate::evaluation::{Outcome, Request};

/// Answers requests for the functions of a module.
pub type Module = fn(&Request) -> Outcome;

/// The module with this name.
pub fn find(name: &str) -> Option<Module> {
    Some(match name {
        "ba" => ba::evaluate,
        "det" => det::evaluate,
        "gmm" => gmm::evaluate,
        "hello" => hello::evaluate,
        "ht" => ht::evaluate,
        "kmeans" => kmeans::evaluate,
        "llsq" => llsq::evaluate,
        "lse" => lse::evaluate,
        "lstm" => lstm::evaluate,
        "ode" => ode::evaluate,
        "particle" => particle::evaluate,
        "saddle" => saddle::evaluate,
        _ => return None,
    })
}
