//! Bundle adjustment: a sparse Jacobian of blocks.

use crate::evaluation::{Answer, Count, Outcome, Request, check};
use crate::random::Random;
use serde::Deserialize;
use serde_json::json;
use zymase::autodiff_reverse;

#[derive(Deserialize)]
struct Input {
    n: Count,
    m: Count,
    p: Count,
    cam: [f64; 11],
    x: [f64; 3],
    w: f64,
    feat: [f64; 2],
}

/// Rotation (3), center (3), focal length, principal point (2), radial distortion (2).
type Camera = [f64; 11];

/// All cameras and points, and which of them each observation is of.
pub struct Scene {
    /// The cameras.
    pub cameras: Vec<Camera>,
    /// The points.
    pub points: Vec<[f64; 3]>,
    /// What was observed.
    pub observations: Vec<Observation>,
}

/// Where a camera saw a point.
#[derive(Clone)]
pub struct Observation {
    /// The index of the camera.
    pub camera: usize,
    /// The index of the point.
    pub point: usize,
    /// How much it counts.
    pub weight: f64,
    /// Where it was seen.
    pub feature: [f64; 2],
}

/// What the cameras and points miss the observations by.
pub struct Residuals {
    /// Two numbers for each observation.
    pub reprojection: Vec<[f64; 2]>,
    /// How far the weights are from one.
    pub weight: Vec<f64>,
}

/// A sparse matrix, row after row.
pub struct Matrix {
    /// Where each row begins, and the end of the last one.
    pub rows: Vec<usize>,
    /// The column of each entry.
    pub columns: Vec<usize>,
    /// The entries.
    pub values: Vec<f64>,
}

/// Answers `objective` and `jacobian`.
pub fn evaluate(request: &Request) -> Outcome {
    let input: Input = request.input()?;
    let scene = expand(&input)?;
    let p = scene.observations.len();
    match request.function {
        "objective" => {
            let mut residuals = Residuals::new(p);
            let ((), timings) = request.repeat(&scene, |scene| objective(scene, &mut residuals))?;
            let output = json!({
                "reproj_error": {"elements": residuals.reprojection[0], "repeated": p},
                "w_err": {"element": residuals.weight[0], "repeated": p},
            });
            Answer::new(&output, timings)
        }
        "jacobian" => {
            let mut matrix = Matrix::new(p);
            let ((), timings) = request.repeat(&scene, |scene| jacobian(scene, &mut matrix))?;
            let output = json!({
                "rows": digest(&matrix.rows),
                "cols": digest(&matrix.columns),
                "vals": digest(&matrix.values),
            });
            Answer::new(&output, timings)
        }
        _ => request.unknown_function(),
    }
}

/// Copies the one camera, point and observation of the input as often as it says.
fn expand(input: &Input) -> Result<Scene, String> {
    let (Count(n), Count(m), Count(p)) = (input.n, input.m, input.p);
    check(n > 0 && m > 0 && p > 0, "n, m and p are at least 1")?;
    let observation = |i| Observation {
        camera: i % n,
        point: i % m,
        weight: input.w,
        feature: input.feat,
    };
    Ok(Scene {
        cameras: vec![input.cam; n],
        points: vec![input.x; m],
        observations: (0..p).map(observation).collect(),
    })
}

/// The first thirty elements and the last one.
fn digest<T: Copy>(all: &[T]) -> Vec<T> {
    let first = all.iter().take(30);
    first.chain(all.last()).copied().collect()
}

impl Residuals {
    /// Room for the residuals of `p` observations.
    pub fn new(p: usize) -> Residuals {
        Residuals {
            reprojection: vec![[0.0; 2]; p],
            weight: vec![0.0; p],
        }
    }
}

impl Matrix {
    /// Room for the Jacobian of `p` observations.
    pub fn new(p: usize) -> Matrix {
        Matrix {
            rows: vec![0; 3 * p + 1],
            columns: vec![0; 31 * p],
            values: vec![0.0; 31 * p],
        }
    }
}

/// All residuals.
pub fn objective(scene: &Scene, residuals: &mut Residuals) {
    for (i, seen) in scene.observations.iter().enumerate() {
        let (camera, point) = (&scene.cameras[seen.camera], &scene.points[seen.point]);
        residuals.reprojection[i] = reprojection(camera, point, seen.weight, &seen.feature);
        residuals.weight[i] = weight_error(seen.weight);
    }
}

