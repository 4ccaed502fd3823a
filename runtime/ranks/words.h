// What rank 0 and another rank tell each other on the control channel, each as one message of fixed
// size: the rank's word, and rank 0's answer to it. All ranks are of one version (roll_call.h), so
// the bytes are those of the struct.
#ifndef YUBA_RUNTIME_RANKS_WORDS_H_
#define YUBA_RUNTIME_RANKS_WORDS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "runtime/ranks/rank_facts.h"

namespace yuba::runtime {

// UTF-8 of limited length, with a zero behind it.
struct WordText {
  char bytes[2000] = {};

  // What is too long is cut, at the end of a character.
  void Set(absl::string_view text) {
    size_t length = std::min(text.size(), sizeof bytes - 1);
    while (length < text.size() && length > 0 && (text[length] & 0xc0) == 0x80) --length;
    std::memset(bytes, 0, sizeof bytes);
    std::memcpy(bytes, text.data(), length);
  }
  absl::string_view Get() const { return {bytes, strnlen(bytes, sizeof bytes)}; }
};

// What a rank says of a fault.
enum class Report : int32_t {
  kNone,
  kFailed,  // it cannot go on itself
  kNoPeer,  // its transport has lost a rank
};

// Of a rank to rank 0, which keeps one of itself too.
struct RankWord {
  RankState state;
  int32_t busy = 0;  // counts as getting on
  int32_t leaving = 0;
  int32_t exit_code = 0;  // where it is leaving
  Report report = Report::kNone;
  int32_t status_code = 0;  // of kFailed
  int32_t lost_peer = -1;   // of kNoPeer; -1: not known
  WordText text;            // of the report; of kFailed with the place in front of it
};

enum class Ruling : int32_t {
  kGoesOn,
  kEnded,  // by a failure
  kLeave,  // all have come to their end
};

// Rank 0's.
struct Answer {
  Ruling ruling = Ruling::kGoesOn;
  int32_t code = 0;  // kEnded: of the status; kLeave: the exit code of all
  RankFault fault;   // kEnded
  RankState state;   // of rank 0
  int32_t leaving = 0;
  WordText text;  // kEnded: why
};

static_assert(std::is_trivially_copyable<RankWord>::value, "it is sent as it lies in memory");
static_assert(std::is_trivially_copyable<Answer>::value, "it is sent as it lies in memory");

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_WORDS_H_
