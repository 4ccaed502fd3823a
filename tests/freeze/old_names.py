"""Flags as builds of before named them, so that this revision is compared with them."""
import functools
import pathlib
import subprocess


@functools.lru_cache(maxsize=None)
def has_old_names(yuba):
    """Whether `partition` of this build has --copies, which is a word of --space since."""
    text = subprocess.run([yuba, "partition", "--help"], capture_output=True, text=True,
                          check=True).stdout
    return "--copies " in text


def flags_for(yuba, flags):
    """`flags` of partition, in the names of that build."""
    if not has_old_names(yuba):
        return flags
    old, given = [], list(flags)
    while given:
        name = given.pop(0)
        if name != "--space":
            old.append(name)
            continue
        for word in given.pop(0).split(","):
            flag, equals, value = word.partition("=")
            old += ["--" + flag, value] if equals else ["--space", word]
    return tuple(old)


def solve(yuba):
    """The command that solves problem files: one of its own since, built beside `yuba`."""
    if has_old_names(yuba):
        return [yuba, "solve"]
    return [pathlib.Path(yuba).parent / "bench/yuba-bench", "solve"]
