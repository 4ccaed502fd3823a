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
        first_(program.instructions_size()),
        last_(first_.size()) {
    for (size_t i = 0; i < first_.size(); ++i) first_[i] = last_[i] = static_cast<int>(i);
  }

  absl::Status Check() {
    for (const EntryRange& entry : EntriesOf(program_)) YUBA_RETURN_IF_ERROR(CheckGroups(entry));
    for (const Attention& attention : program_.attention()) {
      for (const auto& [begin, end] : PartsOf(attention)) Join(begin, end);
      if (HasBackward(attention)) {
        sums_[attention.forward_begin()].push_back(attention.row_sums());
        sums_[attention.backward_begin()].push_back(attention.row_sums());
      }
    }
    for (const JointCall& call : program_.joint_calls()) Join(FirstOf(call), FirstOf(call) + 2);
    for (const EntryRange& entry : EntriesOf(program_)) YUBA_RETURN_IF_ERROR(CheckEntry(entry));
    return absl::OkStatus();
  }

 private:
  bool IsExchange(int i) const { return program_.instructions(i).has_exchange(); }

  // Instructions [begin, end) begin and end as one.
  void Join(int begin, int end) {
    for (int i = begin; i < end; ++i) {
      first_[i] = first_[begin];
      last_[i] = end - 1;
    }
    for (int i = first_[begin]; i < begin; ++i) last_[i] = end - 1;
  }

  absl::Status CheckGroups(const EntryRange& entry) {
    for (int i = entry.begin; i < entry.end; ++i) {
      if (!program_.instructions(i).joins()) continue;
      if (!IsExchange(i) || i == entry.begin || !IsExchange(i - 1))
        return UserError(Named(program_, i), " joins no exchange before it");
      Join(i - 1, i + 1);
    }
    // A library may do a sum and its gather at once.
    for (int i = entry.begin; i + 1 < entry.end; ++i) {
      if (IsAllReduce(program_, i)) Join(i, i + 2);
    }
    return absl::OkStatus();
  }

  absl::Status CheckEntry(const EntryRange& entry) {
    bytes_.clear();
    bytes_[0] = Last();
    waited_[0] = waited_[1] = entry.begin;
    for (int i = entry.begin; i < entry.end; ++i) {
      YUBA_RETURN_IF_ERROR(CheckWait(entry, i));
      const Instruction& message = program_.instructions(i);
      if (message.has_exchange()) {
        YUBA_RETURN_IF_ERROR(Touch(i, message.exchange().source(), false));
        YUBA_RETURN_IF_ERROR(Touch(i, message.exchange().destination(), true));
        continue;
      }
      for (const Access& operand : message.kernel().operands())
        YUBA_RETURN_IF_ERROR(Touch(i, operand.buffer(), false));
      for (const Access& result : message.kernel().results())
        YUBA_RETURN_IF_ERROR(Touch(i, result.buffer(), true));
      for (const int sums : sums_[i]) YUBA_RETURN_IF_ERROR(Touch(i, sums, true));
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

  absl::Status Touch(int i, int buffer, bool writes) {
    const Buffer& slot = program_.buffers(buffer);
    if (slot.size() == 0) return absl::OkStatus();
    const auto begin = PieceAt(slot.offset());
    const auto end = PieceAt(slot.offset() + slot.size());
    const bool exchange = IsExchange(i);
    for (auto piece = begin; piece != end; ++piece) {
      Last& last = piece->second;
      for (const bool stream : {false, true}) {
        YUBA_RETURN_IF_ERROR(CheckOrder(last.written[stream], i));
        if (writes) YUBA_RETURN_IF_ERROR(CheckOrder(last.read[stream], i));
      }
      (writes ? last.written : last.read)[exchange] = i;
    }
    return absl::OkStatus();
  }

  // Whether instruction `earlier` has ended before instruction `i` begins.
  absl::Status CheckOrder(int earlier, int i) const {
    if (earlier < 0 || earlier == i) return absl::OkStatus();
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
  const bool streams_;                    // else instructions run one after the other
  std::vector<int> first_, last_;         // [instruction]: of those with which it begins and ends
  std::map<int, std::vector<int>> sums_;  // by instruction: buffers that calls of attention touch
  std::map<int64_t, Last> bytes_;         // from each offset up to the next one
  int waited_[2] = {0, 0};  // [exchange]: all before it, of the other stream, have ended
};

}  // namespace

bool HasStreams(const Program& program) {
  return std::any_of(program.instructions().begin(), program.instructions().end(),
                     [](const Instruction& instruction) { return instruction.after() > 0; });
}

absl::Status CheckStreams(const Program& program) { return Checker(program).Check(); }

}  // namespace yuba::program
