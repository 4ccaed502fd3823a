#include "tools/verify/sampled_kernel.h"

#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/hash_order.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/oracle/interpret.h"
#include "opsemantics/regions/boxes.h"

namespace yuba::tools {
namespace {

using kernels::KernelDefinition;
using kernels::KernelTensor;

int64_t StoredBytes(ElementType type) { return IsFloat(type) ? 8 : ByteSize(type); }

// Dense elements from bytes as kernels have them, and back.
TensorValue ValueOf(const TensorType& type, const std::string& bytes) {
  TensorValue value{type, std::vector<Scalar>(static_cast<size_t>(ElementCount(type)))};
  const int64_t size = StoredBytes(type.type);
  const bool negative = !IsFloat(type.type) && IsSigned(type.type);
  const int unused = 64 - 8 * static_cast<int>(size);
  for (size_t i = 0; i < value.elements.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, &bytes[i * size], size);
    if (negative) bits = static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused);
    value.elements[i].hash = bits;
  }
  return value;
}

std::string BytesOf(const TensorValue& value) {
  const int64_t size = StoredBytes(value.type.type);
  std::string bytes(value.elements.size() * size, '\0');
  for (size_t i = 0; i < value.elements.size(); ++i)
    std::memcpy(&bytes[i * size], &value.elements[i].hash, size);
  return bytes;
}

// Floats are any hashes. Integers are small: what they are compared with, or added to, is small.
Scalar Drawn(ElementType type, uint64_t random) {
  Scalar value;
  if (IsFloat(type)) {
    value.hash = random;
  } else if (type == ElementType::kBool) {
    value.integer = static_cast<int64_t>(random % 2);
  } else if (!IsSigned(type)) {
    value.integer = static_cast<int64_t>(random % 64);
  } else {
    value.integer = static_cast<int64_t>(random % 64) - 32;
  }
  return value;
}

std::vector<int64_t> Extents(const Box& box) {
  std::vector<int64_t> extents;
  for (const Interval& interval : box) extents.push_back(interval.size());
  return extents;
}

// A part of a tensor: dense elements over a box.
struct Piece {
  TensorType type;  // of the whole tensor
  Box box;
  std::string bytes;

  int64_t elements() const { return Volume(box); }
  TensorType own_type() const { return {type.type, Extents(box)}; }
  int64_t OffsetOf(const std::vector<int64_t>& point) const {  // in elements
    int64_t offset = 0;
    for (size_t d = 0; d < point.size(); ++d)
      offset = offset * box[d].size() + point[d] - box[d].begin;
    return offset;
  }
};

// The definition over operands and a result of which there are these boxes alone: positions count
// from the boxes' beginnings.
Definition OverBoxes(Definition definition, const std::vector<Box>& reads, const Box& written) {
  RewriteReads(definition, [&](const Expr& read) {
    auto moved = std::make_shared<Expr>(read);
    for (size_t d = 0; d < moved->position.size(); ++d) {
      moved->position[d] = read.position[d] - ConstantAffine(reads[read.operand][d].begin);
    }
    return moved;
  });
  for (size_t o = 0; o < reads.size(); ++o) definition.operands[o].dims = Extents(reads[o]);
  for (size_t d = 0; d < written.size(); ++d) {
    definition.left[d] = definition.left[d] - ConstantAffine(written[d].begin);
  }
  definition.result.dims = Extents(written);
  return definition;
}

class Sample {
 public:
  Sample(const KernelPart& part, uint64_t seed) : part_(part), seed_(seed) {
    for (size_t d = 0; d < part.use->definitions.size(); ++d) {
      definitions_.push_back(part.use->definitions[d]);
      // Values that constants of the model decide are not those that buffers are filled with.
      for (DataCondition& condition : definitions_.back().data_where) condition.table = nullptr;
      boxes_.push_back(AnalyzeBoxes(definitions_.back(), RangesOf(d)));
    }
    AddPieces();
  }

  bool fits() const {
    int64_t elements = 0;
    for (const auto& piece : pieces_) elements += piece.second.elements();
    return elements <= kMostSampledElements;
  }

