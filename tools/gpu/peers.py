"""What PyTorch takes on this GPU for the like of what the check times: milliseconds, as JSON."""
import json
import sys

STEPS, WARM = 20, 10


def median_ms(run):
    import torch
    times = []
    for step in range(STEPS + WARM):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        if step >= WARM:
            times.append(begin.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def gpt(layers, width, heads, vocab, sequence):
    """A decoder with the sizes of GPT-2, in PyTorch's own layers."""
    import torch

    class Gpt(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = torch.nn.Embedding(vocab, width)
            self.places = torch.nn.Embedding(sequence, width)
            self.blocks = torch.nn.ModuleList([
                torch.nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu",
                                                 batch_first=True, norm_first=True)
                for _ in range(layers)])
            self.norm, self.head = torch.nn.LayerNorm(width), torch.nn.Linear(width, vocab, False)
            mask = torch.nn.Transformer.generate_square_subsequent_mask(sequence)
            self.register_buffer("mask", mask)

        def forward(self, ids):
            x = self.tokens(ids) + self.places.weight
            for block in self.blocks:
                x = block(x, src_mask=self.mask, is_causal=True)
            return self.head(self.norm(x))

    return Gpt().cuda()


def main():
    import torch
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    found, batch, sequence, vocab = {}, 4, 128, 50257
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    found["copy of 1 GiB"] = median_ms(lambda: target.copy_(source))
    del source, target
    model = gpt(12, 768, 12, vocab, sequence)
    ids = torch.randint(vocab, (batch, sequence), device="cuda")
    with torch.no_grad():
        found["GPT-2 small forward 4x128 f32"] = median_ms(lambda: model(ids))
    optimizer = torch.optim.Adam(model.parameters())

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        loss.backward()
        optimizer.step()

    found["GPT-2 small training 4x128 f32"] = median_ms(step)
    print(json.dumps(found))


if __name__ == "__main__":
    try:
        main()
    except ImportError:
        print("{}")
        sys.exit(0)
