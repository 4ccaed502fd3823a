#include "tools/run/describe.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "runtime/program/enums.h"
#include "tools/report/text_table.h"
#include "tools/run/run_ports.h"

namespace yuba::tools {
namespace {

struct Value {
  std::string name, type;  // "x", "f32[12, 48]"
};

struct EntryFacts {
  std::string name;
  int64_t times = 1, kernels = 0, exchanges = 0;
};

// All that is said of a program.
struct Facts {
  std::string target, processor;
  std::vector<EntryFacts> entries;
  std::vector<Value> inputs, outputs;
  int64_t parameters = 0, parameter_bytes = 0;
  std::vector<std::string> unset;        // parameters without values
  std::map<std::string, int64_t> files;  // that hold values: path -> its size
  int64_t library_calls = 0;             // functions that a library computes
  int64_t convolutions = 0;              // of these convolutions and their gradients
  std::set<std::string> opaque;          // functions of whole slices
  int64_t buffers = 0, ordered = 0;      // of these, that are not row-major to users
};

Value ValueOf(const program::Port& port, const runtime::LoadedProgram& program) {
  const PortType type = {program.type(port.buffer()), {port.shape().begin(), port.shape().end()}};
  return {port.name(), Text(type)};
}

void AddParameter(const program::Initializer& parameter, const runtime::LoadedProgram& program,
                  Facts& facts) {
  int64_t bytes = program.ElementBytes(parameter.port().buffer());
  for (const int64_t extent : parameter.port().shape()) bytes *= extent;
  ++facts.parameters;
  facts.parameter_bytes = SaturatingSum(facts.parameter_bytes, bytes);
  if (parameter.value_case() == program::Initializer::VALUE_NOT_SET) {
    facts.unset.push_back(parameter.port().name());
  }
  const program::Reference& reference = parameter.reference();
  const bool own = reference.checksum() != 0;  // it lies in the program's own file
  if (reference.file_size() > 0 && !own) facts.files[reference.file()] = reference.file_size();
}

Facts FactsOf(const runtime::LoadedProgram& program) {
  const program::Program& message = program.message();
  Facts facts;
  facts.target = message.target();
  facts.processor = message.processor();
  const RunPorts ports = PortsOf(message);
  for (const program::EntryRange& range : program.entries()) {
    EntryFacts entry = {range.name};
    const auto times = ports.times.find(range.name);
    if (times != ports.times.end()) entry.times = std::max<int64_t>(times->second, 1);
    for (int i = range.begin; i < range.end; ++i) {
      entry.kernels += program.instructions()[i].has_kernel();
      entry.exchanges += program.instructions()[i].has_exchange();
    }
    facts.entries.push_back(std::move(entry));
  }
  for (const program::Port& port : message.inputs()) facts.inputs.push_back(ValueOf(port, program));
  for (const program::Port& port : message.outputs())
    facts.outputs.push_back(ValueOf(port, program));
  for (const program::Initializer& parameter : message.parameters())
    AddParameter(parameter, program, facts);
  facts.buffers = message.buffers_size();
  for (const program::Buffer& buffer : message.buffers())
    facts.ordered += buffer.order().empty() ? 0 : 1;
  for (const program::Function& function : message.functions()) {
    facts.library_calls += function.has_library();
    facts.convolutions +=
        function.has_library() && function.library().kind() != program::LibraryCall::CONTRACTION;
    if (function.has_opaque()) facts.opaque.insert(function.opaque().name());
  }
  return facts;
}

// "a=2 b=2"
std::string MeshOf(const runtime::LoadedProgram& program) {
  std::vector<std::string> axes;
  for (const MeshAxis& axis : program.mesh().axes)
    axes.push_back(absl::StrCat(axis.name, "=", axis.size));
  return absl::StrJoin(axes, " ");
}

// What the machine must have, a line each.
std::vector<std::string> NeedsOf(const Facts& facts, int devices) {
  std::vector<std::string> needs;
  if (facts.target != "host") {
    needs.push_back(absl::StrCat("--backend ", facts.target, ": GPUs of ", facts.processor,
                                 " or newer; ", devices,
                                 ", or fewer that have several devices each"));
    const int64_t products = facts.library_calls - facts.convolutions;
    if (products > 0)
      needs.push_back(absl::StrCat("cuBLAS: ", Counted(products, "function"), " of products"));
    if (facts.convolutions > 0) {
      needs.push_back(
          absl::StrCat("cuDNN: ", Counted(facts.convolutions, "function"), " of convolutions"));
    }
  } else {
    needs.push_back(absl::StrCat("a processor of the level ", facts.processor,
                                 ", with memory for all ", "devices"));
    if (facts.library_calls > 0) {
      needs.push_back(absl::StrCat("oneDNN: ", Counted(facts.library_calls, "function"),
                                   " of products and convolutions"));
    }
  }
  if (!facts.opaque.empty()) {
    needs.push_back(absl::StrCat("functions of this command: ", absl::StrJoin(facts.opaque, ", ")));
  }
  for (const auto& [file, bytes] : facts.files) {
    needs.push_back(absl::StrCat("the file ", file, " of ", bytes, " bytes"));
  }
  if (!facts.unset.empty()) {
    needs.push_back(absl::StrCat("values of ", Counted(facts.unset.size(), "parameter"), ", as of ",
                                 facts.unset[0], ": --weights, --input or --random"));
  }
  return needs;
}

std::string EntryText(const EntryFacts& entry) {
  return absl::StrCat(
      entry.name, ": ", Counted(entry.kernels, "kernel"), ", ",
      Counted(entry.exchanges, "exchange"),
      entry.times > 1 ? absl::StrCat(", planned to run ", entry.times, " times") : "");
}

}  // namespace

std::string DescriptionOf(const runtime::LoadedProgram& program) {
  const Facts facts = FactsOf(program);
  TextTable table(2);
  // The first row of a kind has its name.
  const auto add = [&](const std::string& kind, const std::vector<std::string>& rows) {
    for (size_t r = 0; r < rows.size(); ++r) table.Add({r == 0 ? kind : "", rows[r]});
  };
  const auto texts = [](const std::vector<Value>& values) {
    std::vector<std::string> rows;
    for (const Value& value : values) rows.push_back(absl::StrCat(value.name, ": ", value.type));
    return rows;
  };
  const int64_t arena = program.message().arena_size();
  std::vector<std::string> entries;
  for (const EntryFacts& entry : facts.entries) entries.push_back(EntryText(entry));
  const std::string mesh = MeshOf(program);
  add("devices", {absl::StrCat(program.devices(), mesh.empty() ? "" : " as mesh ", mesh)});
  add("memory", {absl::StrCat(Bytes(arena), " on each device, ", arena, " bytes")});
  if (facts.ordered > 0) {
    add("layouts",
        {absl::StrCat(facts.ordered, " of ", Counted(facts.buffers, "buffer"), " not row-major")});
  }
  add("entries", entries);
  add("inputs", texts(facts.inputs));
  add("outputs", texts(facts.outputs));
  add("parameters",
      {absl::StrCat(facts.parameters, " of ", Bytes(facts.parameter_bytes),
                    program.message().hash_arithmetic() ? ", in hash arithmetic" : "")});
  add("needs", NeedsOf(facts, program.devices()));
  add("made by", {absl::StrCat("yuba ", program.message().version())});
  return table.ToString();
}

std::string JsonDescriptionOf(const runtime::LoadedProgram& program) {
  using Json = nlohmann::ordered_json;
  const Facts facts = FactsOf(program);
  Json json = {{"devices", program.devices()},
               {"mesh", MeshOf(program)},
               {"arena_bytes", program.message().arena_size()},
               {"target", facts.target},
               {"processor", facts.processor},
               {"version", program.message().version()}};
  for (const EntryFacts& entry : facts.entries) {
    json["entries"].push_back({{"name", entry.name},
                               {"times", entry.times},
                               {"kernels", entry.kernels},
                               {"exchanges", entry.exchanges}});
  }
  const auto add = [&](const char* name, const std::vector<Value>& values) {
    json[name] = Json::array();
    for (const Value& value : values)
      json[name].push_back({{"name", value.name}, {"type", value.type}});
  };
  add("inputs", facts.inputs);
  add("outputs", facts.outputs);
  json["parameters"] = {{"count", facts.parameters},
                        {"bytes", facts.parameter_bytes},
                        {"without_value", facts.unset}};
  json["library_functions"] = facts.library_calls;
  json["opaque_functions"] = facts.opaque;
  json["buffers_not_row_major"] = facts.ordered;
  json["needs"] = NeedsOf(facts, program.devices());
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace yuba::tools
