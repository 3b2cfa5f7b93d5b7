//! Tracking a hand: a tall Jacobian, in forward mode.

use crate::evaluation::{Answer, Count, Outcome, Request, check, flat};
use crate::random::Random;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize, Serializer};
use zymase::autodiff_forward;

#[derive(Deserialize)]
struct Input {
    theta: Vec<f64>,
    us: Vec<[f64; 2]>,
    data: InputData,
}

#[derive(Deserialize)]
struct InputData {
    correspondences: Vec<Count>,
    points: Vec<[f64; 3]>,
    model: InputModel,
}

#[derive(Deserialize)]
struct InputModel {
    parents: Vec<f64>,
    base_relatives: Vec<Matrix>,
    inverse_base_absolutes: Vec<Matrix>,
    base_positions: Vec<[f64; 4]>,
    weights: Vec<Vec<f64>>,
    triangles: Vec<[Count; 3]>,
    is_mirrored: bool,
}

/// Rows of an affine map; the last one is 0 0 0 1.
pub type Matrix = [[f64; 4]; 4];

/// Columns of an affine map, without the last row.
type Columns = [[f64; 3]; 4];

const BONES: usize = 22;
const PARAMETERS: usize = 26;
/// How many columns of the Jacobian one pass computes.
const WIDTH: usize = 4;

/// A hand at rest.
pub struct Model {
    /// The bone that a bone hangs on, which comes before it.
    pub parents: Vec<Option<usize>>,
    /// Where bones are, seen from their parents.
    pub base_relatives: Vec<Matrix>,
    /// From space to bones.
    pub inverse_base_absolutes: Vec<Matrix>,
    /// The vertices of the skin; the fourth coordinate is one.
    pub base_positions: Vec<[f64; 4]>,
    /// How much each vertex follows each bone.
    pub weights: Vec<[f64; BONES]>,
    /// Triples of vertices.
    pub triangles: Vec<[usize; 3]>,
    /// Whether this is the other hand.
    pub is_mirrored: bool,
}

/// A hand, and points that were measured on it.
pub struct Problem {
    /// The hand.
    pub model: Model,
    /// The vertex of each point, or its triangle if there are coordinates in triangles.
    pub correspondences: Vec<usize>,
    /// The points.
    pub points: Vec<[f64; 3]>,
}

/// Answers `objective` and `jacobian`.
pub fn evaluate(request: &Request) -> Outcome {
    let (problem, theta, us) = read(request.input()?)?;
    let count = 3 * problem.points.len();
    match request.function {
        "objective" => {
            let mut residuals = vec![0.0; count];
            let run = |theta: &[f64]| objective(&problem, theta, &us, &mut residuals);
            let ((), timings) = request.repeat(&theta[..], run)?;
            Answer::new(&residuals, timings)
        }
        "jacobian" => {
            let mut jacobian = Jacobian::new(&problem, &us);
            let run = |theta: &[f64]| jacobian.compute(&problem, theta, &us);
            let ((), timings) = request.repeat(&theta[..], run)?;
            Answer::new(&jacobian, timings)
        }
        _ => request.unknown_function(),
    }
}

