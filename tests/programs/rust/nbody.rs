// Bodies that attract each other.
include!("check.rs");

#[derive(Clone, Copy)]
struct Body {
    place: [f64; 2],
    speed: [f64; 2],
    mass: f64,
}

struct World {
    bodies: Vec<Body>,
}

impl World {
    fn step(&mut self, dt: f64) {
        let old = self.bodies.clone();
        for (i, body) in self.bodies.iter_mut().enumerate() {
            for (j, other) in old.iter().enumerate() {
                if i == j {
                    continue;
                }
                let d = [
                    other.place[0] - body.place[0],
                    other.place[1] - body.place[1],
                ];
                let r2 = d[0] * d[0] + d[1] * d[1] + 0.01;
                for k in 0..2 {
                    body.speed[k] += dt * other.mass * d[k] / (r2 * r2.sqrt());
                }
            }
        }
        for body in &mut self.bodies {
            for k in 0..2 {
                body.place[k] += dt * body.speed[k];
            }
        }
    }

    fn energy(&self) -> f64 {
        self.bodies
            .iter()
            .map(|b| 0.5 * b.mass * (b.speed[0].powi(2) + b.speed[1].powi(2)))
            .sum()
    }
}

fn distance(x: &[f64]) -> f64 {
    let sun = Body {
        place: [0.0; 2],
        speed: [0.0; 2],
        mass: 1.0,
    };
    let planet = Body {
        place: [x[0], x[1]],
        speed: [x[2], x[3]],
        mass: 0.1,
    };
    let moon = Body {
        place: [-1.0, 0.5],
        speed: [0.2, -0.7],
        mass: x[4],
    };
    let mut world = World {
        bodies: vec![sun, planet, moon],
    };
    for _ in 0..20 {
        world.step(0.05);
    }
    let end = world.bodies[1].place;
    (end[0] - 0.5).powi(2) + (end[1] - 0.8).powi(2) + world.energy()
}

fn main() {
    check!("bodies", distance, [1.0, 0.1, 0.0, 0.9, 0.2]);
}
