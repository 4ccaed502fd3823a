// The table of docs/training.md of gradients at kinks and poles, whose numbers are PyTorch's: each
// row is true of a step of training, on any number of devices.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/file_range.h"
#include "opsemantics/values/tensor_file.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

// "| `Elu alpha=1.5` | 0 | 1.5 |": the node, its operands, and the gradients of those that are no
// numbers of the file.
struct Row {
  std::string text, op;
  std::vector<std::pair<std::string, float>> attributes;
  struct Operand {
    bool fixed = false;
    std::vector<float> values;
  };
  std::vector<Operand> operands;
  std::vector<std::vector<float>> gradients;
};

std::vector<float> Numbers(absl::string_view text) {
  std::vector<float> numbers;
  for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    numbers.emplace_back();
    REQUIRE(absl::SimpleAtof(word, &numbers.back()));
  }
  return numbers;
}

Row RowOf(const std::string& line) {
  const std::vector<std::string> cells = absl::StrSplit(line, '|');
  REQUIRE(cells.size() == 5);
  Row row;
  row.text = line;
  const std::vector<std::string> code = absl::StrSplit(cells[1], '`');
  const std::vector<std::string> words = absl::StrSplit(code[1], ' ');
  row.op = words[0];
  for (size_t w = 1; w < words.size(); ++w) {
    const std::pair<std::string, std::string> pair = absl::StrSplit(words[w], '=');
    row.attributes.emplace_back(pair.first, Numbers(pair.second)[0]);
  }
  for (absl::string_view operand : absl::StrSplit(cells[2], ',')) {
    const bool fixed = absl::StrContains(operand, '(');
    if (fixed) operand = operand.substr(operand.find('(') + 1, operand.find(')') - 2);
    row.operands.push_back({fixed, Numbers(operand)});
  }
  for (const absl::string_view gradient : absl::StrSplit(cells[3], ','))
    row.gradients.push_back(Numbers(gradient));
  return row;
}

std::vector<Row> RowsOfTable() {
  std::ifstream stream(RepositoryFile("docs/training.md"));
  std::vector<Row> rows;
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (line == "| node | at | gradient |") inside = true;
    if (line.empty()) inside = false;
    if (inside && absl::StartsWith(line, "| `")) rows.push_back(RowOf(line));
  }
  return rows;
}

// The parameter of operand `o` of row `r`: two rows of the operand's values.
std::string NameOf(size_t r, size_t o) { return absl::StrCat("p", r, "_", o); }

void AddNumbers(const std::string& name, const std::vector<int64_t>& dims, int copies,
                const std::vector<float>& values, compiler::OnnxBuilder& builder) {
  builder.Weight(name, dims);
  ::onnx::GraphProto& graph = *builder.proto().mutable_graph();
  ::onnx::TensorProto& tensor = *graph.mutable_initializer(graph.initializer_size() - 1);
  tensor.clear_float_data();
  for (int copy = 0; copy < copies; ++copy) {
    for (const float value : values) tensor.add_float_data(value);
  }
}

// All rows side by side: the loss is the sum of all that they compute.
std::string ModelOf(const std::vector<Row>& rows, const std::string& folder) {
  compiler::OnnxBuilder builder;
  builder.Integers("all", {-1});
  std::vector<std::string> parts;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::string> operands;
    for (size_t o = 0; o < rows[r].operands.size(); ++o) {
      const Row::Operand& operand = rows[r].operands[o];
      operands.push_back(NameOf(r, o));
      const auto count = static_cast<int64_t>(operand.values.size());
      const std::vector<int64_t> dims =
          operand.fixed ? std::vector<int64_t>() : std::vector<int64_t>{2, count};
      AddNumbers(operands.back(), dims, operand.fixed ? 1 : 2, operand.values, builder);
    }
    const std::string result = absl::StrCat("y", r);
    ::onnx::NodeProto& node = builder.Node(rows[r].op, operands, {result});
    for (const auto& [name, value] : rows[r].attributes) compiler::SetFloat(node, name, value);
    if (absl::StartsWith(rows[r].op, "Reduce")) compiler::SetInts(node, "axes", {1});
    parts.push_back(result + "_flat");
    builder.Node("Reshape", {result, "all"}, {parts.back()});
  }
  compiler::SetInt(builder.Node("Concat", parts, {"y"}), "axis", 0);
  builder.Output("y");
  const std::string file = folder + "/model.onnx";
  std::filesystem::rename(builder.Save(), file);
  std::ofstream(folder + "/total.tdl") << "op total(y[s..], none[s..]) -> loss[]\n"
                                          "  loss[] = sum(i..: s..) y[i..]\n";
  return file;
}

bool SameNumber(float is, float expected) {
  if (std::isnan(expected)) return std::isnan(is);
  return is == expected || std::abs(is - expected) <= 1e-5f * std::abs(expected);
}

