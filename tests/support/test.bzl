"""Tests that are counted by cases."""

def yuba_test(name, srcs, deps = [], data = [], size = "small", tags = [], **kwargs):
    """A Catch2 test; a case that cannot run here says WARN("SKIP: why") and returns."""
    native.cc_test(
        name = name,
        size = size,
        srcs = srcs,
        data = data,
        tags = tags,
        deps = deps + [
            "//tests/support:main",
            "//tests/support:part",
            "//tests/support:status_matchers",
            "//third_party/catch2",
        ],
        **kwargs
    )