/// What one observation misses.
#[autodiff_reverse(d_reprojection, 2, Duplicated, Duplicated, Active, Const, ActiveOnly)]
pub fn reprojection(
    camera: &Camera,
    point: &[f64; 3],
    weight: f64,
    feature: &[f64; 2],
) -> [f64; 2] {
    let &[r0, r1, r2, c0, c1, c2, focal, u0, v0, k1, k2] = camera;
    let y = [point[0] - c0, point[1] - c1, point[2] - c2];
    let z = rotate([r0, r1, r2], y);
    let e = [z[0] / z[2], z[1] / z[2]];
    let square = e[0] * e[0] + e[1] * e[1];
    let distortion = 1.0 + k1 * square + k2 * square * square;
    [
        weight * (focal * e[0] * distortion + u0 - feature[0]),
        weight * (focal * e[1] * distortion + v0 - feature[1]),
    ]
}

/// Rotates `y` around the vector `r`, by its length.
fn rotate(r: [f64; 3], y: [f64; 3]) -> [f64; 3] {
    let square = dot(r, r);
    if square == 0.0 {
        let turned = cross(r, y);
        return [y[0] + turned[0], y[1] + turned[1], y[2] + turned[2]];
    }
    let angle = square.sqrt();
    let (sin, cos) = angle.sin_cos();
    let axis = r.map(|r| r / angle);
    let turned = cross(axis, y);
    let along = dot(axis, y) * (1.0 - cos);
    [0, 1, 2].map(|i| y[i] * cos + turned[i] * sin + axis[i] * along)
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// How far the square of a weight is from one.
#[autodiff_reverse(d_weight_error, Active, ActiveOnly)]
pub fn weight_error(weight: f64) -> f64 {
    1.0 - weight * weight
}

/// The derivative of all residuals with respect to cameras, points and weights.
pub fn jacobian(scene: &Scene, matrix: &mut Matrix) {
    fill(scene, matrix, blocks, |weight| d_weight_error(weight, 1.0));
}

/// The two rows of an observation: camera, point, weight.
fn blocks(camera: &Camera, point: &[f64; 3], seen: &Observation, values: &mut [f64; 30]) {
    values.fill(0.0);
    let (first, second) = values.split_at_mut(15);
    let (camera0, first) = first.split_first_chunk_mut().unwrap();
    let (point0, weight0) = first.split_first_chunk_mut().unwrap();
    let (camera1, second) = second.split_first_chunk_mut().unwrap();
    let (point1, weight1) = second.split_first_chunk_mut().unwrap();
    [weight0[0], weight1[0]] = d_reprojection(
        camera,
        camera0,
        camera1,
        point,
        point0,
        point1,
        seen.weight,
        &seen.feature,
        [[1.0, 0.0], [0.0, 1.0]],
    );
}

/// Writes the matrix, whose entries two functions compute.
fn fill(
    scene: &Scene,
    matrix: &mut Matrix,
    blocks: impl Fn(&Camera, &[f64; 3], &Observation, &mut [f64; 30]),
    weight_derivative: impl Fn(f64) -> f64,
) {
    let (n, m) = (scene.cameras.len(), scene.points.len());
    let p = scene.observations.len();
    let (block_values, weight_values) = matrix.values.split_at_mut(30 * p);
    let (block_columns, weight_columns) = matrix.columns.split_at_mut(30 * p);
    let (block_values, _) = block_values.as_chunks_mut();
    let (block_columns, _) = block_columns.as_chunks_mut::<30>();
    matrix.rows[0] = 0;
    for (i, seen) in scene.observations.iter().enumerate() {
        let (camera, point) = (&scene.cameras[seen.camera], &scene.points[seen.point]);
        blocks(camera, point, seen, &mut block_values[i]);
        weight_values[i] = weight_derivative(seen.weight);
        let weight_column = 11 * n + 3 * m + i;
        let camera_columns = 11 * seen.camera..11 * (seen.camera + 1);
        let point_columns = 11 * n + 3 * seen.point..11 * n + 3 * (seen.point + 1);
        for (j, column) in camera_columns.chain(point_columns).enumerate() {
            block_columns[i][j] = column;
            block_columns[i][15 + j] = column;
        }
        block_columns[i][14] = weight_column;
        block_columns[i][29] = weight_column;
        matrix.rows[2 * i + 1] = 30 * i + 15;
        matrix.rows[2 * i + 2] = 30 * i + 30;
        weight_columns[i] = weight_column;
        matrix.rows[2 * p + i + 1] = 30 * p + i + 1;
    }
}

/// A scene with different cameras and points, all in front of the cameras.
pub fn random(random: &mut Random, n: usize, m: usize, p: usize) -> Scene {
    let mut around = |middle: f64| middle + 0.2 * random.uniform();
    let rest = [
        0.1, 0.2, -0.1, 0.0, 0.0, -5.0, 400.0, 3.0, -4.0, 0.08, 0.003,
    ];
    Scene {
        cameras: (0..n).map(|_| rest.map(&mut around)).collect(),
        points: (0..m).map(|_| [0.0; 3].map(&mut around)).collect(),
        observations: (0..p)
            .map(|i| Observation {
                camera: i % n,
                point: i % m,
                weight: around(0.4),
                feature: [around(10.0), around(20.0)],
            })
            .collect(),
    }
}

/// Written by hand.
pub mod by_hand {
    use super::{Camera, Matrix, Observation, Scene, cross, dot, fill};

    /// The derivative of all residuals with respect to cameras, points and weights.
    pub fn jacobian(scene: &Scene, matrix: &mut Matrix) {
        fill(scene, matrix, blocks, |weight| -2.0 * weight);
    }

    fn blocks(camera: &Camera, point: &[f64; 3], seen: &Observation, values: &mut [f64; 30]) {
        let &[r0, r1, r2, c0, c1, c2, focal, u0, v0, k1, k2] = camera;
        let y = [point[0] - c0, point[1] - c1, point[2] - c2];
        let rotation = Rotation::new([r0, r1, r2]);
        let z = rotation.apply(y);
        let inverse = 1.0 / z[2];
        let e = [z[0] * inverse, z[1] * inverse];
        let square = e[0] * e[0] + e[1] * e[1];
        let distortion = 1.0 + k1 * square + k2 * square * square;
        let slope = 2.0 * (k1 + 2.0 * k2 * square);
        let scale = seen.weight * focal;
        let principal = [u0, v0];
        for i in 0..2 {
            let row = &mut values[15 * i..][..15];
            let mut de = [scale * e[i] * slope * e[0], scale * e[i] * slope * e[1]];
            de[i] += scale * distortion;
            let dz2 = -inverse * (de[0] * e[0] + de[1] * e[1]);
            let dz = [de[0] * inverse, de[1] * inverse, dz2];
            let dy = rotation.apply_transposed(dz);
            let dr = rotation.derivative(y, dz);
            for j in 0..3 {
                row[j] = dr[j];
                row[3 + j] = -dy[j];
                row[11 + j] = dy[j];
            }
            row[6] = seen.weight * e[i] * distortion;
            row[7] = 0.0;
            row[8] = 0.0;
            row[7 + i] = seen.weight;
            row[9] = scale * e[i] * square;
            row[10] = row[9] * square;
            row[14] = focal * e[i] * distortion + principal[i] - seen.feature[i];
        }
    }

    struct Rotation {
        axis: [f64; 3],
        sin: f64,
        cos: f64,
        /// One divided by the angle; zero if there is no rotation.
        inverse: f64,
    }

    impl Rotation {
        fn new(r: [f64; 3]) -> Rotation {
            let square = dot(r, r);
            if square == 0.0 {
                let (sin, cos) = (0.0, 1.0);
                return Rotation {
                    axis: r,
                    sin,
                    cos,
                    inverse: 0.0,
                };
            }
            let angle = square.sqrt();
            let (sin, cos) = angle.sin_cos();
            let inverse = 1.0 / angle;
            Rotation {
                axis: r.map(|r| r * inverse),
                sin,
                cos,
                inverse,
            }
        }

        fn apply(&self, y: [f64; 3]) -> [f64; 3] {
            let turned = cross(self.axis, y);
            let along = dot(self.axis, y) * (1.0 - self.cos);
            [0, 1, 2].map(|i| y[i] * self.cos + turned[i] * self.sin + self.axis[i] * along)
        }

        /// The rotation the other way.
        fn apply_transposed(&self, z: [f64; 3]) -> [f64; 3] {
            let turned = cross(z, self.axis);
            let along = dot(self.axis, z) * (1.0 - self.cos);
            [0, 1, 2].map(|i| z[i] * self.cos + turned[i] * self.sin + self.axis[i] * along)
        }

        /// The derivative of the product of `dz` and the rotated `y` with respect to the rotation.
        fn derivative(&self, y: [f64; 3], dz: [f64; 3]) -> [f64; 3] {
            let Rotation {
                axis,
                sin,
                cos,
                inverse,
            } = *self;
            let across = cross(y, dz);
            if inverse == 0.0 {
                return across;
            }
            let (of_y, of_dz) = (dot(axis, y), dot(axis, dz));
            let dangle = -sin * dot(y, dz) + cos * dot(axis, across) + sin * of_y * of_dz;
            let daxis =
                [0, 1, 2].map(|i| across[i] * sin + (of_y * dz[i] + of_dz * y[i]) * (1.0 - cos));
            let along = dot(axis, daxis);
            [0, 1, 2].map(|i| axis[i] * dangle + (daxis[i] - axis[i] * along) * inverse)
        }
    }
}
