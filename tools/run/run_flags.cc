#include "tools/run/run_flags.h"

#include <climits>

#include "opsemantics/base/status.h"
#include "runtime/backend.h"
#include "runtime/cuda/library_folders.h"
#include "tools/command_line.h"
#include "tools/flags/flag_rows.h"

namespace yuba::tools {
namespace {

constexpr char kData[] = "Data", kTraining[] = "Training", kCheckpoints[] = "Checkpoints",
               kChecks[] = "Checks", kMachine[] = "Machine", kOutput[] = "Output",
               kDiagnosis[] = "Diagnosis";

CLI::Validator Count() { return WholeNumber(1, INT_MAX); }
CLI::Validator Backend() {
  std::vector<std::string> names = runtime::BackendNames();
  names.push_back(kModelBackend);
  return CLI::IsMember(names);
}
CLI::Validator Folder() { return CLI::ExistingDirectory; }
CLI::Validator Path() { return CLI::ExistingPath; }
CLI::Validator PathOrLatest() {
  return {[](std::string& text) { return text == kLatest ? "" : CLI::ExistingPath(text); }, "PATH"};
}

template <size_t n>
CLI::Validator OneOf(const char* const (&words)[n]) {
  return CLI::IsMember(std::vector<std::string>(std::begin(words), std::end(words)));
}

// Words of --sums and of --guard.
constexpr const char* kSumsWords[] = {"ordered", "repeatable", "fast"};
constexpr const char* kGuardWords[] = {"memory", "nan"};

constexpr FlagRow<RunFlags> kRows[] = {
    {"input", &RunFlags::inputs, kData, "an input or parameter: NAME=FILE (.npy or .pb)"},
    {"inputs", &RunFlags::input_dir, kData,
     "a folder with input_0.pb or input_0.npy, ...; for a run of several steps with inputs of "
     "their own one with test_data_set_0, test_data_set_1, ...",
     Folder},
    {"data", &RunFlags::data, kData,
     "batches of inputs, one a step: a folder with NAME.npy for each input, or a file or files of "
     "safetensors with tensors of inputs' names, a row an example; or a folder with "
     "test_data_set_0, test_data_set_1, ..., a batch each",
     Path, "", "inputs"},
    {"shuffle", &RunFlags::shuffle, kData,
     "of --data: take examples in an order that this seed gives, another one in each epoch", Seed,
     "data"},
    {"epochs", &RunFlags::epochs, kData,
     "of --data: how often all of it is used; default: once, or as often as --steps needs", Count,
     "data"},
    {"steps", &RunFlags::steps, kData,
     "steps to run; default: one, or one for each test_data_set_N of --inputs", Count},
    {"entry", &RunFlags::entries, kData,
     "an entry to run, and how often: NAME or NAME*TIMES; several run one after the other; "
     "default: each entry of the program"},
    {"seed", &RunFlags::seed, kData,
     "of the random numbers that the model draws, as for dropout; default: 0",
     [] { return WholeNumber(0, UINT32_MAX); }},
    {"outputs", &RunFlags::output_dir, kOutput, "write output_0.npy, ... into this folder"},
    {"eval", &RunFlags::eval, kTraining,
     "examples, as --data has them, whose mean loss is printed after the last step, by the entry "
     "`eval` (yuba partition --eval-entry)",
     Path, "data"},
    {"eval-every", &RunFlags::eval_every, kTraining, "of --eval: also after so many steps each",
     Count, "eval"},
    {"lr-schedule", &RunFlags::lr, kTraining,
     "the learning rate of each step, in place of the plan's. A number; a file with one a line; "
     "constant:RATE,warmup=N; linear:RATE,warmup=N,steps=M,end=RATE; cosine: likewise "
     "(docs/training.md)"},
    {"weights", &RunFlags::weights, kCheckpoints,
     "parameters by name: a file of safetensors, or a folder with several and an index", Path},
    {"weights-prefix", &RunFlags::weights_prefix, kCheckpoints,
     "of --weights: take this away from names that begin with it, as in model.", nullptr,
     "weights"},
    {"partial-weights", &RunFlags::partial_weights, kCheckpoints,
     "of --weights: weights that it does not have stay as they are in the model, and values of "
     "parameters that the model's file lacks are passed over",
     nullptr, "weights"},
    {"save", &RunFlags::save, kCheckpoints,
     "write a checkpoint, all states with trained weights among them, after the last step: a file "
     "of safetensors; or, where it is a folder or ends in /, files with an index"},
    {"save-every", &RunFlags::save_every, kCheckpoints, "of --save: also after so many steps each",
     Count, "save"},
    {"shard-size", &RunFlags::shard_bytes, kCheckpoints,
     "bytes, as in 2GB: of --save into a folder, the most that a file has", SizeInBytes, "save"},
    {"resume", &RunFlags::resume, kCheckpoints,
     "go on from this checkpoint of --save, as its run was: tensors, steps done, the place in the "
     "data and its order, the learning rate; --steps and --epochs count from the beginning; "
     "latest: from what --save left, or from the beginning where there is nothing yet",
     PathOrLatest, "", "weights"},
    {"override", &RunFlags::overrides, kCheckpoints,
     "of --resume: what may differ from the checkpoint's run, and is as it is given here, or as it "
     "would be without --resume: seed, shuffle, lr-schedule, data, batch, freeze, tie, tune, or a "
     "flag of training that decides what a step computes, as loss (docs/training.md)",
     nullptr, "resume"},
    {"expect", &RunFlags::expect, kChecks,
     "compare with output_0, ... of the --inputs folder, step by step where it has a folder for "
     "each: the largest difference allowed, as a share of the largest expected value",
     NumberFrom0},
    {"guard", &RunFlags::guards, kChecks,
     "memory: fill memory with NaN before use and look for writes outside buffers; nan: end after "
     "the first step that leaves a NaN or an infinity, and say which instruction made the first "
     "one; slower",
     [] { return OneOf(kGuardWords); }},
    {"backend", &RunFlags::backend, kMachine,
     "what runs the devices; host: the processor; model: nothing is computed, and --machine says "
     "what a step would take",
     Backend},
    {"machine", &RunFlags::machine, kMachine,
     "a machine to predict times for: a name as hgx-h100 or hgx-h100:8, or a file (machines/); "
     "beside the times of a run, or alone with --backend model"},
    {"threads-per-device", &RunFlags::threads_per_device, kMachine,
     "threads of each device of the host; default: the machine's, shared out",
     [] { return WholeNumber(1, runtime::kMostThreadsPerDevice); }},
    {"ranks", &RunFlags::ranks, kMachine,
     "start this run as so many processes on this machine, one for each device of the plan, as "
     "mpirun, torchrun and srun do; 1: one process has all devices, on GPUs on the first of them; "
     "default: one process, unless a launcher has started several, or there is a GPU for each of "
     "several devices",
     [] { return WholeNumber(1, 1024); }},
    {"no-bind", &RunFlags::no_bind, kMachine,
     "of --ranks and launch on processors: a rank may run on all of them; default: on a share of "
     "its own, where there is one for each"},
    {"sums", &RunFlags::sums, kMachine,
     "of several processes on GPUs, how they add up partial results. ordered: in the order of the "
     "parts, with the bits of processors; repeatable: by NCCL, with the same bits in each run on "
     "the same machine; fast: by NCCL as it chooses; default: repeatable; all else is always "
     "ordered",
     [] { return OneOf(kSumsWords); }},
    {"all-ranks", &RunFlags::all_ranks, kOutput,
     "of several processes: each prints, behind its number; default: rank 0 alone"},
    {"meet", &RunFlags::meet, kMachine,
     "a folder that all processes of the run share, in which they find each other, where the "
     "launcher gives them no other way",
     Folder},
    {"interface", &RunFlags::interface, kMachine,
     "of the network, through which processes of the run talk, as eth0; default: the transport's "
     "choice"},
    {"share-gpu", &RunFlags::share_gpu, kDiagnosis,
     "of several processes on GPUs: two may have the same one, to test; slow, as NCCL then "
     "goes through sockets"},
    {"cuda-libs", &RunFlags::cuda_libs, kMachine,
     "a folder in which cuBLAS, cuDNN and NCCL are looked for first; default: the loader's path, "
     "then "
     "nvidia/*/lib of Python environments",
     Folder},
    {"tune", &RunFlags::tune, kMachine,
     "a file of the fastest algorithms of cuBLASLt's products, by GPU and version; what it lacks "
     "is "
     "timed before the first step and added, so that runs with one file have the same bits; on "
     "processors it changes nothing; default: the library's heuristics choose"},
    {"log", &RunFlags::log, kOutput,
     "write a table, a line a step, of comma-separated values: loss, learning rate, evaluation, "
     "seconds, ...; with --resume lines of earlier steps stay"},
    {"json", &RunFlags::json, kOutput, "print figures as JSON"},
    {"trace", &RunFlags::trace, kDiagnosis,
     "write what each device did when, for chrome://tracing"},
    {"timeout", &RunFlags::timeout, kDiagnosis,
     "seconds in which some device must finish an instruction, on GPUs eight of them, else the run "
     "ends, and in which a GPU must have taken or given a value; default: 60 on GPUs, 600 on "
     "processors",
     NumberAbove0},
    {"no-graph", &RunFlags::no_graph, kDiagnosis,
     "start the instructions of each step one by one; default: on GPUs steps after the first are "
     "CUDA graphs, where nothing looks between instructions"},
    {"interleave", &RunFlags::interleave, kDiagnosis,
     "one thread that interleaves the devices by this seed; default: a thread for each", Seed},
};

}  // namespace

void AddRunFlags(CLI::App* app, RunFlags& flags) {
  AddRows<RunFlags>(app, kRows, flags);
  app->add_flag("--random", flags.random,
                "make up values that no file gives; --random=SEED for others")
      ->group(kData);
}

runtime::RunOptions RunOptionsOf(const RunFlags& flags) {
  runtime::RunOptions options;
  options.backend = flags.backend;
  options.interleave = flags.interleave.has_value();
  options.interleave_seed = flags.interleave.value_or(0);
  options.poison = options.guards = flags.guards.count("memory") > 0;
  options.find_nan = flags.guards.count("nan") > 0;
  options.timeout_seconds = flags.timeout;
  options.threads_per_device = flags.threads_per_device;
  options.cuda.graphs = !flags.no_graph;
  options.cuda.share_gpu = flags.share_gpu;
  options.cuda.local_rank = flags.local_rank;
  for (const Sums sums : {Sums::kOrdered, Sums::kRepeatable, Sums::kFast}) {
    if (flags.sums == Name(sums)) options.cuda.sums = sums;
  }
  if (!flags.cuda_libs.empty()) cuda::SetLibraryFolder(flags.cuda_libs);
  return options;
}

}  // namespace yuba::tools