std::vector<float> Stored(const StoredTensor& tensor) {
  const absl::StatusOr<RangeReader> reader = RangeReader::Open(tensor.bytes);
  REQUIRE_THAT(reader, IsOk());
  std::vector<float> values(static_cast<size_t>(reader->length()) / sizeof(float));
  REQUIRE_THAT(reader->Read(0, reader->length(), reinterpret_cast<char*>(values.data())), IsOk());
  return values;
}

// `after`: the parameters after a step of plain descent at the rate 1.
void CheckRow(const Row& row, size_t number, const std::map<std::string, StoredTensor>& after) {
  INFO(row.text);
  size_t next = 0;
  for (size_t o = 0; o < row.operands.size(); ++o) {
    const std::vector<float>& before = row.operands[o].values;
    if (row.operands[o].fixed) continue;
    REQUIRE(next < row.gradients.size());
    const std::vector<float>& expected = row.gradients[next++];
    REQUIRE(expected.size() == before.size());
    const auto found = after.find(NameOf(number, o));
    REQUIRE(found != after.end());
    const std::vector<float> values = Stored(found->second);
    REQUIRE(values.size() == 2 * before.size());
    for (size_t i = 0; i < 2 * before.size(); ++i) {
      const float value = before[i % before.size()];
      const float gradient = value - values[i];
      INFO("operand " << o << ", element " << i << ": " << gradient);
      CHECK(SameNumber(gradient, expected[i % before.size()]));
    }
  }
}

TEST_CASE("gradients at kinks and poles are those of the table in docs/training.md") {
  const std::vector<Row> rows = RowsOfTable();
  CHECK(rows.size() == 20);
  const std::string folder = ScratchFolder("singular_points");
  const std::string model = ModelOf(rows, folder), plan = folder + "/plan.json";
  const std::string operators = " --operators " + folder + "/total.tdl";
  const std::string saved = folder + "/saved.safetensors";
  for (const char* devices : {"1", "2", "3", "8"}) {
    INFO(devices << " devices");
    Succeed("yuba partition " + model + operators + " --train sgd --loss total --lr 1 --devices " +
            devices + " -o " + plan);
    Succeed("yuba run " + model + " " + plan + operators + " --random --save " + saved);
    const auto after = ReadSafetensors(saved);
    REQUIRE_THAT(after, IsOk());
    for (size_t r = 0; r < rows.size(); ++r) CheckRow(rows[r], r, after->tensors);
  }
}

// Softmax, IsNaN and Where, as PyTorch's older exporter writes attention with a mask. The second
// row of w sees nothing.
TEST_CASE("a softmax of nothing that a file makes 0 has no gradient") {
  const std::string folder = ScratchFolder("softmax_of_nothing");
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  compiler::OnnxBuilder builder;
  builder.Input("mask", {2, 2});
  AddNumbers("w", {2, 2}, 1, {0.5f, 0.25f, 1, 2}, builder);
  AddNumbers("zero", {}, 1, {0}, builder);
  builder.Node("Add", {"w", "mask"}, {"seen"});
  compiler::SetInt(builder.Node("Softmax", {"seen"}, {"p"}), "axis", -1);
  builder.Node("IsNaN", {"p"}, {"nothing"});
  builder.Node("Where", {"nothing", "zero", "p"}, {"y"});
  builder.Output("y");
  const std::string file = builder.Save(), plan = folder + "/plan.json";
  const auto write = [&](const std::string& name, const std::vector<float>& values) {
    std::ofstream(folder + "/" + name, std::ios::binary)
        << FormatNpy({ElementType::kF32,
                      {2, 2},
                      {reinterpret_cast<const char*>(values.data()), values.size() * 4}});
    return folder + "/" + name;
  };
  const std::string inputs = " --input mask=" + write("mask.npy", {0, 0, kHidden, kHidden}) +
                             " --input labels=" + write("labels.npy", {1, 0, 1, 1});
  // Of the mean of squares over four elements, p = softmax(0.5, 0.25) beside labels 1 and 0.
  const float p = 1 / (1 + std::exp(-0.25f)), slope = -(1 - p) * p * (1 - p);
  for (const char* devices : {"1", "2", "3"}) {
    INFO(devices << " devices");
    Succeed("yuba partition " + file + " --train sgd --loss mse --lr 1 --devices " + devices +
            " -o " + plan);
    const std::string saved = folder + "/saved.safetensors";
    Succeed("yuba run " + file + " " + plan + inputs + " --save " + saved);
    const auto after = ReadSafetensors(saved);
    REQUIRE_THAT(after, IsOk());
    const std::vector<float> w = Stored(after->tensors.at("w"));
    REQUIRE(w.size() == 4);
    CHECK(w[0] == Approx(0.5f - slope));
    CHECK(w[1] == Approx(0.25f + slope));
    CHECK((w[2] == 1 && w[3] == 2));
  }
}

}  // namespace
}  // namespace yuba
