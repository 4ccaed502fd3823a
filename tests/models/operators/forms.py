"""Forms that the importer writes out itself, where no entry stands for the operator."""
import numpy as np

from case import Case
from sequences import Cell, attention, lstm, unrolled
from windows import conv, pool


def joined():
    with Case("concat") as case:
        parts = [case.normal(2, n, 3) for n in (1, 3, 2)]
        names = [case.input(f"x{i}", part) for i, part in enumerate(parts)]
        case.node("Concat", names, np.concatenate(parts, 1), axis=-2)
    with Case("split") as case:
        x = case.normal(2, 7)
        names = [case.input("x", x)]
        lengths = case.constant(np.array([2, 1, 4]))
        case.node("Split", names + [lengths], *np.split(x, [2, 3], 1), axis=-1)
        case.node("Split", names, *np.split(x, [3, 6], 1), axis=1, num_outputs=3)
        none = case.constant(np.array([0, 2, 0, 5]))
        case.node("Split", [names[0], none], *np.split(x, [0, 2, 2], 1), axis=1)
    with Case("tile") as case:
        x = case.normal(2, 3)
        case.node("Tile", [case.input("x", x), case.constant(np.array([2, 3]))], np.tile(x, (2, 3)))


def padded_automatically():
    # Pads before and behind; of an odd total one more behind or before.
    for mode, rows, columns in ("SAME_UPPER", (0, 1), (1, 1)), ("SAME_LOWER", (1, 0), (1, 1)):
        # The reference's MaxPool pads for both alike.
        with Case(f"auto_pad_{mode.lower()}", reference=mode == "SAME_UPPER") as case:
            x, f = case.normal(1, 2, 6, 5), case.normal(3, 2, 3, 3)
            stride, one = (2, 1), (1, 1)
            lo, hi = zip(rows, columns)
            names = [case.input("x", x), case.input("f", f)]
            y = conv(x, f, np.zeros(3), 1, stride, one, lo, hi)
            case.node("Conv", names, y, strides=stride, auto_pad=mode)
            y = pool(x, (3, 3), stride, one, lo, hi, False, lambda v, _: max(v))
            case.node("MaxPool", names[:1], y, strides=stride, kernel_shape=(3, 3), auto_pad=mode)


def attentions():
    with Case("attention_flat") as case:  # heads beside each other in the last dimension
        q, k, v = case.normal(2, 3, 8), case.normal(2, 4, 4), case.normal(2, 4, 6)
        seen = np.array([[1, 0, 1, 1], [1, 1, 0, 1], [0, 1, 1, 1]]) > 0
        names = [case.input(n, a) for n, a in zip(("q", "k", "v", "seen"), (q, k, v, seen))]
        heads = lambda x, h: x.reshape(*x.shape[:2], h, -1).transpose(0, 2, 1, 3)
        y = attention(heads(q, 4), heads(k, 2), heads(v, 2), 0.5, np.where(seen, 0, -np.inf))
        case.node("Attention", names, y.transpose(0, 2, 1, 3).reshape(2, 3, 12), q_num_heads=4,
                  kv_num_heads=2, scale=0.5)


def recurrent():
    with Case("lstm_batch_first") as case:
        steps, batch, size, hidden = 3, 2, 3, 2
        operands = [case.normal(steps, batch, size), case.normal(1, 4 * hidden, size),
                    case.normal(1, 4 * hidden, hidden), np.zeros((1, 8 * hidden)),
                    case.normal(1, batch, hidden), case.normal(1, batch, hidden)]
        first = lambda a: np.ascontiguousarray(np.swapaxes(a, 0, 1))
        y, h, c = unrolled(lstm, [Cell("Sigmoid", "Tanh", "Tanh")], operands, "forward")
        x, w, r, _, h0, c0 = operands
        given = first(x), w, r, first(h0), first(c0)
        names = [case.input(n, a) for n, a in zip(("x", "w", "r", "h", "c"), given)]
        results = y.transpose(2, 0, 1, 3), first(h), first(c)
        case.node("LSTM", [*names[:3], "", "", *names[3:]], *results, hidden_size=hidden, layout=1)


def write():
    joined()
    padded_automatically()
    attentions()
    recurrent()
