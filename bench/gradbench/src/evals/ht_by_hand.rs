//! Written by hand.

use super::*;

/// The derivative of a vertex with respect to theta, a column for each parameter.
type Derivative = [[f64; 3]; PARAMETERS];

/// The derivative of the objective, column after column, into `values`. An angle moves only the
/// bones of its finger that follow it.
pub fn jacobian(problem: &Problem, theta: &[f64], us: &[f64], values: &mut [f64]) {
    let model = &problem.model;
    let (vertices, derivatives) = vertices(model, theta);
    let rows = 3 * problem.points.len();
    let coordinates = if us.is_empty() { 0 } else { 2 };
    let (by_us, by_theta) = values.split_at_mut(coordinates * rows);
    for (i, &found) in problem.correspondences.iter().enumerate() {
        if us.is_empty() {
            for (column, derivative) in by_theta.chunks_exact_mut(rows).zip(&derivatives[found]) {
                for j in 0..3 {
                    column[3 * i + j] = -derivative[j];
                }
            }
            continue;
        }
        let triangle = model.triangles[found];
        let [a, b, c] = triangle.map(|vertex| &vertices[vertex]);
        let [da, db, dc] = triangle.map(|vertex| &derivatives[vertex]);
        let (u, v) = (us[2 * i], us[2 * i + 1]);
        let w = 1.0 - u - v;
        for j in 0..3 {
            by_us[3 * i + j] = c[j] - a[j];
            by_us[rows + 3 * i + j] = c[j] - b[j];
        }
        for (k, column) in by_theta.chunks_exact_mut(rows).take(PARAMETERS).enumerate() {
            for j in 0..3 {
                column[3 * i + j] = -(u * da[k][j] + v * db[k][j] + w * dc[k][j]);
            }
        }
    }
}

/// All vertices in the pose `theta`, and their derivatives.
fn vertices(model: &Model, theta: &[f64]) -> (Vec<[f64; 3]>, Vec<Derivative>) {
    let (transforms, bends) = transforms(model, theta);
    let turn = rotation(&theta[..3]);
    let turns = rotation_derivative(&theta[..3]);
    let mut vertices = Vec::with_capacity(model.weights.len());
    let mut derivatives = Vec::with_capacity(model.weights.len());
    for (weights, position) in model.weights.iter().zip(&model.base_positions) {
        let mut skin = blend(weights, &transforms, position);
        if model.is_mirrored {
            skin[0] = -skin[0];
        }
        let mut columns = [[0.0; 3]; PARAMETERS];
        for k in 0..3 {
            columns[k] = times(&turns[k], &skin);
            columns[3 + k][k] = 1.0;
        }
        for (column, bend) in columns[6..].iter_mut().zip(&bends) {
            let weights = &weights[bend.first..][..bend.count];
            let mut derivative = blend(weights, &bend.transforms, position);
            if model.is_mirrored {
                derivative[0] = -derivative[0];
            }
            *column = times(&turn, &derivative);
        }
        let mut vertex = times(&turn, &skin);
        for i in 0..3 {
            vertex[i] += theta[3 + i];
        }
        vertices.push(vertex);
        derivatives.push(columns);
    }
    (vertices, derivatives)
}

fn times(a: &[[f64; 3]; 3], x: &[f64; 3]) -> [f64; 3] {
    a.map(|row| row[0] * x[0] + row[1] * x[1] + row[2] * x[2])
}

/// The derivatives of transforms with respect to one angle: of so many bones from the first on.
struct Bend {
    first: usize,
    count: usize,
    transforms: [Columns; 3],
}

/// What moves the skin of each bone, and the derivatives with respect to the angles of the fingers.
fn transforms(model: &Model, theta: &[f64]) -> ([Columns; BONES], Vec<Bend>) {
    let mut relatives = [[[0.0; 4]; 4]; BONES];
    let mut absolutes = relatives;
    let mut transforms = [[[0.0; 3]; 4]; BONES];
    for bone in 0..BONES {
        let [x, z] = angles(bone, theta);
        relatives[bone] = product(&model.base_relatives[bone], &bend(x, z));
        absolutes[bone] = match model.parents[bone] {
            None => relatives[bone],
            Some(parent) => product(&absolutes[parent], &relatives[bone]),
        };
        transforms[bone] = skin_transform(model, bone, &absolutes[bone]);
    }
    let mut bends = Vec::with_capacity(PARAMETERS - 6);
    for finger in 0..5 {
        let knuckle = 4 * finger + 2;
        for (bone, around_z) in [
            (knuckle, false),
            (knuckle, true),
            (knuckle + 1, false),
            (knuckle + 2, false),
        ] {
            let [x, z] = angles(bone, theta);
            let [by_x, by_z] = bend_derivative(x, z);
            let local = if around_z { by_z } else { by_x };
            let mut derivative = product(&model.base_relatives[bone], &local);
            if let Some(parent) = model.parents[bone] {
                derivative = product(&absolutes[parent], &derivative);
            }
            let mut transforms = [[[0.0; 3]; 4]; 3];
            let count = knuckle + 3 - bone;
            for (i, transform) in transforms.iter_mut().take(count).enumerate() {
                if i > 0 {
                    derivative = product(&derivative, &relatives[bone + i]);
                }
                *transform = skin_transform(model, bone + i, &derivative);
            }
            bends.push(Bend {
                first: bone,
                count,
                transforms,
            });
        }
    }
    (transforms, bends)
}

fn skin_transform(model: &Model, bone: usize, absolute: &Matrix) -> Columns {
    columns(&product(absolute, &model.inverse_base_absolutes[bone]))
}

/// The derivatives of a bend with respect to both angles.
fn bend_derivative(x: f64, z: f64) -> [Matrix; 2] {
    let ((sx, cx), (sz, cz)) = (x.sin_cos(), z.sin_cos());
    let zero = [0.0; 4];
    [
        [
            [0.0, sz * sx, sz * cx, 0.0],
            [0.0, -cz * sx, -cz * cx, 0.0],
            [0.0, cx, -sx, 0.0],
            zero,
        ],
        [
            [-sz, -cz * cx, cz * sx, 0.0],
            [cz, -sz * cx, sz * sx, 0.0],
            zero,
            zero,
        ],
    ]
}

/// The derivatives of a rotation with respect to the three numbers of its vector.
fn rotation_derivative(omega: &[f64]) -> [[[f64; 3]; 3]; 3] {
    let angle = omega.iter().map(|x| x * x).sum::<f64>().sqrt();
    if angle < 1e-4 {
        return [[[0.0; 3]; 3]; 3];
    }
    let axis = [0, 1, 2].map(|i| omega[i] / angle);
    let (s, c) = angle.sin_cos();
    [0, 1, 2].map(|k| {
        let unit = |i: usize| if i == k { 1.0 } else { 0.0 };
        let daxis = [0, 1, 2].map(|i| (unit(i) - axis[i] * axis[k]) / angle);
        let mut result = [[0.0; 3]; 3];
        for (i, row) in result.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                let same = if i == j { 1.0 } else { 0.0 };
                *entry = axis[k] * s * (axis[i] * axis[j] - same)
                    + (1.0 - c) * (daxis[i] * axis[j] + axis[i] * daxis[j]);
            }
        }
        // The part that turns: x to y, y to z, z to x.
        for (i, j, rest) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            let turn = axis[k] * c * axis[rest] + s * daxis[rest];
            result[j][i] += turn;
            result[i][j] -= turn;
        }
        result
    })
}
