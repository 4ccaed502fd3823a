"""Turns Bazel's compile actions, on standard input, into a compilation database for clang's tools.

    bazel aquery 'mnemonic("CppCompile", //...)' --output=jsonproto | compile_commands.py ROOT

ROOT is Bazel's execution root, where the actions run.
"""

import json
import os
import sys


def absolute(path, root):
    """Returns where another repository's folder lies: ROOT links those of the last build alone."""
    if path.startswith("external/"):
        return os.path.normpath(os.path.join(root, "..", "..", path))
    return path


def commands(actions, root):
    workspace = os.getcwd()
    for action in actions:
        arguments = action["arguments"]
        source = next((arg for arg in arguments if arg.endswith(".cc")), None)
        if source is None or not os.path.exists(source):
            continue
        # What gcc alone knows, and what names outputs, is left out.
        kept, skip = [], False
        for argument in arguments[1:]:
            if skip:
                skip = False
            elif argument in ("-o", "-MF"):
                skip = True
            elif argument.startswith("-W"):  # warnings are gcc's to give
                pass
            elif argument not in ("-MD", "-c", source, "-fno-canonical-system-headers"):
                kept.append(absolute(argument, root))
        # Actions run in ROOT, where our sources are links: findings shall name the files themselves.
        yield {"directory": root, "file": os.path.join(workspace, source),
               "arguments": ["clang++-19", *kept, "-iquote", workspace, "-c",
                             os.path.join(workspace, source)]}


def main():
    actions = json.load(sys.stdin)["actions"]
    json.dump(list(commands(actions, sys.argv[1])), sys.stdout)


if __name__ == "__main__":
    main()
