// Files of the commands: no output destroys an input, and no command waits for a pipe that nobody
// writes.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/support/command.h"

namespace yuba {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// A folder with a model of external weights, its data, an operator file and a plan.
struct Files {
  std::string folder;

  explicit Files(const std::string& name) : folder(ScratchFolder(name)) {
    for (const char* file : {"model.onnx", "model_external.onnx", "model_external.data"}) {
      std::filesystem::copy_file(RepositoryFile("tests/models/mlp/") + file, At(file));
      std::filesystem::permissions(At(file), std::filesystem::perms::owner_all);
    }
    std::filesystem::copy(RepositoryFile("tests/models/mlp/test_data_set_0"), At("data"));
    for (const auto& entry : std::filesystem::directory_iterator(At("data")))
      std::filesystem::permissions(entry.path(), std::filesystem::perms::owner_all);
    std::ofstream(At("my.tdl")) << "op twice(x[n]) -> y[n]\n  y[i] = x[i] + x[i]\n";
    Succeed("yuba partition " + At("model.onnx") + " --devices 2 -o " + At("p.json"));
  }
  std::string At(const std::string& file) const { return folder + "/" + file; }

  // `line`, run in the folder, is refused because of `file`, which stays as it is.
  void Keeps(const std::string& file, const std::string& line) const {
    const std::string before = Read(At(file));
    REQUIRE(!before.empty());
    const CommandResult result = RunCommand("cd " + folder + " && " + line);
    INFO(line << "\n" << result.out << result.error);
    CHECK(result.exit_code == 2);
    CHECK(result.error.find(file + ": is read by this command") != std::string::npos);
    CHECK(result.out.find("step 1") == std::string::npos);
    CHECK(result.out.find("wrote") == std::string::npos);
    CHECK(Read(At(file)) == before);
  }
};

TEST_CASE("no command overwrites a file that it reads") {
  const Files files("reads");
  const std::string run = "yuba run model.onnx p.json ";
  files.Keeps("model.onnx", run + "--random --trace model.onnx");
  files.Keeps("p.json", run + "--random --trace p.json");
  files.Keeps("data/input_0.pb", run + "--inputs data --trace data/input_0.pb");
  files.Keeps("data/output_0.pb", run + "--inputs data --expect 1 --trace data/output_0.pb");
  Succeed("cd " + files.folder + " && yuba compile model.onnx p.json -o o.yuba");
  files.Keeps("o.yuba", "yuba-run o.yuba --inputs data --trace o.yuba");
  const std::string partition = "yuba partition --devices 2 ";
  files.Keeps("my.tdl", partition + "model.onnx --operators my.tdl -o my.tdl");
  files.Keeps("data/input_0.pb",
              partition + "model.onnx --bind x=data/input_0.pb -o data/input_0.pb");
  files.Keeps("model_external.data", partition + "model_external.onnx -o model_external.data");
  files.Keeps("model_external.data",
              "yuba compile model_external.onnx p.json -o model_external.data");
  std::filesystem::create_hard_link(files.At("model.onnx"), files.At("other.onnx"));
  std::filesystem::create_symlink("model.onnx", files.At("link.onnx"));
  files.Keeps("other.onnx", partition + "model.onnx -o other.onnx");
  files.Keeps("link.onnx", partition + "model.onnx -o link.onnx");
  files.Keeps("my.tdl", "ln -s . here && yuba show p.json --html h.html > said && " + partition +
                            "model.onnx --operators here/my.tdl -o my.tdl");
  Succeed("cd " + files.folder + " && cp p.json q.json");
  files.Keeps("q.json", "yuba show p.json --diff q.json --html q.json");
}

TEST_CASE("pipes and sockets without another end are refused, not waited for") {
  const Files files("pipes");
  const auto refused = [&](const std::string& line, const std::string& message) {
    const CommandResult result = RunCommand("cd " + files.folder + " && timeout 20 " + line);
    INFO(line << "\n" << result.out << result.error);
    CHECK(result.exit_code == 2);
    CHECK(result.error.find(message) != std::string::npos);
    CHECK(result.out.empty());
  };
  Succeed("mkfifo " + files.At("f") + " " + files.At("f.npy"));
  const std::string no_writer = "f: is a pipe that nobody writes to";
  refused("yuba partition model.onnx -o f", "f: is a pipe");
  refused("yuba run model.onnx p.json --random --trace f", "f: is a pipe");
  refused("yuba compile model.onnx p.json -o f", "f: is a pipe");
  refused("yuba show p.json --dot f", "f: is a pipe");
  refused("yuba show f", no_writer);
  refused("yuba info f", no_writer);
  refused("yuba-bench solve f", no_writer);
  refused("yuba-run f --random", no_writer);
  refused("yuba partition model.onnx --operators f", no_writer);
  refused("yuba run model.onnx p.json --input x=f.npy", "f.npy: is a pipe that nobody writes to");
  refused("yuba show /dev/zero", "is a device");
  refused("yuba partition model.onnx -o /dev/random", "is a device");
  // A link is never replaced: as root that could be /dev/stdout.
  Succeed("ln -s nothing " + files.At("link"));
  refused("yuba partition model.onnx -o link", "link: is a link that leads to no file");
  CHECK(std::filesystem::is_symlink(files.At("link")));
}

TEST_CASE("pipes with another end are read and written") {
  const Files files("flows");
  const std::string there = "cd " + files.folder + " && ";
  CHECK(Succeed(there + "cat p.json | yuba show /dev/stdin").out.find("plan of") == 0);
  CHECK(Succeed(there + "yuba show <(sleep 2; cat p.json)").out.find("plan of") == 0);
  CHECK(Succeed(there + "mkfifo f; (sleep 0.2; cat p.json > f) & cd " + files.folder +
                " && sleep 0.1; yuba show f")
            .out.find("plan of") == 0);
  CHECK(Succeed(there + "yuba show p.json --html /dev/stdout | cat").out.find("<!doctype html>") !=
        std::string::npos);
  Succeed(there + "yuba show p.json --html >(cat > h.html) && sleep 0.5 && test -s h.html");
  Succeed(there + "yuba partition model.onnx --devices 2 -o /dev/null");
}

TEST_CASE("a name that cannot be made is refused before the work") {
  const Files files("names");
  const auto refused = [&](const std::string& line, const std::string& message) {
    const CommandResult result = RunCommand("cd " + files.folder + " && " + line);
    INFO(line << "\n" << result.out << result.error);
    CHECK(result.exit_code == 2);
    CHECK(result.error.find(message) != std::string::npos);
    CHECK(result.out.empty());
  };
  refused("yuba partition model.onnx -o " + std::string(256, 'a'), "too long");
  refused("yuba partition model.onnx -o -", "-: outputs are files");
  refused("yuba partition model.onnx -o /proc/x", "/proc/x: cannot be written");
  refused("yuba run model.onnx p.json --random --trace /proc/x", "/proc/x: cannot be written");
  Succeed("cd " + files.folder + " && yuba partition model.onnx --devices 2 -o " +
          std::string(255, 'a'));
}

TEST_CASE("what a run needs is looked for before anything is compiled") {
  const Files files("needs");
  const auto refused = [&](const std::string& line, const std::string& message) {
    const CommandResult result = RunCommand("cd " + files.folder + " && " + line);
    INFO(line << "\n" << result.out << result.error);
    CHECK(result.exit_code == 2);
    CHECK(result.error.find(message) != std::string::npos);
    CHECK(result.out.empty());
  };
  const std::string run = "yuba run model.onnx p.json ";
  refused(run + "--random --expect 1", "--expect needs --inputs");
  refused(run, "no value for x; give files");
  refused(run + "--random=many", "--random=many");
  refused(run + "--input x=", "--input x=: expected NAME=FILE");
  refused("mkdir e && " + run + "--random --inputs e --expect 1", "has no output_0.pb");
}

TEST_CASE("a plan for more devices than one process runs is verified without a run") {
  const std::string plan = ScratchFolder("many") + "/p.json";
  const std::string model = RepositoryFile("tests/models/mlp/model.onnx");
  Succeed("yuba partition " + model + " --devices 2048 -o " + plan);
  const std::string verify = "yuba verify " + model + " " + plan;
  CHECK(Succeed(verify).out.find("hash    not run: ") != std::string::npos);
  const CommandResult result = RunCommand(verify + " --scale full");
  INFO(result.error);
  CHECK(result.exit_code == 2);
  CHECK(result.error.find("at most 1024 virtual ones") != std::string::npos);
  CHECK(result.out.empty());
  const CommandResult run = RunCommand("yuba run --random " + model + " " + plan);
  INFO(run.error);
  CHECK(run.exit_code == 2);
  CHECK(run.error.find("at most 1024 virtual ones: plan for fewer, as with yuba partition "
                       "--devices 1024") != std::string::npos);
}

TEST_CASE("what ends early leaves no folder") {
  const Files files("early");
  const auto fails = [&](const std::string& line) {
    CHECK(RunCommand("cd " + files.folder + " && " + line).exit_code == 2);
    CHECK_FALSE(std::filesystem::exists(files.At("new")));
  };
  fails("yuba partition model.onnx --dump new --to zzz");
  fails("yuba partition my.tdl --dump new");
  fails("yuba run model.onnx p.json --outputs new");
  fails("yuba compile model.onnx p.json --dump-kernels new -o /proc/x");
}

}  // namespace
}  // namespace yuba
