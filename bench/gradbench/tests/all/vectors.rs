//! The values that GradBench's own implementation gives.

use crate::{assert_close, assert_near, evaluate};
use serde_json::{Value, json};

#[track_caller]
fn check(module: &str, input: &Value, answers: [(&str, Value); 2]) {
    for (function, expected) in answers {
        let found = evaluate(module, function, input);
        assert_close(&found, &expected, 1e-12);
    }
}

#[test]
fn llsq() {
    let input = json!({"x": [1, -0.5, 0.25], "n": 4});
    let gradient = json!([4.555555555555555, -3.7777777777777777, 2.728395061728395]);
    check(
        "llsq",
        &input,
        [("primal", json!(6.229938271604937)), ("gradient", gradient)],
    );
}

#[test]
fn lse() {
    let input = json!({"x": [0, 1, 2]});
    let gradient = json!([0.09003057317038046, 0.24472847105479764, 0.6652409557748218]);
    check(
        "lse",
        &input,
        [
            ("primal", json!(2.4076059644443806)),
            ("gradient", gradient),
        ],
    );
}

#[test]
fn det() {
    let input = json!({"A": [2, 1, 0.5, 0, 3, 1, 1.5, 0.25, 1], "ell": 3.0});
    let gradient = json!([2.75, 1.5, -4.5, -0.875, 1.25, 1, -0.5, -2, 6]);
    check(
        "det",
        &input,
        [("primal", json!(4.75)), ("gradient", gradient)],
    );
}

#[test]
fn ode() {
    let input = json!({"x": [0.5, 0.25, 2], "s": 2});
    let answers = [
        ("primal", json!([1, 0.25, 1.0 / 3.0])),
        ("gradient", json!([2.0 / 3.0, 4.0 / 3.0, 1.0 / 6.0])),
    ];
    check("ode", &input, answers);
}

/// In every default size the last equation is out of reach.
#[test]
fn ode_out_of_reach() {
    let input = json!({"x": vec![0.5; 100], "s": 10});
    let gradient = evaluate("ode", "gradient", &input);
    assert_close(&gradient, &json!(vec![0.0; 100]), 0.0);
}

#[test]
fn kmeans() {
    let input = json!({
        "points": [[0, 0], [1, 0], [0, 1], [4, 4], [5, 4.5]],
        "centroids": [[0.5, 0], [5, 5]],
    });
    let dir = json!([[1.0 / 6.0, -1.0 / 3.0], [0.5, 0.75]]);
    check("kmeans", &input, [("cost", json!(4)), ("dir", dir)]);
}

#[test]
fn gmm() {
    let input = json!({
        "d": 2, "k": 2, "n": 2, "m": 1, "gamma": 1.5,
        "x": [[0.5, -1], [1.5, 0.25]],
        "alpha": [0.1, -0.2],
        "mu": [[0, 0.5], [1, -0.5]],
        "q": [[0.1, -0.3], [0.2, 0]],
        "l": [[0.4], [-0.6]],
    });
    let jacobian = json!({
        "alpha": [-0.5433724377629497, 0.5433724377629497],
        "mu": [
            [0.5324684474551657, -0.1937675736556111],
            [-0.01213708584232682, 0.22884968770252467],
        ],
        "q": [
            [-1.8621465316342387, -0.004027621610130594],
            [-1.4822008530645183, -0.18048434016045767],
        ],
        "l": [[-0.859998761666367], [1.1129075733301808]],
    });
    let objective = json!(-10.083537912482704);
    check(
        "gmm",
        &input,
        [("objective", objective), ("jacobian", jacobian)],
    );
}