  void Fill() {
    for (auto& [buffer, piece] : pieces_) {
      TensorValue value{piece.own_type(), std::vector<Scalar>(piece.elements())};
      uint64_t state = HashMix(seed_, static_cast<uint64_t>(buffer) + 1);
      for (Scalar& element : value.elements) {
        state = HashMix(state, 0x9e3779b97f4a7c15);
        element = Drawn(piece.type.type, state);
      }
      piece.bytes = BytesOf(value);
    }
    filled_ = pieces_;
  }

  double Run() {
    std::vector<void*> pointers;
    std::vector<int64_t> arguments;
    for (const Interval& range : part_.ranges) {
      arguments.push_back(range.begin);
      arguments.push_back(range.end);
    }
    const auto add = [&](const program::Access& access) {
      Piece& piece = pieces_.at(access.buffer());
      pointers.push_back(&piece.bytes[0]);
      for (const Interval& interval : piece.box) {
        arguments.push_back(interval.begin);
        arguments.push_back(interval.size());
      }
    };
    for (const program::Access& operand : part_.use->kernel->operands()) add(operand);
    for (const program::Access& result : part_.use->kernel->results()) add(result);
    const auto start = Clock::now();
    part_.function(pointers.data(), arguments.data());
    return SecondsSince(start);
  }

  // After Run.
  absl::StatusOr<int64_t> Compare() const {
    std::vector<Piece> computed;  // [definition]
    int64_t elements = 0;
    for (size_t d = 0; d < boxes_.size(); ++d) {
      YUBA_ASSIGN_OR_RETURN(Piece expected, Interpreted(d, computed));
      const KernelTensor& tensor = part_.named->definitions[d].computes;
      if (tensor.kind == KernelTensor::kResult && !IsEmpty(boxes_[d].writes)) {
        YUBA_RETURN_IF_ERROR(CompareWith(expected, boxes_[d].writes, BufferOf(tensor)));
        elements += Volume(boxes_[d].writes);
      }
      computed.push_back(std::move(expected));
    }
    return elements;
  }

 private:
  std::vector<Interval> RangesOf(size_t d) const {
    std::vector<Interval> ranges;
    for (const int index : part_.named->definitions[d].indices)
      ranges.push_back(part_.ranges[index]);
    return ranges;
  }

  // The program's buffer of an operand or result.
  int BufferOf(const KernelTensor& tensor) const {
    const program::Kernel& kernel = *part_.use->kernel;
    return tensor.kind == KernelTensor::kOperand ? kernel.operands(tensor.number).buffer()
                                                 : kernel.results(tensor.number).buffer();
  }

  void AddPiece(const KernelTensor& tensor, const TensorType& type, const Box& box) {
    Piece& piece = pieces_[BufferOf(tensor)];
    if (piece.box.empty() && piece.type.dims.empty()) piece = {type, box, ""};
    piece.box = Hull(piece.box, box);
    // The result's type is its buffer's.
    if (tensor.kind == KernelTensor::kResult) piece.type.type = type.type;
  }

  void AddPieces() {
    for (size_t d = 0; d < boxes_.size(); ++d) {
      const KernelDefinition& place = part_.named->definitions[d];
      const Definition& definition = definitions_[d];
      for (size_t o = 0; o < place.operands.size(); ++o) {
        if (place.operands[o].kind == KernelTensor::kOperand)
          AddPiece(place.operands[o], definition.operands[o], boxes_[d].reads[o]);
      }
      if (place.computes.kind == KernelTensor::kResult)
        AddPiece(place.computes, definition.result, boxes_[d].writes);
    }
    for (auto& [buffer, piece] : pieces_) {
      if (IsEmpty(piece.box)) piece.box.assign(piece.box.size(), {0, 0});
    }
  }

  // What earlier definitions computed of the tensor, or what its buffer was filled with.
  const Piece& PieceOf(const KernelTensor& tensor, const std::vector<Piece>& computed) const {
    for (size_t d = 0; d < computed.size(); ++d) {
      if (part_.named->definitions[d].computes == tensor) return computed[d];
    }
    return filled_.at(BufferOf(tensor));
  }

