#!/usr/bin/env bash
# torch 2.15.0 with safetensors 0.8.0, torch.distributed.checkpoint.HuggingFaceStorageWriter, which
# writes each rank's pieces and makes whole tensors of them (enable_consolidation=True).
# One would guess: the whole file has the values of the pieces.
# Seen: tensors without dimensions are 0 in it, with no error: a temperature of 2.5 becomes 0. The
# pieces have it, and without consolidation it comes back. A tensor of shape [1] stays as it is. Whole
# numbers, as the count of batches of a norm, end the save with a TypeError once the pieces are written.
# Why it matters: models with a learned temperature, as CLIP's, or with scales of quantised values are
# written as models that compute something else, and everything that reads safetensors takes them so.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q torch==2.15.0 numpy==2.4.6 safetensors==0.8.0 huggingface_hub==2.4.0 || exit 2
cd "$work"
cat > scalars.py <<'END'
import sys
import torch
import torch.distributed.checkpoint as checkpoint
from safetensors.torch import load_file
from torch.distributed.checkpoint import HuggingFaceStorageReader, HuggingFaceStorageWriter


state = {"temperature": torch.tensor(2.5), "bias": torch.tensor([3.5]), "w": torch.ones(2, 3)}
names = ["temperature", "bias"]


def values(found):
    return [found[name].flatten()[0].item() for name in names]


def back(folder):
    found = {name: torch.full_like(value, 9) for name, value in state.items()}
    checkpoint.load(found, storage_reader=HuggingFaceStorageReader(path=folder), no_dist=True)
    return values(found)


def save(values, folder, whole):
    writer = HuggingFaceStorageWriter(path=folder, save_distributed=True, enable_consolidation=whole)
    checkpoint.save(dict(values), storage_writer=writer, no_dist=True)


save(state, "pieces", False)
save(state, "whole", True)
save({"count": torch.tensor([7])}, "counts", False)
try:
    save({"count": torch.tensor([7])}, "whole counts", True)
    refused = ""
except checkpoint.CheckpointException as error:
    refused = str(error).strip().splitlines()[-1]
file = values(load_file("whole/model-00001-of-00001.safetensors"))
rows = {"saved": values(state), "read from pieces": back("pieces"), "read from the whole": back("whole"),
        "the whole file by safetensors": file}
for label, row in rows.items():
    print(f"{label}: {dict(zip(names, row))}")
print("a tensor of whole numbers:", refused)
kept, lost = [2.5, 3.5], [0, 3.5]
sys.exit(0 if list(rows.values()) == [kept, kept, lost, lost] and "TypeError" in refused else 1)
END
venv/bin/python scalars.py 2> log || { cat log >&2; exit 1; }
