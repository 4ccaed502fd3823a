#include "search/check/reads.h"

#include <map>
#include <utility>

#include "absl/types/optional.h"
#include "opsemantics/regions/box_factors.h"

namespace yuba::search {
namespace {

// Adds boxes of one operand, or of the result, to a set: for choices that all cut reduction indices
// (`partial`), or all do not.
class ReadBoxesOf {
 public:
  ReadBoxesOf(const Mesh& mesh, const Definition& definition, int operand, bool partial,
              BoxSet* boxes)
      : mesh_(mesh),
        definition_(definition),
        factors_(definition, operand, partial),
        known_(factors_.factors().size()),
        boxes_(boxes) {}

  void Add(const Choice& choice) {
    std::vector<const ReadParts*> of_factors;  // by factor
    for (size_t f = 0; f < known_.size(); ++f) of_factors.push_back(&PartsOfFactor(f, choice));
    std::vector<int> numbers(boxes_->dimensions());
    const int devices = mesh_.devices();
    for (int device = 0; device < devices; ++device) {
      int64_t volume = 1;
      for (size_t f = 0; f < of_factors.size(); ++f) {
        const size_t piece = of_factors[f]->of_device[device];
        volume *= of_factors[f]->volumes[piece];
        const std::vector<int>& dims = factors_.factors()[f].dims;
        const int* along = of_factors[f]->numbers.data() + piece * dims.size();
        for (size_t i = 0; i < dims.size(); ++i) numbers[dims[i]] = along[i];
      }
      if (volume == 0) {
        for (size_t d = 0; d < numbers.size(); ++d) numbers[d] = boxes_->Number(d, {0, 0});
      }
      boxes_->Add(numbers, volume);
    }
  }

 private:
  // The different boxes of one factor for some axes of its indices.
  struct ReadParts {
    std::vector<size_t> of_device;  // by device: the number of its box
    std::vector<int64_t> volumes;   // by box
    std::vector<int> numbers;       // [box][dimension of the factor]: intervals of the set
  };

  const ReadParts& PartsOfFactor(size_t f, const Choice& choice) {
    std::vector<AxisList> key;
    for (int index : factors_.factors()[f].indices) key.push_back(choice.axes[index]);
    const auto [found, is_new] = known_[f].try_emplace(std::move(key));
    if (is_new) AddPieces(f, found->first, &found->second);
    return found->second;
  }

  // `axes`: by index of the factor, those that cut it.
  void AddPieces(size_t f, const std::vector<AxisList>& axes, ReadParts* pieces) {
    std::vector<int> steps;  // by index
    int parts = 1;
    for (const AxisList& list : axes) {
      steps.push_back(parts);
      parts *= PartCount(mesh_, list);
    }
    std::vector<int> of_parts(parts, -1);  // by parts of all indices: the number of the box
    std::vector<Interval> ranges(axes.size());
    const int devices = mesh_.devices();
    for (int device = 0; device < devices; ++device) {
      int part = 0;
      for (size_t i = 0; i < axes.size(); ++i) {
        part += steps[i] * PartNumber(mesh_, axes[i], device);
      }
      if (of_parts[part] < 0) {
        of_parts[part] = static_cast<int>(pieces->volumes.size());
        for (size_t i = 0; i < axes.size(); ++i) {
          const Index& index = definition_.indices[factors_.factors()[f].indices[i]];
          ranges[i] = PartInterval(mesh_, axes[i], index.extent, device);
        }
        AddPiece(f, ranges, pieces);
      }
      pieces->of_device.push_back(of_parts[part]);
    }
  }

  void AddPiece(size_t f, const std::vector<Interval>& ranges, ReadParts* pieces) {
    const BoxFactors::Piece box = factors_.Of(static_cast<int>(f), ranges);
    pieces->volumes.push_back(box.empty ? 0 : Volume(box.box));
    const std::vector<int>& dims = factors_.factors()[f].dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      pieces->numbers.push_back(boxes_->Number(dims[i], box.box[i]));
    }
  }

  const Mesh& mesh_;
  const Definition& definition_;
  const BoxFactors factors_;
  std::vector<std::map<std::vector<AxisList>, ReadParts>> known_;  // by factor
  BoxSet* boxes_;
};

}  // namespace

BoxSet BoxesUnder(const Mesh& mesh, const Definition& definition, int operand,
                  const std::vector<Choice>& choices, const std::vector<int>& which) {
  const TensorType& type = operand < 0 ? definition.result : definition.operands[operand];
  BoxSet boxes(type.dims.size());
  absl::optional<ReadBoxesOf> of_all, of_part;
  for (const int each : which) {
    const bool partial = operand < 0 && ReductionParts(mesh, definition, choices[each]) > 1;
    absl::optional<ReadBoxesOf>& adder = partial ? of_part : of_all;
    if (!adder) adder.emplace(mesh, definition, operand, partial, &boxes);
    adder->Add(choices[each]);
  }
  return boxes;
}

int ReductionParts(const Mesh& mesh, const Definition& definition, const Choice& choice) {
  int parts = 1;
  for (size_t i = 0; i < choice.axes.size(); ++i) {
    if (definition.indices[i].reduction) parts *= PartCount(mesh, choice.axes[i]);
  }
  return parts;
}

Large MovedBytes(const Definition& definition, int operand, bool sums, Large held, int64_t kept,
                 const TensorType& type, int64_t owners) {
  const Large elements = ElementCount(type);
  const int64_t size = ByteSize(type.type);
  if (operand >= 0) {
    return size * ((CombinesPartials(definition) ? owners * elements : held) - kept);
  }
  if (sums && !definition.partial) {
    return ByteSize(AccumulatorType(type.type)) * (held - kept) + size * (owners - 1) * elements;
  }
  return size * ((definition.partial ? held : held * owners) - kept);
}

}  // namespace yuba::search
