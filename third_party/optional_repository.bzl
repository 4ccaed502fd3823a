"""A dependency that may be missing: one of two BUILD files, with the same targets."""

def _impl(ctx):
    # Set but empty means absent on purpose.
    chosen = ctx.os.environ.get(ctx.attr.env, None)
    for path in (ctx.attr.paths if chosen == None else [chosen]):
        if path and ctx.path(path + "/" + ctx.attr.marker).exists:
            for entry in ctx.path(path).readdir():
                ctx.symlink(entry, entry.basename)
            ctx.symlink(ctx.attr.build_file, "BUILD.bazel")
            return
    ctx.symlink(ctx.attr.absent_build_file, "BUILD.bazel")

optional_repository = repository_rule(
    implementation = _impl,
    attrs = {
        "absent_build_file": attr.label(),
        "build_file": attr.label(),
        "env": attr.string(doc = "variable that names the folder; empty: absent"),
        "marker": attr.string(doc = "file that shows the dependency is there"),
        "paths": attr.string_list(),
    },
    configure = True,
    environ = ["YUBA_CUDA"],
    local = True,
)
