"""Writes the models beside it, and losses.json; needs PyTorch 2.15, onnx and onnxscript, which the
tests do not. Run it in place.

Mixtures of two experts of six, whose gates are scattered or whose tokens are put into slots; a graph
network of sums, maxima and products; up-sampling. Exported by PyTorch's default exporter. The losses
are of eight steps of SGD at a rate of 0.2."""
import copy
import json
import pathlib

import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
WIDTH, EXPERTS, HIDDEN, CLASSES = 12, 6, 8, 5


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.up = nn.Parameter(torch.randn(EXPERTS, WIDTH, HIDDEN) * 0.3)
        self.down = nn.Parameter(torch.randn(EXPERTS, HIDDEN, WIDTH) * 0.3)
        self.head = nn.Linear(WIDTH, CLASSES)

    def route(self, x):
        p = self.router(x).softmax(-1)
        return p, *torch.topk(p, 2, -1)


class Gates(Experts):
    """All experts compute all tokens; two gates of each token are not 0."""

    def forward(self, x):
        p, w, i = self.route(x)
        gates = torch.zeros_like(p).scatter(-1, i, w / w.sum(-1, keepdim=True))
        y = torch.einsum("bsd,edh->bseh", x, self.up).relu()
        return self.head(x + torch.einsum("bseh,ehd,bse->bsd", y, self.down, gates)).mean(1)


class Slots(Experts):
    """Each expert has a slot for each token; those that it does not get are 0."""

    def forward(self, x):
        tokens = x.reshape(-1, WIDTH)
        n = tokens.shape[0]
        _, w, i = self.route(tokens)
        row = torch.arange(n).repeat_interleave(2)
        at = i.reshape(-1) * n + row
        slots = torch.zeros(EXPERTS * n, WIDTH).index_add(0, at, tokens[row])
        y = torch.bmm(torch.bmm(slots.view(EXPERTS, n, WIDTH), self.up).relu(), self.down)
        y = y.view(EXPERTS * n, WIDTH)[at] * w.reshape(-1, 1)
        return self.head(tokens + torch.zeros_like(tokens).index_add(0, row, y)).view(
            *x.shape[:2], CLASSES).mean(1)


class Messages(nn.Module):
    def __init__(self):
        super().__init__()
        self.message, self.update = nn.Linear(WIDTH, WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, CLASSES)
        self.register_buffer("edges", torch.randint(0, 24, (2, 70)))

    def forward(self, x):
        m, to = self.message(x)[self.edges[0]], self.edges[1][:, None].expand(-1, WIDTH)
        sums = torch.zeros_like(x).scatter_add(0, to, m)
        most = torch.zeros_like(x).scatter_reduce(0, to, m, "amax", include_self=False)
        product = torch.ones_like(x).scatter_reduce(0, to, m * 0.2, "prod")
        return self.head(F.relu(self.update(torch.cat([sums * product, most], 1))))


class Up(nn.Module):
    """A level of a U-Net."""

    def __init__(self, mode, align):
        super().__init__()
        self.mode, self.align = mode, align
        self.first, self.down = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 6, 3, 2, 1)
        self.last = nn.Conv2d(10, CLASSES, 3, padding=1)

    def forward(self, x):
        a = self.first(x).relu()
        b = F.interpolate(self.down(a).relu(), scale_factor=2, mode=self.mode,
                          align_corners=self.align)
        return self.last(torch.cat([a, b], 1)).permute(0, 2, 3, 1)


def write(name, model, x):
    folder = HERE / name
    (folder / "test_data_set_0").mkdir(parents=True, exist_ok=True)
    path = folder / "model.onnx"
    torch.onnx.export(model, (x,), str(path), external_data=False)
    file = onnx.load(path)
    for node in file.graph.node:  # without the paths of the machine
        kept = [p for p in node.metadata_props if p.key.endswith(("fx_node", "name_scopes"))]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(file, path)
    y = model(x)
    labels = torch.randint(0, CLASSES, y.shape[:-1])
    for place, value in (("test_data_set_0/input_0", x), ("test_data_set_0/output_0", y),
                         ("labels", labels)):
        tensor = numpy_helper.from_array(value.detach().numpy())
        (folder / f"{place}.pb").write_bytes(tensor.SerializeToString())
    trained = copy.deepcopy(model)
    optimizer, losses = torch.optim.SGD(trained.parameters(), lr=0.2), []
    for _ in range(8):
        optimizer.zero_grad()
        loss = F.cross_entropy(trained(x).reshape(-1, CLASSES), labels.reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 7))
    return losses


torch.manual_seed(7)
tokens, image = torch.randn(4, 6, WIDTH), torch.randn(2, 3, 10, 12)
(HERE / "losses.json").write_text(json.dumps({
    "gates": write("gates", Gates(), tokens), "slots": write("slots", Slots(), tokens),
    "messages": write("messages", Messages(), torch.randn(24, WIDTH)),
    "up_linear": write("up_linear", Up("bilinear", False), image),
    "up_corners": write("up_corners", Up("bilinear", True), image),
    "up_cubic": write("up_cubic", Up("bicubic", False), image)}, indent=1) + "\n")
