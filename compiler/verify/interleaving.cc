#include "compiler/verify/interleaving.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {
namespace {

class Checker {
 public:
  Checker(const program::Program& program, const Mesh& mesh, const program::Kernel& kernel,
          const std::vector<const Definition*>& definitions, KnownDefinitions& numbers,
          std::set<std::string>& writes)
      : function_(program.functions(kernel.function())),
        kernel_(kernel),
        mesh_(mesh),
        definitions_(definitions),
        numbers_(numbers),
        writes_(writes) {}

  absl::Status Check() {
    for (const program::Section& section : program::SectionsOf(function_)) {
      section_ = section;
      for (int d = section.begin; d < section.end; ++d) {
        const bool alone = section.end - section.begin == 1;
        absl::Status status = alone ? CheckAlone(d) : CheckDefinition(d);
        if (status.ok()) status = CheckApart(d);
        YUBA_RETURN_IF_ERROR(Annotate(status, absl::StrCat("definition ", kernel_.node(d))));
      }
    }
    return absl::OkStatus();
  }

 private:
  // A definition that is a section.
  absl::Status CheckAlone(int d) const {
    const program::KernelTensor& computes = function_.definitions(d).computes();
    if (computes.kind_case() != program::KernelTensor::kInternal) return CheckBuffer(d);
    return ProofError("it is internal, and no definition shares an index with it");
  }

  // What definitions of other sections compute it does not read, neither before nor after.
  absl::Status CheckApart(int d) const {
    for (const program::KernelTensor& operand : function_.definitions(d).operands()) {
      for (int writer = 0; writer < function_.definitions_size(); ++writer) {
        if (writer >= section_.begin && writer < section_.end) continue;
        if (Touches(operand, function_.definitions(writer).computes())) {
          return ProofError("it reads where ", kernel_.node(writer),
                            " writes, with which it shares no index");
        }
      }
    }
    return absl::OkStatus();
  }

  // Whether what is read is what is computed, or lies where that is written.
  bool Touches(const program::KernelTensor& read, const program::KernelTensor& computed) const {
    if (read.kind_case() != program::KernelTensor::kOperand)
      return read.SerializeAsString() == computed.SerializeAsString();
    return computed.kind_case() == program::KernelTensor::kResult &&
           kernel_.operands(read.operand()).buffer() == kernel_.results(computed.result()).buffer();
  }

  absl::Status CheckDefinition(int d) {
    for (int index = 0; index < section_.shared; ++index) {
      if (definitions_[d]->indices[index].reduction) {
        return ProofError("it reduces over an index that it shares");
      }
    }
    const std::string writes = WritesOf(d);
    if (writes_.count(writes) == 0) {
      YUBA_RETURN_IF_ERROR(CheckWrites(d));
      writes_.insert(writes);
    }
    for (int o = 0; o < function_.definitions(d).operands_size(); ++o) {
      YUBA_RETURN_IF_ERROR(CheckOperand(d, o));
    }
    const program::KernelTensor& computes = function_.definitions(d).computes();
    if (computes.kind_case() != program::KernelTensor::kInternal) return CheckBuffer(d);
    const auto& indices = definitions_[d]->indices;
    if (std::all_of(indices.begin() + section_.shared, indices.end(),
                    [](const Index& index) { return index.reduction; })) {
      return absl::OkStatus();
    }
    return ProofError("it is internal, but several of its elements are computed at once");
  }

  const program::Box& WrittenBox(int d) const {
    const program::KernelTensor& computes = function_.definitions(d).computes();
    return computes.kind_case() == program::KernelTensor::kInternal
               ? kernel_.internals(computes.internal()).box()
               : kernel_.results(computes.result()).box();
  }

  // All that CheckWrites looks at.
  std::string WritesOf(int d) {
    program::Kernel boxes;
    for (const int index : function_.definitions(d).indices()) {
      *boxes.add_indices() = kernel_.indices(index);
    }
    *boxes.add_results()->mutable_box() = WrittenBox(d);
    return absl::StrCat(numbers_.NumberOf(*definitions_[d]), ":", section_.shared, ":",
                        boxes.SerializeAsString());
  }

