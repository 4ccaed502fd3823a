"""Losses and optimizers; batch norm as PyTorch trains it."""
import numpy as np

from case import Case


def losses():
    with Case("softmax_cross_entropy") as case:
        labels = np.array([[0, 3, -100], [2, 2, 1]])
        label = case.input("labels", labels)
        for name, scale in (("x", 1), ("large", 500)):  # exp of which would be infinite
            x = case.input(name, case.normal(2, 3, 4, scale=scale))
            logs = log_softmax(case.inputs[name])
            case.entry("softmax_cross_entropy", [x, label], *cross_entropy(logs, labels))
        case.entry("softmax_cross_entropy", ["x", label],
                   *cross_entropy(log_softmax(case.inputs["x"]), labels, smoothing=0.25),
                   label_smoothing=0.25)
        small = np.array([[0, 3, 3], [2, 2, 1]], np.int32)
        case.entry("softmax_cross_entropy", ["x", case.input("small", small)],
                   *cross_entropy(log_softmax(case.inputs["x"]), small, 2, 0.5),
                   ignore_index=2, label_smoothing=0.5)
        many, high = case.input("many", case.normal(2, 101)), np.array([100, 3])
        case.entry("softmax_cross_entropy", [many, case.input("high", high)],
                   *cross_entropy(log_softmax(case.inputs["many"]), high))
        none = case.input("none", np.full((2, 3), -100))
        case.entry("softmax_cross_entropy", ["x", none], np.float32(0), np.float32(0))
    with Case("accuracy") as case:
        x, labels = case.normal(3, 5, 4), np.array([[0, 3, -100, 1, 2]] * 3)
        x[0, 0], x[0, 1] = (1, 1, 0, 0), (1, 0, 0, 1)  # of equal ones the first
        name = case.input("x", x)
        for ignored in (-100, 2):
            labels = np.where(labels == ignored, ignored, np.maximum(labels, 0))
            operands = [name, case.input(f"labels{abs(ignored)}", labels)]
            counts = labels != ignored
            right = counts & (x.argmax(-1) == labels)
            case.entry("accuracy", operands, np.float32(right.sum()), np.float32(counts.sum()),
                       **({"ignore_index": ignored} if ignored != -100 else {}))
        many, high = case.normal(2, 101), np.array([100, 3])
        many[0, 100] = 9
        case.entry("accuracy", [case.input("many", many), case.input("high", high)],
                   np.float32((many.argmax(-1) == high).sum()), np.float32(2))
    with Case("class_losses") as case:
        labels, weights = np.array([[0, 3, -1], [2, 2, 1]]), np.array([0.5, 2, 1, 4], np.float32)
        x, label = case.normal(2, 3, 4), case.input("labels", labels)
        names = [case.input("x", x), label]
        chosen = -np.take_along_axis(x.astype(np.float64), labels[..., None] % 4, -1)[..., 0]
        for ignored in (-1, 2):
            keep = labels != ignored
            for table in weights, np.float32([1]):
                operands = [*names[:2], case.input(f"weights{table.size}", table)]
                w = keep * np.broadcast_to(table, 4)[labels]
                if ignored != -1:  # which then is no class
                    operands[1] = case.input("small", labels % 4)
                case.entry("class_losses", operands, chosen * w, ignore_index=ignored)
                case.entry("class_losses_sum", operands, (chosen * w).sum(),
                           np.float32(w.sum()), ignore_index=ignored)
    with Case("kept_without_weight") as case:
        names = [case.input("x", case.normal(2, 3)), case.input("next", case.normal(2, 3))]
        for name, weight in ("none", 0), ("some", 0.5):
            number = case.input(name, np.float32(weight))
            case.entry("kept_without_weight", [*names, number], case.inputs[names[weight > 0]])
    with Case("weighted_mean") as case:
        total, weights = case.normal(2, 3), (np.float32(4), np.float32(0))
        for name, weight in zip(("some", "none"), weights):
            names = [case.input("total", total), case.input(name, weight)]
            case.entry("weighted_mean", names, total.astype(np.float64) / 4 * (weight > 0))
    with Case("mse") as case:
        x, labels = case.normal(3, 4), case.normal(3, 4)
        names = [case.input("x", x), case.input("labels", labels)]
        case.entry("mse", names, np.square(x.astype(np.float64) - labels).mean())


def log_softmax(x):
    wide = x.astype(np.float64)
    largest = wide.max(-1, keepdims=True)
    return wide - largest - np.log(np.exp(wide - largest).sum(-1, keepdims=True))


def cross_entropy(logs, labels, ignored=-100, smoothing=0.0):
    """The sum over labels that count, and how many these are."""
    counts = labels != ignored
    chosen = np.take_along_axis(logs, np.where(counts, labels, 0)[..., None], -1)[..., 0]
    each = -(1 - smoothing) * chosen - smoothing * logs.mean(-1)
    return each[counts].sum(), np.float32(counts.sum())


