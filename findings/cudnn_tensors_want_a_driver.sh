#!/usr/bin/env bash
# cuDNN 9.26 and 9.27 (nvidia-cudnn-cu13 9.26.1.1 and 9.27.0.42) on a machine without NVIDIA's driver,
# as one that builds and plans for GPUs elsewhere: the description of a tensor is finished.
# One would guess: both can, as a description is four numbers; plans for described GPUs need no GPU.
# Seen: 9.26 succeeds. 9.27 returns CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED: one of its engine
# libraries is linked to libcuda.so.1 since then, and is loaded before anything else is done.
# Why it matters: planning ahead of time, and its tests, end where cuDNN is updated, and the error
# comes from a call that has nothing to do with a device.
set -euo pipefail
if ldconfig -p | grep -q 'libcuda\.so\.1 '; then
  echo "this machine has a driver: nothing to see"
  exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/tensor.py" <<'CODE'
import ctypes
import sys

TENSOR, INT64, DATA_TYPE, FLOAT = 17, 3, 1, 0  # values of cudnn_graph_v9.h
library = ctypes.CDLL(sys.argv[1])
library.cudnnGetErrorString.restype = ctypes.c_char_p
library.cudnnGetVersion.restype = ctypes.c_size_t
tensor = ctypes.c_void_p()
library.cudnnBackendCreateDescriptor(TENSOR, ctypes.byref(tensor))
# In the order of the header: alignment, type, dimensions, strides, name.
for attribute, kind, values in ((900, INT64, [16]), (901, DATA_TYPE, None), (902, INT64, [1, 8, 4, 4]),
                                (903, INT64, [128, 16, 4, 1]), (906, INT64, [1])):
    array = (ctypes.c_int64 * len(values))(*values) if values else (ctypes.c_int * 1)(FLOAT)
    if library.cudnnBackendSetAttribute(tensor, attribute, kind, ctypes.c_int64(len(array)), array):
        sys.exit(f"attribute {attribute} is refused")
status = library.cudnnBackendFinalize(tensor)
print(library.cudnnGetVersion(), library.cudnnGetErrorString(status).decode())
CODE
seen=
for version in 9.26.1.1 9.27.0.42; do
  python3 -m venv "$work/$version" || exit 2
  "$work/$version/bin/pip" install -q --no-deps "nvidia-cudnn-cu13==$version" || exit 2
  lib=$(echo "$work/$version"/lib/python3*/site-packages/nvidia/cudnn/lib)
  line=$(LD_LIBRARY_PATH=$lib python3 "$work/tensor.py" "$lib/libcudnn.so.9" 2>/dev/null)
  echo "$line"
  seen+="${line##* } "
done
[[ $seen == "CUDNN_STATUS_SUCCESS CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED " ]]
