// Copies that end gradients, which the exporter leaves out like any copy.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/import/parameters/folded.h"
#include "compiler/import/parameters/named_operands.h"
#include "compiler/import/parameters/restoring.h"

namespace yuba::onnx {
namespace {

constexpr char kDetach[] = "aten.detach";

bool IsDetached(const std::string& called) { return CallNamed(called) == "detach"; }

// An operand of a node that stands for a detached value.
struct Detached {
  int operand = 0;
  std::string called;
};

class Finder {
 public:
  Finder(const ::onnx::GraphProto& graph, const ExportRecord& record)
      : graph_(graph), program_(graph, record) {}

  // By node, in the order of the file.
  std::map<int, std::vector<Detached>> Find() {
    std::map<int, std::vector<Detached>> found;
    for (int n = 0; n < graph_.node_size(); ++n) {
      if (!program_.call(n).has_value()) continue;
      std::vector<Detached> of_node = Of(n);
      if (!of_node.empty()) found[n] = std::move(of_node);
    }
    return found;
  }

  // To be called after Find: detached values of which no operand was found.
  std::vector<std::string> Unfound() const {
    std::vector<std::string> unfound;
    std::set_difference(named_.begin(), named_.end(), found_.begin(), found_.end(),
                        std::back_inserter(unfound));
    return unfound;
  }

 private:
  std::vector<Detached> Of(int n) {
    const NamedOperands operands = program_.Of(n);
    const auto found = std::find_if(operands.absent.begin(), operands.absent.end(), IsDetached);
    if (found == operands.absent.end()) return {};
    std::vector<Detached> detached = InOrder(n);
    std::vector<int> unnamed = operands.others;
    unnamed.insert(unnamed.end(), operands.stand_ins.begin(), operands.stand_ins.end());
    std::sort(unnamed.begin(), unnamed.end());
    if (detached.empty() && unnamed.size() == operands.absent.size()) {
      for (size_t k = 0; k < unnamed.size(); ++k) {
        if (IsDetached(operands.absent[k])) detached.push_back({unnamed[k], operands.absent[k]});
      }
    }
    // A call may be several nodes, of which some read what is detached.
    for (const std::string& called : operands.absent) {
      if (IsDetached(called)) named_.insert(called);
    }
    for (const Detached& one : detached) found_.insert(one.called);
    return detached;
  }

  // Where the operands are one for one what the call names, in its order; else none.
  std::vector<Detached> InOrder(int n) const {
    const ::onnx::NodeProto& node = graph_.node(n);
    const std::vector<std::string>& called = program_.call(n)->values;
    if (static_cast<size_t>(node.input_size()) != called.size()) return {};
    std::vector<Detached> detached;
    for (int i = 0; i < node.input_size(); ++i) {
      if (IsDetached(called[i]) && program_.MakerOf(called[i]) < 0)
        detached.push_back({i, called[i]});
      else if (!program_.IsCalled(node.input(i), called[i]))
        return {};
    }
    return detached;
  }

  const ::onnx::GraphProto& graph_;
  const ExportedProgram program_;
  std::set<std::string> named_, found_;  // detached values, by names of the exported program
};

// Makes an Identity of the operand, which says that it is the call's, and puts it before node n.
void Insert(::onnx::GraphProto& graph, int n, const Detached& detached, const std::string& result) {
  ::onnx::NodeProto copy;
  copy.set_op_type("Identity");
  copy.set_name(absl::StrCat("node_", result));
  copy.add_input(graph.node(n).input(detached.operand));
  copy.add_output(result);
  SayCall(absl::StrCat("%", detached.called, " : call_function[target=torch.ops.", kDetach,
                       ".default](args = (%", copy.input(0), ",), kwargs = {})"),
          copy);
  *graph.add_node() = std::move(copy);
  for (int at = graph.node_size() - 1; at > n; --at) graph.mutable_node()->SwapElements(at, at - 1);
}

}  // namespace

std::vector<std::string> RestoreDetached(::onnx::GraphProto& graph, const ExportRecord& record) {
  Finder finder(graph, record);
  const std::map<int, std::vector<Detached>> found = finder.Find();
  const std::vector<std::string> unfound = finder.Unfound();
  std::set<std::string> taken = NamesOfValues(graph);
  for (auto node = found.rbegin(); node != found.rend(); ++node) {  // so that positions hold
    int at = node->first;
    for (const Detached& detached : node->second) {
      std::string result = detached.called;
      for (int k = 1; !taken.insert(result).second; ++k)
        result = absl::StrCat(detached.called, "/", k);
      Insert(graph, at++, detached, result);
      graph.mutable_node(at)->set_input(detached.operand, result);
    }
  }
  return unfound;
}

}  // namespace yuba::onnx
