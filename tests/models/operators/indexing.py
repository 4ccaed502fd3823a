"""What moves elements."""
import numpy as np

from case import Case


def by_ids():
    with Case("gather") as case:
        x, ids = case.normal(3, 5, 2), np.array([[1, -1], [0, -5]])
        names = [case.input("x", x), case.input("ids", ids)]
        case.node("Gather", names, np.take(x, ids, 1), axis=1)
        rows = case.input("rows", np.array([-1, 2, 0, -3]))
        case.node("Gather", [names[0], rows], np.take(x, [-1, 2, 0, -3], 0))
    with Case("gather_elements") as case:
        x, ids = case.normal(3, 4), np.array([[0, -1, 2, -3], [-2, 1, 1, 0]])
        names = [case.input("x", x), case.input("ids", ids)]
        case.node("GatherElements", names, np.take_along_axis(x, ids, 0), axis=0)
        wide = case.input("wide", np.array([[3, -1], [-4, 1], [2, 2]]))
        y = np.take_along_axis(x, np.array([[3, -1], [-4, 1], [2, 2]]), 1)
        case.node("GatherElements", [names[0], wide], y, axis=1)
    with Case("scatter_add") as case:
        x, ids, w = case.normal(5, 2), np.array([[1, -1, 1], [4, 0, -4]]), case.normal(2, 3, 2)
        y = x.astype(np.float64)
        np.add.at(y, ids, w)  # rows 1 and 4 several times, 2 and 3 never
        names = [case.input(n, a) for n, a in zip(("x", "ids", "w"), (x, ids, w))]
        case.entry("scatter_add", names, y)
    with Case("reverse_sequence") as case:
        x, lengths = case.normal(5, 4, 2), np.array([1, 5, 0, 3])
        y = x.copy()
        for b, n in enumerate(lengths):
            y[:n, b] = x[:n, b][::-1]
        names = [case.input("x", x), case.input("lengths", lengths)]
        case.node("ReverseSequence", names, y)
        turned = case.input("t", np.ascontiguousarray(x.transpose(1, 0, 2)))
        case.node("ReverseSequence", [turned, names[1]], y.transpose(1, 0, 2), batch_axis=0,
                  time_axis=1)
    with Case("write_rows", reference=False) as case:
        x, rows, at = case.normal(2, 3, 6, 4), case.normal(2, 3, 2, 4), np.array([1, 4])
        y = x.copy()
        y[0, :, 1:3], y[1, :, 4:6] = rows[0], rows[1]
        names = [case.input(n, a) for n, a in zip(("x", "rows", "at"), (x, rows, at))]
        case.node("TensorScatter", names, y)
        y = x.copy()
        y[:, :, :2] = rows
        case.node("TensorScatter", names[:2], y)
        flat, new = x[:, 0, :, 0], rows[:, 0, :, 0]
        y = flat.copy()
        y[0, 4:], y[1, :2] = new[0], new[1]
        names = [case.input(n, a) for n, a in
                 zip(("flat", "new", "to"), (flat, new, np.array([4, 0])))]
        case.entry("write_rows", names, y, choices=5)
    with Case("write_rows_circular") as case:
        x, rows, at = case.normal(3, 2, 5, 2), case.normal(3, 2, 3, 2), np.array([4, 1, 3])
        names = [case.input(n, a) for n, a in zip(("x", "rows", "at"), (x, rows, at))]
        y, first = x.copy(), x.copy()
        for b in range(3):
            y[b][:, (at[b] + np.arange(3)) % 5] = rows[b]
        first[:, :, :3] = rows
        case.node("TensorScatter", names, y, mode="circular")
        case.node("TensorScatter", names[:2], first, mode="circular")
        y = np.swapaxes(x, 1, 2).copy()
        for b in range(3):
            y[b][(at[b] + 2 + np.arange(3)) % 5] = np.swapaxes(rows, 1, 2)[b]
        turned = [case.input(n, np.ascontiguousarray(a)) for n, a in
                  (("u", np.swapaxes(x, 1, 2)), ("v", np.swapaxes(rows, 1, 2)), ("w", at + 2))]
        case.node("TensorScatter", turned, y, mode="circular", axis=1)
    with Case("one_hot") as case:
        # 9 and -5 are no positions.
        ids, values = np.array([[1, -1], [0, -4], [9, -5]]), np.array([-0.5, 2.5], np.float32)
        at = np.where(ids < 0, ids + 4, ids)
        y = np.where(np.arange(4) == at[..., None], values[1], values[0])
        names = [case.input("ids", ids), case.constant(np.array(4)), case.input("values", values)]
        case.node("OneHot", names, y)
        case.node("OneHot", names, y.transpose(2, 0, 1), axis=0)


