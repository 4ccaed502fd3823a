#include "search/check_needs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "opsemantics/box_factors.h"

namespace yuba {
namespace {

// Adds boxes of one operand, or of the result, of cuts that part the reduction or do not.
class Needs {
 public:
  Needs(const Mesh& mesh, const Definition& definition, int operand, bool partial, BoxSet* boxes)
      : mesh_(mesh),
        definition_(definition),
        factors_(definition, operand, partial),
        known_(factors_.factors().size()),
        boxes_(boxes) {}

  void Add(const Cut& cut) {
    std::vector<const std::vector<Piece>*> pieces;  // by factor
    for (size_t f = 0; f < known_.size(); ++f) pieces.push_back(&PiecesOf(f, cut));
    std::vector<int> numbers(boxes_->dimensions());
    for (int device = 0; device < mesh_.devices(); ++device) {
      int64_t volume = 1;
      for (size_t f = 0; f < pieces.size(); ++f) {
        const Piece& piece = (*pieces[f])[device];
        volume *= piece.volume;
        const std::vector<int>& dims = factors_.factors()[f].dims;
        for (size_t i = 0; i < dims.size(); ++i) numbers[dims[i]] = piece.numbers[i];
      }
      if (volume == 0) {
        for (size_t d = 0; d < numbers.size(); ++d) numbers[d] = boxes_->Number(d, {0, 0});
      }
      boxes_->Add(numbers, volume);
    }
  }

 private:
  struct Piece {
    std::vector<int> numbers;  // by dimension of the factor
    int64_t volume = 1;
  };

  // By device.
  const std::vector<Piece>& PiecesOf(size_t f, const Cut& cut) {
    const BoxFactor& factor = factors_.factors()[f];
    std::vector<AxisList> key;
    for (int index : factor.indices) key.push_back(cut.axes[index]);
    const auto [found, is_new] = known_[f].try_emplace(std::move(key));
    std::vector<Piece>& pieces = found->second;
    if (!is_new) return pieces;
    std::map<std::vector<std::pair<int64_t, int64_t>>, Piece> known;
    for (int device = 0; device < mesh_.devices(); ++device) {
      std::vector<Interval> ranges;
      std::vector<std::pair<int64_t, int64_t>> ends;
      for (int index : factor.indices) {
        const int64_t extent = definition_.indices[index].extent;
        ranges.push_back(PartInterval(mesh_, cut.axes[index], extent, device));
        ends.emplace_back(ranges.back().begin, ranges.back().end);
      }
      const auto [place, unknown] = known.try_emplace(std::move(ends));
      if (unknown) place->second = PieceOf(f, ranges);
      pieces.push_back(place->second);
    }
    return pieces;
  }

  Piece PieceOf(size_t f, const std::vector<Interval>& ranges) {
    const BoxFactors::Piece box = factors_.Of(static_cast<int>(f), ranges);
    Piece piece;
    piece.volume = box.empty ? 0 : Volume(box.box);
    const std::vector<int>& dims = factors_.factors()[f].dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      piece.numbers.push_back(boxes_->Number(dims[i], box.box[i]));
    }
    return piece;
  }

  const Mesh& mesh_;
  const Definition& definition_;
  const BoxFactors factors_;
  std::vector<std::map<std::vector<AxisList>, std::vector<Piece>>> known_;  // by factor
  BoxSet* boxes_;
};

}  // namespace

BoxSet BoxesUnder(const Mesh& mesh, const Definition& definition, int operand,
                  const std::vector<Cut>& cuts, const std::vector<int>& which) {
  const TensorType& type = operand < 0 ? definition.result : definition.operands[operand];
  BoxSet boxes(type.dims.size());
  Needs of_all(mesh, definition, operand, false, &boxes);
  Needs of_part(mesh, definition, operand, operand < 0, &boxes);
  for (const int each : which) {
    const bool partial = operand < 0 && ReductionParts(mesh, definition, cuts[each]) > 1;
    (partial ? of_part : of_all).Add(cuts[each]);
  }
  return boxes;
}

int ReductionParts(const Mesh& mesh, const Definition& definition, const Cut& cut) {
  int parts = 1;
  for (size_t i = 0; i < cut.axes.size(); ++i) {
    if (definition.indices[i].reduction) parts *= PartCount(mesh, cut.axes[i]);
  }
  return parts;
}

}  // namespace yuba
