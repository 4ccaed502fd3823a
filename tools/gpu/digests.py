"""Digests of files, to compare them without carrying them."""
import hashlib
import os


def of_folder(folder):
    """By name of the folder's files."""
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = hashlib.sha256(file.read()).hexdigest()
    return found
