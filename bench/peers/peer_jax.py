"""Functions of the benchmarks in JAX, as one writes them there: arrays, `jit`, `grad`."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln, logsumexp

from turns import Cannot, measured, serve

FULL = jax.lax.Precision.HIGHEST


def compiled(function, *arguments, derivative=None):
    """Primal and gradient without arguments, compiled; by the first argument unless said otherwise."""
    arguments = [jnp.asarray(argument) for argument in arguments]
    primal, gradient = jax.jit(function), jax.jit(derivative or jax.grad(function))
    return (
        lambda: jax.block_until_ready(primal(*arguments)),
        lambda: jax.block_until_ready(gradient(*arguments)),
    )


def dot(shared):
    return compiled(jnp.dot, shared["x"], shared["y"], derivative=jax.grad(jnp.dot, (0, 1)))


def matmul(transposed, shared):
    n = shared.number("n")
    a, b = shared["a"].reshape(n, n), shared["b"].reshape(n, n)

    def product(a, b):
        return jnp.matmul(a, b.T if transposed else b, precision=FULL)

    def gradient(a, b):
        return jax.vjp(product, a, b)[1](jnp.ones((n, n)))

    return compiled(product, a, b, derivative=gradient)


def lse(shared):
    return compiled(logsumexp, shared["x"])


def llsq(shared):
    n, m = shared.number("n"), shared["x"].size
    if n * m > 1 << 27:
        raise Cannot("the powers of all points together would need more than a gigabyte")
    t = jnp.linspace(-1.0, 1.0, n)

    def squares(x, t):
        powers = jnp.cumprod(jnp.concatenate([jnp.ones((n, 1)), jnp.tile(t[:, None], m - 1)], 1), 1)
        return jnp.sum((jnp.sign(t) - powers @ x) ** 2) / 2

    return compiled(squares, shared["x"], t)


def kmeans_cost(centroids, points):
    square = jnp.sum((points[:, None, :] - centroids[None, :, :]) ** 2, -1)
    return jnp.sum(jnp.min(square, 1))


def kmeans(direction, shared):
    d = shared.number("d")
    points, centroids = shared["points"].reshape(-1, d), shared["centroids"].reshape(-1, d)
    slope = jax.grad(kmeans_cost)

    def newton(centroids, points):
        ones = jnp.ones_like(centroids)
        gradient, diagonal = jax.jvp(lambda c: slope(c, points), (centroids,), (ones,))
        return gradient / diagonal

    return compiled(kmeans_cost, centroids, points, derivative=newton if direction else slope)


def gmm(shared):
    d, k, n, m = (shared.number(name) for name in "dknm")
    gamma = shared["gamma"][0]
    x, alpha = shared["x"].reshape(n, d), shared["alpha"]
    mu, q, l = shared["mu"].reshape(k, d), shared["q"].reshape(k, d), shared["l"].reshape(k, -1)
    # Column by column below the diagonal.
    columns, rows = np.triu_indices(d, 1)
    degrees = d + m + 1
    log_gamma = d * (d - 1) / 4 * np.log(np.pi) + sum(
        float(gammaln(0.5 * degrees + (1 - j) / 2)) for j in range(1, d + 1)
    )
    constant = -n * d * 0.5 * np.log(2 * np.pi) + k * (
        degrees * d * (np.log(gamma) - 0.5 * np.log(2)) - log_gamma
    )

    def objective(parameters, x):
        alpha, mu, q, l = parameters
        diagonal = jnp.exp(q)
        factor = jnp.zeros((k, d, d)).at[:, rows, columns].set(l)
        factor = factor + jax.vmap(jnp.diag)(diagonal)
        centered = x[:, None, :] - mu[None, :, :]
        product = jnp.einsum("krc,nkc->nkr", factor, centered, precision=FULL)
        terms = alpha + jnp.sum(q, 1) - 0.5 * jnp.sum(product**2, -1)
        prior = 0.5 * gamma**2 * (jnp.sum(diagonal**2) + jnp.sum(l**2)) - m * jnp.sum(q)
        return constant - n * logsumexp(alpha) + jnp.sum(logsumexp(terms, 1)) - prior

    parameters = [jnp.asarray(part) for part in (alpha, mu, q, l)]
    x = jnp.asarray(x)
    primal, gradient = jax.jit(objective), jax.jit(jax.grad(objective))
    return (
        lambda: jax.block_until_ready(primal(parameters, x)),
        lambda: jax.block_until_ready(gradient(parameters, x)),
    )


def lstm(shared):
    layers, b, c = (shared.number(name) for name in ("layers", "b", "c"))
    sequence = jnp.asarray(shared["sequence"].reshape(c, b))
    state = jnp.asarray(shared["state"].reshape(layers, 2, b))

    def objective(main, extra):
        weights, biases = main.reshape(layers, 2, 4, b)[:, 0], main.reshape(layers, 2, 4, b)[:, 1]
        extra = extra.reshape(3, b)

        def step(state, bits):
            value, new = bits * extra[0], []
            for layer in range(layers):
                weight, bias, (hidden, cell) = weights[layer], biases[layer], state[layer]
                forget = jax.nn.sigmoid(value * weight[0] + bias[0])
                ingate = jax.nn.sigmoid(hidden * weight[1] + bias[1])
                outgate = jax.nn.sigmoid(value * weight[2] + bias[2])
                change = jnp.tanh(hidden * weight[3] + bias[3])
                cell = cell * forget + ingate * change
                value = outgate * jnp.tanh(cell)
                new.append(jnp.stack([value, cell]))
            return jnp.stack(new), value * extra[1] + extra[2]

        _, out = jax.lax.scan(step, state, sequence[:-1])
        norm = jnp.log(2 + jnp.sum(jnp.exp(out), 1, keepdims=True))
        return -jnp.sum(sequence[1:] * (out - norm)) / (b * (c - 1))

    return compiled(objective, shared["main"], shared["extra"], derivative=jax.grad(objective, (0, 1)))


def ode(shared):
    steps = shared.number("steps")
    h = 2.0 / steps

    def solution(x):
        def slope(y):
            return x * jnp.concatenate([jnp.ones(1), y[:-1]])

        def step(y, _):
            k1 = slope(y)
            k2 = slope(y + h * k1 / 2)
            k3 = slope(y + h * k2 / 2)
            k4 = slope(y + h * k3)
            return y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6, None

        return jnp.sum(jax.lax.scan(step, jnp.zeros_like(x), None, length=steps)[0])

    return compiled(solution, shared["x"])


def reprojection(camera, point, weight, feature):
    rotation, y = camera[:3], point - camera[3:6]
    angle = jnp.sqrt(jnp.sum(rotation**2))
    axis = rotation / angle
    z = y * jnp.cos(angle) + jnp.cross(axis, y) * jnp.sin(angle)
    z = z + axis * jnp.dot(axis, y) * (1 - jnp.cos(angle))
    e = z[:2] / z[2]
    rho = jnp.sum(e**2)
    stretch = 1 + camera[9] * rho + camera[10] * rho**2
    return weight * (camera[6] * e * stretch + camera[7:9] - feature)


def ba(shared):
    n, m, p = (shared.number(name) for name in "nmp")
    cameras, points = shared["cameras"].reshape(n, 11), shared["points"].reshape(m, 3)
    seen = np.arange(p)

    def residuals(cameras, points, weights, features):
        errors = jax.vmap(reprojection)(cameras[seen % n], points[seen % m], weights, features)
        return errors, 1 - weights**2

    def jacobian(cameras, points, weights, features):
        block = jax.vmap(jax.jacrev(reprojection, (0, 1, 2)))
        camera, point, weight = block(cameras[seen % n], points[seen % m], weights, features)
        rows = jnp.concatenate([camera, point, weight[:, :, None]], 2)
        return rows, -2 * weights

    features = shared["features"].reshape(p, 2)
    return compiled(residuals, cameras, points, shared["weights"], features, derivative=jacobian)


def det(shared):
    raise Cannot("an expansion in minors is no program of arrays: each minor would be traced")


serve(measured(globals()))
