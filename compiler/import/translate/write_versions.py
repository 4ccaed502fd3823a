"""Writes onnx_versions.cc, the versions of ONNX's operators (versions.h), from the onnx package:

    python compiler/import/translate/write_versions.py > compiler/import/translate/onnx_versions.cc

Neither the build nor the tests need it. With a newer onnx,
tests/compiler/import/translate/versions_test names the rows of table.cc whose operators changed:
read what changed in their text, then raise the row's number."""
import struct
import textwrap

import onnx
from onnx import defs

OLDEST = 6  # the oldest opset that is read
LETTERS = {"INT": "i", "FLOAT": "f", "STRING": "s", "TENSOR": "t", "GRAPH": "g",
           "SPARSE_TENSOR": "p", "TYPE_PROTO": "o", "INTS": "I", "FLOATS": "F", "STRINGS": "S"}


def kind(attribute):
    return str(attribute.type).split(".")[-1]


def shortest(number):
    """The shortest text of a float of 32 bits."""
    bits = struct.pack("f", number)
    texts = (f"{number:.{digits}g}" for digits in range(1, 10))
    return next(text for text in texts if struct.pack("f", float(text)) == bits)


def absent(attribute):
    """The value that an attribute has where a node lacks it; nothing where the text gives none."""
    value = attribute.default_value
    if not value.name:
        return ""
    texts = {"INT": lambda: str(value.i), "FLOAT": lambda: shortest(value.f),
             "STRING": lambda: value.s.decode(), "INTS": lambda: ",".join(map(str, value.ints)),
             "STRINGS": lambda: ",".join(s.decode() for s in value.strings)}
    return "=" + texts[kind(attribute)]()


def counts(least, most):
    return f"{least}" if least == most else f"{least}-{'*' if most > 1000 else most}"


def signature(schema):
    words = [counts(schema.min_input, schema.max_input) + ">" +
             counts(schema.min_output, schema.max_output)]
    for _, attribute in sorted(schema.attributes.items()):
        words.append(f"{attribute.name}:{LETTERS[kind(attribute)]}{absent(attribute)}")
    return " ".join(words)


def text(schema):
    words = [schema.doc, *(a.description for _, a in sorted(schema.attributes.items()))]
    words += [p.name + str(p.option) + p.description for p in [*schema.inputs, *schema.outputs]]
    return " ".join(" ".join(word or "" for word in words).split())


def change(before, after):
    if signature(before) != signature(after):
        return signature(after)
    return "types" if text(before) == text(after) else "text"


versions = {}
for schema in defs.get_all_schemas_with_history():
    if schema.domain == "":
        versions.setdefault(schema.name, {})[schema.since_version] = schema

print(f"""// The versions of ONNX's operators up to opset {defs.onnx_opset_version()}, in the form of \
versions.h. Written by
// write_versions.py from onnx {onnx.__version__}, not by hand.
#include "compiler/import/translate/versions.h"

namespace yuba::onnx {{

const char kOnnxVersions[] = R"(""", end="")
for name, schemas in sorted(versions.items()):
    since = sorted(schemas)
    since = since[max([i for i, s in enumerate(since) if s <= OLDEST], default=0):]
    parts = [f"{since[0]} {signature(schemas[since[0]])}"]
    parts += [f"{b} {change(schemas[a], schemas[b])}" for a, b in zip(since, since[1:])]
    print(textwrap.fill(name + " " + " | ".join(parts), 98, subsequent_indent="  ",
                        break_long_words=False, break_on_hyphens=False))
print(""")";

}  // namespace yuba::onnx""")
