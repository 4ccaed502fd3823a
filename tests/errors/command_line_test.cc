// Errors of the command line: numbers that are none, empty values, flags that contradict each other
// or the plan, and outputs that cannot be written. All are noticed before the work.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/command.h"

namespace yuba {
namespace {

std::string Model() { return RepositoryFile("tests/models/mlp/model.onnx"); }
std::string Symbolic() { return RepositoryFile("tests/models/mlp/model_dynamic.onnx"); }

// All of `messages` are on stderr.
void ExpectError(const std::string& line, const std::vector<std::string>& messages,
                 int exit_code = 2) {
  const CommandResult result = RunCommand(line);
  INFO(line << "\n" << result.error);
  CHECK(result.exit_code == exit_code);
  for (const std::string& message : messages) {
    INFO(message);
    CHECK(result.error.find(message) != std::string::npos);
  }
}

std::string Planned(const std::string& model, const std::string& flags, const std::string& plan) {
  const CommandResult result =
      RunCommand("yuba partition " + model + " --devices 2 " + flags + " -o " + plan);
  INFO(result.error);
  REQUIRE(result.exit_code == 0);
  return plan;
}

TEST_CASE("numbers that are none are refused, and usage errors name the subcommand") {
  const std::string run = "yuba run " + Model() + " p.json ";
  for (const char* flag :
       {"--timeout nan", "--timeout inf", "--timeout 0", "--expect nan", "--expect -1",
        "--expect inf", "--interleave -1", "--threads-per-device 0", "--threads-per-device 257",
        "--steps 0", "--steps 3000000000"}) {
    const std::string text = flag;
    ExpectError(run + text,
                {"yuba run: ", text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1)});
  }
  ExpectError("yuba verify " + Model() + " p.json --seed -1", {"yuba verify: --seed"});
  ExpectError("yuba-bench search --repeat x", {"yuba-bench search: "});
  ExpectError("yuba-bench search --repeat 0", {"--repeat: 0 is not a whole number from 1"});
  ExpectError("yuba-bench search " + Model() + " --devices 2,5000",
              {"--devices: 5000 is not a whole number from 1 to 4096"});
  ExpectError("yuba-bench search " + Model() + " --devices 2,99999999999999",
              {"--devices: 99999999999999 is not a whole number from 1 to 4096"});
  ExpectError("yuba partition " + Model() + " --nonsense", {"yuba partition: ", "--nonsense"});
}

TEST_CASE("a launch says what it lacks, and what it cannot do") {
  const std::string plan = Planned(Model(), "", ScratchFolder("launch") + "/p.json");
  const std::string launch = "yuba launch " + Model() + " " + plan + " ";
  ExpectError(launch + "--save s", {"yuba launch: --devices is required"});
  ExpectError(launch + "--devices 0", {"--devices: 0 is not a whole number from 1 to 1024"});
  ExpectError(launch + "--devices 2 --min-devices none --save s", {"--min-devices: none"});
  ExpectError(launch + "--devices 2 --min-devices 3 --save s",
              {"--min-devices 3: more than --devices 2", "give at most as many"});
  ExpectError(launch + "--devices 2", {"--save is missing", "--save-every"});
  ExpectError(launch + "--devices 2 --save s --ranks 2", {"--ranks 2", "leave --ranks away"});
  ExpectError(launch + "--devices 2 --save s --backend model", {"--backend model", "yuba run"});
  ExpectError("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 " + launch + "--devices 2 --save s",
              {"mpirun has started 2 processes", "OMPI_COMM_WORLD_SIZE", "--devices auto"});
  ExpectError("TMPDIR=/nowhere " + launch + "--devices 2 --save s",
              {"/nowhere/yuba-launch-XXXXXX: No such file or directory", "set TMPDIR"});
  ExpectError("yuba launch " + Model() + " none.json --devices 2 --save s", {"none.json"});
  ExpectError(launch + "--devices 2 --random --save s", {"no step of the program changes"});
  const CommandResult help = RunCommand("yuba help launch");
  CHECK(help.out.find("--min-devices") != std::string::npos);
  CHECK(help.out.find("--launch-") == std::string::npos);
}

TEST_CASE("what is misspelt is told what may be meant") {
  const std::string model = Model(), plan = Planned(model, "", ScratchFolder("near") + "/p.json");
  ExpectError("yuba partitoin " + model, {"did you mean partition?"});
  ExpectError("yuba partition " + model + " --device 8",
              {"no option takes --device 8; did you mean --devices?"});
  ExpectError("yuba partition " + model + " more", {"no option takes more; ", "given again"});
  ExpectError("yuba show " + plan + " --node /l.0/Gemm_outptu_0/z",
              {"did you mean '/l.0/Gemm_output_0/z'?"});
  ExpectError("yuba show " + plan + " --tensor nothing_like_it", {"yuba show --all lists them"});
  ExpectError("yuba show " + plan + " --node '/l.*/Gemm_output_0/z'",
              {"stands for 2 nodes of the plan: name one, as /l.0/Gemm_output_0/z"});
  const std::string encoder = RepositoryFile("tests/models/encoder/model.onnx"),
                    other = Planned(encoder, "", ScratchFolder("group") + "/p.json");
  ExpectError("yuba show " + other + " --node '/b.*/f2/MatMul_output_0'",
              {"stands for 2 nodes of the plan: name one, as /b.0/f2/MatMul_output_0"});
}

TEST_CASE("a plan in the place of the model is noticed") {
  const std::string model = Model(), plan = Planned(model, "", ScratchFolder("swap") + "/p.json");
  for (const char* command : {"run", "verify", "check"}) {
    ExpectError("yuba " + std::string(command) + " " + plan + " " + model,
                {"the model comes before the plan"});
  }
}

TEST_CASE("an unknown command is named, with all that there are") {
  ExpectError("yuba frob", {"yuba: unknown command 'frob'", "partition", "verify", "zoo"});
}

TEST_CASE("help of a command is what --help prints") {
  for (const char* command : {"", "run", "launch", "zoo", "help"}) {
    const std::string help = Succeed(std::string("yuba help ") + command).out;
    INFO(command << help);
    CHECK(help == Succeed(std::string("yuba ") + command + " --help").out);
    CHECK(help.find(std::string("Usage: yuba") + " " + command) != std::string::npos);
  }
  ExpectError("yuba help runn",
              {"yuba help: unknown command 'runn'; did you mean run? There are "});
  ExpectError("yuba help run fast", {"yuba help: yuba run has no commands, so no fast"});
}

TEST_CASE("empty values are refused") {
  ExpectError("yuba partition " + Model() + " -o ''", {"yuba partition: --output", "empty"});
  ExpectError("yuba show p.json --node ''", {"yuba show: --node", "empty"});
}

TEST_CASE("work that no 64 bits count is the largest number, not a negative one") {
  const CommandResult result =
      RunCommand("yuba info " + Symbolic() + " --batch 450000000000000 --json");
  INFO(result.out << result.error);
  CHECK(result.out.find("\"flops\": 9223372036854775807") != std::string::npos);
}

TEST_CASE("sizes have decimals and units, and end where devices do") {
  const std::string folder = ScratchFolder("sizes"), line = "yuba partition " + Model() +
                                                            " --devices 2 --json -o " + folder +
                                                            "/p --memory ";
  for (const auto& [size, bytes] :
       std::vector<std::pair<std::string, std::string>>{{"1.5MB", "1500000"},
                                                        {"'2.5 Gib'", "2684354560"},
                                                        {"0.25Mi", "262144"},
                                                        {"300000", "300000"}}) {
    const CommandResult result = RunCommand(line + size);
    INFO(size << result.error);
    CHECK(result.out.find("\"memory\":\"" + bytes + "\"") != std::string::npos);
  }
  for (const char* size : {"-1", "0", "MB", "1.5.5MB", "1XB", "nan", "1MBB", "1e", "0.1"}) {
    ExpectError(line + size, {"--memory: ", size});
  }
  for (const char* size : {"99999999999999999999", "1e300GB", "2PiB"}) {
    ExpectError(line + size, {"--memory: ", size, "more than any device has"});
  }
  ExpectError("yuba partition " + Model() + " --mesh a=2147483648",
              {"a=2147483648", "out of range", "4096"});
}

TEST_CASE("the commands that partition proposes run as they are printed") {
  const std::string folder = ScratchFolder("it's next");
  std::ofstream(folder + "/my ops.tdl") << "op tests_mine(x[n]) -> y[n]\n  y[i] = x[i]\n";
  const CommandResult result =
      RunCommand("cd \"" + folder + "\"; yuba partition " + Model() +
                 " --devices 2 -o '$p.json' --operators 'my ops.tdl' --batch 4");
  INFO(result.out << result.error);
  REQUIRE(result.exit_code == 0);
  std::istringstream lines(result.out.substr(result.out.find("Next:")));
  int commands = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("  yuba ", 0) != 0) continue;
    const bool runs = line.rfind("  yuba run", 0) == 0;
    const CommandResult next =
        RunCommand("cd \"" + folder + "\"; " + line + (runs ? " --random" : ""));
    INFO(line << next.error);
    CHECK(next.exit_code == 0);
    ++commands;
  }
  CHECK(commands == 3);
}

