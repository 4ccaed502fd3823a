#include "compiler/spmd/members.h"

#include <algorithm>

#include "compiler/spmd/own_slice.h"
#include "opsemantics/sharding/work.h"
#include "runtime/program/enums.h"

namespace yuba::compiler {
namespace {

int ResultBuffer(const Member& member) { return member.kernel.results(0).buffer(); }

bool SameMessage(const google::protobuf::Message& a, const google::protobuf::Message& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

// Whether each device computes of a definition all elements of its values of the shared indices:
// then the loops over these need no other bounds than their ranges.
bool WritesAllOfItsRanges(const Member& member, int shared) {
  const std::vector<Affine>& left = member.definition.left;
  for (size_t device = 0; device < member.boxes->writes.size(); ++device) {
    const Box& writes = member.boxes->writes[device];
    const std::vector<Interval>& ranges = member.boxes->ranges[device];
    const bool nothing = std::any_of(ranges.begin(), ranges.end(),
                                     [](const Interval& range) { return range.empty(); });
    if (nothing) continue;
    for (size_t d = 0; d < left.size(); ++d) {
      const int index = left[d].BareIndex();
      if (index >= 0 && index < shared && !(writes[d] == ranges[index])) return false;
    }
  }
  return true;
}

// Whether the kernel may be one of several in a kernel at all.
bool IsWhole(const Member& member, int shared) {
  return member.whole && WritesAllOfItsRanges(member, shared);
}

// Whether `reader` touches of the buffer that `writer` writes nothing but its own slice.
bool ReadsOwnSlices(const Member& reader, const Member& writer, int shared) {
  for (int o = 0; o < reader.kernel.operands_size(); ++o) {
    if (reader.kernel.operands(o).buffer() == ResultBuffer(writer) &&
        !ReadsOwnSlice(reader.definition, o, writer.definition, shared)) {
      return false;
    }
  }
  return true;
}

// What one function may hold, as it takes long to compile, besides kMostSections.
constexpr int kMostExpressions = 2048;

int Expressions(const MemberSection& section) {
  int count = 0;
  for (const Member& member : section.members)
    Walk(member.definition, [&](const Expr&) { ++count; });
  return count;
}

bool AllOfElements(const MemberSection& section) {
  return std::all_of(section.members.begin(), section.members.end(), [&](const Member& member) {
    return IsOfElements(member.definition, section.shared);
  });
}

bool AllOfRows(const MemberSection& section) {
  std::vector<const Definition*> definitions;
  for (const Member& member : section.members) definitions.push_back(&member.definition);
  return IsOfRows(definitions, section.shared);
}

// Whether both compute the same of the same parts of buffers that devices hold in the same parts.
bool IsAlike(const program::Program& program, const Member& a, const Member& b) {
  const auto same = [&](const program::Access& x, const program::Access& y) {
    return SameMessage(x.box(), y.box()) &&
           SameMessage(program.buffers(x.buffer()).box(), program.buffers(y.buffer()).box());
  };
  const auto all_same = [&](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
  };
  return a.definition == b.definition &&
         std::equal(a.kernel.indices().begin(), a.kernel.indices().end(),
                    b.kernel.indices().begin(), b.kernel.indices().end(),
                    [](const auto& x, const auto& y) { return SameMessage(x, y); }) &&
         all_same(a.kernel.operands(), b.kernel.operands()) &&
         all_same(a.kernel.results(), b.kernel.results());
}

bool AreAlikeRows(const program::Program& program, const MemberSection& a, const MemberSection& b) {
  return a.shared == b.shared && AllOfRows(a) &&
         std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
                    [&](const Member& x, const Member& y) { return IsAlike(program, x, y); });
}

// Whether a member of `a` touches a buffer that one of `b` writes.
bool TouchesResults(const MemberSection& a, const MemberSection& b) {
  for (const Member& writer : b.members) {
    const int written = ResultBuffer(writer);
    const auto touches = [&](const Member& member) {
      const auto& operands = member.kernel.operands();
      return ResultBuffer(member) == written ||
             std::any_of(operands.begin(), operands.end(),
                         [&](const program::Access& read) { return read.buffer() == written; });
    };
    if (std::any_of(a.members.begin(), a.members.end(), touches)) return true;
  }
  return false;
}

// Makes the kernel and the function of sections, one after the other.
class Joiner {
 public:
  Joiner(const Graph& graph, const program::Program& program,
         const std::vector<MemberSection>& sections)
      : graph_(graph), program_(program), sections_(sections) {}

  JoinedKernel Join() {
    for (const MemberSection& section : sections_) AddSection(section);
    return std::move(joined_);
  }

 private:
  void AddSection(const MemberSection& section) {
    section_ = &section;
    first_index_ = joined_.function.indices_size();
    for (const Member& member : section.members) {
      program::FunctionDefinition& definition = *joined_.function.add_definitions();
      definition.set_text(ToString(member.definition));
      definition.set_reducer(ToProto(member.definition.reducer));
      joined_.kernel.add_node(graph_.nodes[member.node].name);
      joined_.kernel.add_from(graph_.nodes[member.node].from);
      AddIndices(member, definition);
      AddWork(member, definition);
      for (const program::Access& operand : member.kernel.operands()) {
        *definition.add_operands() = Read(operand);
      }
      *definition.mutable_computes() = Compute(member);
    }
  }