def at_borders():
    with Case("pad") as case:
        x = case.normal(4, 5)
        names = [case.input("x", x), case.constant(np.array([1, 0, 2, 3]))]
        value = case.input("value", np.float32(-1.5))
        wide = [(1, 2), (0, 3)]
        case.node("Pad", names + [value], np.pad(x, wide, constant_values=-1.5))
        case.node("Pad", names, np.pad(x, wide))
        for mode in "edge", "reflect", "wrap":
            case.node("Pad", names, np.pad(x, wide, mode), mode=mode)
    with Case("pad_negative", reference=False) as case:  # the reference refuses them
        x, value = case.normal(4, 5), np.float32(-1.5)
        names = [case.input("x", x), case.constant(np.array([-1, 2, 1, -2]))]
        case.node("Pad", names + [case.input("value", value)],
                  np.pad(x[1:, :3], [(0, 1), (2, 0)], constant_values=-1.5))
    for name, keep, shape in ("triu", np.triu, (2, 3, 5)), ("tril", np.tril, (2, 5, 3)):
        with Case(name) as case:
            x = case.normal(*shape)
            names = [case.input("x", x)]
            case.node("Trilu", names, keep(x), upper=int(keep is np.triu))
            for k in -2, 1:
                diagonal = case.constant(np.array(k))
                case.node("Trilu", names + [diagonal], keep(x, k), upper=int(keep is np.triu))


def parts():
    with Case("slice") as case:
        x = case.normal(7, 6)
        names = [case.input("x", x)]
        for rows, columns in ((1, 6, 2), (-2, 0, -2)), ((-1, -7, -3), (1, -1, 1)):
            ends = [case.constant(np.array(v)) for v in zip(rows, columns)]
            axes = case.constant(np.array([0, -1]))
            case.node("Slice", names + [ends[0], ends[1], axes, ends[2]],
                      x[slice(*rows), slice(*columns)])
    with Case("strided_slice") as case:
        x = case.normal(7, 6)
        names = [case.input("x", x)]
        case.entry("strided_slice", names, x[2:7:2, 5:0:-2], start=[2, 5], step=[2, -2], n=[3, 3])
        case.entry("strided_slice", names, x[:4, :5], n=[4, 5])
    with Case("expand") as case:
        x = case.normal(3, 1)
        names = [case.input("x", x)]
        y = np.broadcast_to(x, (2, 3, 4))
        case.entry("expand", names, y, s=[2, 3, 4])
        case.node("Expand", names + [case.constant(np.array([2, 1, 4]))], y)


def blocks():
    x = np.arange(2 * 12 * 2 * 3, dtype=np.float32).reshape(2, 12, 2, 3)
    y = {"DCR": x.reshape(2, 2, 2, 3, 2, 3).transpose(0, 3, 4, 1, 5, 2).reshape(2, 3, 4, 6),
         "CRD": x.reshape(2, 3, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(2, 3, 4, 6)}
    for name, mode in ("depth_to_space", "DCR"), ("depth_to_space_crd", "CRD"):
        with Case(name) as case:
            case.node("DepthToSpace", [case.input("x", x)], y[mode], blocksize=2, mode=mode)
    with Case("space_to_depth") as case:
        case.node("SpaceToDepth", [case.input("x", y["DCR"])], x, blocksize=2)
    with Case("space_to_depth_crd", opset=28) as case:
        case.node("SpaceToDepth", [case.input("x", y["CRD"])], x, blocksize=2, mode="CRD")


def resized():
    with Case("resize_nearest") as case:
        x = case.normal(2, 2, 3, 2)
        scales = case.constant(np.array([1, 1, 2, 3], np.float32))
        y = x.repeat(2, 2).repeat(3, 3)
        names = [case.input("x", x), "", scales]
        case.node("Resize", names, y, coordinate_transformation_mode="asymmetric",
                  nearest_mode="floor")
        case.node("Resize", names, y)  # half_pixel, to the nearest
    with Case("resize_floor") as case:
        x = case.normal(1, 2, 6, 4)
        names = [case.input("x", x)]
        for rows, columns in (4, 7), (9, 3):
            y = x[:, :, np.arange(rows) * 6 // rows][..., np.arange(columns) * 4 // columns]
            sizes = case.constant(np.array([1, 2, rows, columns]))
            case.node("Resize", names + ["", "", sizes], y,
                      coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def write():
    by_ids()
    at_borders()
    parts()
    blocks()
    resized()