TEST_CASE("show does all that its flags ask for, or refuses") {
  const std::string folder = ScratchFolder("show"), plan = Planned(Model(), "", folder + "/p.json");
  const CommandResult json = RunCommand("yuba show " + plan + " --json --html " + folder +
                                        "/a.html --dot " + folder + "/a.dot");
  CHECK(json.exit_code == 0);
  CHECK(json.out.find("\"mesh\"") != std::string::npos);
  CHECK(std::filesystem::file_size(folder + "/a.html") > 100);
  CHECK(std::filesystem::file_size(folder + "/a.dot") > 100);
  const std::string node = " --node y/z", tensor = " --tensor x";
  const std::string both = RunCommand("yuba show " + plan + node + tensor + " --kernels").out;
  for (const std::string& flag : {node, tensor, std::string(" --kernels")}) {
    const std::string part = RunCommand("yuba show " + plan + flag).out;
    INFO(flag << part);
    CHECK(!part.empty());
    CHECK(both.find(part) != std::string::npos);
  }
  ExpectError("yuba show " + plan + " --json --node y/z",
              {"--json prints the whole plan", "--node"});
  ExpectError("yuba show " + plan + " --html " + folder + "/b.html --node none",
              {"no node 'none'"});
  ExpectError("yuba show " + plan + " --html " + folder + "/b.html --dot " + folder + "/b.html",
              {"--html and --dot name the same file"});
  CHECK_FALSE(std::filesystem::exists(folder + "/b.html"));
}

