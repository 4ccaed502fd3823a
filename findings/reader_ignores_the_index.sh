#!/usr/bin/env bash
# torch 2.15.0 with safetensors 0.8.0, torch.distributed.checkpoint.HuggingFaceStorageReader on a folder
# as hubs have them: two files and model.safetensors.index.json, which says in which file a tensor is.
# One would guess: the reader takes each tensor from the file that the index names.
# Seen: it reads every file of the folder that ends in .safetensors and no index. Where both files have
# `w`, the index may name either: the same one is loaded, with no error; which one is a matter of the
# order in which the folder is listed.
# Why it matters: folders hold files of another layout or precision beside those of the index, and
# saves with fewer files leave old ones: weights are then those of another file, or of several.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q torch==2.15.0 numpy==2.4.6 safetensors==0.8.0 huggingface_hub==2.4.0 || exit 2
cd "$work"
cat > folder.py <<'END'
import json
import os
import sys
import torch
import torch.distributed.checkpoint as checkpoint
from safetensors.torch import save_file
from torch.distributed.checkpoint import HuggingFaceStorageReader

names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]


def load(folder, files, index):
    os.makedirs(folder)
    for name, tensors in files.items():
        save_file(tensors, os.path.join(folder, name))
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as file:
        json.dump({"metadata": {}, "weight_map": index}, file)
    state = {"w": torch.zeros(2), "v": torch.zeros(1)}
    checkpoint.load(state, storage_reader=HuggingFaceStorageReader(path=folder), no_dist=True)
    return state["w"].tolist()


both = {names[0]: {"w": torch.full((2,), 1.0)}, names[1]: {"w": torch.full((2,), 2.0), "v": torch.ones(1)}}
found = {name: load(f"index-{i}", both, {"w": name, "v": names[1]}) for i, name in enumerate(names)}
for name, values in found.items():
    print(f"index: w is in {name}; loaded: {values}")
sys.exit(0 if found[names[0]] == found[names[1]] else 1)
END
venv/bin/python folder.py 2> log || { cat log >&2; exit 1; }
