"""A dependency that may be missing: one of two BUILD files, with the same targets.

`load("@name//:present.bzl", "PRESENT")` tells which, for what is not built without it."""

def _impl(ctx):
    # Set but empty means absent on purpose.
    chosen = ctx.os.environ.get(ctx.attr.env, None)
    for path in (ctx.attr.paths if chosen == None else [chosen]):
        if path and ctx.path(path + "/" + ctx.attr.marker).exists:
            if ctx.attr.prefix:
                ctx.symlink(path, ctx.attr.prefix)
            else:
                for entry in ctx.path(path).readdir():
                    ctx.symlink(entry, entry.basename)
            ctx.symlink(ctx.attr.build_file, "BUILD.bazel")
            ctx.file("present.bzl", "PRESENT = True\n")
            return
    ctx.symlink(ctx.attr.absent_build_file, "BUILD.bazel")
    ctx.file("present.bzl", "PRESENT = False\n")

optional_repository = repository_rule(
    implementation = _impl,
    attrs = {
        "absent_build_file": attr.label(),
        "build_file": attr.label(),
        "env": attr.string(doc = "variable that names the folder; empty: absent"),
        "marker": attr.string(doc = "file that shows the dependency is there"),
        "paths": attr.string_list(doc = "folders, of which the first with the marker counts"),
        "prefix": attr.string(doc = "what the folder is called in the repository; empty: its root"),
    },
    configure = True,
    environ = [
        "YUBA_CUDA",
        "YUBA_GLOO",
        "YUBA_MPICH",
        "YUBA_OPENMPI",
    ],
    local = True,
)
