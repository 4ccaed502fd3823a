"""What the first GPU does at best, as JSON: the figures that kernels are compared with.

  copy_bytes_per_second   read and written, by copies of 1 GiB within its memory
  launch_seconds          from one empty kernel to the next, as fast as this script starts them
  waited_seconds          of an empty kernel that is started and waited for
  flops_per_second        of cuBLAS's products of large matrices with random elements, by element
                          type; TF32 is off

Exits with 0; 1 where a call failed; 2 where a library is missing. A number as argument makes
matrices and copies smaller: their sizes are divided by it.
"""
import array
import ctypes
import json
import random
import sys
import time

from library import allocate, call, cudart, load

COPY_BYTES, SIZE = 1 << 30, 8192
LEAST_SECONDS, MOST_TURNS = 0.2, 20000  # that a figure is taken over
TO_DEVICE, ON_DEVICE = 1, 3  # cudaMemcpyKind
TYPES = {"f32": (0, 4), "bf16": (14, 2)}  # cudaDataType_t and bytes of an element
COMPUTE_F32, DEFAULT_ALGORITHM = 68, -1  # cublasComputeType_t, cublasGemmAlgo_t
EMPTY = b".version 7.0 .target sm_70 .address_size 64 .visible .entry empty() { ret; }"


def timed(cuda, run, turns):
    call(cuda, "cudaDeviceSynchronize")
    begin = time.perf_counter()
    for _ in range(turns):
        run()
    call(cuda, "cudaDeviceSynchronize")
    return (time.perf_counter() - begin) / turns


def seconds_of(cuda, run):
    """Of one `run`, in as many in a row as take LEAST_SECONDS."""
    timed(cuda, run, 1)  # warms up
    turns = min(MOST_TURNS, max(5, LEAST_SECONDS / timed(cuda, run, 1)))
    return timed(cuda, run, int(turns))


def copy_rate(cuda, smaller):
    count = COPY_BYTES // smaller
    source, target = allocate(cuda, count), allocate(cuda, count)
    rate = 2 * count / seconds_of(cuda, lambda: call(
        cuda, "cudaMemcpyAsync", target, source, ctypes.c_size_t(count), ON_DEVICE, None))
    for memory in (source, target):
        call(cuda, "cudaFree", memory)
    return rate


def launch_seconds(cuda):
    """Of an empty kernel: without and with waiting for it."""
    driver = load("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call(driver, "cuModuleLoadData", ctypes.byref(module), EMPTY)
    call(driver, "cuModuleGetFunction", ctypes.byref(function), module, b"empty")
    call(driver, "cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, None, None, None)
    launch, wait = driver.cuLaunchKernel, cuda.cudaDeviceSynchronize
    arguments = (function, 1, 1, 1, 32, 1, 1, 0, None, None, None)

    def waited():
        launch(*arguments)
        wait()

    return seconds_of(cuda, lambda: launch(*arguments)), seconds_of(cuda, waited)


def fill(cuda, matrix, name, count):
    """Random elements of both signs, in blocks that repeat."""
    block = array.array("f", [random.uniform(-1, 1) for _ in range(1 << 15)]).tobytes()
    if name == "bf16":  # the upper halves
        block = b"".join(block[i + 2:i + 4] for i in range(0, len(block), 4))
    for begin in range(0, count, len(block)):
        call(cuda, "cudaMemcpy", ctypes.c_void_p(matrix.value + begin), block,
             ctypes.c_size_t(min(len(block), count - begin)), TO_DEVICE)


def product_rate(cuda, name, smaller):
    cublas, handle = load("libcublas.so.13", "libcublas.so.12"), ctypes.c_void_p()
    size, (kind, width) = SIZE // smaller, TYPES[name]
    a, b, c = (allocate(cuda, size * size * width) for _ in range(3))
    for matrix in (a, b):
        fill(cuda, matrix, name, size * size * width)
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    call(cublas, "cublasCreate_v2", ctypes.byref(handle))
    seconds = seconds_of(cuda, lambda: call(
        cublas, "cublasGemmEx", handle, 0, 0, size, size, size, ctypes.byref(one), a, kind, size,
        b, kind, size, ctypes.byref(zero), c, kind, size, COMPUTE_F32, DEFAULT_ALGORITHM))
    call(cublas, "cublasDestroy_v2", handle)
    for matrix in (a, b, c):
        call(cuda, "cudaFree", matrix)
    return 2 * size ** 3 / seconds


def main():
    smaller = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    cuda = cudart()
    call(cuda, "cudaFree", None)  # makes the context that the module is loaded into
    rate = copy_rate(cuda, smaller)
    launched, waited = launch_seconds(cuda)
    print(json.dumps({"copy_bytes_per_second": rate,
                      "launch_seconds": launched, "waited_seconds": waited,
                      "flops_per_second": {name: product_rate(cuda, name, smaller)
                                           for name in TYPES}}))


if __name__ == "__main__":
    main()
