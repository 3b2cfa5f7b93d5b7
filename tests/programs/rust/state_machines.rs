// Machines with states that hold numbers, builders that hand themselves on, and defaults.
include!("check.rs");

#[derive(Clone, Copy)]
enum State {
    Idle,
    Heating { power: f64, since: u32 },
    Cooling(f64),
    Broken,
}

impl State {
    fn next(self, temperature: f64, x: &[f64]) -> State {
        match self {
            State::Idle if temperature < 1.0 => State::Heating {
                power: x[0],
                since: 0,
            },
            State::Heating { power, since } if temperature > 2.0 => {
                State::Cooling(power / f64::from(since + 1))
            }
            State::Heating { power, since } => State::Heating {
                power: power * x[1],
                since: since + 1,
            },
            State::Cooling(_) if temperature < 1.2 => State::Idle,
            State::Cooling(rate) => State::Cooling(rate * 1.1),
            other => other,
        }
    }

    fn change(&self) -> f64 {
        match self {
            State::Idle => -0.3,
            State::Heating { power, .. } => *power,
            State::Cooling(rate) => -rate - 0.2,
            State::Broken => f64::NAN,
        }
    }
}

fn thermostat(x: &[f64]) -> f64 {
    let (mut state, mut temperature) = (State::Idle, x[3]);
    let mut work = 0.0;
    for _ in 0..12 {
        state = state.next(temperature, x);
        if matches!(state, State::Broken) {
            return 0.0;
        }
        temperature += state.change();
        work += temperature * temperature;
    }
    work
}

#[derive(Default, Clone)]
struct Spring {
    stiffness: f64,
    length: f64,
    damping: Option<f64>,
    label: String,
    loads: Vec<f64>,
}

impl Spring {
    fn new(stiffness: f64) -> Spring {
        Spring {
            stiffness,
            length: 1.0,
            ..Default::default()
        }
    }

    fn length(mut self, length: f64) -> Spring {
        self.length = length;
        self
    }

    fn damping(self, damping: f64) -> Spring {
        Spring {
            damping: Some(damping),
            ..self
        }
    }

    fn label(mut self, label: impl Into<String>) -> Spring {
        self.label = label.into();
        self
    }

    fn load(mut self, load: f64) -> Spring {
        self.loads.push(load);
        self
    }

    fn energy(&self) -> f64 {
        let stretched: f64 = self.loads.iter().map(|load| load / self.stiffness).sum();
        let lost = self.damping.unwrap_or(0.0) * stretched;
        0.5 * self.stiffness * (stretched - self.length).powi(2) - lost
    }
}

fn built(x: &[f64]) -> f64 {
    let soft = Spring::new(x[0]).length(x[1]).load(x[2]).load(x[3]);
    let hard = Spring::new(x[4]).label("hard").load(x[0]);
    soft.energy() * hard.energy() + hard.label.len() as f64 * x[0]
}

fn damped(x: &[f64]) -> f64 {
    let spring = Spring::new(x[0]).damping(x[1]).load(x[2]);
    spring.energy()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("machines: thermostat", thermostat, x);
    check!("machines: built", built, x);
    check!("machines: damped", damped, x);
}
