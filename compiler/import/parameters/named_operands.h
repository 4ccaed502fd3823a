// Which operands of a node its call names. What it does not name stands for something else: the
// exporter stores equal tensors once, computes equal expressions once, and leaves out what changes
// nothing.
//
// Example: ones - x * w, with w of ones, is Sub(w, mul), part of aten.sub(%ones, %mul): the call
// names operand 1, and operand 0 stands for the constant.
#ifndef YUBA_COMPILER_IMPORT_PARAMETERS_NAMED_OPERANDS_H_
#define YUBA_COMPILER_IMPORT_PARAMETERS_NAMED_OPERANDS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/import/parameters/export_record.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// Of one node, all by position among its operands.
struct NamedOperands {
  // Parameters that the node reads more often than its call names them.
  std::vector<int> stand_ins;
  // Results of nodes, and inputs of the graph, that the call does not name.
  std::vector<int> others;
  // What the call names and the file has not, by names of the exported program.
  std::vector<std::string> absent;
};

class ExportedProgram {
 public:
  // The graph and the record must outlive it. Nodes may get other operands, and the graph further
  // initializers.
  ExportedProgram(const ::onnx::GraphProto& graph, const ExportRecord& record);

  // The call that node n of the graph is part of; none where the file does not say.
  const absl::optional<CallRecord>& call(int n) const { return calls_[n]; }

  NamedOperands Of(int n) const;

  // Whether the program has the value of the file under that name. Of a buffer any stored value may
  // be it: equal ones are stored once.
  bool IsCalled(const std::string& value, const std::string& called) const;

  // The node that makes the value; -1 where none does.
  int MakerOf(const std::string& value) const;

 private:
  std::string NameOfParameter(const std::string& value) const;
  bool IsThere(const std::string& called) const;
  bool IsNamed(const std::string& value, const CallRecord& call) const;

  const ::onnx::GraphProto& graph_;
  const ExportRecord& record_;
  std::vector<absl::optional<CallRecord>> calls_;
  std::map<std::string, int> makers_;          // nodes by what they make
  std::set<std::string> stored_;               // names of initializers
  std::map<std::string, std::string> inputs_;  // of the graph: their names in the program
};

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_PARAMETERS_NAMED_OPERANDS_H_
