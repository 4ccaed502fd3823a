"""Calls into CUDA's libraries, each function as its header declares it."""
import ctypes
import sys


def load(*names):
    """The first of these libraries that the loader finds; the script ends with 2 where none is."""
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    print(f"no {names[0]}", file=sys.stderr)
    sys.exit(2)


def cudart():
    """The CUDA runtime on a machine that has a GPU; else the script ends with 2."""
    runtime, count = load("libcudart.so.13", "libcudart.so.12"), ctypes.c_int(0)
    if runtime.cudaGetDeviceCount(ctypes.byref(count)) != 0 or count.value == 0:
        print("no GPU", file=sys.stderr)
        sys.exit(2)
    return runtime


def call(library, name, *arguments):
    """Calls a function that returns 0 where it succeeds; the script ends with 1 where it does not."""
    result = getattr(library, name)(*arguments)
    if result != 0:
        print(f"{name} gives {result}", file=sys.stderr)
        sys.exit(1)


def allocate(runtime, count):
    """A pointer to so many bytes of GPU memory, which stay until the script ends."""
    memory = ctypes.c_void_p()
    call(runtime, "cudaMalloc", ctypes.byref(memory), ctypes.c_size_t(count))
    return memory