  // The first member of a section brings the shared indices.
  void AddIndices(const Member& member, program::FunctionDefinition& definition) {
    const std::vector<Index>& indices = member.definition.indices;
    for (int i = 0; i < static_cast<int>(indices.size()); ++i) {
      if (i < section_->shared && &member != &section_->members[0]) {
        definition.add_indices(first_index_ + i);
        continue;
      }
      definition.add_indices(joined_.function.indices_size());
      program::FunctionIndex* index = joined_.function.add_indices();
      index->set_name(indices[i].name);
      index->set_extent(indices[i].extent);
      index->set_reduction(indices[i].reduction);
      index->set_groups(!member.definition.partial_operands.empty() &&
                        &indices[i] == &indices.back());
      *joined_.kernel.add_indices() = member.kernel.indices(i);
    }
  }

  void AddWork(const Member& member, program::FunctionDefinition& definition) {
    const PointWork work = WorkAtPoint(member.definition);
    definition.set_kernel_class(ToProto(work.kernel_class));
    definition.set_type(ToProto(work.type));
    definition.set_operations(work.operations);
    definition.set_roots(work.extras[static_cast<int>(Extra::kRoot)]);
    definition.set_functions(work.extras[static_cast<int>(Extra::kFunction)]);
    definition.set_powers(work.extras[static_cast<int>(Extra::kPower)]);
    definition.set_turned(1 + work.turned);
    definition.set_row(1 + work.row);
    for (const TiedIndices& tie : work.ties) {
      program::IndexTie& added = *definition.add_ties();
      for (const int index : tie) added.add_indices(definition.indices(index));
    }
    for (const program::WorkRange& own : member.kernel.work_ranges()) {
      program::WorkRange& added = *joined_.kernel.add_work_ranges();
      added = own;
      added.set_definition(joined_.function.definitions_size() - 1);
      added.set_index(definition.indices(own.index()));
    }
  }

  program::KernelTensor Read(const program::Access& access) {
    for (const auto& [buffer, tensor] : computed_) {
      if (buffer == access.buffer()) return tensor;
    }
    program::KernelTensor tensor;
    auto& operands = *joined_.kernel.mutable_operands();
    int number = 0;
    // One definition alone has its operands in their order, whatever buffers they lie in.
    if (sections_.size() == 1 && section_->members.size() == 1) number = operands.size();
    while (number < operands.size() && !SameMessage(operands[number], access)) ++number;
    if (number == operands.size()) *operands.Add() = access;
    tensor.set_operand(number);
    return tensor;
  }

  program::KernelTensor Compute(const Member& member) {
    program::KernelTensor tensor;
    const program::Access& result = member.kernel.results(0);
    if (IsInternal(member)) {
      tensor.set_internal(joined_.kernel.internals_size());
      const program::Buffer& buffer = program_.buffers(result.buffer());
      program::Internal& internal = *joined_.kernel.add_internals();
      internal.set_name(buffer.name());
      internal.set_type(buffer.type());
      *internal.mutable_dims() = buffer.dims();
      *internal.mutable_box() = result.box();
      joined_.unused.push_back(result.buffer());
    } else {
      tensor.set_result(joined_.kernel.results_size());
      *joined_.kernel.add_results() = result;
    }
    computed_.emplace_back(result.buffer(), tensor);
    return tensor;
  }

  bool IsInternal(const Member& member) const {
    const Tensor& tensor = graph_.tensors[graph_.nodes[member.node].result];
    const bool transient =
        tensor.kind == TensorKind::kActivation || tensor.kind == TensorKind::kPartial;
    const std::vector<Member>& members = section_->members;
    return members.size() > 1 && member.direct && transient && !tensor.output &&
           !tensor.consumers.empty() && SliceIsElement(member.definition, section_->shared) &&
           std::all_of(tensor.consumers.begin(), tensor.consumers.end(), [&](NodeId consumer) {
             return std::any_of(members.begin(), members.end(),
                                [&](const Member& other) { return other.node == consumer; });
           });
  }

  const Graph& graph_;
  const program::Program& program_;
  const std::vector<MemberSection>& sections_;
  const MemberSection* section_ = nullptr;                       // at hand
  int first_index_ = 0;                                          // of the section, in the function
  std::vector<std::pair<int, program::KernelTensor>> computed_;  // buffer -> what it holds by then
  JoinedKernel joined_;
};

}  // namespace

bool MayJoin(const std::vector<Member>& members, const Member& next, int shared) {
  if (!IsWhole(next, shared) || !IsWhole(members[0], shared)) return false;
  for (int i = 0; i < shared; ++i) {
    if (!SameMessage(members[0].kernel.indices(i), next.kernel.indices(i))) return false;
  }
  return std::all_of(members.begin(), members.end(), [&](const Member& member) {
    return ResultBuffer(member) != ResultBuffer(next) && ReadsOwnSlices(next, member, shared) &&
           ReadsOwnSlices(member, next, shared);
  });
}

bool WritesOverOperands(const std::vector<Member>& members, const Member& next) {
  const auto reads = [&](const Member& member) {
    return std::any_of(member.kernel.operands().begin(), member.kernel.operands().end(),
                       [&](const auto& o) { return o.buffer() == ResultBuffer(next); });
  };
  return reads(next) || std::any_of(members.begin(), members.end(), reads);
}

bool MayStandBeside(const program::Program& program, const std::vector<MemberSection>& sections,
                    const MemberSection& next) {
  const bool of_elements = AllOfElements(next) && AllOfElements(sections[0]);
  if (sections.size() == kMostSections ||
      (!of_elements && !AreAlikeRows(program, sections[0], next))) {
    return false;
  }
  int expressions = Expressions(next);
  for (const MemberSection& section : sections) {
    if (TouchesResults(next, section) || TouchesResults(section, next)) return false;
    expressions += Expressions(section);
  }
  return expressions <= kMostExpressions;
}

JoinedKernel JoinMembers(const Graph& graph, const program::Program& program,
                         const std::vector<MemberSection>& sections) {
  return Joiner(graph, program, sections).Join();
}

}  // namespace yuba::compiler
