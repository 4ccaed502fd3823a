"""Whether NCCL works here at all: one rank gathers from itself. Prints NCCL's version.

Exits with 0 where the bytes arrived, 1 where a call failed or they did not, 2 where there is no
NCCL or no cudart in the loader's path.
"""
import ctypes
import sys

from library import FAILED, allocate, call, cudart, load

BYTES = 1 << 20
INT8 = 0  # ncclInt8
TO_DEVICE, TO_HOST = 1, 2  # cudaMemcpyKind


def main():
    cuda, nccl = cudart(), load("libnccl.so.2")
    version, gpu, communicator = ctypes.c_int(), ctypes.c_int(0), ctypes.c_void_p()
    call(nccl, "ncclGetVersion", ctypes.byref(version))
    call(nccl, "ncclCommInitAll", ctypes.byref(communicator), 1, ctypes.byref(gpu))
    source, target = allocate(cuda, BYTES), allocate(cuda, BYTES)
    sent = bytes(i * 7 % 251 for i in range(BYTES))
    got = ctypes.create_string_buffer(BYTES)
    call(cuda, "cudaMemcpy", source, sent, ctypes.c_size_t(BYTES), TO_DEVICE)
    call(nccl, "ncclAllGather", source, target, ctypes.c_size_t(BYTES), INT8, communicator, None)
    call(cuda, "cudaDeviceSynchronize")
    state = ctypes.c_int(-1)
    call(nccl, "ncclCommGetAsyncError", communicator, ctypes.byref(state))
    call(cuda, "cudaMemcpy", got, target, ctypes.c_size_t(BYTES), TO_HOST)
    call(nccl, "ncclCommDestroy", communicator)
    print(f"NCCL {version.value // 10000}.{version.value // 100 % 100}.{version.value % 100}")
    sys.exit(0 if got.raw == sent and state.value == 0 else FAILED)


if __name__ == "__main__":
    main()