def clipping():
    with Case("clipped_gradients") as case:
        x = case.normal(2, 3, 4)
        wide, gradient = x.astype(np.float64), case.input("x", x)
        case.entry("squared_norm", [gradient], np.square(wide).sum())
        for name, norm in (("small", 0.25), ("large", 4)):
            norms = case.input(name, np.float32(norm))
            case.entry("clipped", [gradient, norms], wide * min(1, 1 / (norm + 1e-6)))  # limit 1
            case.entry("clipped", [gradient, norms], wide * min(1, 0.5 / (norm + 1e-6)), limit=0.5)
        tiny = case.input("tiny", np.float32(2e-6))
        case.entry("clipped", [gradient, tiny], wide / 3, limit=1e-6)


def micro_batches():
    with Case("mean_over_parts") as case:
        mean, g = case.normal(2, 3), case.normal(2, 3)
        names = [case.input("mean", mean), case.input("g", g)]
        for part in (0, 1, 2):  # the first begins anew, the last is followed by a first one
            number = case.input(f"part{part}", np.float32(part))
            so_far = mean.astype(np.float64) if part > 0 else 0
            case.entry("mean_over_parts", [*names, number], so_far + g.astype(np.float64) / 3,
                       np.float32((part + 1) % 3), parts=3.0)
        first = case.input("first", np.float32(0))
        case.entry("mean_over_parts", [*names, first], g, np.float32(0))  # one part is all


    with Case("sum_over_parts") as case:
        so_far, g = case.normal(2, 3), case.normal(2, 3)
        names = [case.input("sum", so_far), case.input("g", g)]
        for part in (0, 1, 2):
            number = case.input(f"part{part}", np.float32(part))
            case.entry("sum_over_parts", [*names, number], so_far * np.float32(part > 0) + g,
                       np.float32((part + 1) % 3), parts=3.0)
        first = case.input("first", np.float32(0))
        case.entry("sum_over_parts", [*names, first], g, np.float32(0))


def optimizers():
    for name in ("sgd", "momentum", "adam", "adamw"):
        with Case(name) as case:
            w, g, m = (case.normal(2, 3) for _ in range(3))
            v = np.abs(case.normal(2, 3)) + np.float32(0.5)
            lr, t = np.float32(0.25), np.float32(2)
            given = {"w": w, "g": g, "lr": lr, "m": m, "v": v, "t": t}
            update, operands, attributes = UPDATES[name]
            names = [case.input(n, given[n]) for n in operands]
            wide = {n: np.asarray(a, np.float64) for n, a in given.items()}
            case.entry(name, names, *update(wide), **attributes)
            if name in ("adam", "adamw"):  # the defaults
                case.entry(name, names, *update(wide, 0.9, 0.999, 1e-8, 0.01))


def sgd(a):
    return (a["w"] - a["lr"] * a["g"],)


def momentum(a, factor=0.75):
    v = factor * a["m"] + a["g"]
    return a["w"] - a["lr"] * v, v


def adam(a, beta1=0.75, beta2=0.5, eps=0.25, decay=0.0):
    t = a["t"] + 1
    m = beta1 * a["m"] + (1 - beta1) * a["g"]
    v = beta2 * a["v"] + (1 - beta2) * np.square(a["g"])
    mean, square = m / (1 - beta1**t), v / (1 - beta2**t)
    return a["w"] * (1 - a["lr"] * decay) - a["lr"] * mean / (np.sqrt(square) + eps), m, v, t


UPDATES = {
    "sgd": (sgd, "w g lr".split(), {}),
    "momentum": (momentum, "w g lr m".split(), {"momentum": 0.75}),
    "adam": (lambda a, *numbers: adam(a, *numbers[:3]), "w g lr m v t".split(),
             {"beta1": 0.75, "beta2": 0.5, "eps": 0.25}),
    "adamw": (lambda a, *numbers: adam(a, *(numbers or (0.75, 0.5, 0.25, 0.5))),
              "w g lr m v t".split(), {"beta1": 0.75, "beta2": 0.5, "eps": 0.25, "decay": 0.5}),
}


def batch_norm():
    with Case("batch_norm_train_correction") as case:
        x, s, b, m = case.normal(2, 3, 4) + 2, case.normal(3), case.normal(3), case.normal(3)
        v = np.array([0, 0.25, 1.5], np.float32)
        names = [case.input(n, a) for n, a in zip("xsbmv", (x, s, b, m, v))]
        wide, across = x.astype(np.float64), (0, 2)
        mean, variance = wide.mean(across, keepdims=True), wide.var(across, keepdims=True)
        y = (wide - mean) / np.sqrt(variance + 0.25) * s[:, None] + b[:, None]
        case.entry("batch_norm_train", names, y, m * 0.75 + mean.ravel() * 0.25,
                   v * 0.75 + wide.var(across, ddof=1) * 0.25, eps=0.25, momentum=0.75,
                   correction=1.0)


def write():
    losses()
    clipping()
    micro_batches()
    optimizers()
    batch_norm()
