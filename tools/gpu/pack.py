"""Makes the bundle: programs for GPUs with what they need, in one archive."""
import concurrent.futures
import json
import os
import shutil
import struct
import sys
import tarfile
import tempfile
import threading

import bulk
import cases as case_list
import digests
import pack_ranks
import rank_cases
from pack_ranks import kind_of, run

COPIED = ("sanitize", "of", "ways", "launchers", "signal", "moment", "victim")
MOST_SAID = 20  # failures
SM = 80  # that programs are for where a case does not say otherwise
ON_PROCESSORS_ONLY = "runs on processors only"  # what `yuba compile` says of opaque functions


def version_of(yuba, root):
    """Of the compiler that makes the programs, with the state of the repository where there is one."""
    version = run([yuba, "--version"]).strip()
    try:
        return f"{version}, {run(['git', '-C', root, 'describe', '--always', '--dirty']).strip()}"
    except (OSError, RuntimeError):
        return version


def write_npy(path, rows):
    """Rows of integers as a matrix of int64, in the format of NumPy, which may not be installed."""
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])})}}"
    header = header.ljust(117) + "\n"  # with the ten bytes before it, a multiple of 64
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in rows:
            file.write(struct.pack(f"<{len(row)}q", *row))


class Packer:
    def __init__(self, root, folder, options):
        self.root, self.folder, self.target = root, folder, options.target
        self.bin = os.path.abspath(options.bin)
        os.makedirs(os.path.join(folder, "programs"))
        self.compiled = {}  # by what is compiled: its file, or what is to become it
        self.lock = threading.Lock()

    def model_of(self, case, scratch):
        if isinstance(case["model"], str):
            return os.path.join(self.root, case["model"])
        model = os.path.join(scratch, "model.onnx")
        if case["kind"] == "bulk":
            with open(model, "wb") as file:
                file.write(bulk.bulk_model(*case["model"]))
        else:
            run([f"{self.bin}/yuba", "zoo", *case["model"], "-o", model])
        return model

    def run_on_host(self, case, model, plan, scratch, *further):
        """What yuba-run prints of a case on processors."""
        program = os.path.join(scratch, "host.yuba")
        run([f"{self.bin}/yuba", "compile", model, plan, "--no-verify", *self.flags(case),
             "-o", program])
        arguments = [a.replace("DATA", os.path.join(self.root, case.get("data", "")))
                     for a in case["run"]]
        return run([f"{self.bin}/yuba-run", program, *arguments, *further])

    @staticmethod
    def flags(case):
        return ["--hash-arithmetic"] if kind_of(case) == "hash" else []

    def target_flags(self, case):
        if self.target == "host":
            return ["--target", "host"]
        return ["--target", "cuda", "--target-cpu", f"sm_{case.get('sm', SM)}",
                *case.get("compile", ())]

    def compile(self, number, case, model, plan):
        """The file of the case's program, which variants of a case share."""
        flags = [*self.target_flags(case), *self.flags(case)]
        key = json.dumps([case["model"], case["devices"], case["plan"], flags])
        with self.lock:
            mine = key not in self.compiled
            result = self.compiled.setdefault(key, concurrent.futures.Future())
        if mine:
            program = f"programs/{number}.yuba"
            try:
                run([f"{self.bin}/yuba", "compile", model, plan, *flags, "--no-verify", "-o",
                     os.path.join(self.folder, program)])
                result.set_result(program)
            except BaseException as error:  # pylint: disable=broad-except
                result.set_exception(error)
        return result.result()

    def make(self, number, case):
        """Compiles the program of a case: what the bundle says of it, and what its plan exchanges."""
        with tempfile.TemporaryDirectory() as scratch:
            model, plan = self.model_of(case, scratch), os.path.join(scratch, "plan.json")
            run([f"{self.bin}/yuba", "partition", model, "--devices", str(case["devices"]),
                 "-o", plan, *case["plan"]])
            packed = {key: case[key] for key in ("kind", "name", "devices", "run")}
            packed.update({key: case[key] for key in COPIED if key in case})
            packed["sm"] = case.get("sm", SM)
            packed["program"] = self.compile(number, case, model, plan)
            if case["kind"] in rank_cases.KINDS and kind_of(case) != "hash":  # no machine has its times
                packed.update(pack_ranks.predicted(self, case, packed["program"]))
            if kind_of(case) == "training" and case["kind"] != "lost":
                packed["precision"] = case["precision"]
                ran = self.run_on_host(case, model, plan, scratch, "--json")
                packed["losses"] = json.loads(ran)["numbers"]["loss"]
            if case["kind"] == "time":  # a state changes from step to step, and outputs with it
                packed["same_outputs"] = not case["plan"]
            if case["kind"] == "bulk":
                packed["moves"] = bulk.bytes_moved(*case["model"])
            if kind_of(case) == "hash":
                outputs = os.path.join(scratch, "outputs")
                ran = self.run_on_host(case, model, plan, scratch, "--json", "--outputs", outputs)
                packed["digests"] = digests.of_folder(outputs)
                packed["bytes"] = json.loads(ran)["bytes"]  # of one step
            if case.get("must_move") and packed["bytes"] == 0:
                raise pack_ranks.MovesNothing()
            exchanges = pack_ranks.exchanges_of(plan)
        if case["kind"] == "refused":
            packed["says"], packed["values"] = case["says"], f"values/{number}"
            os.makedirs(os.path.join(self.folder, packed["values"]))
            for name, rows in case["values"].items():
                write_npy(os.path.join(self.folder, packed["values"], f"{name}.npy"), rows)
        if "data" in case:
            packed["data"] = case["data"]
            self.copy_data(case["data"])
        return packed, exchanges

    def copy_data(self, data):
        for folder, _, files in os.walk(os.path.join(self.root, data)):
            to = os.path.join(self.folder, os.path.relpath(folder, self.root))
            os.makedirs(to, exist_ok=True)
            for name in files:
                if name.endswith((".pb", ".npy")):
                    shutil.copy(os.path.join(folder, name), to)


