"""What the first GPU can do at best, as JSON: the figures that kernels are compared with.

  copy_bytes_per_second   read and written, by a copy within its memory
  launch_seconds          from one empty kernel to the next
  flops_per_second        of cuBLAS's products of large matrices, by element type; TF32 is off

Exits with 0; 1 where a call failed; 2 where there is no GPU or a library is missing. A number as
argument makes matrices and copies smaller: their size is divided by it.
"""
import ctypes
import json
import sys
import time

from library import allocate, call, cudart, load

COPY_BYTES, COPIES = 1 << 30, 20
SIZE, PRODUCTS = 8192, 5
LAUNCHES = 10000
ON_DEVICE = 3  # cudaMemcpyDeviceToDevice
TYPES = {"f32": (0, 4), "bf16": (14, 2)}  # cudaDataType_t and bytes of an element
COMPUTE_F32, DEFAULT_ALGORITHM = 68, -1  # cublasComputeType_t, cublasGemmAlgo_t
EMPTY = b".version 7.0 .target sm_70 .address_size 64 .visible .entry empty() { ret; }"


def seconds_of(cuda, times, run):
    """Of one `run`, in a row of so many, after one that warms up."""
    run()
    call(cuda, "cudaDeviceSynchronize")
    begin = time.perf_counter()
    for _ in range(times):
        run()
    call(cuda, "cudaDeviceSynchronize")
    return (time.perf_counter() - begin) / times


def copy_rate(cuda, smaller):
    count = COPY_BYTES // smaller
    source, target = allocate(cuda, count), allocate(cuda, count)

    def copy():
        call(cuda, "cudaMemcpyAsync", target, source, ctypes.c_size_t(count), ON_DEVICE, None)

    rate = 2 * count / seconds_of(cuda, COPIES, copy)
    for memory in (source, target):
        call(cuda, "cudaFree", memory)
    return rate


def launch_seconds(cuda):
    driver = load("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call(driver, "cuModuleLoadData", ctypes.byref(module), EMPTY)
    call(driver, "cuModuleGetFunction", ctypes.byref(function), module, b"empty")
    return seconds_of(cuda, LAUNCHES, lambda: call(
        driver, "cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, None, None, None))


def product_rate(cuda, name, smaller):
    cublas, handle = load("libcublas.so.13", "libcublas.so.12"), ctypes.c_void_p()
    size, (kind, width) = SIZE // smaller, TYPES[name]
    a, b, c = (allocate(cuda, size * size * width) for _ in range(3))
    for matrix in (a, b):
        call(cuda, "cudaMemset", matrix, 0, ctypes.c_size_t(size * size * width))
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    call(cublas, "cublasCreate_v2", ctypes.byref(handle))
    seconds = seconds_of(cuda, PRODUCTS, lambda: call(
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
    print(json.dumps({"copy_bytes_per_second": copy_rate(cuda, smaller),
                      "launch_seconds": launch_seconds(cuda),
                      "flops_per_second": {name: product_rate(cuda, name, smaller)
                                           for name in TYPES}}))


if __name__ == "__main__":
    main()
