//! Maximum flow and minimum cut, by Dinic's algorithm.

/// A capacity that no cut pays.
pub const INFINITE: u64 = 1 << 60;

/// A directed graph with capacities. Nodes are numbered as they are added.
#[derive(Clone, Default, Debug)]
pub struct FlowGraph {
    /// Edges in pairs: the one added, and its reverse with no capacity.
    edges: Vec<FlowEdge>,
    outgoing: Vec<Vec<usize>>,
}

#[derive(Copy, Clone, Debug)]
struct FlowEdge {
    to: usize,
    capacity: u64,
}

impl FlowGraph {
    /// Adds a node.
    pub fn add_node(&mut self) -> usize {
        self.outgoing.push(Vec::new());
        self.outgoing.len() - 1
    }

    /// Adds an edge.
    pub fn add_edge(&mut self, from: usize, to: usize, capacity: u64) {
        for (from, to, capacity) in [(from, to, capacity), (to, from, 0)] {
            self.outgoing[from].push(self.edges.len());
            self.edges.push(FlowEdge { to, capacity });
        }
    }

    /// Pushes as much flow as possible, then says for each node whether it is on the source's side
    /// of a minimum cut.
    pub fn cut(mut self, source: usize, sink: usize) -> Vec<bool> {
        loop {
            let levels = self.levels(source);
            if levels[sink].is_none() {
                return levels.iter().map(Option::is_some).collect();
            }
            let mut next = vec![0; self.outgoing.len()];
            while self.push(source, sink, &levels, &mut next) {}
        }
    }

    /// The distance of each node that is still reached from the source.
    fn levels(&self, source: usize) -> Vec<Option<u32>> {
        let mut levels = vec![None; self.outgoing.len()];
        levels[source] = Some(0);
        let mut queue = std::collections::VecDeque::from([source]);
        while let Some(node) = queue.pop_front() {
            let below = levels[node].map(|level| level + 1);
            for &edge in &self.outgoing[node] {
                let FlowEdge { to, capacity } = self.edges[edge];
                if capacity > 0 && levels[to].is_none() {
                    levels[to] = below;
                    queue.push_back(to);
                }
            }
        }
        levels
    }

    /// Pushes flow along one path of the level graph, if there is one. Explicit stack: paths are
    /// as long as chains of instructions.
    fn push(
        &mut self,
        source: usize,
        sink: usize,
        levels: &[Option<u32>],
        next: &mut [usize],
    ) -> bool {
        let mut path: Vec<usize> = Vec::new();
        let mut node = source;
        while node != sink {
            let choice = self.outgoing[node][next[node]..].iter().position(|&edge| {
                let FlowEdge { to, capacity } = self.edges[edge];
                capacity > 0 && levels[to] == levels[node].map(|level| level + 1)
            });
            match choice {
                Some(skipped) => {
                    next[node] += skipped;
                    let edge = self.outgoing[node][next[node]];
                    path.push(edge);
                    node = self.edges[edge].to;
                }
                None => {
                    next[node] = self.outgoing[node].len();
                    let Some(edge) = path.pop() else { return false };
                    node = self.edges[edge ^ 1].to;
                    next[node] += 1;
                }
            }
        }
        let least = path.iter().map(|&edge| self.edges[edge].capacity).min();
        let Some(flow) = least else { return false };
        for edge in path {
            self.edges[edge].capacity -= flow;
            self.edges[edge ^ 1].capacity += flow;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_is_the_cheapest() {
        let mut graph = FlowGraph::default();
        let nodes: Vec<usize> = (0..4).map(|_| graph.add_node()).collect();
        graph.add_edge(nodes[0], nodes[1], 10);
        graph.add_edge(nodes[0], nodes[2], 1);
        graph.add_edge(nodes[1], nodes[2], 10);
        graph.add_edge(nodes[1], nodes[3], 2);
        graph.add_edge(nodes[2], nodes[3], 3);
        assert_eq!(graph.cut(nodes[0], nodes[3]), [true, true, true, false]);
    }

    #[test]
    fn random_cuts_are_as_cheap_as_any() {
        let seed = 7;
        let mut state: u64 = seed;
        let mut random = |n: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for round in 0..200 {
            let count = 6;
            let mut edges = Vec::new();
            for _ in 0..12 {
                let (a, b) = (random(count) as usize, random(count) as usize);
                if a != b {
                    edges.push((a, b, random(9) + 1));
                }
            }
            let mut graph = FlowGraph::default();
            (0..count).for_each(|_| {
                graph.add_node();
            });
            for &(a, b, c) in &edges {
                graph.add_edge(a, b, c);
            }
            let cost = |inside: &dyn Fn(usize) -> bool| -> u64 {
                let cut = edges.iter().filter(|(a, b, _)| inside(*a) && !inside(*b));
                cut.map(|(_, _, c)| c).sum()
            };
            let side = graph.cut(0, count as usize - 1);
            assert!(side[0] && !side[count as usize - 1]);
            let best = (0..1u32 << (count - 2))
                .map(|mask| {
                    cost(&|n| n == 0 || (n + 1 < count as usize && mask >> (n - 1) & 1 == 1))
                })
                .min();
            assert_eq!(Some(cost(&|n| side[n])), best, "seed {seed}, round {round}");
        }
    }
}