/// Checks the input, so that all indices are good.
fn read(input: Input) -> Result<(Problem, Vec<f64>, Vec<f64>), String> {
    let Input { theta, us, data } = input;
    let model = data.model;
    check(theta.len() == PARAMETERS, "theta has not 26 numbers")?;
    let bones = [
        model.parents.len(),
        model.base_relatives.len(),
        model.inverse_base_absolutes.len(),
    ];
    check(bones == [BONES; 3], "the model has not 22 bones")?;
    let vertices = model.base_positions.len();
    check(
        model.weights.len() == vertices,
        "there are not weights for each vertex",
    )?;
    let parents: Option<Vec<_>> = model.parents.iter().enumerate().map(parent).collect();
    let parents = parents.ok_or("bad input: a parent does not come before its child")?;
    let weights = flat(&model.weights, BONES, "weights")?;
    let points = data.points.len();
    check(
        data.correspondences.len() == points,
        "there is not a correspondence for each point",
    )?;
    check(
        us.is_empty() || us.len() == points,
        "there is not a pair in us for each point",
    )?;
    let triangles: Vec<_> = model.triangles.iter().map(|t| t.map(|i| i.0)).collect();
    let good = triangles.iter().flatten().all(|&i| i < vertices);
    check(good, "a triangle has a vertex that is none")?;
    let known = if us.is_empty() {
        vertices
    } else {
        triangles.len()
    };
    let correspondences: Vec<_> = data.correspondences.iter().map(|i| i.0).collect();
    let good = correspondences.iter().all(|&i| i < known);
    check(good, "a correspondence is with nothing")?;
    let model = Model {
        parents,
        base_relatives: model.base_relatives,
        inverse_base_absolutes: model.inverse_base_absolutes,
        base_positions: model.base_positions,
        weights: weights.as_chunks().0.to_vec(),
        triangles,
        is_mirrored: model.is_mirrored,
    };
    let problem = Problem {
        model,
        correspondences,
        points: data.points,
    };
    Ok((problem, theta, us.concat()))
}

/// The parent of a bone, -1 for none.
fn parent((bone, &parent): (usize, &f64)) -> Option<Option<usize>> {
    if parent == -1.0 {
        return Some(None);
    }
    let Count(parent) = Count::try_from(parent).ok()?;
    (parent < bone).then_some(Some(parent))
}

/// What the hand in the pose `theta` misses the points by, three numbers each. Without `us`, points
/// belong to vertices; with `us`, to places in triangles.
#[autodiff_forward(f_objective, 4, Const, Dualv, Dualv, Dualv)]
pub fn objective(problem: &Problem, theta: &[f64], us: &[f64], residuals: &mut [f64]) {
    let vertices = vertices(&problem.model, theta);
    for (i, point) in problem.points.iter().enumerate() {
        let residual = &mut residuals[3 * i..][..3];
        let found = problem.correspondences[i];
        if us.is_empty() {
            for j in 0..3 {
                residual[j] = point[j] - vertices[found][j];
            }
        } else {
            let [a, b, c] = problem.model.triangles[found].map(|vertex| &vertices[vertex]);
            let (u, v) = (us[2 * i], us[2 * i + 1]);
            for j in 0..3 {
                residual[j] = point[j] - (u * a[j] + v * b[j] + (1.0 - u - v) * c[j]);
            }
        }
    }
}

/// All vertices in the pose `theta`.
fn vertices(model: &Model, theta: &[f64]) -> Vec<[f64; 3]> {
    let transforms = transforms(model, theta);
    let turn = rotation(&theta[..3]);
    let shift = &theta[3..6];
    let mut vertices = Vec::with_capacity(model.weights.len());
    for (weights, position) in model.weights.iter().zip(&model.base_positions) {
        let mut skin = blend(weights, &transforms, position);
        if model.is_mirrored {
            skin[0] = -skin[0];
        }
        let mut vertex = [0.0; 3];
        for i in 0..3 {
            let [x, y, z] = turn[i];
            vertex[i] = x * skin[0] + y * skin[1] + z * skin[2] + shift[i];
        }
        vertices.push(vertex);
    }
    vertices
}

/// The mean of what the transforms make of a position.
fn blend(weights: &[f64], transforms: &[Columns], position: &[f64; 4]) -> [f64; 3] {
    let mut result = [0.0; 3];
    for (weight, transform) in weights.iter().zip(transforms) {
        for (coordinate, column) in position.iter().zip(transform) {
            let factor = weight * coordinate;
            for (result, entry) in result.iter_mut().zip(column) {
                *result += factor * entry;
            }
        }
    }
    result
}