TEST_CASE("an output that cannot be written is noticed before the model is read") {
  const std::string none = ScratchFolder("unwritable") + "/none/";
  ExpectError("yuba partition no_such_model.onnx -o " + none + "p.json",
              {none + "p.json: cannot be written"});
  ExpectError("yuba compile no_such_model.onnx p.json -o " + none + "m.yuba",
              {none + "m.yuba: cannot be"});
  const std::string plan = Planned(Model(), "", ScratchFolder("trace") + "/p.json");
  ExpectError("yuba run " + Model() + " " + plan + " --trace " + none + "t.json",
              {none + "t.json: cannot"});
}

TEST_CASE("flags that contradict each other are refused, both named") {
  const std::string folder = ScratchFolder("no_plan");
  ExpectError("yuba partition " + Model() + " --to import -o " + folder + "/p.json",
              {"--to import", "-o " + folder + "/p.json"});
  ExpectError("yuba info " + Symbolic() + " --dim batch=5 --dim batch=6",
              {"--dim batch=5", "--dim batch=6"});
  ExpectError("yuba info " + Symbolic() + " --batch 4 --dim batch=8",
              {"--batch 4", "--dim batch=8"});
  CHECK(RunCommand("yuba info " + Symbolic() + " --batch 4 --dim batch=4").exit_code == 0);
  const std::string plan = Planned(Model(), "", ScratchFolder("twice") + "/p.json");
  const std::string file = RepositoryFile("tests/models/mlp/test_data_set_0/input_0.pb");
  ExpectError(
      "yuba run " + Model() + " " + plan + " --random --input x=" + file + " --input x=" + file,
      {"--input x=", "x is given twice"});
}

