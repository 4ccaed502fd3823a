"""C++ from TableGen with Debian's mlir-tblgen."""

def mlir_tblgen(name, td_file, outs, td_includes = [], visibility = None):
    """A cc_library of generated files, included by their full path.

    Args:
      name: of the library.
      td_file: the input.
      outs: file -> options, for example {"ops.h.inc": "-gen-op-decls"}.
      td_includes: further .td files that td_file includes, by their full path.
      visibility: as in every rule.
    """
    for number, (out, options) in enumerate(outs.items()):
        native.genrule(
            name = "%s_%d" % (name, number),
            srcs = [td_file] + td_includes,
            outs = [out],
            cmd = "$(execpath //third_party/llvm:mlir_tblgen) %s " % options +
                  "-I. -I/usr/lib/llvm-19/include $(execpath %s) -o $@" % td_file,
            tools = ["//third_party/llvm:mlir_tblgen"],
            visibility = ["//visibility:private"],
        )
    native.cc_library(
        name = name,
        textual_hdrs = outs.keys(),
        visibility = visibility,
        deps = ["//third_party/llvm"],
    )
