// Geometry: quaternions, rays that meet spheres and planes, chains of transformations, areas.
include!("check.rs");

use std::ops::{Add, Mul, Sub};

#[derive(Clone, Copy, Debug, PartialEq)]
struct V3([f64; 3]);

impl V3 {
    fn dot(self, o: V3) -> f64 {
        self.0.iter().zip(o.0).map(|(a, b)| a * b).sum()
    }

    fn cross(self, o: V3) -> V3 {
        let [a, b, c] = self.0;
        let [d, e, f] = o.0;
        V3([b * f - c * e, c * d - a * f, a * e - b * d])
    }

    fn unit(self) -> V3 {
        self * (1.0 / self.dot(self).sqrt())
    }
}

impl Add for V3 {
    type Output = V3;
    fn add(self, o: V3) -> V3 {
        V3(std::array::from_fn(|i| self.0[i] + o.0[i]))
    }
}

impl Sub for V3 {
    type Output = V3;
    fn sub(self, o: V3) -> V3 {
        V3(std::array::from_fn(|i| self.0[i] - o.0[i]))
    }
}

impl Mul<f64> for V3 {
    type Output = V3;
    fn mul(self, by: f64) -> V3 {
        V3(self.0.map(|a| a * by))
    }
}

#[derive(Clone, Copy)]
struct Quaternion {
    w: f64,
    v: V3,
}

impl Quaternion {
    fn turn(axis: V3, angle: f64) -> Quaternion {
        let (sin, w) = (angle / 2.0).sin_cos();
        Quaternion {
            w,
            v: axis.unit() * sin,
        }
    }

    fn rotate(self, p: V3) -> V3 {
        let t = self.v.cross(p) * 2.0;
        p + t * self.w + self.v.cross(t)
    }
}

impl Mul for Quaternion {
    type Output = Quaternion;
    fn mul(self, o: Quaternion) -> Quaternion {
        Quaternion {
            w: self.w * o.w - self.v.dot(o.v),
            v: o.v * self.w + self.v * o.w + self.v.cross(o.v),
        }
    }
}

fn quaternions(x: &[f64]) -> f64 {
    let axis = V3([x[0], x[1], x[2]]);
    let turns = (0..3).map(|i| Quaternion::turn(axis, x[3] * f64::from(i + 1)));
    let all = turns.reduce(Mul::mul).unwrap();
    let p = all.rotate(V3([1.0, 0.0, x[4]]));
    p.0[0] * p.0[1] + p.0[2]
}

struct Sphere {
    center: V3,
    radius: f64,
    mirror: bool,
}

struct Ray {
    from: V3,
    along: V3,
}

impl Sphere {
    /// Where a ray meets it first, if it does.
    fn hit(&self, ray: &Ray) -> Option<f64> {
        let to = self.center - ray.from;
        let along = to.dot(ray.along);
        let inside = self.radius * self.radius - (to.dot(to) - along * along);
        if inside < 0.0 {
            return None;
        }
        let root = inside.sqrt();
        [along - root, along + root].into_iter().find(|t| *t > 1e-3)
    }
}

fn light(spheres: &[Sphere], ray: &Ray, depth: u32) -> f64 {
    let nearest = spheres
        .iter()
        .filter_map(|sphere| Some((sphere.hit(ray)?, sphere)))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((t, sphere)) = nearest else {
        return 0.2 + 0.1 * ray.along.0[1];
    };
    let point = ray.from + ray.along * t;
    let normal = (point - sphere.center).unit();
    let lit = normal.dot(V3([0.5, 0.7, -0.5])).max(0.0);
    if sphere.mirror && depth > 0 {
        let along = ray.along - normal * (2.0 * normal.dot(ray.along));
        return 0.3 * lit + 0.7 * light(spheres, &Ray { from: point, along }, depth - 1);
    }
    lit
}

fn rays(x: &[f64]) -> f64 {
    let sphere = |at: [f64; 3], radius: f64, mirror: bool| Sphere {
        center: V3(at),
        radius,
        mirror,
    };
    let spheres = [
        sphere([0.1 * x[0], 0.0, 3.0], 0.5 * x[1], true),
        sphere([1.5, x[2], 2.5], x[3], false),
    ];
    let mut sum = 0.0;
    for i in -2..=2 {
        let along = V3([0.11 * f64::from(i), 0.07, 1.0]).unit();
        let from = V3([0.0; 3]);
        sum += light(&spheres, &Ray { from, along }, 3);
    }
    sum
}

fn polygons(x: &[f64]) -> f64 {
    let corners: Vec<(f64, f64)> = (0..5)
        .map(|i| {
            let (sin, cos) = (f64::from(i) * std::f64::consts::TAU / 5.0).sin_cos();
            let r = 1.0 + x[i as usize] * x[i as usize];
            (r * cos, r * sin)
        })
        .collect();
    let edges = corners.iter().zip(corners.iter().cycle().skip(1));
    let (area, around) = edges.fold((0.0, 0.0), |(area, around), (a, b)| {
        (
            area + a.0 * b.1 - a.1 * b.0,
            around + (a.0 - b.0).hypot(a.1 - b.1),
        )
    });
    area / around
}

fn arm(x: &[f64]) -> f64 {
    // Where an arm with joints ends.
    let (x_end, y_end, _) = x.iter().fold((0.0, 0.0, 0.0), |(px, py, angle), turn| {
        let angle: f64 = angle + turn;
        (px + angle.cos(), py + angle.sin(), angle)
    });
    (x_end - 1.0).powi(2) + (y_end - 2.0).powi(2) + y_end.atan2(x_end)
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("geometry: quaternions", quaternions, x);
    check!("geometry: rays", rays, x);
    check!("geometry: polygons", polygons, x);
    check!("geometry: arm", arm, x);
}
