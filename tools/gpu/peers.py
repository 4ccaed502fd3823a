"""What PyTorch takes for the like of what the check times, as JSON: by program milliseconds of a
step, `eager` and `compiled` by torch.compile, and `peak_bytes` of the eager one's GPU memory.

Programs have the names that they have in the check. TF32 is off but where the name says it, and
convolutions take cuDNN's fastest algorithm. What fails is left out. What the check's ratios need
comes first. `--device cpu` and `--small` try the script where there is no GPU.
"""
import argparse
import collections
import json
import sys
import time

STEPS, WARM = 10, 5

# `model` makes the module and `data` its input, on a device; `classes` of training; `bf16`: products
# and convolutions are computed in it, and weights stay f32. `needed`: which of KINDS the ratios need.
Program = collections.namedtuple("Program", "name model data classes bf16 tf32 needed",
                                 defaults=(None, False, False, ()))
KINDS = ("eager", "compiled")


def median_ms(torch, device, run, steps=STEPS, warm=WARM):
    times = []
    for step in range(steps + warm):
        begin = time.perf_counter()
        run()
        if device == "cuda":
            torch.cuda.synchronize()
        if step >= warm:
            times.append(1e3 * (time.perf_counter() - begin))
    return sorted(times)[len(times) // 2]


def forward(torch, model, x):
    def step():
        with torch.no_grad():
            model(x)

    return step


def training(torch, program, model, x, device):
    """A step with Adam."""
    optimizer = torch.optim.Adam(model.parameters(), fused=device == "cuda")
    rows = len(x) if x.is_floating_point() else x.numel()
    labels = torch.arange(rows, device=device) % program.classes

    def step():
        optimizer.zero_grad()
        with torch.autocast(device, torch.bfloat16, enabled=program.bf16):
            loss = torch.nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()

    return step


def step_of(torch, program, device, wrap):
    """A function that runs a step of the program, whose model `wrap` wraps."""
    allowed = program.tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allowed
    x = program.data()
    with torch.device(device):  # where numbers are drawn fast
        model = program.model()
    if program.bf16 and x.dim() == 4:  # images: as PyTorch advises for small floats
        x, model = (each.to(memory_format=torch.channels_last) for each in (x, model))
    model = wrap(model)
    if program.classes is None:
        return forward(torch, model, x)
    return training(torch, program, model, x, device)


def programs(torch, device, small):
    from peer_decoders import llama, mixtral
    from peer_models import Gpt, Vit, resnet50

    def images(count):
        size = 32 if small else 224
        return lambda: torch.randn(2 if small else count, 3, size, size, device=device)

    def ids(vocab, batch, sequence):
        return lambda: torch.randint(vocab, (batch, 8 if small else sequence), device=device)

    vocab, layers = (50, 1) if small else (50257, 12)
    width = 32 if small else 768

    def gpt():
        return Gpt(layers, width, 2 if small else 12, 8 if small else 128, 4, vocab)

    def decoder(make, layers, width, vocab, *further):
        feed_forward = 7 * width // 2 if width == 4096 else 7 * width
        if small:
            width, feed_forward, vocab = 32, 64, 50
        return lambda: make(layers, width, 4 if small else width // 128, 2 if small else 8,
                            feed_forward, vocab, *further)

    gpt_ids = ids(vocab, 4, 128)
    llama_vocab = 50 if small else 128256
    block_vocab = 50 if small else 8192
    return (
        Program("gpt2 forward", gpt, gpt_ids, needed=KINDS),
        Program("gpt2 training", gpt, gpt_ids, vocab, needed=KINDS),
        # With statistics of the batch, as the zoo's.
        Program("resnet-50 forward", resnet50, images(32), needed=("eager",)),
        Program("resnet-50 training", resnet50, images(32), 1000, needed=("eager",)),
        Program("resnet-50 bf16 training", resnet50, images(32), 1000, True,
                needed=("compiled",)),
        Program("llama-3-8b layers bf16 training", decoder(llama, 2, 4096, 128256),
                ids(llama_vocab, 1, 4096), llama_vocab, True, needed=KINDS),  # eager: its memory
        Program("gpt2 bf16 training", gpt, gpt_ids, vocab, True),
        Program("vit bf16 training",
                lambda: Vit(layers, width, 2 if small else 12, 32 if small else 224, 16, 1000),
                images(64), 1000, True),
        Program("mixtral layer forward",
                decoder(mixtral, 1, 4096, 8192, 8 if small else 1024),
                ids(block_vocab, 1, 1024)),
        Program("resnet-50 tf32 forward", resnet50, images(32), tf32=True),
        Program("resnet-50 tf32 training", resnet50, images(32), 1000, tf32=True),
        Program("llama block bf16 training", decoder(llama, 2, 2048, 8192),
                ids(block_vocab, 2, 1024), block_vocab, True))


def runs(torch, options):
    """Pairs of a program and eager or compiled, in the order in which they are timed."""
    known = programs(torch, options.device, options.small)
    all_runs = [(program, kind) for kind in KINDS for program in known]
    needed = [(program, kind) for program, kind in all_runs if kind in program.needed]
    if options.compile_only:
        return [(program, kind) for program, kind in needed if kind == "compiled"]
    return needed + [run for run in all_runs if run not in needed]


def figures(torch, program, kind, device):
    """Of one program; `peak_bytes` is what its tensors take, as PyTorch's allocator counts."""
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    step = step_of(torch, program, device, torch.compile if kind == "compiled" else lambda m: m)
    found = {kind: median_ms(torch, device, step)}
    if device == "cuda" and kind == "eager":
        found["peak_bytes"] = torch.cuda.max_memory_allocated()
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--small", action="store_true", help="small sizes")
    parser.add_argument("--compile-only", action="store_true",
                        help="only what the ratios need compiled, so that torch.compile has it")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("{}")
        return
    torch.backends.cudnn.benchmark = True
    found = {}
    for program, kind in runs(torch, options):
        try:
            found.setdefault(program.name, {}).update(
                figures(torch, program, kind, options.device))
        except Exception as error:  # pylint: disable=broad-except
            print(f"{program.name} {kind}: {error!r}", file=sys.stderr)
        torch.compiler.reset()
        print(json.dumps(found), flush=True)  # the last line that was written counts


if __name__ == "__main__":
    main()
