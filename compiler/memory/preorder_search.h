// The search of fit_within.h with one preorder, on rectangles of sections and bytes. That header
// has the words and the algorithm.
#ifndef YUBA_COMPILER_MEMORY_PREORDER_SEARCH_H_
#define YUBA_COMPILER_MEMORY_PREORDER_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/optional.h"

namespace yuba::compiler {

struct PlacedBuffer {
  int id = 0;              // in the list of lives
  int number = 0;          // in the preorder
  int begin = 0, end = 0;  // sections [begin, end)
  int64_t size = 0;        // bytes, a multiple of kSlotBytes
  int64_t slack = 0;       // bytes that are never used in the fullest of its sections
  int64_t offset = 0;      // bytes: where it lies, or would lie now
  int length() const { return end - begin; }
};

class PreorderSearch {
 public:
  enum class Result { kFound, kImpossible, kOutOfSteps };

  // buffers: in preorder, with offset 0. load: [section] the sum of their sizes, bytes, at most the
  // capacity.
  PreorderSearch(const std::vector<PlacedBuffer>& buffers, const std::vector<int64_t>& load,
                 int64_t capacity);

  // Called once. Ends after `most` steps and those of one more look at all buffers.
  Result Run(int64_t most);

  int64_t steps() const { return steps_; }
  // Where the result is kFound, all buffers at their offsets.
  const std::vector<PlacedBuffer>& placed() const { return placed_; }

 private:
  // A buffer at its present offset. The order of placement is that of choices.
  struct Choice {
    int64_t offset = 0;
    int buffer = 0;  // its number
    bool operator<(const Choice& other) const {
      return offset != other.offset ? offset < other.offset : buffer < other.buffer;
    }
    bool operator>(const Choice& other) const { return other < *this; }
  };

  // The first choice after `last` that is not dominated and leaves enough room; nothing where there
  // is none, or no step is left.
  absl::optional<Choice> NextChoice(const Choice& last);
  // lowest_end: the least end of any buffer at its present offset; nothing fits below it.
  bool IsPossible(const Choice& choice, int64_t lowest_end);
  // Whether another buffer fits below this one, in a section that they share.
  bool IsDominated(const PlacedBuffer& buffer);
  // Whether all that is to come besides still fits above this buffer, in each of its sections.
  bool LeavesRoom(const PlacedBuffer& buffer);
  void Place(const Choice& choice);
  // Undoes the last Place, and returns its choice.
  Choice Remove();

  std::vector<int64_t> to_come_;  // [section]: the sum of the sizes not placed there yet, bytes
  const int64_t capacity_;
  int64_t steps_ = 0, most_ = 0;
  std::vector<PlacedBuffer> unplaced_;  // in no order, at the lowest offsets that they can have now
  std::vector<size_t> index_;           // [number]: of a buffer in unplaced_
  std::vector<PlacedBuffer> placed_;    // in the order of placement
  std::vector<size_t> changes_before_;  // [position in placed_]: how many offsets had changed
  std::vector<Choice> changes_;         // offsets of unplaced buffers, before they changed
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_MEMORY_PREORDER_SEARCH_H_
