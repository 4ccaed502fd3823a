#include "runtime/program/check_streams.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "runtime/program/all_reduce.h"
#include "runtime/program/check_attention.h"
#include "runtime/program/check_joint_calls.h"
#include "runtime/program/entries.h"
#include "runtime/program/tables.h"

namespace yuba::program {
namespace {

std::string Named(const Program& program, int instruction) {
  const Instruction& message = program.instructions(instruction);
  return message.has_exchange()
             ? absl::StrCat("instruction ", instruction, " (exchange of ",
                            message.exchange().tensor(), " for ", message.exchange().node(), ")")
             : absl::StrCat("instruction ", instruction, " (kernel ", NodeNames(message.kernel()),
                            ")");
}

struct Use {
  int buffer = 0;
  bool writes = false;
};

// The last instructions that have touched a byte, -1 where none has: [exchange].
struct Last {
  int read[2] = {-1, -1};
  int written[2] = {-1, -1};
};

class Checker {
 public:
  explicit Checker(const Program& program)
      : program_(program),
        streams_(HasStreams(program)),
        begins_(program.instructions_size(), true) {}

  absl::Status Check() {
    const std::vector<EntryRange> entries = EntriesOf(program_);
    for (const EntryRange& entry : entries) YUBA_RETURN_IF_ERROR(FindGroups(entry));
    FindCalls();
    SetUnits();
    for (const EntryRange& entry : entries) YUBA_RETURN_IF_ERROR(CheckEntry(entry));
    return absl::OkStatus();
  }

 private:
  bool IsExchange(int i) const { return program_.instructions(i).has_exchange(); }

  absl::Status FindGroups(const EntryRange& entry) {
    for (int i = entry.begin; i < entry.end; ++i) {
      const bool gathers_sum = i > entry.begin && IsAllReduce(program_, i - 1);
      // A library may do a sum and its gather at once.
      if (gathers_sum) begins_[i] = false;
      if (!program_.instructions(i).joins()) continue;
      if (!IsExchange(i) || i == entry.begin || !IsExchange(i - 1))
        return UserError(Named(program_, i), " joins no exchange before it");
      if (gathers_sum) return UserError(Named(program_, i), " joins the sum that it gathers");
      begins_[i] = false;
    }
    return absl::OkStatus();
  }

  void FindCalls() {
    const auto join = [&](int begin, int end) {
      for (int i = begin + 1; i < end; ++i) begins_[i] = false;
    };
    for (const Attention& attention : program_.attention()) {
      for (const auto& [begin, end] : PartsOf(attention)) join(begin, end);
      if (!HasBackward(attention)) continue;
      of_calls_[attention.forward_begin()].push_back({attention.row_sums(), true});
      for (const int kept : KeptOf(program_, attention))
        of_calls_[attention.backward_begin()].push_back({kept, false});
    }
    for (const JointCall& call : program_.joint_calls()) join(FirstOf(call), FirstOf(call) + 2);
  }

  void SetUnits() {
    const int count = static_cast<int>(begins_.size());
    first_.resize(count);
    last_.resize(count);
    for (int i = 0; i < count; ++i) first_[i] = begins_[i] ? i : first_[i - 1];
    for (int i = count; i-- > 0;) last_[i] = i + 1 == count || begins_[i + 1] ? i : last_[i + 1];
  }

  std::vector<Use> UsesOf(int i) const {
    const Instruction& message = program_.instructions(i);
    std::vector<Use> uses;
    if (message.has_exchange())
      return {{message.exchange().source(), false}, {message.exchange().destination(), true}};
    for (const Access& operand : message.kernel().operands())
      uses.push_back({operand.buffer(), false});
    for (const Access& result : message.kernel().results()) uses.push_back({result.buffer(), true});
    const auto of_call = of_calls_.find(i);
    if (of_call != of_calls_.end())
      uses.insert(uses.end(), of_call->second.begin(), of_call->second.end());
    return uses;
  }

