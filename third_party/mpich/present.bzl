"""Whether there is one on this machine."""

load("@mpich//:present.bzl", _PRESENT = "PRESENT")

PRESENT = _PRESENT
