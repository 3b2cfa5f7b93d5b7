// Simulations over structures of vectors: leapfrog, springs, heat on a grid, predators and prey with
// steps that adapt, events that change the state.
include!("check.rs");

#[derive(Clone)]
struct Cloth {
    places: Vec<[f64; 2]>,
    speeds: Vec<[f64; 2]>,
    springs: Vec<(usize, usize, f64)>,
}

impl Cloth {
    fn forces(&self, stiffness: f64) -> Vec<[f64; 2]> {
        let mut forces = vec![[0.0, -0.1]; self.places.len()];
        for &(i, j, rest) in &self.springs {
            let away: [f64; 2] = std::array::from_fn(|k| self.places[j][k] - self.places[i][k]);
            let length = away[0].hypot(away[1]);
            let pull = stiffness * (length - rest) / length;
            for k in 0..2 {
                forces[i][k] += pull * away[k];
                forces[j][k] -= pull * away[k];
            }
        }
        forces[0] = [0.0; 2];
        forces
    }

    fn step(&mut self, stiffness: f64, dt: f64) {
        for half in 0..2 {
            let forces = self.forces(stiffness);
            for (speed, force) in self.speeds.iter_mut().zip(&forces) {
                speed
                    .iter_mut()
                    .zip(force)
                    .for_each(|(v, f)| *v += 0.5 * dt * f);
            }
            if half == 0 {
                for (place, speed) in self.places.iter_mut().zip(&self.speeds) {
                    place.iter_mut().zip(speed).for_each(|(p, v)| *p += dt * v);
                }
            }
        }
    }
}

fn springs(x: &[f64]) -> f64 {
    let places: Vec<[f64; 2]> = (0..4)
        .map(|i| [f64::from(i), 0.2 * x[i as usize]])
        .collect();
    let mut cloth = Cloth {
        speeds: vec![[0.0; 2]; places.len()],
        springs: vec![(0, 1, x[3]), (1, 2, 1.0), (2, 3, 1.0), (0, 2, x[4])],
        places,
    };
    for _ in 0..20 {
        cloth.step(2.0 + x[1], 0.05);
    }
    cloth.places[3][1] * cloth.places[2][0]
}

fn adaptive(x: &[f64]) -> f64 {
    let slope =
        |[prey, hunters]: [f64; 2]| [prey * (x[1] - hunters), hunters * (x[0] * prey - x[3])];
    let (mut state, mut t, mut dt) = ([1.0 + 0.1 * x[2], 0.5], 0.0, 0.1);
    let mut rejected = 0;
    while t < 1.0 {
        let k1 = slope(state);
        let euler: [f64; 2] = std::array::from_fn(|i| state[i] + dt * k1[i]);
        let k2 = slope(euler);
        let heun: [f64; 2] = std::array::from_fn(|i| state[i] + 0.5 * dt * (k1[i] + k2[i]));
        let error = (heun[0] - euler[0]).abs().max((heun[1] - euler[1]).abs());
        if error > 1e-2 {
            dt *= 0.5;
            rejected += 1;
            continue;
        }
        state = heun;
        t += dt;
        if error < 1e-3 {
            dt = (dt * 1.5).min(0.2);
        }
    }
    state[0] * state[1] + f64::from(rejected)
}

fn bouncing(x: &[f64]) -> f64 {
    // A ball that falls, bounces and loses speed at every bounce.
    let (mut height, mut speed, mut lost) = (1.0 + x[0], x[2], 0.0);
    for _ in 0..60 {
        speed -= 0.05;
        height += 0.05 * speed;
        if height < 0.0 {
            let before = speed * speed;
            (height, speed) = (-height, -speed * 0.5 * x[1]);
            lost += before - speed * speed;
        }
    }
    height + lost
}

fn heat(x: &[f64]) -> f64 {
    const N: usize = 6;
    let mut grid = [[0.0; N]; N];
    for (i, a) in x.iter().enumerate() {
        grid[i][(2 * i) % N] = *a;
    }
    for _ in 0..6 {
        let old = grid;
        for (i, row) in grid.iter_mut().enumerate().take(N - 1).skip(1) {
            for j in 1..N - 1 {
                let around = old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1];
                row[j] += 0.1 * x[3] * (around - 4.0 * old[i][j]);
            }
        }
    }
    grid.iter().flatten().map(|a| a * a).sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 1.04];
    check!("simulations: springs", springs, x);
    check!("simulations: adaptive", adaptive, x);
    check!("simulations: bouncing", bouncing, x);
    check!("simulations: heat", heat, x);
}
