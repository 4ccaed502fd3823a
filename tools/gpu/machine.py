"""What this machine is: GPUs, driver, and the libraries that programs open."""
import glob
import os
import re
import shutil
import site
import subprocess
import sys

QUERY = "name,memory.total,driver_version,compute_cap"


def output_of(command):
    try:
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             timeout=60)
        return ran.stdout.strip()
    except FileNotFoundError:
        return f"no {command[0]}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)


def library_folders():
    """Folders with CUDA's libraries: the toolkit's, and those of a Python environment."""
    folders = glob.glob("/usr/local/cuda*/lib64")
    for packages in site.getsitepackages() + [site.getusersitepackages()] + sys.path:
        folders += glob.glob(os.path.join(packages, "nvidia", "*", "lib"))
    return [f for f in dict.fromkeys(folders) if glob.glob(f + "/lib*.so*")]


def environment():
    """The environment of a run, in which the loader finds the libraries."""
    found = dict(os.environ)
    paths = [p for p in found.get("LD_LIBRARY_PATH", "").split(":") if p]
    found["LD_LIBRARY_PATH"] = ":".join(paths + library_folders())
    return found


def sanitizer():
    return shutil.which("compute-sanitizer") or next(
        iter(glob.glob("/usr/local/cuda*/bin/compute-sanitizer")), None)


def gpus():
    """How many there are; 0 where it is not known."""
    said = output_of(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
    return len(re.findall(r"^\d+\.\d", said, re.MULTILINE))


def sm_of_first_gpu():
    """80 for compute capability 8.0; none where it is not known."""
    said = output_of(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
    found = re.match(r"(\d+)\.(\d)", said)
    return int(found[1]) * 10 + int(found[2]) if found else None


def facts():
    return {"gpus": output_of(["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader"]),
            "kernel": os.uname().release, "processors": os.cpu_count(),
            "library_folders": library_folders(), "sanitizer": sanitizer()}
