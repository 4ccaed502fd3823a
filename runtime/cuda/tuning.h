// Which algorithms cuBLASLt takes for products, as runs have timed them on their GPUs (--tune). A
// tuning is a text that people can read, JSON with an entry a line:
//
//   {"yuba_tuning":1,"entries":[
//    {"gpu":"NVIDIA H200","sm":90,"library":"cuBLASLt 13.1.0",
//     "call":"f32 m=512 n=768 k=3072 a=3072@256 b=768@256 d=768@256 bias@16",
//     "algorithm":{"id":21,"tile":20,"stages":14,"split_k":4,"reduction":2,...,"bytes":"15000..."},
//     "microseconds":41.2,"heuristics_microseconds":55.07,"check":"90b1c3..."}]}
//
// (the entry is one line there). What a call is, is its key: CallText of cublas_lt_tuner.h writes
// it. The bytes are what the library takes, and only from the version that made them; the numbers
// say for people, and for checks, what it is. The check is of all but the times: bytes that
// somebody has changed never come to the library.
//
// A session takes the entries of its GPUs and of the library's version, and times products that
// have none. From then on the choice is in the text and nothing depends on time: two sessions with
// the same entries compute the same bits. Entries of other GPUs and versions stay as they are.
//
// Nothing here needs a GPU. A tuning is used by one thread at a time.
#ifndef YUBA_RUNTIME_CUDA_TUNING_H_
#define YUBA_RUNTIME_CUDA_TUNING_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace yuba::cuda {

constexpr int kAlgorithmBytes = 64;

// An algorithm of cuBLASLt.
struct TunedAlgorithm {
  int64_t id = 0;
  int64_t tile = 0, stages = 0;
  int64_t split_k = 1;    // parts of a sum that are computed at the same time
  int64_t reduction = 0;  // how these are added up; what AddsUpInOrder refuses is in no entry
  int64_t swizzle = 0, custom = 0;
  int64_t inner_shape = 0, cluster_shape = 0;
  std::string bytes;  // kAlgorithmBytes: the library's own descriptor, which says all of it
};
bool operator==(const TunedAlgorithm& a, const TunedAlgorithm& b);

// Whether parts of sums are added up in the accumulator's type and in one order: cuBLASLt's schemes
// NONE and COMPUTE_TYPE. The others add in the result's type, or whenever a part is done.
bool AddsUpInOrder(const TunedAlgorithm& algorithm);
// Whether all of it is such as a tuning may have.
bool CanBeWritten(const TunedAlgorithm& algorithm);

struct TunedCall {
  std::string gpu;      // its name
  int sm = 0;           // compute capability: 90 for 9.0
  std::string library;  // with its version: "cuBLASLt 13.1.0"
  std::string call;
};
bool operator==(const TunedCall& a, const TunedCall& b);
bool operator<(const TunedCall& a, const TunedCall& b);

constexpr char kByHeuristics[] = "heuristics";

struct TunedEntry {
  TunedAlgorithm algorithm;
  double microseconds = 0;             // a call took, as a median
  double heuristics_microseconds = 0;  // with what the library's heuristics name first
};

class Tuning {
 public:
  Tuning() = default;  // without entries
  // InvalidArgument, with the place and what is wrong there, where the text is no tuning or one of
  // another version, has a call twice, or an algorithm that no run may take (AddsUpInOrder).
  static absl::StatusOr<std::shared_ptr<Tuning>> Parse(absl::string_view text);
  // Entries are in the order of GPU, version and call, so that equal tunings have equal texts.
  std::string Format() const;

  // Null where there is none. The pointer is good until Add.
  const TunedEntry* Find(const TunedCall& call) const;
  // Takes the entries of `other` for calls that this one lacks.
  void Merge(const Tuning& other);
  // What this session has timed. Times are rounded to a hundredth of a microsecond.
  void Add(const TunedCall& call, TunedEntry entry);

  // Of the session, for people and for checkpoints: that a product of it takes an entry, that the
  // library refuses one, and that a product could not be timed, with the cause.
  void Use(const TunedCall& call) { used_.insert(call); }
  void Refuse(const TunedCall& call, const std::string& why) { refused_[call] = why; }
  void Skip(const TunedCall& call, const std::string& why) { skipped_[call] = why; }

  const std::map<TunedCall, TunedEntry>& entries() const { return entries_; }
  const std::set<TunedCall>& used() const { return used_; }
  const std::set<TunedCall>& added() const { return added_; }
  const std::map<TunedCall, std::string>& refused() const { return refused_; }
  const std::map<TunedCall, std::string>& skipped() const { return skipped_; }

  // By the text of a call of this session: its algorithm, "id 21 tile 20 ... bytes 6b0f...", the
  // bytes as a number of 16 digits, or kByHeuristics
  // where it takes none of the tuning. Sessions of the same program with equal choices have the
  // same bits as far as these decide them.
  std::map<std::string, std::string> Choices() const;

  // What follows where a product has to be timed: OK, or why its entry could not be kept, which is
  // then the session's error before anything is timed.
  void SetWritable(absl::Status writable) { writable_ = std::move(writable); }
  const absl::Status& writable() const { return writable_; }

 private:
  std::map<TunedCall, TunedEntry> entries_;
  std::set<TunedCall> used_, added_;
  std::map<TunedCall, std::string> refused_, skipped_;
  absl::Status writable_;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_TUNING_H_
