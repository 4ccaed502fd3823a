"""Whether NCCL works here at all: one rank gathers from itself. Prints NCCL's version.

Exits with 0 where the bytes arrived, 1 where a call failed or they did not, 2 where there is no
NCCL or no cudart in the loader's path.
"""
import ctypes
import sys

BYTES = 1 << 20
INT8 = 0  # ncclInt8
TO_DEVICE, TO_HOST = 1, 2  # cudaMemcpyKind


def load(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    print(f"no {names[0]}", file=sys.stderr)
    sys.exit(2)


def call(library, name, *arguments):
    result = getattr(library, name)(*arguments)
    if result != 0:
        print(f"{name} gives {result}", file=sys.stderr)
        sys.exit(1)


def main():
    cuda = load("libcudart.so.13", "libcudart.so.12")
    nccl = load("libnccl.so.2")
    version, gpu, communicator = ctypes.c_int(), ctypes.c_int(0), ctypes.c_void_p()
    call(nccl, "ncclGetVersion", ctypes.byref(version))
    call(nccl, "ncclCommInitAll", ctypes.byref(communicator), 1, ctypes.byref(gpu))
    source, target = ctypes.c_void_p(), ctypes.c_void_p()
    for memory in (source, target):
        call(cuda, "cudaMalloc", ctypes.byref(memory), ctypes.c_size_t(BYTES))
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
    sys.exit(0 if got.raw == sent and state.value == 0 else 1)


if __name__ == "__main__":
    main()
