"""What PyTorch takes for the like of what the check times: milliseconds of a step, as JSON.

Each is run as it is written (eager) and by `torch.compile`; TF32 is off, and convolutions take
cuDNN's fastest algorithm. Programs have the names that they have in the check. What fails is left
out. `--device cpu` and `--small` try the script where there is no GPU.
"""
import argparse
import json
import sys
import time

STEPS, WARM = 10, 5


def median_ms(torch, device, run):
    times = []
    for step in range(STEPS + WARM):
        begin = time.perf_counter()
        run()
        if device == "cuda":
            torch.cuda.synchronize()
        if step >= WARM:
            times.append(1e3 * (time.perf_counter() - begin))
    return sorted(times)[len(times) // 2]


def forward(torch, model, x):
    def step():
        with torch.no_grad():
            model(x)

    return step


def training(torch, model, x, classes, device, bf16):
    """A step with Adam; with `bf16` products are computed in bf16, and weights stay f32."""
    optimizer = torch.optim.Adam(model.parameters(), fused=device == "cuda")
    labels = x.flatten() % classes

    def step():
        optimizer.zero_grad()
        with torch.autocast(device, torch.bfloat16, enabled=bf16):
            loss = torch.nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()

    return step


def programs(torch, device, small):
    """Pairs of a name and what makes the function that runs a step, of a model that `wrap` wraps."""
    from peer_models import Gpt, Llama, resnet50
    layers, vocab, images = (1, 1000, 1) if small else (12, 50257, 32)
    gpt_ids = torch.randint(vocab, (4, 128), device=device)
    image = torch.randn(images, 3, 224, 224, device=device)
    width, sequence = (256, 64) if small else (2048, 1024)
    llama_ids = torch.randint(8192, (2, sequence), device=device)

    def gpt():
        return Gpt(layers, 768, 12, 128, 4, vocab).to(device)

    def llama():
        return Llama(2, width, 16, 8, 7 * width, 8192).to(device)

    return (
        ("gpt2 forward", lambda wrap: forward(torch, wrap(gpt()), gpt_ids)),
        ("gpt2 training", lambda wrap: training(torch, wrap(gpt()), gpt_ids, vocab, device, False)),
        # With statistics of the batch, as the zoo's.
        ("resnet-50 forward", lambda wrap: forward(torch, wrap(resnet50().to(device)), image)),
        ("llama block bf16 training",
         lambda wrap: training(torch, wrap(llama()), llama_ids, 8192, device, True)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--small", action="store_true", help="small sizes")
    parser.add_argument("--seconds", type=float, default=120,
                        help="nothing is begun after these (default 120)")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    try:
        import torch
    except ImportError:
        print("{}")
        return
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    found = {}
    for kind, wrap in (("eager", lambda model: model), ("compiled", torch.compile)):
        for name, make in programs(torch, options.device, options.small):
            if time.monotonic() > end:
                break
            try:
                found.setdefault(name, {})[kind] = median_ms(torch, options.device, make(wrap))
            except Exception as error:  # pylint: disable=broad-except
                print(f"{name} {kind}: {error!r}", file=sys.stderr)
            print(json.dumps(found), flush=True)  # the last line that was written counts


if __name__ == "__main__":
    main()