TEST_CASE("what is no dimension of an input is no batch") {
  const std::string info = "yuba info " + Model() + " --batch-dim ";
  ExpectError(info + ":1", {"--batch-dim :1", "INPUT:DIMENSION"});
  ExpectError(info + "x:0,", {"--batch-dim x:0,", "the name of a dimension"});
  ExpectError(info + "x:-1", {"--batch-dim x:-1", "dimensions count from 0"});
  ExpectError(info + "x:7", {"--batch-dim x:7: no input has such a dimension", "x [12, 48]"});
  ExpectError(info + "n", {"--batch-dim n: no input has such a dimension"});
  CHECK(RunCommand(info + "x:0 --batch 4").exit_code == 0);
}

TEST_CASE("flags of the model are the plan's, and old names are told the new ones") {
  const std::string folder = ScratchFolder("remembered");
  const std::string plan = Planned(Symbolic(), "--batch 4", folder + "/batch.json");
  for (const char* command : {"check", "run", "verify", "compile"}) {
    for (const char* flag : {"--batch 4", "--dim batch=4", "--to-tensors y", "--state a=b"}) {
      const std::string text = flag, name = text.substr(0, text.find(' '));
      const std::string called = std::string("yuba ") + command;
      ExpectError(called + " " + Symbolic() + " " + plan + " " + text,
                  {called + ": ", name + ": the plan has it"});
    }
  }
  ExpectError("yuba check " + Symbolic() + " " + plan + " --entry step", {"the plan has it"});
  const std::string planning = "yuba partition " + Symbolic() + " ",
                    run = "yuba run " + Symbolic() + " " + plan + " ";
  ExpectError(planning + "--copies none", {"--copies", "--space copies=all or copies=none"});
  ExpectError(planning + "--times a=3", {"--entry NAME*TIMES"});
  ExpectError(planning + "--from spmd", {"states are written, and not read"});
  ExpectError(run + "--check 1e-5", {"--check", "--expect TOL"});
  ExpectError(run + "--lr 0.1", {"--lr", "--lr-schedule"});
  ExpectError("yuba-run p.yuba --every 3", {"--save-every N"});
  ExpectError("yuba show " + plan + " --memory", {"--arena"});
}

TEST_CASE("engines are left out one by one or together") {
  const std::string partition = "yuba partition " + Model() + " --devices 2 -o " +
                                ScratchFolder("without") + "/p.json --without levels,local";
  const CommandResult made = RunCommand(partition);
  INFO(made.error);
  CHECK(made.exit_code == 0);
  CHECK(RunCommand(partition + " --without grids").exit_code == 0);
  ExpectError(partition + ",nothing", {"--without", "nothing"});
}

TEST_CASE("sums of processors are in order, and other ones are refused") {
  const std::string plan = Planned(Model(), "", ScratchFolder("sums") + "/p.json");
  const std::string run = "yuba run " + Model() + " " + plan + " --random --sums ";
  for (const char* sums : {"repeatable", "fast"}) {
    ExpectError(run + sums, {std::string("--sums ") + sums, "is for ranks on GPUs",
                             "processors always add up in the order"});
  }
  ExpectError(run + "slow", {"--sums", "ordered"});
  CHECK(RunCommand(run + "ordered").exit_code == 0);
}

TEST_CASE(
    "a bound input is named; a file of other contents is refused, the same contents elsewhere are "
    "not") {
  const std::string folder = ScratchFolder("bound");
  const std::string first = folder + "/first.pb", second = folder + "/second.pb",
                    other = folder + "/other.pb";
  for (const std::string& copy : {first, second, other}) {
    std::filesystem::copy_file(RepositoryFile("tests/models/mlp/test_data_set_0/input_0.pb"), copy);
    std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
  }
  std::fstream file(other, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-2, std::ios::end);
  file.put('\x45');
  file.close();
  const std::string plan = folder + "/p.json";
  const std::string partition =
      "yuba partition " + Model() + " --devices 2 -o " + plan + " --bind x=";
  const CommandResult made = RunCommand(partition + first);
  INFO(made.out << made.error);
  REQUIRE(made.exit_code == 0);
  CHECK(made.out.find("no input that is not bound") != std::string::npos);
  const std::string check = "yuba check " + Model() + " " + plan;
  CHECK(RunCommand(check).exit_code == 0);
  CHECK(RunCommand(check + " --bind x=" + second).exit_code == 0);
  ExpectError(check + " --bind x=" + other, {"bound to x has other contents"});
  std::filesystem::copy_file(other, first, std::filesystem::copy_options::overwrite_existing);
  ExpectError(check, {"bound to x has other contents"});
}

