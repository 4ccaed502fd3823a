#include "compiler/streams/exchange_order.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "opsemantics/base/check.h"

namespace yuba::compiler {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Of the exchanges that could begin so many are looked at, those that are needed first.
constexpr int kLooks = 256;
// Of a group together, since what is packed for its messages lies side by side in memory beside the
// arena.
constexpr int64_t kGroupBytes = int64_t{64} << 20;
// And so many kernels: what turns the weights of a product to bf16 stands right before it, and
// their gather is to begin some kernels earlier (decision 174 has figures).
constexpr int kWindow = 16;

double SecondsOf(const WorkItem& item) { return item.latency + item.seconds; }

class ListScheduler {
 public:
  ListScheduler(const std::vector<WorkItem>& items, const Dependences& depends, int64_t bytes_ahead,
                const OrderChoice& choice)
      : items_(items),
        count_(static_cast<int>(items.size())),
        depends_(depends),
        bytes_ahead_(bytes_ahead),
        choice_(choice),
        end_(items.size(), kNever),
        read_by_(items.size() + 1) {
    FindDeadlines();
    FindLatestBegins();
    FindPaths();
    for (int i = 0; i < count_; ++i) {
      missing_.push_back(static_cast<int>(depends_.before[i].size()));
      if (items_[i].exchange && missing_[i] == 0) candidates_.insert({deadline_[i], i});
    }
    missing_.push_back(0);
  }

  std::vector<StartedItem> Run() {
    SkipToKernel();
    while (static_cast<int>(started_.size()) < count_) Step();
    return std::move(started_);
  }

 private:
  // When the results of each exchange are needed, if kernels never wait.
  void FindDeadlines() {
    double time = 0;
    for (const WorkItem& item : items_) {
      ideal_.push_back(time);
      if (!item.exchange) time += SecondsOf(item);
    }
    ideal_.push_back(time);
    deadline_.assign(count_, 0);
    for (int i = count_; i-- > 0;) {
      deadline_[i] = ideal_[depends_.first_kernel_after[i]];
      for (const int after : depends_.after[i]) {
        if (!items_[after].exchange) continue;
        deadline_[i] = std::min(deadline_[i], deadline_[after] - SecondsOf(items_[after]));
      }
    }
  }

  // When each must begin so that all that are needed later still come in time, one after the other.
  void FindLatestBegins() {
    std::vector<int> exchanges;
    for (int i = 0; i < count_; ++i) {
      if (items_[i].exchange) exchanges.push_back(i);
    }
    std::stable_sort(exchanges.begin(), exchanges.end(),
                     [&](int a, int b) { return deadline_[a] < deadline_[b]; });
    latest_.assign(count_, 0);
    double next = kNever;
    for (size_t n = exchanges.size(); n-- > 0;) {
      const int i = exchanges[n];
      next = std::min(next, deadline_[i]) - SecondsOf(items_[i]);
      latest_[i] = next;
    }
  }

  // The seconds of the longest chain of items that each begins.
  void FindPaths() {
    path_.assign(count_, 0);
    for (int i = count_; i-- > 0;) {
      for (const int after : depends_.after[i]) path_[i] = std::max(path_[i], path_[after]);
      path_[i] += SecondsOf(items_[i]);
    }
  }

  // kernel_ becomes the first kernel that has not begun.
  void SkipToKernel() {
    while (kernel_ < count_ && (items_[kernel_].exchange || end_[kernel_] < kNever)) ++kernel_;
  }

  bool KernelIsNext(int exchange) const { return depends_.first_kernel_after[exchange] <= kernel_; }

  // When all that the item depends on has ended.
  double Ready(int item) const {
    double ready = 0;
    for (const int before : depends_.before[item]) ready = std::max(ready, end_[before]);
    return ready;
  }

  // When it would begin. What frees memory does as soon as it can; what brings something, not long
  // before its latest begin (OrderChoice::lead), kernels being as late as they are.
  double Begin(int exchange) const {
    const WorkItem& item = items_[exchange];
    const bool frees = item.freed_bytes >= item.made_bytes && !IsSmall(item);
    const double ready = std::max(exchange_time_, Ready(exchange));
    if (frees || IsAwaited(exchange) || kernel_ == count_) return ready;
    const double late = kernel_time_ - ideal_[kernel_];
    return std::max(ready, latest_[exchange] + late - choice_.lead * SecondsOf(item));
  }

  bool HasRoom(int exchange) const {
    return KernelIsNext(exchange) || ahead_ + items_[exchange].made_bytes <= bytes_ahead_;
  }
  // Whether the next kernel waits for it.
  bool IsAwaited(int exchange) const {
    return missing_[kernel_] > 0 && deadline_[exchange] <= ideal_[kernel_];
  }

  void Step() {
    if (behind_ > bytes_ahead_ && StartHeld()) return;
    const int kernel = ChooseKernel();
    const double kernel_begin = kernel < 0 ? kNever : std::max(kernel_time_, Ready(kernel));
    double begin = kNever;
    int looks = 0;
    for (const auto& [deadline, exchange] : candidates_) {
      if (++looks > kLooks) break;
      if (HasRoom(exchange) || IsAwaited(exchange)) begin = std::min(begin, Begin(exchange));
    }
    if (kernel >= 0 && kernel_begin <= begin)
      StartKernel(kernel, kernel_begin);
    else
      StartGroup(begin);
  }

