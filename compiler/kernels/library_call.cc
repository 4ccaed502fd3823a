#include "compiler/kernels/library_call.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "opsemantics/base/check.h"
#include "opsemantics/regions/convolution.h"
#include "opsemantics/regions/structure.h"
#include "runtime/program/enums.h"

namespace yuba::kernels {
namespace {

using Position = std::vector<Affine>;
using LibraryIndices = google::protobuf::RepeatedPtrField<program::LibraryIndex>;

// The flat dimension of which `index` alone is the position, or -1.
int DimOf(const Position& position, int index) {
  for (size_t d = 0; d < position.size(); ++d) {
    if (position[d].BareIndex() == index) return static_cast<int>(d);
  }
  return -1;
}

// The positions at which the two operands are read. Where an operand is multiplied with itself, the
// left read is the first one that has all indices of `left_only` and none of `right_only`.
struct Reads {
  Position left, right;
};

Reads FindReads(const Definition& definition, int left, int right,
                const std::vector<int>& left_only, const std::vector<int>& right_only) {
  const absl::Span<const ExprPtr> factors = FactorsOf(definition);
  YUBA_CHECK(factors.size() == 2) << ToString(definition);
  std::vector<const Expr*> reads = {factors[0].get(), factors[1].get()};
  const auto is_left = [&](const Expr& read) {
    if (left != right) return read.operand == left;
    const auto has = [&](int index) { return DimOf(read.position, index) >= 0; };
    return std::all_of(left_only.begin(), left_only.end(), has) &&
           std::none_of(right_only.begin(), right_only.end(), has);
  };
  if (!is_left(*reads[0])) std::swap(reads[0], reads[1]);
  YUBA_CHECK(is_left(*reads[0])) << ToString(definition);
  return {reads[0]->position, reads[1]->position};
}

void AddIndices(const std::vector<int>& indices, const Reads& reads, const Position& result,
                LibraryIndices* added) {
  for (int index : indices) {
    program::LibraryIndex* entry = added->Add();
    entry->set_index(index);
    entry->set_left_dim(DimOf(reads.left, index));
    entry->set_right_dim(DimOf(reads.right, index));
    entry->set_result_dim(DimOf(result, index));
  }
}

program::LibraryCall TypedCall(program::LibraryCall::Kind kind, const Definition& definition) {
  program::LibraryCall call;
  const ElementType type = definition.operands[0].type;
  call.set_kind(kind);
  call.set_type(ToProto(type));
  call.set_accumulator(ToProto(AccumulatorType(type)));
  return call;
}

// Whether all operands have one type of `types`, and the result that type or its accumulator's.
bool HasTypes(const Definition& definition, std::initializer_list<ElementType> types) {
  if (definition.operands.empty()) return false;
  const ElementType type = definition.operands[0].type;
  return std::find(types.begin(), types.end(), type) != types.end() &&
         std::all_of(definition.operands.begin(), definition.operands.end(),
                     [&](const TensorType& operand) { return operand.type == type; }) &&
         (definition.result.type == type || definition.result.type == AccumulatorType(type));
}

program::LibraryCall CallOf(const Definition& definition, const Contraction& contraction) {
  program::LibraryCall call = TypedCall(program::LibraryCall::CONTRACTION, definition);
  call.set_left(contraction.left);
  call.set_right(contraction.right);
  const Reads reads = FindReads(definition, contraction.left, contraction.right, contraction.rows,
                                contraction.columns);
  const Position& result = definition.left;
  AddIndices(contraction.batch, reads, result, call.mutable_batch());
  AddIndices(contraction.rows, reads, result, call.mutable_rows());
  AddIndices(contraction.columns, reads, result, call.mutable_columns());
  AddIndices(contraction.inner, reads, result, call.mutable_inner());
  return call;
}

// Which tensor is left and which right follows from what the result is (program.proto).
program::LibraryCall CallOf(const Definition& definition, const Convolution& convolution) {
  auto kind = program::LibraryCall::CONVOLUTION;
  ProductTensor left = convolution.input, right = convolution.filter;
  if (convolution.input == ProductTensor::kResult) {
    kind = program::LibraryCall::DATA_GRADIENT;
    left = convolution.output;
  } else if (convolution.filter == ProductTensor::kResult) {
    kind = program::LibraryCall::WEIGHT_GRADIENT;
    right = convolution.output;
  }
  program::LibraryCall call = TypedCall(kind, definition);
  const auto read = [&](ProductTensor factor) -> const Expr& {
    return *FactorsOf(definition)[static_cast<size_t>(factor)];
  };
  call.set_left(read(left).operand);
  call.set_right(read(right).operand);
  const Reads reads = {read(left).position, read(right).position};
  const Position& result = definition.left;
  AddIndices(convolution.images, reads, result, call.mutable_batch());
  AddIndices(convolution.groups, reads, result, call.mutable_groups());
  AddIndices(convolution.outputs, reads, result, call.mutable_columns());
  AddIndices(convolution.inputs, reads, result, call.mutable_inner());
  for (const Window& window : convolution.windows) {
    program::LibraryWindow* added = call.add_windows();
    added->set_output(window.output);
    added->set_kernel(window.kernel);
    added->set_input(window.input);
    added->set_stride(window.stride);
    added->set_dilation(window.dilation);
    added->set_low(window.low);
    added->set_input_dim(window.input_dim);
    added->set_filter_dim(window.filter_dim);
    added->set_output_dim(window.output_dim);
  }
  return call;
}

}  // namespace

absl::optional<program::LibraryCall> LibraryCallFor(const Definition& whole,
                                                    const LibraryFeatures& features) {
  // The index that numbers groups, the last one, is in no position: the call is that of one group.
  const Definition definition = whole.partial_operands.empty() ? whole : InGroups(whole, 1);
  const bool has_types =
      HasTypes(definition, {ElementType::kF32, ElementType::kBF16, ElementType::kF16}) ||
      (features.doubles && HasTypes(definition, {ElementType::kF64}));
  if (!has_types) return absl::nullopt;
  const auto finish = [&](program::LibraryCall call) {
    if (features.tf32 && definition.operands[0].type == ElementType::kF32) call.set_tf32(true);
    return call;
  };
  if (const auto contraction = MatchContraction(definition))
    return finish(CallOf(definition, *contraction));
  if (!features.convolutions) return absl::nullopt;
  constexpr int kMostWindows = 3;
  if (const auto convolution = MatchConvolution(definition)) {
    if (convolution->windows.size() <= kMostWindows)
      return finish(CallOf(definition, *convolution));
  }
  return absl::nullopt;
}

}  // namespace yuba::kernels