TEST_CASE("outputs that cannot be written are noticed before the steps") {
  const std::string folder = ScratchFolder("outputs");
  const std::string plan = Planned(Model(), "", folder + "/p.json");
  const std::string run = "yuba run " + Model() + " " + plan + " --random --outputs ";
  const auto refused = [&](const std::string& line, const std::vector<std::string>& words) {
    ExpectError(line, words);
    CHECK(RunCommand(line).out.find("step 1") == std::string::npos);
  };
  refused(run + folder + "/none/out", {folder + "/none/out: cannot be made", "name a folder"});
  refused(run + plan, {"p.json: cannot be written to"});
  refused(run + "/proc/self", {"/proc/self: cannot be written to"});
  std::filesystem::create_directories(folder + "/full/output_0.npy");
  refused(run + folder + "/full", {"output_0.npy: cannot be written"});
  // What the run wrote is removed where it fails, and stays where it does not.
  ExpectError("yuba run " + Model() + " " + plan + " --outputs " + folder + "/new", {"--random"});
  CHECK_FALSE(std::filesystem::exists(folder + "/new"));
  CHECK(RunCommand(run + folder + "/new").exit_code == 0);
  CHECK(std::filesystem::exists(folder + "/new/output_0.npy"));
  refused(run + folder + "/new --input x=" + folder + "/new/output_0.npy",
          {"would be overwritten"});
}

TEST_CASE("help and errors say that a flag takes one value, and is given again for the next") {
  for (const char* command : {"run", "partition", "verify", "info", "compare"}) {
    const std::string help = RunCommand(std::string("yuba ") + command + " --help").out;
    INFO(help);
    CHECK(help.find("TEXT ...") == std::string::npos);
    CHECK(help.find("(again for each)") != std::string::npos);
  }
  CHECK(RunCommand("yuba-run --help").out.find("TEXT ...") == std::string::npos);
  const std::string plan = Planned(Symbolic(), "--dim batch=4", ScratchFolder("again") + "/p.json");
  ExpectError("yuba partition --dim batch=4 other=2 " + Symbolic(),
              {"yuba partition: ", "given again for each"});
  CHECK(RunCommand("yuba info --dim batch=4 --dim batch=4 " + Symbolic()).exit_code == 0);
  CHECK(RunCommand("yuba show " + Symbolic() + " " + plan).exit_code == 0);
}

TEST_CASE("plans of different models are not compared, and the message names both") {
  const std::string folder = ScratchFolder("diff");
  const std::string mlp = Planned(Model(), "", folder + "/mlp.json");
  const std::string same = Planned(Model(), "--space flat --search data", folder + "/same.json");
  const std::string lstm =
      Planned(RepositoryFile("tests/models/lstm/model.onnx"), "", folder + "/lstm.json");
  const std::string batch = Planned(Symbolic(), "--dim batch=4", folder + "/batch.json");
  for (const std::string& other : {lstm, batch}) {
    ExpectError("yuba show " + mlp + " --diff " + other,
                {"of another model", "model.onnx (graph ", "(graph ", "yuba partition"});
  }
  CHECK(RunCommand("yuba show " + mlp + " --diff " + same).exit_code == 0);
}

TEST_CASE("a dimension that no tensor can have is refused, with what to write") {
  for (const char* dim : {"batch=0", "batch=-3"}) {
    ExpectError("yuba partition " + Symbolic() + " --dim " + dim,
                {std::string("--dim ") + dim, "at least 1", "--dim batch=8"});
  }
}

}  // namespace
}  // namespace yuba