  absl::Status CheckEntry(const EntryRange& entry) {
    bytes_.clear();
    bytes_[0] = Last();
    waited_[0] = waited_[1] = entry.begin;
    for (int i = entry.begin; i < entry.end; ++i) {
      YUBA_RETURN_IF_ERROR(CheckWait(entry, i));
      const std::vector<Use> uses = UsesOf(i);
      for (const Use& use : uses) {
        for (const Last* last : PiecesOf(use.buffer))
          YUBA_RETURN_IF_ERROR(CheckUse(*last, use.writes, i));
      }
      for (const Use& use : uses) {
        for (Last* last : PiecesOf(use.buffer))
          (use.writes ? last->written : last->read)[IsExchange(i)] = i;
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckWait(const EntryRange& entry, int i) {
    const int after = program_.instructions(i).after();
    if (after == 0) return absl::OkStatus();
    if (after <= entry.begin || after > i || IsExchange(after - 1) == IsExchange(i))
      return UserError(Named(program_, i), " waits for instruction ", after - 1,
                       ", which is none of the other stream before it");
    if (first_[i] != i)
      return UserError(Named(program_, i), " waits by itself, and begins with instruction ",
                       first_[i]);
    if (last_[after - 1] != after - 1)
      return UserError(Named(program_, i), " waits for instruction ", after - 1,
                       ", which ends with instruction ", last_[after - 1]);
    waited_[IsExchange(i)] = std::max(waited_[IsExchange(i)], after);
    return absl::OkStatus();
  }

  // The piece of memory that begins at `offset`, as one that may be changed by itself.
  std::map<int64_t, Last>::iterator PieceAt(int64_t offset) {
    const auto next = bytes_.upper_bound(offset);
    const auto piece = std::prev(next);
    if (piece->first == offset) return piece;
    return bytes_.emplace_hint(next, offset, piece->second);
  }

  std::vector<Last*> PiecesOf(int buffer) {
    const Buffer& slot = program_.buffers(buffer);
    if (slot.size() == 0) return {};
    const auto begin = PieceAt(slot.offset()), end = PieceAt(slot.offset() + slot.size());
    std::vector<Last*> pieces;
    for (auto piece = begin; piece != end; ++piece) pieces.push_back(&piece->second);
    return pieces;
  }

  absl::Status CheckUse(const Last& last, bool writes, int i) const {
    for (const bool stream : {false, true}) {
      YUBA_RETURN_IF_ERROR(CheckOrder(last.written[stream], i));
      if (writes) YUBA_RETURN_IF_ERROR(CheckOrder(last.read[stream], i));
    }
    return absl::OkStatus();
  }

  // Whether instruction `earlier` has ended before instruction `i` begins.
  absl::Status CheckOrder(int earlier, int i) const {
    if (earlier < 0) return absl::OkStatus();
    if (IsExchange(earlier) != IsExchange(i)) {
      if (!streams_ || last_[earlier] < waited_[IsExchange(i)]) return absl::OkStatus();
      return UserError(Named(program_, i), " touches what ", Named(program_, earlier),
                       " does, and does not wait for it");
    }
    if (!IsExchange(i) || last_[earlier] < first_[i]) return absl::OkStatus();
    // A sum and its gather are one after the other, or a library's one call.
    if (i == earlier + 1 && IsAllReduce(program_, earlier)) return absl::OkStatus();
    return UserError(Named(program_, i), " begins with ", Named(program_, earlier),
                     " and touches what that does");
  }

  const Program& program_;
  const bool streams_;             // else instructions run one after the other
  std::vector<bool> begins_;       // [instruction] it does not begin with the one before it
  std::vector<int> first_, last_;  // [instruction]: of those with which it begins and ends
  std::map<int, std::vector<Use>> of_calls_;  // by instruction: of calls of attention
  std::map<int64_t, Last> bytes_;             // from each offset up to the next one
  int waited_[2] = {0, 0};  // [exchange]: all before it, of the other stream, have ended
};

}  // namespace

bool HasStreams(const Program& program) {
  return std::any_of(program.instructions().begin(), program.instructions().end(),
                     [](const Instruction& instruction) { return instruction.after() > 0; });
}

absl::Status CheckStreams(const Program& program) { return Checker(program).Check(); }

}  // namespace yuba::program
