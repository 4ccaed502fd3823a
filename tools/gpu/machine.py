"""What this machine is: GPUs, driver, and the libraries that programs open."""
import glob
import os
import re
import shutil
import site
import subprocess
import sys

QUERY = "name,memory.total,driver_version,compute_cap"
# By which a launcher tells a process its rank, or that it runs in a job already, as mpirun in itself
# refuses. Ranks that the check starts have a launcher of their own.
OF_LAUNCHERS = re.compile(r"(YUBA_RANKS?|((LOCAL|GROUP|ROLE)_)?(RANK|WORLD_SIZE)|LOCAL_WORLD_SIZE|"
                          r"MASTER_(ADDR|PORT)|(TORCHELASTIC|PMIX?|MPI_LOCAL|HYDI?|SLURM|"
                          r"OMPI(?!_MCA_(?!orte_|ess|pmix|shmem_RUN|initial_)|_ALLOW_))\w+)$")


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


def with_libraries(variables, folders):
    """These folders behind those in which the loader looks. An empty one would be where it runs."""
    paths = [p for p in variables.get("LD_LIBRARY_PATH", "").split(":") if p]
    return {**variables, "LD_LIBRARY_PATH": ":".join(paths + folders)}


def environment():
    """The environment of a run, in which the loader finds the libraries; of no launcher's rank."""
    kept = {name: value for name, value in os.environ.items() if not OF_LAUNCHERS.match(name)}
    return with_libraries(kept, library_folders())


def sanitizer():
    return shutil.which("compute-sanitizer") or next(
        iter(glob.glob("/usr/local/cuda*/bin/compute-sanitizer")), None)


def visible_gpus():
    """Compute capability, as 80 for 8.0, of those that CUDA shows; none where it is not known.

    nvidia-smi lists all, in the order of the bus. CUDA_VISIBLE_DEVICES has numbers, beginnings of
    UUIDs, or a part of a GPU (MIG), of which CUDA shows one; it ends at the first that is not there.
    """
    said = output_of(["nvidia-smi", "--query-gpu=uuid,compute_cap", "--format=csv,noheader"])
    there = re.findall(r"^(\S+), (\d+)\.(\d)", said, re.MULTILINE)
    names = os.environ.get("CUDA_VISIBLE_DEVICES")
    found = []
    for name in map(str, range(len(there))) if names is None else names.split(","):
        name = name.strip()
        if name.startswith("MIG"):
            of_name = there[:1]
        elif name.isdigit():
            of_name = there[int(name):][:1]
        else:
            of_name = [one for one in there if name and one[0].startswith(name)][:1]
        if not of_name:
            break
        found.append(10 * int(of_name[0][1]) + int(of_name[0][2]))
    return found


def gpus():
    return len(visible_gpus())


def sm_of_first_gpu():
    return next(iter(visible_gpus()), None)


def facts():
    return {"gpus": output_of(["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader"]),
            "visible_gpus": os.environ.get("CUDA_VISIBLE_DEVICES", "all"),
            "kernel": os.uname().release, "processors": os.cpu_count(),
            "library_folders": library_folders(), "sanitizer": sanitizer()}
