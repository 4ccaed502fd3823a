"""Whether there is one on this machine."""

load("@gloo//:present.bzl", _PRESENT = "PRESENT")

PRESENT = _PRESENT