/// What moves the skin of each bone from rest to the pose.
fn transforms(model: &Model, theta: &[f64]) -> [Columns; BONES] {
    let mut absolutes = [[[0.0; 4]; 4]; BONES];
    let mut transforms = [[[0.0; 3]; 4]; BONES];
    for bone in 0..BONES {
        let [x, z] = angles(bone, theta);
        let relative = product(&model.base_relatives[bone], &bend(x, z));
        absolutes[bone] = match model.parents[bone] {
            None => relative,
            Some(parent) => product(&absolutes[parent], &relative),
        };
        let transform = product(&absolutes[bone], &model.inverse_base_absolutes[bone]);
        transforms[bone] = columns(&transform);
    }
    transforms
}

/// The angles of a bone around x and z: four for each finger, whose first bone does not move.
fn angles(bone: usize, theta: &[f64]) -> [f64; 2] {
    let place = 6 + bone.saturating_sub(1) / 4 * 4;
    match bone % 4 {
        _ if bone == 0 || bone == 21 => [0.0, 0.0],
        2 => [theta[place], theta[place + 1]],
        3 => [theta[place + 2], 0.0],
        0 => [theta[place + 3], 0.0],
        _ => [0.0, 0.0],
    }
}

/// The rotation around x, then the one around z.
fn bend(x: f64, z: f64) -> Matrix {
    let ((sx, cx), (sz, cz)) = (x.sin_cos(), z.sin_cos());
    [
        [cz, -sz * cx, sz * sx, 0.0],
        [sz, cz * cx, -cz * sx, 0.0],
        [0.0, sx, cx, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
}

/// The columns of an affine map, without its last row.
fn columns(matrix: &Matrix) -> Columns {
    let mut columns = [[0.0; 3]; 4];
    for (j, column) in columns.iter_mut().enumerate() {
        for (i, entry) in column.iter_mut().enumerate() {
            *entry = matrix[i][j];
        }
    }
    columns
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut result = [[0.0; 4]; 4];
    for i in 0..4 {
        for k in 0..4 {
            for j in 0..4 {
                result[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    result
}

/// The rotation around a vector, by its length; none if it is very short.
fn rotation(omega: &[f64]) -> [[f64; 3]; 3] {
    let angle = omega.iter().map(|x| x * x).sum::<f64>().sqrt();
    if angle < 1e-4 {
        return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    }
    let (x, y, z) = (omega[0] / angle, omega[1] / angle, omega[2] / angle);
    let (s, c) = angle.sin_cos();
    let d = 1.0 - c;
    [
        [
            x * x + (1.0 - x * x) * c,
            x * y * d - z * s,
            x * z * d + y * s,
        ],
        [
            x * y * d + z * s,
            y * y + (1.0 - y * y) * c,
            y * z * d - x * s,
        ],
        [
            x * z * d - y * s,
            y * z * d + x * s,
            z * z + (1.0 - z * z) * c,
        ],
    ]
}

/// The Jacobian, and what its computation needs.
pub struct Jacobian {
    /// How many rows there are: three for each point.
    pub rows: usize,
    /// How many columns there are: 26, two more with coordinates in triangles.
    pub columns: usize,
    /// Column after column, and some more to fill the last pass.
    pub values: Vec<f64>,
    residuals: Vec<f64>,
    dtheta: Vec<f64>,
    dus: Vec<f64>,
}

impl Jacobian {
    /// Room for the Jacobian of a problem.
    pub fn new(problem: &Problem, us: &[f64]) -> Jacobian {
        let rows = 3 * problem.points.len();
        let columns = PARAMETERS + if us.is_empty() { 0 } else { 2 };
        Jacobian {
            rows,
            columns,
            values: vec![0.0; rows * columns.next_multiple_of(WIDTH)],
            residuals: vec![0.0; rows],
            dtheta: vec![0.0; WIDTH * PARAMETERS],
            dus: vec![0.0; WIDTH * us.len()],
        }
    }

    /// Computes the values, some columns in each pass.
    pub fn compute(&mut self, problem: &Problem, theta: &[f64], us: &[f64]) {
        for first in (0..self.columns).step_by(WIDTH) {
            self.dtheta.fill(0.0);
            self.dus.fill(0.0);
            for pass in 0..WIDTH.min(self.columns - first) {
                self.seed(pass, first + pass, us.len());
            }
            let values = &mut self.values[first * self.rows..][..WIDTH * self.rows];
            let Jacobian {
                residuals,
                dtheta,
                dus,
                ..
            } = self;
            f_objective(problem, theta, dtheta, us, dus, residuals, values);
        }
    }

    /// The direction of a column: one of the coordinates of all points, or one parameter.
    fn seed(&mut self, pass: usize, column: usize, us: usize) {
        let coordinates = self.columns - PARAMETERS;
        if column < coordinates {
            let dus = &mut self.dus[pass * us..][..us];
            dus.iter_mut()
                .skip(column)
                .step_by(2)
                .for_each(|du| *du = 1.0);
        } else {
            self.dtheta[pass * PARAMETERS + column - coordinates] = 1.0;
        }
    }
}

impl Serialize for Jacobian {
    /// Row after row.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = vec![0.0; self.columns];
        let mut rows = serializer.serialize_seq(Some(self.rows))?;
        for i in 0..self.rows {
            for (column, entry) in row.iter_mut().enumerate() {
                *entry = self.values[column * self.rows + i];
            }
            rows.serialize_element(&row)?;
        }
        rows.end()
    }
}

/// Sizes of a problem.
pub struct Size {
    /// How many vertices the model has.
    pub vertices: usize,
    /// How many triangles it has.
    pub triangles: usize,
    /// How many points there are.
    pub points: usize,
    /// Whether the points are in triangles.
    pub in_triangles: bool,
}

/// A problem of this size, a pose and coordinates in triangles. The bones hang on each other as in
/// a hand; each vertex follows four of them.
pub fn random(random: &mut Random, size: &Size) -> (Problem, Vec<f64>, Vec<f64>) {
    let parent = |bone| match bone {
        0 => None,
        21 => Some(0),
        _ if bone % 4 == 1 => Some(0),
        _ => Some(bone - 1),
    };
    let mut matrix = || {
        let mut matrix = bend(random.normal(), random.normal());
        matrix[..3]
            .iter_mut()
            .for_each(|row| row[3] = 0.1 * random.normal());
        matrix
    };
    let base_relatives = (0..BONES).map(|_| matrix()).collect();
    let inverse_base_absolutes = (0..BONES).map(|_| matrix()).collect();
    let mut position = || [(); 3].map(|()| random.uniform());
    let positions: Vec<_> = (0..size.vertices).map(|_| position()).collect();
    let points = (0..size.points).map(|_| position()).collect();
    let mut weights = vec![[0.0; BONES]; size.vertices];
    for weights in &mut weights {
        for _ in 0..4 {
            weights[random.below(BONES)] += 0.25;
        }
    }
    let mut triangle = || [(); 3].map(|()| random.below(size.vertices.min(544)));
    let triangles: Vec<_> = (0..size.triangles).map(|_| triangle()).collect();
    let known = if size.in_triangles {
        size.triangles
    } else {
        size.vertices
    };
    let correspondences = (0..size.points).map(|_| random.below(known)).collect();
    let model = Model {
        parents: (0..BONES).map(parent).collect(),
        base_relatives,
        inverse_base_absolutes,
        base_positions: positions.iter().map(|&[x, y, z]| [x, y, z, 1.0]).collect(),
        weights,
        triangles,
        is_mirrored: false,
    };
    let problem = Problem {
        model,
        correspondences,
        points,
    };
    let coordinates = if size.in_triangles {
        2 * size.points
    } else {
        0
    };
    (
        problem,
        random.normals(PARAMETERS),
        random.uniforms(coordinates),
    )
}

#[path = "ht_by_hand.rs"]
pub mod by_hand;
