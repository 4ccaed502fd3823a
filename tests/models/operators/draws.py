"""What draws random numbers, in the first step with the seed 0.

The numbers are those of Philox4x32-10, written here a second time. Each use of `rand` in the model
has a stream, numbered from the first output on.
"""
import numpy as np

from case import Case

MASK = (1 << 32) - 1


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK, (a >> 32) ^ c[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def uniform(stream, shape, seed=None, run=0, step=0):
    """`seed` is the node's own: the bits of a float, or an integer. `run` is that of the run."""
    own = seed if isinstance(seed, int) else int(np.float32(seed or 0).view(np.uint32))
    words = [philox([e, 0, step, own], [run, stream])[0] for e in range(np.prod(shape))]
    return (np.array(words) >> 8).reshape(shape) / 2.0**24


def normal(stream, shape, seed=None, **of_run):
    first, second = (uniform(stream + i, shape, seed, **of_run) for i in range(2))
    return np.sqrt(-2 * np.log(1 - first)) * np.cos(2 * np.pi * second)


def drawn(stream, logits, samples, seed=None):
    rows, classes = logits.shape
    u = np.maximum(uniform(stream, (rows, samples, classes), seed), 2.98e-8)
    return np.argmax(logits[:, None, :].astype(np.float64) - np.log(-np.log(u)), 2)


def shaped():
    shape = (3, 5)
    with Case("random_uniform", reference=False) as case:
        x = case.input("x", np.zeros(shape, np.float32))
        case.node("RandomUniform", [], uniform(0, shape), shape=shape)
        case.node("RandomUniform", [], -1.5 + 3.75 * uniform(1, shape, 2.5), shape=shape, low=-1.5,
                  high=2.25, seed=2.5)
        case.node("RandomUniformLike", [x], 1 + 3 * uniform(2, shape, 2.5), low=1.0, high=4.0,
                  seed=2.5)
        halves = (2 * uniform(3, (7,))).astype(np.float16)
        case.node("RandomUniform", [], halves, shape=(7,), high=2.0, dtype=10)
    with Case("random_normal", reference=False) as case:
        x = case.input("x", np.zeros(shape, np.float32))
        case.node("RandomNormal", [], normal(0, shape), shape=shape)
        case.node("RandomNormalLike", [x], 1.5 - 2.5 * normal(2, shape, 7.0), mean=1.5, scale=-2.5,
                  seed=7.0)
    with Case("random_uniform_defaults") as case:
        case.entry("random_uniform", [], uniform(0, shape), s=shape)
        case.entry("random_uniform", [], 0.5 + 2.5 * uniform(1, (2, 2)), s=(2, 2), low=0.5, high=3)
    with Case("random_normal_defaults") as case:
        case.entry("random_normal", [], normal(0, shape), s=shape)
        case.entry("random_normal", [], 3 + normal(2, (2, 2)), s=(2, 2), mean=3)


def chosen():
    p = np.array([[0, 0.25, 0.5, 0.75, 1], [0.1, 0.2, 0.3, 0.9, 0.95]], np.float32)
    with Case("bernoulli", reference=False) as case:
        name = case.input("p", p)
        case.node("Bernoulli", [name], np.float32(uniform(0, p.shape) < p))
        case.node("Bernoulli", [name], np.int64(uniform(1, p.shape, 3.0) < p), dtype=7, seed=3.0)
        case.node("Bernoulli", [name], uniform(2, p.shape) < p, dtype=9)
    with Case("multinomial", reference=False) as case:
        x = case.normal(3, 4)
        name = case.input("x", x)
        case.node("Multinomial", [name], np.int32(drawn(0, x, 9)), sample_size=9)
        case.node("Multinomial", [name], drawn(1, x, 5, 2.0), sample_size=5, dtype=7, seed=2.0)
    with Case("multinomial_defaults") as case:
        case.entry("multinomial", [case.input("x", x)], drawn(0, x, 6), k=6)


def dropped():
    x = Case("dropout").normal(4, 7)
    wide = x.astype(np.float64)

    def dropout(stream, ratio, seed=None):
        stays = np.float32(ratio) <= uniform(stream, x.shape, seed)
        return np.where(stays, wide / (1 - np.float32(ratio).astype(np.float64)), 0), stays

    with Case("dropout", reference=False) as case:
        names = [case.input("x", x)]
        ratio, on = case.constant(np.float32(0.3)), case.constant(np.array(True))
        case.node("Dropout", names + [ratio, on], *dropout(0, 0.3))
        case.node("Dropout", names + [ratio, on], *dropout(1, 0.3, 5), seed=5)
        case.node("Dropout", names + ["", on], *dropout(2, 0.5))
        given = case.input("ratio", np.float32(0.75))
        training, running = case.input("on", np.array(True)), case.input("off", np.array(False))
        case.node("Dropout", names + [given, training], *dropout(3, 0.75))
        case.node("Dropout", names + [given, running], wide, np.full(x.shape, True))
        case.node("Dropout", names + [given], wide, np.full(x.shape, True))
    with Case("dropout_defaults") as case:
        case.entry("dropout", [case.input("x", x)], *dropout(0, 0.5))


def write():
    shaped()
    chosen()
    dropped()
