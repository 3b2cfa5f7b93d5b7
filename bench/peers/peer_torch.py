"""Functions of the benchmarks in PyTorch, as one writes them there: tensors and `autograd`."""

import math
import numpy as np
import torch

from turns import Cannot, measured, serve

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def tensor(array, *shape):
    return torch.from_numpy(np.array(array)).reshape(shape or (-1,))


def differentiated(function, *parameters):
    """Primal and gradient without arguments, by all parameters."""

    def primal():
        with torch.no_grad():
            return function(*parameters)

    def gradient():
        leaves = [parameter.detach().requires_grad_() for parameter in parameters]
        return torch.autograd.grad(function(*leaves), leaves)

    return primal, gradient


def dot(shared):
    return differentiated(torch.dot, tensor(shared["x"]), tensor(shared["y"]))


def matmul(transposed, shared):
    n = shared.number("n")
    a, b, ones = tensor(shared["a"], n, n), tensor(shared["b"], n, n), torch.ones(n, n)

    def product(a, b):
        return a @ (b.T if transposed else b)

    def gradient():
        leaves = [a.detach().requires_grad_(), b.detach().requires_grad_()]
        return torch.autograd.grad(product(*leaves), leaves, ones)

    return differentiated(product, a, b)[0], gradient


def lse(shared):
    return differentiated(lambda x: torch.logsumexp(x, 0), tensor(shared["x"]))


def llsq(shared):
    n, m = shared.number("n"), shared["x"].size
    if n * m > 1 << 27:
        raise Cannot("the powers of all points together would need more than a gigabyte")
    t = torch.linspace(-1, 1, n)

    def squares(x):
        powers = torch.cumprod(torch.cat([torch.ones(n, 1), t[:, None].expand(n, m - 1)], 1), 1)
        return ((torch.sign(t) - powers @ x) ** 2).sum() / 2

    return differentiated(squares, tensor(shared["x"]))


def kmeans(direction, shared):
    k, n, d = (shared.number(name) for name in "knd")
    points, centroids = tensor(shared["points"], n, d), tensor(shared["centroids"], k, d)
    ones = torch.ones_like(centroids)

    def cost(centroids):
        return ((points[:, None, :] - centroids) ** 2).sum(-1).min(1).values.sum()

    def newton():
        gradient, diagonal = torch.func.jvp(torch.func.grad(cost), (centroids,), (ones,))
        return gradient / diagonal

    primal, gradient = differentiated(cost, centroids)
    return primal, newton if direction else gradient


def gmm(shared):
    d, k, n, m = (shared.number(name) for name in "dknm")
    gamma = shared["gamma"][0]
    x, alpha, mu = tensor(shared["x"], n, d), tensor(shared["alpha"]), tensor(shared["mu"], k, d)
    q, l = tensor(shared["q"], k, d), tensor(shared["l"], k, -1)
    # Column by column below the diagonal.
    columns, rows = np.triu_indices(d, 1)
    degrees = d + m + 1
    log_gamma = d * (d - 1) / 4 * math.log(math.pi)
    log_gamma += sum(math.lgamma(0.5 * degrees + (1 - j) / 2) for j in range(1, d + 1))
    constant = -n * d * 0.5 * math.log(2 * math.pi)
    constant += k * (degrees * d * (math.log(gamma) - 0.5 * math.log(2)) - log_gamma)

    def objective(alpha, mu, q, l):
        diagonal = q.exp()
        factor = torch.diag_embed(diagonal)
        factor[:, rows, columns] = l
        product = torch.einsum("krc,nkc->nkr", factor, x[:, None, :] - mu)
        terms = alpha + q.sum(1) - 0.5 * (product**2).sum(-1)
        prior = 0.5 * gamma**2 * ((diagonal**2).sum() + (l**2).sum()) - m * q.sum()
        likelihood = torch.logsumexp(terms, 1).sum()
        return constant - n * torch.logsumexp(alpha, 0) + likelihood - prior

    return differentiated(objective, alpha, mu, q, l)


def lstm(shared):
    layers, b, c = (shared.number(name) for name in ("layers", "b", "c"))
    sequence, start = tensor(shared["sequence"], c, b), tensor(shared["state"], layers, 2, b)

    def objective(main, extra):
        parts, extra = main.reshape(layers, 2, 4, b), extra.reshape(3, b)
        hidden, cell = list(start[:, 0]), list(start[:, 1])
        out = []
        for bits in sequence[:-1]:
            value = bits * extra[0]
            for layer in range(layers):
                weight, bias = parts[layer]
                forget = torch.sigmoid(value * weight[0] + bias[0])
                ingate = torch.sigmoid(hidden[layer] * weight[1] + bias[1])
                outgate = torch.sigmoid(value * weight[2] + bias[2])
                change = torch.tanh(hidden[layer] * weight[3] + bias[3])
                cell[layer] = cell[layer] * forget + ingate * change
                value = hidden[layer] = outgate * torch.tanh(cell[layer])
            out.append(value * extra[1] + extra[2])
        out = torch.stack(out)
        norm = torch.log(2 + out.exp().sum(1, keepdim=True))
        return -(sequence[1:] * (out - norm)).sum() / (b * (c - 1))

    return differentiated(objective, tensor(shared["main"]), tensor(shared["extra"]))


def ode(shared):
    steps = shared.number("steps")
    h, one = 2.0 / steps, torch.ones(1)

    def solution(x):
        def slope(y):
            return x * torch.cat([one, y[:-1]])

        y = torch.zeros_like(x)
        for _ in range(steps):
            k1 = slope(y)
            k2 = slope(y + h * k1 / 2)
            k3 = slope(y + h * k2 / 2)
            k4 = slope(y + h * k3)
            y = y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        return y.sum()

    return differentiated(solution, tensor(shared["x"]))


def ba(shared):
    n, m, p = (shared.number(name) for name in "nmp")
    cameras, points = tensor(shared["cameras"], n, 11), tensor(shared["points"], m, 3)
    weights, features = tensor(shared["weights"]), tensor(shared["features"], p, 2)
    seen = torch.arange(p)

    # All observations at once: a Jacobian by rows is two gradients of sums.
    def errors(camera, point, weight):
        rotation, y = camera[:, :3], point - camera[:, 3:6]
        angle = torch.sqrt((rotation**2).sum(1, keepdim=True))
        axis = rotation / angle
        z = y * angle.cos() + torch.linalg.cross(axis, y) * angle.sin()
        z = z + axis * (axis * y).sum(1, keepdim=True) * (1 - angle.cos())
        e = z[:, :2] / z[:, 2:]
        rho = (e**2).sum(1, keepdim=True)
        stretch = 1 + camera[:, 9:10] * rho + camera[:, 10:11] * rho**2
        return weight[:, None] * (camera[:, 6:7] * e * stretch + camera[:, 7:9] - features)

    def primal():
        with torch.no_grad():
            return errors(cameras[seen % n], points[seen % m], weights), 1 - weights**2

    def jacobian():
        leaves = [cameras[seen % n], points[seen % m], weights.detach()]
        leaves = [leaf.requires_grad_() for leaf in leaves]
        out, rows = errors(*leaves), []
        for row in range(2):
            camera, point, weight = torch.autograd.grad(out[:, row].sum(), leaves, retain_graph=row == 0)
            rows.append(torch.cat([camera, point, weight[:, None]], 1))
        return torch.stack(rows, 1), -2 * weights

    return primal, jacobian


def det(shared):
    raise Cannot("an expansion in minors is no program of tensors: each minor would be a graph")


serve(measured(globals()))
