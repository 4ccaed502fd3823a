"""Calls into CUDA's libraries, each function as its header declares it."""
import ctypes
import sys


NOT_INSTALLED, FAILED = 2, 1  # exit codes of the scripts


def load(*names):
    """The first of these libraries that the loader finds; where none is, the script has nothing to do."""
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    print(f"there is no {names[0]}", file=sys.stderr)
    sys.exit(NOT_INSTALLED)


def cudart():
    return load("libcudart.so.13", "libcudart.so.12")


def call(library, name, *arguments):
    """Calls a function that returns 0 where it succeeds; else the script has failed."""
    result = getattr(library, name)(*arguments)
    if result != 0:
        print(f"{name} gives {result}", file=sys.stderr)
        sys.exit(FAILED)


def allocate(runtime, count):
    """A pointer to so many bytes of GPU memory, which stay until the script ends."""
    memory = ctypes.c_void_p()
    call(runtime, "cudaMalloc", ctypes.byref(memory), ctypes.c_size_t(count))
    return memory
