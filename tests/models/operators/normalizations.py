"""Normalizations. The epsilons are large and the variances small, so that they matter."""
import numpy as np

from case import Case

EPSILON = 0.125


def normalized(x, axes, epsilon=EPSILON):
    m = x.mean(axis=axes, keepdims=True)
    return (x - m) / np.sqrt(np.square(x - m).mean(axis=axes, keepdims=True) + epsilon)


def channels(v, rank):
    return v.reshape(-1, *[1] * (rank - 2)).astype(np.float64)


def statistics():
    with Case("batch_norm") as case:
        x, s, b, m = case.normal(2, 3, 4), case.normal(3), case.normal(3), case.normal(3)
        v = np.array([0, 0.25, 1.5], np.float32)
        names = [case.input(n, a) for n, a in zip("xsbmv", (x, s, b, m, v))]
        c = lambda a: channels(a, 3)
        y = (x - c(m)) / np.sqrt(c(v) + EPSILON) * c(s) + c(b)
        case.node("BatchNormalization", names, y, epsilon=EPSILON)
    with Case("batch_norm_train") as case:
        x, s, b, m = case.normal(2, 3, 4) + 2, case.normal(3), case.normal(3), case.normal(3)
        v = np.array([0, 0.25, 1.5], np.float32)
        names = [case.input(n, a) for n, a in zip("xsbmv", (x, s, b, m, v))]
        wide = x.astype(np.float64)
        y = normalized(wide, (0, 2)) * channels(s, 3) + channels(b, 3)
        case.entry("batch_norm_train", names, y, m * 0.75 + wide.mean(axis=(0, 2)) * 0.25,
                   v * 0.75 + wide.var(axis=(0, 2)) * 0.25, eps=EPSILON, momentum=0.75)


def of_one_element():
    with Case("instance_norm") as case:
        x, s, b = case.normal(2, 3, 4, 2) + 2, case.normal(3), case.normal(3)
        names = [case.input(n, a) for n, a in zip("xsb", (x, s, b))]
        y = normalized(x.astype(np.float64), (2, 3)) * channels(s, 4) + channels(b, 4)
        case.node("InstanceNormalization", names, y, epsilon=EPSILON)
    with Case("group_norm") as case:
        x, s, b = case.normal(2, 6, 3) + 2, case.normal(6), case.normal(6)
        names = [case.input(n, a) for n, a in zip("xsb", (x, s, b))]
        y = normalized(x.astype(np.float64).reshape(2, 2, 9), (2,)).reshape(x.shape)
        y = y * channels(s, 3) + channels(b, 3)
        case.node("GroupNormalization", names, y, num_groups=2, epsilon=EPSILON)


def of_last_dimensions():
    for axis in -1, 1:
        with Case(f"layer_norm_{axis % 3}") as case:
            x = case.normal(2, 3, 5) + 2
            s, b = case.normal(*x.shape[axis:]), case.normal(*x.shape[axis:])
            names = [case.input(n, a) for n, a in zip("xsb", (x, s, b))]
            z = normalized(x.astype(np.float64), tuple(range(axis % 3, 3)))
            case.node("LayerNormalization", names, z * s + b, axis=axis, epsilon=EPSILON)
            case.node("LayerNormalization", names[:2], z * s, axis=axis, epsilon=EPSILON)
        with Case(f"rms_norm_{axis % 3}") as case:
            x = case.normal(2, 3, 5, scale=0.5)
            s = case.normal(*x.shape[axis:])
            names = [case.input(n, a) for n, a in zip("xs", (x, s))]
            square = np.square(x.astype(np.float64))
            mean = square.mean(axis=tuple(range(axis % 3, 3)), keepdims=True)
            case.node("RMSNormalization", names, x / np.sqrt(mean + EPSILON) * s, axis=axis,
                      epsilon=EPSILON)


def over_channels():
    x_shape = (5, 5, 2, 1)  # the reference leaves out channels where they outnumber the batch
    for size in 1, 2, 3, 4:
        with Case(f"lrn_{size}") as case:
            x = case.normal(*x_shape, scale=2)
            y = np.zeros(x_shape)
            for c in range(5):
                first, last = c - (size - 1) // 2, c + size // 2
                square = np.square(x[:, max(first, 0):last + 1].astype(np.float64)).sum(axis=1)
                y[:, c] = x[:, c] / (0.75 + 0.5 / size * square) ** 0.6
            case.node("LRN", [case.input("x", x)], y, size=size, alpha=0.5, beta=0.6, bias=0.75)


def soft():
    rows = np.array([[1000, 998.5, 1001, 997], [-1000, -1001, -999.5, -1003],
                     [-900, 2, 1, 900], [2, 1, -3, 0]], np.float32)
    # Only without the greatest of a row, and no other, does no exp overflow and no sum vanish.
    shift = rows.astype(np.float64) - rows.max(axis=-1, keepdims=True)
    log = shift - np.log(np.exp(shift).sum(axis=-1, keepdims=True))
    for name, op, y in ("softmax", "Softmax", np.exp(log)), ("log_softmax", "LogSoftmax", log):
        # The reference takes the logarithm of a softmax that is 0.
        with Case(name, reference=name == "softmax") as case:
            names = [case.input("x", rows), case.input("z", np.ascontiguousarray(rows.T))]
            case.node(op, names[:1], y)
            case.node(op, names[1:], y.T, axis=0)


def write():
    statistics()
    of_one_element()
    of_last_dimensions()
    over_channels()
    soft()
