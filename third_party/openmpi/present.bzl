"""Whether there is one on this machine."""

load("@openmpi//:present.bzl", _PRESENT = "PRESENT")

PRESENT = _PRESENT