  // Each device writes all elements of its values of the shared indices.
  absl::Status CheckWrites(int d) const {
    const Definition& definition = *definitions_[d];
    const std::vector<Box> writes = program::BoxesOn(mesh_, WrittenBox(d));
    std::vector<std::vector<Interval>> ranges;  // [index][device]
    for (const int index : function_.definitions(d).indices()) {
      ranges.push_back(program::IntervalsOn(mesh_, kernel_.indices(index)));
    }
    for (int device = 0; device < mesh_.devices(); ++device) {
      if (writes[device].size() != definition.left.size()) {
        return ProofError("what it computes has another rank in the program");
      }
      const bool nothing = std::any_of(ranges.begin(), ranges.end(),
                                       [&](const auto& range) { return range[device].empty(); });
      for (size_t dim = 0; dim < definition.left.size() && !nothing; ++dim) {
        const int index = definition.left[dim].BareIndex();
        if (index < 0 || index >= section_.shared || writes[device][dim] == ranges[index][device])
          continue;
        return ProofError("device ", device, " runs it over ", ToString(ranges[index][device]),
                          ", where it writes ", ToString(writes[device][dim]));
      }
    }
    return absl::OkStatus();
  }

  // What it reads of an operand is its own slice, if a definition of the kernel computes it or
  // writes over it.
  absl::Status CheckOperand(int d, int o) const {
    const program::KernelTensor& tensor = function_.definitions(d).operands(o);
    for (int writer = section_.begin; writer < section_.end; ++writer) {
      const program::KernelTensor& computes = function_.definitions(writer).computes();
      if (tensor.kind_case() == program::KernelTensor::kOperand) {
        if (computes.kind_case() != program::KernelTensor::kResult ||
            kernel_.operands(tensor.operand()).buffer() !=
                kernel_.results(computes.result()).buffer()) {
          continue;
        }
        if (writer < d) {
          return ProofError("it reads operand ", o, " where ", kernel_.node(writer),
                            " has written over it");
        }
      } else if (tensor.SerializeAsString() != computes.SerializeAsString()) {
        continue;
      }
      if (ReadsAtSameValues(*definitions_[d], o, *definitions_[writer])) continue;
      return ProofError("it reads elements of operand ", o, " that ", kernel_.node(writer),
                        " computes at other values of the shared indices");
    }
    return absl::OkStatus();
  }

  // No other definition writes to the same buffer.
  absl::Status CheckBuffer(int d) const {
    const int result = function_.definitions(d).computes().result();
    for (int other = 0; other < kernel_.results_size(); ++other) {
      if (other != result && kernel_.results(other).buffer() == kernel_.results(result).buffer()) {
        return ProofError("another definition writes to its buffer");
      }
    }
    return absl::OkStatus();
  }

  // Along each dimension in which the result of `writer` has a shared index, every read has it too.
  bool ReadsAtSameValues(const Definition& reader, int operand, const Definition& writer) const {
    bool same = true;
    const auto check = [&](const Expr& expr) {
      if (expr.kind != Expr::kRead || expr.operand != operand) return;
      same &= expr.position.size() == writer.left.size();
      for (size_t dim = 0; same && dim < writer.left.size(); ++dim) {
        const int index = writer.left[dim].BareIndex();
        const bool is_shared = index >= 0 && index < section_.shared;
        if (is_shared && writer.result.dims[dim] > 1) {
          same &= expr.position[dim] == IndexAffine(index);
        }
      }
    };
    Walk(reader, check);
    return same;
  }

  const program::Function& function_;
  const program::Kernel& kernel_;
  const Mesh& mesh_;
  const std::vector<const Definition*>& definitions_;
  program::Section section_;  // at hand
  KnownDefinitions& numbers_;
  std::set<std::string>& writes_;
};

}  // namespace

Interleavings::Interleavings(const program::Program& program)
    : program_(program), mesh_(program::MeshOf(program)) {}

absl::Status Interleavings::Check(const program::Kernel& kernel,
                                  const std::vector<const Definition*>& definitions) {
  if (definitions.size() < 2) return absl::OkStatus();
  return Checker(program_, mesh_, kernel, definitions, numbers_, writes_).Check();
}

}  // namespace yuba::compiler
