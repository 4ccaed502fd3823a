"""What depends on the order of elements."""
import numpy as np

from case import Case


def order():
    with Case("argsort") as case:
        x = np.round(case.normal(3, 9) * 2) / 2  # ties
        x[1, 3], x[1, 6] = 0.0, -0.0
        names = [case.input("x", x)]
        case.entry("argsort", names, np.argsort(x, -1, kind="stable"))
        # Descending with ties in their order: ascending of the row read backwards, read backwards.
        backwards = 8 - np.argsort(x[:, ::-1], -1, kind="stable")[:, ::-1]
        case.entry("argsort", names, backwards, descending=1)
        small = case.input("small", np.array([[3, -7, 3, 127, -128]], np.int8))
        case.entry("argsort", [small], np.array([[4, 1, 0, 2, 3]]))


def first():
    with Case("take_first") as case:
        x, at = case.normal(2, 5), np.array([[4, 0, 0, 2, 1], [1, 3, 2, 4, 0]])
        names = [case.input("x", x), case.input("at", at)]
        case.entry("take_first", names, np.take_along_axis(x, at, 1)[:, :3], at[:, :3], k=3)
    with Case("top_k") as case:
        x = case.random.permutation(60).reshape(3, 5, 4).astype(np.float32) - 30
        names = [case.input("x", x), case.constant(np.array([3]))]
        for axis, largest in (1, 1), (-1, 1), (0, 0), (1, 0):
            at = np.argsort(-x if largest else x, axis, kind="stable").take([0, 1, 2], axis)
            case.node("TopK", names, np.take_along_axis(x, at, axis), at, axis=axis,
                      largest=largest)
    with Case("top_k_ties", reference=False) as case:  # the smaller index; the reference disagrees
        x = np.array([[1, 3, 3, 2, 3], [0, 0, 0, 0, 0]])
        names = [case.input("x", x), case.constant(np.array([3]))]
        at = np.array([[1, 2, 4], [0, 1, 2]])
        case.node("TopK", names, np.take_along_axis(x, at, 1), at)
        low = np.array([[0, 3, 1], [0, 1, 2]])
        case.node("TopK", names, np.take_along_axis(x, low, 1), low, largest=0, sorted=0)


def write():
    order()
    first()
