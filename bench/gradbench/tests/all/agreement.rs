//! Random inputs: the program answers what the library does, which `by_hand` has checked. If
//! GRADBENCH_TOOL names another program, that one has code of its own for both primals and
//! derivatives.

use crate::{assert_close, evaluate};
use serde_json::{Value, json};
use zymase_gradbench::evals;
use zymase_gradbench::evaluation::Request;
use zymase_gradbench::random::Random;

/// Compares the answers for some functions.
#[track_caller]
fn agree(module: &str, functions: &[&str], input: &Value, tolerance: f64) {
    let raw = serde_json::value::to_raw_value(input).unwrap();
    for function in functions {
        let input_of_library = Request {
            function,
            input: &raw,
        };
        let answer = evals::find(module).unwrap()(&input_of_library).unwrap();
        let expected: Value = serde_json::from_slice(&answer.output).unwrap();
        assert_close(&evaluate(module, function, input), &expected, tolerance);
    }
}

fn rows(random: &mut Random, count: usize, width: usize) -> Vec<Vec<f64>> {
    (0..count).map(|_| random.normals(width)).collect()
}

#[test]
fn hello() {
    for x in [-3.5, 0.0, 1.0 / 3.0, 1e100, 5e-324, 123456789.0] {
        agree("hello", &["square", "double"], &json!(x), 0.0);
    }
}

#[test]
fn llsq() {
    let input = json!({"x": Random::new(31).uniforms(128), "n": 300});
    agree("llsq", &["primal", "gradient"], &input, 1e-12);
}

#[test]
fn lse() {
    let input = json!({"x": Random::new(32).normals(2500)});
    agree("lse", &["primal", "gradient"], &input, 1e-13);
}

#[test]
fn det() {
    for ell in 1..8 {
        let input = json!({"A": Random::new(33).normals(ell * ell), "ell": ell});
        agree("det", &["primal", "gradient"], &input, 1e-12);
    }
}

#[test]
fn ode() {
    for (n, steps) in [(1, 1), (4, 1), (9, 7), (30, 20)] {
        let x: Vec<f64> = Random::new(34)
            .uniforms(n)
            .iter()
            .map(|x| 5.0 * x)
            .collect();
        agree(
            "ode",
            &["primal", "gradient"],
            &json!({"x": x, "s": steps}),
            1e-12,
        );
    }
}

#[test]
fn gmm() {
    let mut random = Random::new(35);
    for (d, k, n) in [(1, 1, 1), (2, 3, 5), (10, 5, 30)] {
        let input = json!({
            "d": d, "k": k, "n": n, "m": 2, "gamma": 1.25, "x": rows(&mut random, n, d),
            "alpha": random.normals(k), "mu": rows(&mut random, k, d), "q": rows(&mut random, k, d),
            "l": rows(&mut random, k, d * (d - 1) / 2),
        });
        agree("gmm", &["objective", "jacobian"], &input, 1e-11);
    }
}

#[test]
fn lstm() {
    let mut random = Random::new(36);
    for (layers, length, width) in [(1, 2, 1), (2, 5, 3), (3, 40, 14)] {
        let bits = |_| (0..width).map(|i| (i % 3) % 2).collect::<Vec<_>>();
        let input = json!({
            "main_params": rows(&mut random, 2 * layers, 4 * width),
            "extra_params": rows(&mut random, 3, width),
            "state": rows(&mut random, 2 * layers, width),
            "sequence": (0..length).map(bits).collect::<Vec<_>>(),
        });
        agree("lstm", &["objective", "jacobian"], &input, 1e-12);
    }
}

#[test]
fn ba() {
    let mut random = Random::new(37);
    for (n, m, p) in [(1, 1, 1), (3, 5, 16), (49, 776, 3843)] {
        for turned in [true, false] {
            let mut camera = random.uniforms(11);
            if !turned {
                camera[..3].fill(0.0);
            }
            let input = json!({
                "n": n, "m": m, "p": p, "cam": camera, "x": random.normals(3),
                "w": random.uniform(), "feat": random.normals(2),
            });
            agree("ba", &["objective", "jacobian"], &input, 1e-11);
        }
    }
}

#[test]
fn ht() {
    let mut random = Random::new(38);
    let (bones, vertices, triangles, points) = (22, 40, 15, 30);
    let parent = |bone: i32| match bone {
        0 => -1,
        21 => 0,
        _ if bone % 4 == 1 => 0,
        _ => bone - 1,
    };
    for in_triangles in [false, true] {
        for mirrored in [false, true] {
            let mut matrices = || {
                let mut all: Vec<_> = (0..bones).map(|_| rows(&mut random, 4, 4)).collect();
                all.iter_mut()
                    .for_each(|matrix| matrix[3] = vec![0.0, 0.0, 0.0, 1.0]);
                all
            };
            let (relatives, inverses) = (matrices(), matrices());
            let mut positions = rows(&mut random, vertices, 4);
            positions.iter_mut().for_each(|position| position[3] = 1.0);
            let corner = |random: &mut Random| [(); 3].map(|()| random.below(vertices));
            let all: Vec<_> = (0..triangles).map(|_| corner(&mut random)).collect();
            let (known, pairs) = match in_triangles {
                true => (triangles, points),
                false => (vertices, 0),
            };
            let found: Vec<_> = (0..points).map(|_| random.below(known)).collect();
            let input = json!({
                "theta": random.uniforms(26), "us": rows(&mut random, pairs, 2), "data": {
                    "correspondences": found, "points": rows(&mut random, points, 3), "model": {
                        "bone_count": bones, "bone_names": vec!["bone"; bones],
                        "parents": (0..22).map(parent).collect::<Vec<_>>(),
                        "base_relatives": relatives, "inverse_base_absolutes": inverses,
                        "base_positions": positions, "weights": rows(&mut random, vertices, bones),
                        "triangles": all, "is_mirrored": mirrored,
                    },
                },
            });
            agree("ht", &["objective", "jacobian"], &input, 1e-11);
        }
    }
}

#[test]
fn kmeans() {
    let mut random = Random::new(39);
    for (k, n, d) in [(1, 1, 1), (3, 20, 2), (10, 200, 8)] {
        let points = rows(&mut random, n, d);
        let input = json!({"centroids": &points[n - k..], "points": points});
        agree("kmeans", &["cost", "dir"], &input, 1e-12);
    }
}

#[test]
fn particle() {
    let modes = ["rr", "ff", "fr", "rf"];
    agree("particle", &modes, &json!({"w": 0.1}), 1e-9);
}

#[test]
fn saddle() {
    let modes = ["rr", "ff", "fr", "rf"];
    agree("saddle", &modes, &json!({"start": [0.5, -0.25]}), 1e-12);
}
