"""The ratios by which a machine's times are judged, from the results of one run.

A row is what is measured, the figure or nothing where it could not be measured, what it has to be to
pass, and what to aim at. Figures are times as many as PyTorch's of the same run, so that less is
better, or shares of the GPU's copy rate, of which more is better.
"""
import collections

import times

# `percent`: a share, of which more is better.
Ratio = collections.namedtuple("Ratio", "what figure passes aim percent note", defaults=(False, ""))
PRODUCTS = 20  # those of the programs below that take longest
PRODUCTS_OF = ("gpt2", "llama", "resnet")


class Figures:
    """Looks figures up in what a check has found; what is not there is None."""

    def __init__(self, found):
        self.found, self.limits = found, times.limits_of(found["results"])
        self.timed = {r["name"]: r for r in found["results"] if r["kind"] == "time" and r["ok"]}

    def step(self, name, devices=1):
        return self.timed.get(f"{name} on {devices}", {}).get("step_ms")

    def to_peer(self, name, *kinds):
        """Over the fastest of PyTorch's of these kinds. All of them are needed."""
        peer = self.found["peers"].get(name, {})
        if self.step(name) is None or any(kind not in peer for kind in kinds):
            return None
        return self.step(name) / min(peer[kind] for kind in kinds)

    def choice(self, one, other):
        """A program over the same with another choice."""
        steps = self.step(one), self.step(other)
        return None if None in steps else steps[0] / steps[1]

    def memory(self, name):
        result, peer = self.timed.get(f"{name} on 1"), self.found["peers"].get(name, {})
        if result is None or "peak_bytes" not in peer:
            return None
        return (result["arena_bytes"] + result["workspace_bytes"]) / peer["peak_bytes"]

    def virtual(self, name):
        one, eight = self.step(name), self.step(name, 8)
        return None if one is None or eight is None else eight / one

    def bulk(self):
        """The smallest share, and whose it is."""
        done = [r for r in self.found["results"] if r["kind"] == "bulk" and r["ok"]]
        if not done or self.limits is None:
            return None, ""
        shares = sorted((times.copy_share(r, self.limits), r["name"]) for r in done)
        return shares[0][0], f"the least of {len(done)}, {shares[0][1]}"

    def products(self):
        """Of the products that take longest, all together; the worst of them is noted."""
        of = [one for one in self.found["library_calls"]
              if one["call"]["call"] == "product" and "pytorch_ms" in one and any(
                  name.startswith(PRODUCTS_OF) for name in one["programs"])][:PRODUCTS]
        if not of:
            return None, ""
        ours = sum(times.without_waiting(one["ms"], one["count"], self.limits) for one in of)
        worst = max(times.call_ratio(one, self.limits) for one in of)
        return ours / sum(one["count"] * one["pytorch_ms"] for one in of), \
            f"{len(of)} products, the worst {worst:.2f}"


def ratios(found):
    figures = Figures(found)
    bulk, products = figures.bulk(), figures.products()
    return [
        Ratio("ResNet-50 forward f32 ÷ eager", figures.to_peer("resnet-50 forward", "eager"), 1.2, 1.0),
        Ratio("ResNet-50 training f32 ÷ eager",
              figures.to_peer("resnet-50 training", "eager"), 1.2, 1.0),
        Ratio("ResNet-50 training bf16 ÷ compiled, channels last",
              figures.to_peer("resnet-50 bf16 training", "compiled"), 1.3, 1.0),
        Ratio("GPT-2 small forward f32 ÷ the faster of eager and compiled",
              figures.to_peer("gpt2 forward", "eager", "compiled"), 1.1, 0.95),
        Ratio("GPT-2 small training f32 ÷ the faster of eager and compiled",
              figures.to_peer("gpt2 training", "eager", "compiled"), 1.1, 0.95),
        Ratio("Llama-3-8B layers bf16 training ÷ compiled",
              figures.to_peer("llama-3-8b layers bf16 training", "compiled"), 1.15, 1.0),
        Ratio("maps, reductions, softmax, norms, transposes over 1 GiB: share of the copy rate",
              bulk[0], 0.85, 0.93, True, bulk[1]),
        Ratio("products of GPT-2, Llama and ResNet ÷ cuBLAS as PyTorch calls it",
              products[0], 1.05, 1.0, False, products[1]),
        Ratio("8 virtual devices ÷ one: GPT-2 small forward", figures.virtual("gpt2 forward"), 1.5,
              1.15),
        Ratio("ResNet-50 training bf16: channels last, as chosen ÷ row-major",
              figures.choice("resnet-50 bf16 training", "resnet-50 bf16 training row-major"), 1.0,
              0.9),
        Ratio("GPT-2 small training f32: joint calls of cuBLASLt ÷ none, as chosen",
              figures.choice("gpt2 training joint", "gpt2 training"), 1.0, 0.98),
        Ratio("GPT-2 small training f32: tuned ÷ by heuristics",
              figures.choice("gpt2 training tuned", "gpt2 training"), 1.0, 0.98),
        Ratio("Llama-3-8B layers bf16 training: tuned ÷ by heuristics",
              figures.choice("llama-3-8b layers bf16 training tuned",
                             "llama-3-8b layers bf16 training"), 1.0, 0.98),
        Ratio("peak memory of the Llama-3-8B layers ÷ PyTorch's",
              figures.memory("llama-3-8b layers bf16 training"), 0.95, 0.85)]


def verdict(ratio):
    if ratio.figure is None:
        return "not measured"
    better = (lambda bound: ratio.figure >= bound) if ratio.percent else (
        lambda bound: ratio.figure <= bound)
    return "reached" if better(ratio.aim) else "passed" if better(ratio.passes) else "missed"


def page(found):
    def shown(ratio, figure):
        return "" if figure is None else f"{100 * figure:.0f} %" if ratio.percent else f"{figure:.2f}"

    rows = [[ratio.what + (f" ({ratio.note})" if ratio.note else ""), shown(ratio, ratio.figure),
             shown(ratio, ratio.passes), shown(ratio, ratio.aim), verdict(ratio)]
            for ratio in ratios(found)]
    note = "To PyTorch in this run, on one GPU. They do not count for the exit code."
    if found["small"]:
        note = "The programs were packed with `--small`: their times say nothing."
    return ["", "## Ratios", "", note,
            *times.table(["what", "now", "to pass", "to aim at", ""], rows)]
