"""Places that integers name: what is gathered from them and scattered to them."""
import numpy as np

from case import Case

REDUCTIONS = {"none": lambda a, b: b, "add": np.add, "mul": np.multiply, "max": np.maximum,
              "min": np.minimum}


def scattered(x, places, updates, reduction):
    """`places` are tuples into x, one for each of the updates, in their order."""
    y = x.astype(np.float64) if x.dtype == np.float32 else x.copy()
    for place, update in zip(places, updates):
        y[place] = REDUCTIONS[reduction](y[place], update)
    return y


def nd_places(ids):
    return [tuple(row) for row in ids.reshape(-1, ids.shape[-1])]


def element_places(ids, axis):
    places = []
    for at in np.ndindex(ids.shape):
        place = list(at)
        place[axis] = ids[at]
        places.append(tuple(place))
    return places


def gathered():
    with Case("gather_nd") as case:
        x = case.normal(4, 3, 5)
        names = [case.input("x", x)]
        for ids in (np.array([[3, -1], [0, 0], [-4, 2]]), np.array([[[1], [-1]], [[0], [3]]]),
                    np.array([[[0, 2, -5], [3, -3, 4]]])):
            case.node("GatherND", names + [case.input(f"ids{len(case.inputs)}", ids)],
                      np.array([x[p] for p in nd_places(ids)]).reshape(
                          ids.shape[:-1] + x.shape[ids.shape[-1]:]))
        ids = np.array([[[2, -1], [0, 4]], [[-3, 0], [1, 1]], [[0, 0], [2, 2]], [[1, 3], [-1, -5]]])
        y = np.array([[x[b][tuple(p)] for p in ids[b]] for b in range(4)])
        case.node("GatherND", names + [case.input("of_batch", ids)], y, batch_dims=1)
        last = case.constant(np.array([2, 1]))  # one place
        case.node("GatherND", names + [last], x[2, 1])


def nd():
    for reduction in REDUCTIONS:
        with Case(f"scatter_nd_{reduction}") as case:
            x = case.normal(4, 3, 2)
            names = [case.input("x", x)]
            # Row 1 and one element get several updates.
            for ids in (np.array([[1], [-1], [-3]]),
                        np.array([[[0, 1], [3, -1]], [[-4, 1], [2, 0]]]),
                        np.array([-1, 2, 0])):
                updates = case.normal(*ids.shape[:-1], *x.shape[ids.shape[-1]:])
                n = len(case.inputs)
                rows = updates.reshape(-1, *x.shape[ids.shape[-1]:])
                case.node("ScatterND", names + [case.input(f"ids{n}", ids),
                                                case.input(f"u{n}", updates)],
                          scattered(x, nd_places(ids), rows, reduction), reduction=reduction)


def elements():
    for reduction in REDUCTIONS:
        with Case(f"scatter_elements_{reduction}") as case:
            x = case.normal(4, 3)
            names = [case.input("x", x)]
            # Fewer rows than x has, and some elements several times.
            for ids, axis in ((np.array([[1, -1, 2], [-3, 0, 2]]), 0),
                              (np.array([[2, -1], [0, 1], [-2, 1]]), 1)):
                n, updates = len(case.inputs), case.normal(*ids.shape)
                case.node("ScatterElements", names + [case.input(f"ids{n}", ids),
                                                      case.input(f"u{n}", updates)],
                          scattered(x, element_places(ids, axis), updates.ravel(), reduction),
                          axis=axis, reduction=reduction)
            if reduction == "none":
                old = case.input("bits", x > 0), case.input("to", np.array([[3, 0, -2]]))
                bits = np.array([[True, False, True]])
                case.node("ScatterElements", [*old, case.input("new", bits)],
                          scattered(x > 0, element_places(np.array([[3, 0, -2]]), 0), bits.ravel(),
                                    reduction))


def write():
    gathered()
    nd()
    elements()