  // What the interpreter makes of definition number d.
  absl::StatusOr<Piece> Interpreted(size_t d, const std::vector<Piece>& computed) const {
    const Definition& definition = definitions_[d];
    const std::vector<KernelTensor>& operands = part_.named->definitions[d].operands;
    std::vector<Box> reads;
    std::vector<TensorValue> values;
    for (size_t o = 0; o < operands.size(); ++o) {
      const Piece& piece = PieceOf(operands[o], computed);
      const Box& needed = boxes_[d].reads[o];
      if (!IsEmpty(needed) && !Contains(piece.box, needed)) {
        return InternalError(part_.use->kernel->node(static_cast<int>(d)), " reads ",
                             ToString(needed), " of operand ", o, ", of which the part has ",
                             ToString(piece.box));
      }
      reads.push_back(piece.box);
      values.push_back(ValueOf(piece.own_type(), piece.bytes));
    }
    std::vector<const TensorValue*> pointers;
    for (const TensorValue& value : values) pointers.push_back(&value);
    // The interpreter fills elements without a term too, which kernels leave alone.
    Piece result{definition.result, {}, ""};
    for (const Affine& position : definition.left)
      result.box.push_back(Range(position, RangesOf(d)));
    if (IsEmpty(result.box)) return result;
    TensorValue value{result.own_type(), std::vector<Scalar>(result.elements())};
    Interpret(OverBoxes(definition, reads, result.box), RangesOf(d), pointers, Arithmetic::kHash,
              value);
    result.bytes = BytesOf(value);
    return result;
  }

  // Compares what is in `box` of what was expected with what the kernel wrote to the buffer.
  absl::Status CompareWith(const Piece& expected, const Box& box, int buffer) const {
    const Piece& actual = pieces_.at(buffer);
    const int64_t size = StoredBytes(expected.type.type);
    std::string wrong;
    ForEachPoint(box, [&](const std::vector<int64_t>& point) {
      const int64_t a = expected.OffsetOf(point) * size, b = actual.OffsetOf(point) * size;
      if (wrong.empty() && expected.bytes.compare(a, size, actual.bytes, b, size) != 0)
        wrong = absl::StrJoin(point, ", ");
    });
    if (wrong.empty()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("the kernel of node ", absl::StrJoin(part_.use->kernel->node(), " and "),
                     " computes another ", part_.program->buffers(buffer).name(), "[", wrong,
                     "] than its definition: the generated code is wrong"));
  }

  const KernelPart& part_;
  const uint64_t seed_;
  std::vector<Definition> definitions_;
  std::vector<Boxes> boxes_;     // [definition]
  std::map<int, Piece> pieces_;  // by buffer
  std::map<int, Piece> filled_;  // as they were before the run
};

SampleResult RunOnce(Sample& sample) {
  SampleResult result;
  result.fits = sample.fits();
  if (!result.fits) return result;
  sample.Fill();
  result.seconds = sample.Run();
  return result;
}

}  // namespace

int64_t TermsOf(const KernelPart& part) {
  int64_t sum = 0;
  for (const KernelDefinition& definition : part.named->definitions) {
    int64_t terms = 1;
    for (const int index : definition.indices) {
      const int64_t size = part.ranges[index].size();
      if (__builtin_mul_overflow(terms, size, &terms)) return std::numeric_limits<int64_t>::max();
    }
    if (__builtin_add_overflow(sum, terms, &sum)) return std::numeric_limits<int64_t>::max();
  }
  return sum;
}

SampleResult RunSample(const KernelPart& part, uint64_t seed) {
  Sample sample(part, seed);
  return RunOnce(sample);
}

absl::StatusOr<SampleResult> CompareSample(const KernelPart& part, uint64_t seed) {
  Sample sample(part, seed);
  SampleResult result = RunOnce(sample);
  if (!result.fits) return result;
  YUBA_ASSIGN_OR_RETURN(result.elements, sample.Compare());
  return result;
}

}  // namespace yuba::tools