#[test]
fn lstm() {
    let input = json!({
        "main_params": [
            [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
            [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75],
        ],
        "extra_params": [[0.9, 0.8], [0.7, 0.6], [0.5, 0.4]],
        "state": [[0.3, -0.1], [0.2, 0.6]],
        "sequence": [[1, 0], [0, 1], [1, 1], [1, 0]],
    });
    let objective = evaluate("lstm", "objective", &input);
    assert_close(&objective, &json!(0.7270573824346829), 1e-12);
    let jacobian = evaluate("lstm", "jacobian", &input);
    let jacobian = jacobian.as_array().unwrap();
    assert_eq!(jacobian.len(), 22);
    let first = json!([
        -0.004586375299195809,
        0.0008597880820716124,
        -0.003815672207449286,
        0.0010216545835611771,
    ]);
    let last = json!([
        -0.04890473201066085,
        -0.040076345117044235,
        -0.10021189507317985,
        -0.11640118689324018,
    ]);
    assert_close(&json!(jacobian[..4]), &first, 1e-12);
    assert_close(&json!(jacobian[18..]), &last, 1e-12);
}

#[test]
fn ba() {
    let input = json!({
        "n": 49, "m": 7776, "p": 31843,
        "cam": [
            -0.758453, -1.109613, -0.845551, 34.556073, 39.676747, 53.881673, 419.194514,
            5.864426, -8.518870, 0.087812, 0.002739,
        ],
        "x": [7.203245, 0.001144, 3.023326],
        "w": 0.417022,
        "feat": [271.760969, 834.209256],
    });
    let objective = json!({
        "reproj_error": {
            "elements": [0.10133583791450886, -0.06896776592424401],
            "repeated": 31843,
        },
        "w_err": {"element": 0.826092651516, "repeated": 31843},
    });
    let found = evaluate("ba", "objective", &input);
    assert_close(&found, &objective, 1e-11);

    let found = evaluate("ba", "jacobian", &input);
    let mut rows: Vec<usize> = (0..30).map(|i| 15 * i).collect();
    rows.push(987133);
    assert_eq!(found["rows"], json!(rows));
    let observation = (0..11).chain([539, 540, 541, 23867]);
    let mut columns: Vec<usize> = observation.clone().chain(observation).collect();
    columns.push(55709);
    assert_eq!(found["cols"], json!(columns));
    let values = found["vals"].as_array().unwrap();
    assert_eq!(values.len(), 31);
    let first = json!([
        -461.4463210015993,
        178.8679280144455,
        -19.423916472206248,
        -3.0615983420410315,
        6.392457556226442,
        -3.340282281299017,
        0.26476024920703156,
        0.417022,
        0,
        243.62824566083003,
        676.4867782658688,
        3.0615983420410315,
        -6.392457556226442,
        3.340282281299017,
        0.24299878163378708,
    ]);
    assert_close(&json!(values[..15]), &first, 1e-11);
    let second = json!([-803.7436233648792, -309.5954175234488, 604.7802846625028]);
    assert_close(&json!(values[15..18]), &second, 1e-11);
    let end = json!([
        15.049628170340545,
        -6.248486312079824,
        -3.2194799516049235,
        -0.16538160078960118,
        -0.834044,
    ]);
    assert_close(&json!(values[26..]), &end, 1e-11);
}

#[test]
fn particle() {
    for function in ["rr", "ff", "fr", "rf"] {
        let found = evaluate("particle", function, &json!({"w": 0}));
        assert_near(found.as_f64().unwrap(), 0.2071918746486116, 1e-9);
    }
}

#[test]
fn saddle() {
    for function in ["rr", "ff", "fr", "rf"] {
        let found = evaluate("saddle", function, &json!({"start": [1.0, 1.0]}));
        for found in found.as_array().unwrap() {
            assert_near(found.as_f64().unwrap(), 8.246324826140356e-06, 1e-15);
        }
    }
}

/// The files of ADBench are not part of the project; where they are is in `ADBENCH_DATA`.
#[test]
fn ht_of_adbench() {
    let Some(folder) = std::env::var_os("ADBENCH_DATA") else {
        println!("skipped: ADBENCH_DATA does not name ADBench's data folder");
        return;
    };
    let folder = std::path::Path::new(&folder).join("hand");
    let simple = [
        0.19224339453588057,
        0.08247191593189719,
        -0.23651946654753214,
    ];
    check_hand(
        &folder.join("simple_small"),
        simple,
        3.124739868938892,
        302.11057537514375,
    );
    let complicated = [
        -0.10689429462879463,
        -0.010055240144601019,
        0.00215333875426138,
    ];
    let row = check_hand(
        &folder.join("complicated_small"),
        complicated,
        3.2270151113692314,
        302.1833671081735,
    );
    let mut expected = [0.0; 28];
    expected[..2].copy_from_slice(&[0.000338, 0.002843]);
    expected[2..6].copy_from_slice(&[0.001452, 0.001403, -0.061053, -1.0]);
    expected[20..24].copy_from_slice(&[0.029453, 0.016748, 0.032823, 0.016927]);
    assert_close(&row, &json!(expected), 1e-6);
}

/// Compares the first residuals, and sums of squares; gives the first row of the Jacobian.
fn check_hand(folder: &std::path::Path, first: [f64; 3], sum: f64, sum_of_jacobian: f64) -> Value {
    let input = hand(folder, "hand1_t26_c100.txt");
    let residuals = evaluate("ht", "objective", &input);
    assert_eq!(residuals.as_array().unwrap().len(), 300);
    assert_close(
        &json!(residuals.as_array().unwrap()[..3]),
        &json!(first),
        1e-12,
    );
    assert_near(sum_of_squares(&residuals), sum, 1e-12);
    let jacobian = evaluate("ht", "jacobian", &input);
    assert_eq!(jacobian.as_array().unwrap().len(), 300);
    assert_near(sum_of_squares(&jacobian), sum_of_jacobian, 1e-12);
    jacobian[0].clone()
}

fn sum_of_squares(value: &Value) -> f64 {
    match value {
        Value::Array(values) => values.iter().map(sum_of_squares).sum(),
        value => value.as_f64().unwrap().powi(2),
    }
}

/// Reads a model and a problem of ADBench.
fn hand(folder: &std::path::Path, problem: &str) -> Value {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let numbers = |fields: &[&str]| -> Vec<f64> {
        fields
            .iter()
            .filter(|f| !f.trim().is_empty())
            .map(|f| f.trim().parse().unwrap())
            .collect()
    };
    let matrix = |fields: &[&str]| -> Vec<Vec<f64>> {
        numbers(fields).chunks(4).map(<[f64]>::to_vec).collect()
    };
    let (mut names, mut parents) = (Vec::new(), Vec::new());
    let (mut relatives, mut inverses) = (Vec::new(), Vec::new());
    for line in read("model/bones.txt")
        .lines()
        .filter(|line| !line.is_empty())
    {
        let fields: Vec<&str> = line.split(':').collect();
        names.push(fields[0].to_string());
        parents.push(fields[1].parse::<i64>().unwrap());
        relatives.push(matrix(&fields[2..18]));
        inverses.push(matrix(&fields[18..34]));
    }
    let (mut positions, mut weights) = (Vec::new(), Vec::new());
    for line in read("model/vertices.txt")
        .lines()
        .filter(|line| !line.is_empty())
    {
        let fields = numbers(&line.split(':').collect::<Vec<_>>());
        positions.push([fields[0], fields[1], fields[2], 1.0]);
        let mut row = vec![0.0; names.len()];
        for pair in fields[9..][..2 * fields[8] as usize].chunks(2) {
            row[pair[0] as usize] += pair[1];
        }
        weights.push(row);
    }
    let triangles: Vec<Vec<usize>> = read("model/triangles.txt")
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            line.split(':')
                .map(|field| field.trim().parse().unwrap())
                .collect()
        })
        .collect();

    let text = read(problem);
    let mut lines = text
        .lines()
        .map(|line| numbers(&line.split_whitespace().collect::<Vec<_>>()));
    let count = lines.next().unwrap()[0] as usize;
    let found: Vec<Vec<f64>> = lines.by_ref().take(count).collect();
    let mut rest: Vec<Vec<f64>> = lines.filter(|line| !line.is_empty()).collect();
    let theta = rest.split_off(rest.len() - 26).concat();
    json!({
        "theta": theta,
        "us": rest,
        "data": {
            "correspondences": found.iter().map(|row| row[0] as usize).collect::<Vec<_>>(),
            "points": found.iter().map(|row| &row[1..]).collect::<Vec<_>>(),
            "model": {
                "bone_count": names.len(), "bone_names": names, "parents": parents,
                "base_relatives": relatives, "inverse_base_absolutes": inverses,
                "base_positions": positions, "weights": weights, "triangles": triangles,
                "is_mirrored": false,
            },
        },
    })
}