def pack(root, options):
    """Writes the archive options.pack; returns the exit code."""
    everything = case_list.all_cases(root, options.small) + rank_cases.all_cases(root, options.small)
    chosen = [case for case in everything if options.only.search(case["name"])
              and (options.target == "cuda" or "sm" not in case)]
    if not chosen:
        print(f"gpu_check: no case has a name with {options.only.pattern}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, "gpu_check")
        packer, news = Packer(root, folder, options), pack_ranks.News()
        packed, left_out, failed = [], [], 0
        pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
        made = [pool.submit(packer.make, i, case) for i, case in enumerate(chosen)]
        try:
            for case, future in zip(chosen, made):
                try:
                    one, exchanges = future.result()
                    if news.has(case, exchanges):
                        packed.append(one)
                except pack_ranks.MovesNothing:
                    continue
                except (OSError, RuntimeError) as error:
                    if ON_PROCESSORS_ONLY in str(error):
                        left_out.append(case["name"])
                        continue
                    failed += 1
                    if failed <= MOST_SAID:
                        print(f"{case['name']}: {error}", file=sys.stderr)
        finally:
            pool.shutdown(cancel_futures=True)
        if not packed and not left_out and not failed:
            print(f"gpu_check: nothing to pack: no ranks of cases with {options.only.pattern} exchange "
                  "anything", file=sys.stderr)
            return 2
        used = {case["program"] for case in packed}
        for name in os.listdir(os.path.join(folder, "programs")):
            if f"programs/{name}" not in used:
                os.remove(os.path.join(folder, "programs", name))
        with open(os.path.join(folder, "cases.json"), "w") as file:
            json.dump({"target": options.target, "version": version_of(f"{packer.bin}/yuba", root),
                       "small": options.small, "left_out": left_out, "cases": packed}, file, indent=1)
        shutil.copy(os.path.join(root, "tools", "gpu_check"), folder)
        shutil.copy(f"{packer.bin}/yuba-run", folder)
        pack_ranks.copy_transports(packer)
        shutil.copytree(os.path.join(root, "tools", "gpu"), os.path.join(folder, "gpu"),
                        ignore=shutil.ignore_patterns("__pycache__"))
        with tarfile.open(options.pack, "w:gz") as archive:
            archive.add(folder, "gpu_check")
    print(f"{options.pack}: {len(packed)} cases with {len(used)} programs, "
          f"{os.path.getsize(options.pack) / 1e6:.1f} MB; left out, as they run on processors only: "
          f"{', '.join(left_out) or 'none'}")
    if failed:
        print(f"gpu_check: {failed} cases could not be compiled", file=sys.stderr)
    return 1 if failed else 0