  // Of the next few that can begin, the one that begins first; of those that can at once, the one
  // on which most depends. -1: none, or exchanges come first.
  int ChooseKernel() const {
    int chosen = -1, looks = 0;
    double chosen_begin = kNever;
    for (int i = kernel_; i < count_ && looks < kWindow; ++i) {
      if (items_[i].exchange || end_[i] < kNever) continue;
      ++looks;
      if (missing_[i] > 0) continue;
      const double begin = std::max(kernel_time_, Ready(i));
      const bool sooner = begin < chosen_begin;
      const bool better = begin == chosen_begin && path_[i] > path_[chosen];
      if (chosen >= 0 && !sooner && !better) continue;
      chosen = i;
      chosen_begin = begin;
    }
    return chosen;
  }

  void StartKernel(int kernel, double begin) {
    Place(kernel, begin, begin + SecondsOf(items_[kernel]), false);
    kernel_time_ = end_[kernel];
    ahead_ -= read_by_[kernel];
    SkipToKernel();
  }

  // The exchange whose source waits for it in memory and that is needed first; false: there is
  // none.
  bool StartHeld() {
    for (const auto& [deadline, exchange] : candidates_) {
      if (items_[exchange].freed_bytes == 0 || depends_.before[exchange].empty()) continue;
      const double begin = std::max(exchange_time_, Ready(exchange));
      StartExchange(exchange, begin, begin + SecondsOf(items_[exchange]), false);
      return true;
    }
    return false;
  }

  // The one that is needed first of those that can begin then, and all that join it.
  void StartGroup(double begin) {
    std::vector<int> group;
    double latency = 0, seconds = 0;
    int64_t bytes = 0;
    int looks = 0;
    for (const auto& [deadline, exchange] : candidates_) {
      if (++looks > kLooks) break;
      if (!group.empty() && bytes + items_[exchange].bytes > kGroupBytes) continue;
      if (group.empty()) {
        if (!HasRoom(exchange) && !IsAwaited(exchange)) continue;
        if (Begin(exchange) > begin) continue;
      } else if (!Joins(exchange, group[0], begin)) {
        continue;
      }
      group.push_back(exchange);
      latency = std::max(latency, items_[exchange].latency);
      seconds += items_[exchange].seconds;
      bytes += items_[exchange].bytes;
      if (IsPair(exchange)) break;
    }
    YUBA_CHECK(!group.empty()) << "no exchange can begin";
    const double end = begin + latency + seconds;
    for (size_t n = 0; n < group.size(); ++n) StartExchange(group[n], begin, end, n > 0);
  }

  // Its bytes delay a group by no more than the latency that it saves.
  bool IsSmall(const WorkItem& item) const { return item.seconds <= choice_.small * item.latency; }

  // A sum and its gather, which a library may do in one call.
  bool IsPair(int exchange) const { return items_[exchange].end - items_[exchange].begin > 1; }

  bool Joins(int exchange, int first, double begin) const {
    const WorkItem& item = items_[exchange];
    if (IsPair(exchange) || !HasRoom(exchange) || Ready(exchange) > begin) return false;
    return IsSmall(item) ||
           depends_.first_kernel_after[exchange] == depends_.first_kernel_after[first];
  }

  void StartExchange(int exchange, double begin, double end, bool joins) {
    candidates_.erase({deadline_[exchange], exchange});
    if (!depends_.before[exchange].empty()) behind_ -= items_[exchange].freed_bytes;
    if (!KernelIsNext(exchange)) {
      ahead_ += items_[exchange].made_bytes;
      read_by_[depends_.first_kernel_after[exchange]] += items_[exchange].made_bytes;
    }
    exchange_time_ = end;
    Place(exchange, begin, end, joins);
  }

  void Place(int item, double begin, double end, bool joins) {
    end_[item] = end;
    started_.push_back({item, begin, end, joins});
    for (const int after : depends_.after[item]) {
      if (--missing_[after] > 0 || !items_[after].exchange) continue;
      candidates_.insert({deadline_[after], after});
      behind_ += items_[after].freed_bytes;
    }
  }

  const std::vector<WorkItem>& items_;
  const int count_;
  const Dependences& depends_;
  const int64_t bytes_ahead_;
  const OrderChoice choice_;
  std::vector<double> ideal_;  // [item] of a kernel, and of the end: when it begins, if none waits
  std::vector<double> deadline_;  // [item] of an exchange
  std::vector<double> latest_;    // [item] of an exchange: when it must begin
  std::vector<double> path_;      // [item] seconds
  std::vector<double> end_;       // [item] kNever: it has not begun
  std::vector<int> missing_;      // [item] those that come before it and have not begun
  std::vector<int64_t>
      read_by_;  // [item] of a kernel: bytes of ahead_ that it is the first to read
  std::set<std::pair<double, int>> candidates_;  // exchanges that may begin, by deadline
  int kernel_ = 0;                               // the first that has not begun
  double kernel_time_ = 0, exchange_time_ = 0;   // when the streams are free
  int64_t ahead_ = 0, behind_ = 0;               // bytes that wait for a reader, for an exchange
  std::vector<StartedItem> started_;
};

}  // namespace

std::vector<StartedItem> OrderItems(const std::vector<WorkItem>& items, const Dependences& depends,
                                    int64_t bytes_ahead, const OrderChoice& choice) {
  return ListScheduler(items, depends, bytes_ahead, choice).Run();
}

}  // namespace yuba::compiler
