// Dumps that somebody has changed: refused with the place, or nothing is concluded from them that
// was not checked.
#include <algorithm>
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

// The states of a small model on four devices, in a folder of their own.
struct Dump {
  std::string folder, model;

  explicit Dump(const std::string& name, const std::string& of = "mlp")
      : folder(ScratchFolder(name)), model(RepositoryFile("tests/models/" + of + "/model.onnx")) {
    Succeed(Partition(""));
  }
  std::string Partition(const std::string& flags) const {
    return "yuba partition " + model + " --devices 4 --dump " + folder + " -o " + folder +
           "/p.json " + flags;
  }
  std::string At(const std::string& file) const { return folder + "/" + file; }

  // Writes `to` in the place of `from` and returns the line and column of the operation `op` before
  // it, as ":LINE:COLUMN: error: ".
  std::string Change(const std::string& file, const std::string& from, const std::string& to,
                     const std::string& op) const {
    std::string text = Read(At(file));
    const size_t at = text.find(from);
    INFO(file << ": " << from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    std::ofstream(At(file), std::ios::binary) << text;
    const size_t begin = text.rfind(op, at + to.size() - op.size());
    REQUIRE(begin != std::string::npos);
    return ":" + std::to_string(std::count(text.begin(), text.begin() + begin, '\n') + 1) + ":" +
           std::to_string(begin - text.rfind('\n', begin)) + ": error: ";
  }
};

void CheckRefused(const std::string& line, const std::string& place, const std::string& why) {
  const CommandResult result = RunCommand(line);
  INFO(line << "\n" << result.out << result.error);
  CHECK(result.exit_code != 0);
  CHECK(result.exit_code < 3);
  const size_t at = result.error.find(place);
  CHECK(at != std::string::npos);
  CHECK(result.error.find(why) != std::string::npos);
}

struct Lie {
  const char *from, *to, *why;
  const char* op = "yuba.graph";
};

TEST_CASE("a state that says what is not so is refused where it says so") {
  const Lie lies[] = {
      {"memory = 0", "memory = 100", "'memory' is 100, but the plan's program allocates"},
      {"hash = \"", "hash = \"0", "but the hash of this graph is"},
      {"copies = true", "copies = 8", "'copies' is"},
      {"flops = ", "flops = -", "'flops' is -"},
      {"lower_bound = ", "lower_bound = 9", "'lower_bound' is 9"},
      {"replicate = \"none\"", "replicate = \"auto\"", "its proof"},
      {"partials = false", "partials = true", "'partials' is not what the graph has"},
      {"accumulators = false", "accumulators = true", "'accumulators' is not what the graph has"},
      {"cost = array<i64: 0,", "cost = array<i64: 4,", "the plan says that it moves"},
      {"proof_order = array<i32: ", "proof_order = array<i32: 9", "the proof names element"},
      {"nesting = \"free\"", "nesting = \"anywhere\"", "which is no space of plans"},
      {"mesh a=2 b=2", "mesh a=2 a=2", "a second axis a", "a=2"},
      {"[12/ba, 48]", "[12/bb, 48]", "uses the axis b twice", "yuba.tensor"},
      {"[12/ba, 48]", "[12/b, 48]", "is left out, but fits", "yuba.graph"},
  };
  for (const Lie& lie : lies) {
    INFO(lie.from << " becomes " << lie.to);
    const Dump dump("lies");
    for (const char* file : {"3-search.mlir", "4-attach.mlir", "6-recognise.mlir"}) {
      INFO(file);
      const std::string place = file + dump.Change(file, lie.from, lie.to, lie.op);
      const std::string name = file;
      const std::string next = name[0] == '3' ? "attach" : name[0] == '4' ? "spmd" : "memory";
      CheckRefused(dump.Partition("--from " + next), place, lie.why);
      CheckRefused("yuba-opt -yuba-" + next + " " + dump.At(file), place, lie.why);
    }
  }
}

TEST_CASE("a state of another model is refused at the tensor or node that differs") {
  const Dump dump("other", "encoder");
  std::filesystem::copy(dump.At("4-attach.mlir"), dump.At("whole"));
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& op,
                           const std::string& why) {
    INFO(from << " becomes " << to);
    std::filesystem::copy(dump.At("whole"), dump.At("4-attach.mlir"),
                          std::filesystem::copy_options::overwrite_existing);
    const std::string place = dump.Change("4-attach.mlir", from, to, op);
    CheckRefused(dump.Partition("--from spmd"), place, why);
  };
  const std::string next = "give the flags that the dump was made with, or dump the model again";
  refused("yuba.op \"", "yuba.op \"zork", "yuba.op", next);
  refused("yuba.tensor \"", "yuba.tensor \"zork", "yuba.tensor", "is not that of");
  refused("from = \"", "from = \"zork", "yuba.op", "is not that of");
  refused("copies = true", "copies = false", "yuba.graph", "are not those of its space");
  refused("flops = ", "flops = 1", "yuba.graph", "one of hash, opset, file_nodes, flops");
}

TEST_CASE("a bound that was not replayed for the state that was read is not called proved") {
  const Dump dump("bound");
  CHECK(Succeed(dump.Partition("--from spmd")).out.find("optimal in its space") !=
        std::string::npos);
  CHECK(Read(dump.At("p.json")).find("\"replayed\": true") != std::string::npos);
  const CommandResult unchecked = Succeed(dump.Partition("--from spmd --no-verify"));
  CHECK(unchecked.out.find("optimal") == std::string::npos);
  CHECK(unchecked.out.find("bound not yet checked: yuba check") != std::string::npos);
  CHECK(Read(dump.At("p.json")).find("\"replayed\": false") != std::string::npos);
}

TEST_CASE("states of all kinds of plans are read again") {
  for (const std::string flags :
       {"gpt --replicate auto", "encoder", "lstm --accumulators all", "conv --space flat",
        "gpt --copies none", "conv --space tofu", "conv --batch 4", "mlp --memory 20kB",
        "conv --search recursive"}) {
    INFO(flags);
    const std::string folder = ScratchFolder("kinds");
    const size_t end = std::min(flags.find(' '), flags.size());
    const std::string model =
        RepositoryFile("tests/models/") + flags.substr(0, end) + "/model.onnx";
    const std::string partition =
        "yuba partition " + model + " --devices 4 --dump " + folder + " -o " + folder + "/p.json";
    Succeed(partition + flags.substr(end));
    Succeed(partition + flags.substr(end) + " --from search");
    const std::string batch = flags.find("--batch") < flags.size() ? " --batch 4" : "";
    for (const char* phase : {"spmd", "recognise", "memory", "kernels", "emit"}) {
      Succeed(partition + batch + " --from " + phase);
      Succeed("yuba check " + model + " " + folder + "/p.json");
    }
    if (!batch.empty()) {
      CheckRefused(partition + " --from spmd",
                   "4-attach.mlir:", "give the flags that the dump was made with");
    }
  }
}

}  // namespace
}  // namespace yuba
