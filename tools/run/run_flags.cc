#include "tools/run/run_flags.h"

#include <climits>

#include "runtime/backend.h"
#include "runtime/cuda/library_folders.h"
#include "tools/command_line.h"

namespace yuba::tools {

void AddRunFlags(CLI::App* app, RunFlags& flags) {
  app->add_option("--backend", flags.options.backend, "one of " + runtime::BackendNames())
      ->capture_default_str();
  app->add_option("--input", flags.inputs, "an input or parameter: NAME=FILE (.npy or .pb)")
      ->take_all();
  app->add_option("--inputs", flags.input_dir,
                  "a folder with input_0.pb or input_0.npy, ...; for a run of several steps with "
                  "inputs of their own one with test_data_set_0, test_data_set_1, ...")
      ->check(CLI::ExistingDirectory);
  CLI::Option* data = app->add_option(
      "--data", flags.data,
      "batches of inputs, one a step: a folder with NAME.npy for each input, or a file or files of "
      "safetensors with tensors of inputs' names, a row an example; or a folder with "
      "test_data_set_0, test_data_set_1, ..., a batch each");
  data->check(CLI::ExistingPath)->excludes("--inputs");
  app->add_option_function<uint64_t>(
         "--shuffle", [&flags](uint64_t seed) { flags.shuffle = seed; },
         "of --data: take examples in an order that this seed gives, another one in each epoch")
      ->needs(data)
      ->check(Seed());
  app->add_option("--epochs", flags.epochs,
                  "of --data: how often all of it is used; default: once, or as often as --steps "
                  "needs")
      ->needs(data)
      ->check(WholeNumber(1, INT_MAX));
  CLI::Option* eval = app->add_option(
      "--eval", flags.eval,
      "examples, as --data has them, whose mean loss is printed after the last step, by the entry "
      "`eval` (yuba partition --eval-every)");
  eval->needs(data)->check(CLI::ExistingPath);
  app->add_option("--eval-every", flags.eval_every, "of --eval: also after so many steps each")
      ->needs(eval)
      ->check(WholeNumber(1, INT_MAX));
  app->add_option("--lr", flags.lr,
                  "of training: the learning rate of each step. A number; a file with one a line; "
                  "constant:RATE,warmup=N; linear:RATE,warmup=N,steps=M,end=RATE; cosine: likewise "
                  "(docs/training.md)");
  app->add_option("--outputs", flags.output_dir, "write output_0.npy, ... into this folder");
  CLI::Option* weights =
      app->add_option("--weights", flags.weights,
                      "parameters by name: a file of safetensors, or a folder with several and an "
                      "index");
  weights->check(CLI::ExistingPath);
  app->add_option("--weights-prefix", flags.weights_prefix,
                  "of --weights: take this away from names that begin with it, as in model.")
      ->needs(weights);
  app->add_flag("--partial-weights", flags.partial_weights,
                "of --weights: weights that it does not have stay as they are in the model, and "
                "values of parameters that the model's file lacks are passed over")
      ->needs(weights);
  app->add_option_function<double>(
         "--check",
         [&flags](double tolerance) {
           flags.check = true;
           flags.tolerance = tolerance;
         },
         "compare with output_0, ... of the --inputs folder, step by step where it has a folder "
         "for "
         "each: the largest difference allowed, as a share of the largest expected value")
      ->check(NumberFrom0());
  app->add_flag("--random", flags.random,
                "make up values that no file gives; --random=SEED for others");
  app->add_option_function<uint64_t>(
         "--seed", [&flags](uint64_t seed) { flags.seed = seed; },
         "of the random numbers that the model draws, as for dropout; default: 0")
      ->check(WholeNumber(0, UINT32_MAX));
  app->add_option("--steps", flags.steps,
                  "steps to run; default: one, or one for each test_data_set_N of --inputs")
      ->check(WholeNumber(1, INT_MAX));
  app->add_option("--entry", flags.entries,
                  "an entry to run, and how often: NAME or NAME=TIMES; several run one after the "
                  "other; default: each entry of the program")
      ->take_all();
  app->add_option(
         "--timeout", flags.options.timeout_seconds,
         "seconds in which some device must finish an instruction, on GPUs eight of them, "
         "else the run ends, and in which a GPU must have taken or given a value; default: 60 "
         "on GPUs, 600 on processors")
      ->check(NumberAbove0());
  app->add_option_function<std::string>(
         "--cuda-libs", [](const std::string& folder) { cuda::SetLibraryFolder(folder); },
         "a folder in which cuBLAS and NCCL are looked for first; default: the loader's path, then "
         "nvidia/*/lib of Python environments")
      ->check(CLI::ExistingDirectory);
  app->add_option_function<std::string>(
         "--nccl",
         [&flags](const std::string& choice) {
           flags.options.cuda.nccl = choice == "none"     ? cuda::NcclChoice::kNone
                                     : choice == "strict" ? cuda::NcclChoice::kStrict
                                                          : cuda::NcclChoice::kFound;
         },
         "who makes collectives of GPUs: found (NCCL, where it is found), none (copies), or "
         "strict, "
         "a slow stand-in that checks its calls and works on one GPU; default: found")
      ->check(CLI::IsMember({"found", "none", "strict"}));
  app->add_flag("--staged", flags.options.cuda.staged,
                "exchange between GPUs through the host, as where they cannot read each other's "
                "memory");
  app->add_option_function<uint64_t>(
         "--seed-executor",
         [&flags](uint64_t seed) {
           flags.options.interleave = true;
           flags.options.interleave_seed = seed;
         },
         "one thread that interleaves the devices by this seed; default: a thread for each")
      ->check(Seed());
  app->add_option("--threads-per-device", flags.options.threads_per_device,
                  "threads of each device of the host; default: the machine's, shared out")
      ->check(WholeNumber(1, runtime::kMostThreadsPerDevice));
  app->add_flag("!--plain-exchanges", flags.options.recognise,
                "run recognised collectives as plain exchanges");
  app->add_flag("--check-memory", flags.check_memory,
                "fill memory with NaN before use and look for writes outside buffers");
  CLI::Option* resume =
      app->add_option(
             "--resume", flags.resume,
             "go on from this checkpoint of --save, as its run was: tensors, steps done, the "
             "place in the data and its order, the learning rate; --steps and --epochs count "
             "from the beginning")
          ->check(CLI::ExistingPath)
          ->excludes(weights);
  app->add_option_function<std::vector<std::string>>(
         "--override",
         [&flags](const std::vector<std::string>& names) {
           flags.overrides.insert(names.begin(), names.end());
         },
         "of --resume: what may differ from the checkpoint's run, and is as it is given here, or "
         "as "
         "it would be without --resume")
      ->needs(resume)
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kOverrides), std::end(kOverrides))))
      ->take_all();
  CLI::Option* save = app->add_option(
      "--save", flags.save,
      "write a checkpoint, all states with trained weights among them, after the last step: a file "
      "of safetensors; or, where it is a folder or ends in /, files with an index");
  app->add_option("--every", flags.save_every, "of --save: also after so many steps each")
      ->needs(save)
      ->check(WholeNumber(1, INT_MAX));
  app->add_option("--shard-size", flags.shard_bytes,
                  "of --save into a folder: the most that a file has; default: 2GB")
      ->needs(save)
      ->transform(SizeInBytes());
  app->add_option_function<std::string>(
         "--debug", [&flags](const std::string&) { flags.options.find_nan = true; },
         "nan: end after the first step that leaves a NaN or an infinity, and say which "
         "instruction made the first one; slower")
      ->check(CLI::IsMember({"nan"}));
  app->add_option("--log", flags.log,
                  "write a table, a line a step, of comma-separated values: loss, learning rate, "
                  "evaluation, seconds, ...; with --resume lines of earlier steps stay");
  app->add_option("--trace", flags.trace, "write what each device did when, for chrome://tracing");
  app->add_flag("--json", flags.json, "print figures as JSON");
}

}  // namespace yuba::tools
