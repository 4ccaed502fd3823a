#include "tools/page/repeats.h"

#include <algorithm>

namespace yuba::tools {
namespace {

constexpr size_t kLongestPeriod = 600;  // elements; what is searched grows with it

bool IsRepeat(size_t period, size_t count) { return count >= 3 || (count == 2 && period >= 6); }

class Finder {
 public:
  Finder(const std::vector<int>& sequence, const Unity& unity)
      : sequence_(sequence), unity_(unity) {}

  void Find(size_t begin, size_t end) {
    const Repeat best = Best(begin, end);
    if (best.count == 0) return;
    Find(begin, best.begin);
    found_.push_back(best);
    Find(best.end(), end);
  }

  std::vector<Repeat> found() { return std::move(found_); }

 private:
  // The repeat within [begin, end) that covers most; of several the shortest period.
  Repeat Best(size_t begin, size_t end) const {
    Repeat best;
    const size_t longest = std::min((end - begin) / 2, kLongestPeriod);
    for (size_t period = 1; period <= longest; ++period) {
      size_t equal = 0;  // how many elements before `i` equal those a period later
      for (size_t i = begin; i + period <= end; ++i) {
        if (i + period < end && sequence_[i] == sequence_[i + period]) {
          ++equal;
          continue;
        }
        const size_t count = 1 + equal / period;
        if (IsRepeat(period, count) && period * count > best.period * best.count) {
          best = Aligned(i - equal, equal % period, period, count);
        }
        equal = 0;
      }
    }
    return best;
  }

  // Of the starts from `begin` to `begin + slack` the first whose stretch is most of one thing.
  Repeat Aligned(size_t begin, size_t slack, size_t period, size_t count) const {
    size_t best = begin, most = unity_(begin, period);
    for (size_t start = begin + 1; start <= begin + slack; ++start) {
      const size_t value = unity_(start, period);
      if (value > most) best = start, most = value;
    }
    return {best, period, count};
  }

  const std::vector<int>& sequence_;
  const Unity& unity_;
  std::vector<Repeat> found_;
};

}  // namespace

std::vector<Repeat> FindRepeats(const std::vector<int>& sequence, const Unity& unity) {
  Finder finder(sequence, unity);
  finder.Find(0, sequence.size());
  return finder.found();
}

}  // namespace yuba::tools
