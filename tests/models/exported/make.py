"""Four small models as PyTorch 2.15 exports them, by its default exporter and by dynamo=False, and what PyTorch
makes of them: python make.py writes the folders beside it (needs torch, onnxscript, safetensors).

sequence: an embedding with padding_idx=0, an LSTM, a layer norm, a linear layer over three dimensions, a slope,
          and a linear layer with one output. Folding transposes weights, puts gates in ONNX's order, joins
          biases and stores the first states as zeros.
picture:  a convolution with a batch norm, which the default exporter makes one convolution of.
patches:  a convolution, a token of the class before its patches, attention, a norm and a head, all of them fresh:
          the default exporter leaves the biases of zeros out, and stores the token once for each example.
resized:  images that become larger: the default exporter writes the batch into the sizes of Resize."""
import os

import numpy as np
import onnx
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file

HERE = os.path.dirname(os.path.abspath(__file__))
RATE, STEPS = 0.1, 6


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(12, 6, padding_idx=0)
        self.rnn = nn.LSTM(6, 4, batch_first=True)
        self.norm = nn.LayerNorm(4)
        self.mix = nn.Linear(4, 4)
        self.slope = nn.PReLU()
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        h = self.slope(self.mix(self.norm(self.rnn(self.emb(x))[0])))
        return self.head(h.mean(1))


class Picture(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(64, 3)

    def forward(self, x):
        return self.head(F.relu(self.norm(self.conv(x))).flatten(1))


class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.cut = nn.Conv2d(1, 4, 2, 2)
        self.token = nn.Parameter(torch.randn(1, 1, 4))
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.norm = nn.LayerNorm(4)
        self.head = nn.Linear(4, 3)
        for bias in (self.cut.bias, self.head.bias):
            nn.init.zeros_(bias)

    def forward(self, x):
        h = self.cut(x).flatten(2).transpose(1, 2)
        h = torch.cat((self.token.expand(x.shape[0], -1, -1), h), 1)
        return self.head(self.norm(h + self.attention(h, h, h)[0])[:, 0])


class Resized(nn.Module):
    def __init__(self):
        super().__init__()
        self.cut = nn.Conv2d(2, 3, 1)
        self.see = nn.Conv2d(3, 2, 3)

    def forward(self, x):
        h = F.interpolate(self.cut(x), size=(8, 9), mode="bilinear")
        return F.relu(self.see(h)).mean((2, 3))


def without_traces(path):
    """Takes the stack traces out, which name files of the machine."""
    model = onnx.load(path)
    for node in model.graph.node:
        kept = [entry for entry in node.metadata_props if not entry.key.endswith("stack_trace")]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(model, path)


def write(name, model, x):
    folder = os.path.join(HERE, name)
    os.makedirs(folder, exist_ok=True)
    state = {key: value.clone() for key, value in model.state_dict().items()}
    labels = torch.randn_like(model(x)).detach()
    for file, options in (("default", {}), ("torchscript", {"dynamo": False})):
        model.load_state_dict(state)
        torch.onnx.export(model, (x,), os.path.join(folder, file + ".onnx"), opset_version=18, input_names=["x"],
                          training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False,
                          **({"external_data": False} if not options else {}), **options)
        without_traces(os.path.join(folder, file + ".onnx"))
    model.load_state_dict(state)
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), RATE)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    trained = {key: value for key, value in model.state_dict().items() if value.is_floating_point()}
    save_file(trained, os.path.join(folder, "trained.safetensors"))
    np.save(os.path.join(folder, "x.npy"), x.numpy())
    np.save(os.path.join(folder, "labels.npy"), labels.numpy())
    model.eval()
    with torch.no_grad():
        np.save(os.path.join(folder, "answer.npy"), model(x).numpy())
    with open(os.path.join(folder, "losses.txt"), "w") as f:
        f.writelines(f"{loss:.9g}\n" for loss in losses)


def main():
    torch.manual_seed(5)
    ids = torch.randint(1, 12, (6, 5))
    ids[:, 3:] = 0
    for name, model, x in (("sequence", Sequence(), ids), ("picture", Picture(), torch.randn(6, 1, 4, 4))):
        with torch.no_grad():  # every parameter distinct: fresh norms are 1 and 0
            for parameter in model.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.1)
        write(name, model, x)
    write("patches", Patches(), torch.randn(6, 1, 4, 4))
    torch.manual_seed(6)
    write("resized", Resized(), torch.randn(6, 2, 4, 5))


if __name__ == "__main__":
    main()
