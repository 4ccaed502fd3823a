"""C++ from .proto files with Debian's protoc."""

def cc_proto(name, src, visibility = None):
    """A cc_library of <package>/<src without .proto>.pb.h; src is included by its full path."""
    stem = src[:-len(".proto")]
    native.genrule(
        name = name + "_protoc",
        srcs = [src],
        outs = [stem + ".pb.h", stem + ".pb.cc"],
        cmd = "protoc -I. --cpp_out=$(GENDIR) $<",
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        srcs = [stem + ".pb.cc"],
        hdrs = [stem + ".pb.h"],
        visibility = visibility,
        deps = ["//third_party/protobuf"],
    )
