"""The part of the report that is about runs of ranks: their steps beside what was predicted when the
bundle was packed, and what was said where a rank was lost."""
import pack_ranks
import times


def prediction(result, gpus):
    """Of the machine with such GPUs, all of one name, which is the first that nvidia-smi says of each:
    what it is called, and ms by who adds up. Of processors it is whatever there is."""
    of_name = {name.split(",")[0].strip() for name in gpus.splitlines()}
    predicted = result["predicted"]
    if pack_ranks.PROCESSORS in predicted:
        return predicted[pack_ranks.PROCESSORS]
    return predicted.get(of_name.pop()) if len(of_name) == 1 else None


def row(result, gpus):
    predicted = prediction(result, gpus)
    ms, machine, ratio = "", "none is known", ""
    if predicted is not None:
        machine = predicted["machine"]
        of_step = next(iter(predicted["ms"].values()))  # as ranks run by default
        ms, ratio = f"{of_step:.2f}", f"{result['step_ms'] / of_step:.2f}"
    return [result["name"].replace("rank times ", ""), f"{result['step_ms']:.2f}", ms, ratio, machine,
            f"{result['bytes'] / 1e6:.2f}", f"{result['groups_a_step']:.4g}",
            f"{result['arena_bytes'] / 1e6:.0f}"]


def page(results, gpus):
    timed = [r for r in results if r["kind"] == "rank_times" and r["ok"]]
    lost = [r for r in results if r["kind"] == "lost" and r["ok"]]
    lines = ["", "## Ranks"] if timed or lost else []
    if timed:
        lines += ["", "A step with a process for each device, beside the prediction for "
                  "the machine that is named.",
                  *times.table(["program", "step ms", "predicted ms", "ratio", "machine", "MB moved",
                                "groups a step", "MB a device"], [row(r, gpus) for r in timed])]
    if lost:
        lines += ["", "Ranks that were lost, and how long the others took to end:", "",
                  *(f"- {r['name']}: {r['ended_after']:.1f} s: {r['said']}" for r in lost)]
    return lines
