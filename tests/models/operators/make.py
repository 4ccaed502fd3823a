"""Writes the folders beside it; needs NumPy and onnx, which the tests do not. Run it in place."""
import defaults
import draws
import elementwise
import forms
import indexing
import normalizations
import quantization
import reductions
import resizing
import sampling
import scatters
import sequences
import sorting
import training
import windows

for module in (defaults, draws, elementwise, forms, indexing, normalizations, quantization,
               reductions, resizing, sampling, scatters, sequences, sorting, training, windows):
    module.write()
