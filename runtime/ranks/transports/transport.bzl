"""Transports: shared objects that carry bytes between processes (../transport.h)."""

def transport(name, present, srcs, deps, visibility):
    """lib<name>.so, and `name`, the files to carry along: none where its package is missing.

    Args:
      name: "yuba_gloo"
      present: whether the package is there
      srcs: its files
      deps: the package's library
      visibility: of `name`
    """
    object = "lib" + name + ".so"
    if present:
        native.cc_binary(
            name = object,
            srcs = srcs,
            additional_linker_inputs = ["exports.lds"],
            copts = [
                "-fPIC",
                "-fvisibility=hidden",
            ],
            # The first two come before the command's own malloc (.bazelrc), which is thereby left
            # out: what one side of the border allocates the other one frees.
            linkopts = [
                "-lstdc++",
                "-lc",
                "-Wl,--version-script,$(location exports.lds)",
                "-ldl",
                "-lpthread",
            ],
            linkshared = True,
            deps = deps,
        )
    native.filegroup(
        name = name,
        srcs = [object] if present else [],
        visibility = visibility,
    )
