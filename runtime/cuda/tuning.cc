#include "runtime/cuda/tuning.h"

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/json_reader.h"
#include "opsemantics/base/stable_hash.h"
#include "opsemantics/base/status.h"

namespace yuba::cuda {
namespace {

constexpr char kVersionField[] = "yuba_tuning";
constexpr int kVersion = 1;
constexpr double kMostMicroseconds = 1e12;

struct NumberField {
  const char* name;
  int64_t TunedAlgorithm::* member;
  int64_t least, most;  // of the type that cuBLASLt keeps it in
};
constexpr int64_t kMost16 = std::numeric_limits<uint16_t>::max(),
                  kMost31 = std::numeric_limits<int32_t>::max(),
                  kMost32 = std::numeric_limits<uint32_t>::max();
constexpr NumberField kNumbers[] = {
    {"id", &TunedAlgorithm::id, 0, kMost31},
    {"tile", &TunedAlgorithm::tile, 0, kMost32},
    {"stages", &TunedAlgorithm::stages, 0, kMost32},
    {"split_k", &TunedAlgorithm::split_k, -1, kMost31},
    {"reduction", &TunedAlgorithm::reduction, 0, kMost32},
    {"swizzle", &TunedAlgorithm::swizzle, 0, kMost32},
    {"custom", &TunedAlgorithm::custom, 0, kMost32},
    {"inner_shape", &TunedAlgorithm::inner_shape, 0, kMost16},
    {"cluster_shape", &TunedAlgorithm::cluster_shape, 0, kMost16},
};

// CUBLASLT_REDUCTION_SCHEME_NONE and _COMPUTE_TYPE; builds without CUDA read tunings too.
constexpr int64_t kNoReduction = 0, kReductionInComputeType = 2;

using Json = nlohmann::ordered_json;

// Of all that decides bits.
std::string CheckOf(const TunedCall& call, const TunedAlgorithm& algorithm) {
  std::string text =
      absl::StrCat(call.gpu, "\n", call.sm, "\n", call.library, "\n", call.call, "\n");
  for (const NumberField& field : kNumbers) absl::StrAppend(&text, algorithm.*field.member, " ");
  return absl::StrFormat("%016x", StableHash(text + algorithm.bytes));
}

Json JsonOf(const TunedCall& call, const TunedEntry& entry) {
  Json algorithm;
  for (const NumberField& field : kNumbers) algorithm[field.name] = entry.algorithm.*field.member;
  algorithm["bytes"] = absl::BytesToHexString(entry.algorithm.bytes);
  Json json;
  json["gpu"] = call.gpu;
  json["sm"] = call.sm;
  json["library"] = call.library;
  json["call"] = call.call;
  json["algorithm"] = std::move(algorithm);
  json["microseconds"] = entry.microseconds;
  json["heuristics_microseconds"] = entry.heuristics_microseconds;
  json["check"] = CheckOf(call, entry.algorithm);
  return json;
}

std::string NonEmpty(const JsonReader& reader) {
  const std::string text = reader.String();
  if (reader.ok() && text.empty()) reader.Fail("a text that is not empty");
  return text;
}

std::string ReadBytes(const JsonReader& reader) {
  const std::string digits = reader.String();
  const bool hexadecimal = digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (reader.ok() && (!hexadecimal || digits.size() != 2 * kAlgorithmBytes))
    reader.Fail(absl::StrCat(2 * kAlgorithmBytes, " digits of hexadecimal numbers"));
  return reader.ok() ? absl::HexStringToBytes(digits) : "";
}

TunedCall ReadCall(const JsonReader& entry) {
  TunedCall call;
  call.gpu = NonEmpty(entry.Field("gpu"));
  call.sm = static_cast<int>(entry.Field("sm").Integer(1, 10000));
  call.library = NonEmpty(entry.Field("library"));
  call.call = NonEmpty(entry.Field("call"));
  return call;
}

TunedEntry ReadEntry(const JsonReader& reader, const TunedCall& call) {
  TunedEntry entry;
  const JsonReader algorithm = reader.Field("algorithm");
  std::vector<std::string> names;
  for (const NumberField& field : kNumbers) {
    names.push_back(field.name);
    entry.algorithm.*field.member = algorithm.Field(field.name).Integer(field.least, field.most);
  }
  names.push_back("bytes");
  entry.algorithm.bytes = ReadBytes(algorithm.Field("bytes"));
  algorithm.OnlyFields(names);
  if (!AddsUpInOrder(entry.algorithm)) {
    algorithm.Field("reduction")
        .Refuse(absl::StrCat("is ", entry.algorithm.reduction, ", which adds up parts of sums in ",
                             "the result's type or in any order: no run takes such an algorithm"));
  }
  const auto microseconds = [&](const char* name) {
    return reader.Field(name).Number(0, kMostMicroseconds, "microseconds");
  };
  entry.microseconds = microseconds("microseconds");
  entry.heuristics_microseconds = microseconds("heuristics_microseconds");
  const JsonReader check = reader.Field("check");
  if (check.String() != CheckOf(call, entry.algorithm))
    check.Refuse("is not of this entry, which was changed since Yuba wrote it: take it out");
  return entry;
}

void CheckVersion(const JsonReader& file) {
  const JsonReader version = file.Field(kVersionField);
  const int64_t number = version.Integer(1, kMost31);
  if (!version.ok() || number == kVersion) return;
  version.Refuse(absl::StrCat("is ", number, ": the file is of another version of Yuba, and this ",
                              "one reads ", kVersion));
}

std::string TextOf(const TunedAlgorithm& algorithm) {
  std::vector<std::string> numbers;
  for (const NumberField& field : kNumbers)
    numbers.push_back(absl::StrCat(field.name, " ", algorithm.*field.member));
  numbers.push_back(absl::StrFormat("bytes %016x", StableHash(algorithm.bytes)));
  return absl::StrJoin(numbers, " ");
}

double Rounded(double microseconds) { return std::round(microseconds * 100) / 100; }

}  // namespace

bool operator==(const TunedAlgorithm& a, const TunedAlgorithm& b) {
  for (const NumberField& field : kNumbers) {
    if (a.*field.member != b.*field.member) return false;
  }
  return a.bytes == b.bytes;
}

bool AddsUpInOrder(const TunedAlgorithm& algorithm) {
  return algorithm.reduction == kNoReduction || algorithm.reduction == kReductionInComputeType;
}

bool CanBeWritten(const TunedAlgorithm& algorithm) {
  for (const NumberField& field : kNumbers) {
    const int64_t number = algorithm.*field.member;
    if (number < field.least || number > field.most) return false;
  }
  return AddsUpInOrder(algorithm) && algorithm.bytes.size() == kAlgorithmBytes;
}

bool operator==(const TunedCall& a, const TunedCall& b) { return !(a < b) && !(b < a); }

bool operator<(const TunedCall& a, const TunedCall& b) {
  return std::tie(a.gpu, a.sm, a.library, a.call) < std::tie(b.gpu, b.sm, b.library, b.call);
}

absl::StatusOr<std::shared_ptr<Tuning>> Tuning::Parse(absl::string_view text) {
  YUBA_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(text));
  absl::Status status;
  const JsonReader file(json, &status);
  CheckVersion(file);
  file.OnlyFields({kVersionField, "entries"});
  auto tuning = std::make_shared<Tuning>();
  for (const JsonReader& reader : file.Field("entries").Items()) {
    if (!status.ok()) break;
    reader.OnlyFields({"gpu", "sm", "library", "call", "algorithm", "microseconds",
                       "heuristics_microseconds", "check"});
    const TunedCall call = ReadCall(reader);
    const TunedEntry entry = ReadEntry(reader, call);
    if (!tuning->entries_.emplace(call, entry).second)
      reader.Refuse("is of the same GPU, library and call as one before it");
  }
  YUBA_RETURN_IF_ERROR(status);
  return tuning;
}

std::string Tuning::Format() const {
  std::string text = absl::StrCat("{\"", kVersionField, "\":", kVersion, ",\"entries\":[");
  const char* before = "\n ";
  for (const auto& [call, entry] : entries_) {
    // A driver's name of its GPU need not be UTF-8.
    const auto replace = Json::error_handler_t::replace;
    absl::StrAppend(&text, before, JsonOf(call, entry).dump(-1, ' ', false, replace));
    before = ",\n ";
  }
  return text + "]}\n";
}

const TunedEntry* Tuning::Find(const TunedCall& call) const {
  const auto found = entries_.find(call);
  return found == entries_.end() ? nullptr : &found->second;
}

void Tuning::Add(const TunedCall& call, TunedEntry entry) {
  entry.microseconds = Rounded(entry.microseconds);
  entry.heuristics_microseconds = Rounded(entry.heuristics_microseconds);
  entries_[call] = entry;
  added_.insert(call);
}

void Tuning::Merge(const Tuning& other) {
  entries_.insert(other.entries_.begin(), other.entries_.end());
}

std::map<std::string, std::string> Tuning::Choices() const {
  std::map<std::string, std::string> choices;
  // GPUs of different kinds may differ in their algorithms of one call.
  const auto add = [&](const TunedCall& call, const std::string& algorithm) {
    std::string& all = choices[call.call];
    if (!all.empty()) all += "; ";
    all += algorithm;
  };
  for (const TunedCall& call : used_) add(call, TextOf(entries_.at(call).algorithm));
  for (const auto* calls : {&refused_, &skipped_}) {
    for (const auto& [call, why] : *calls) add(call, kByHeuristics);
  }
  return choices;
}

}  // namespace yuba::cuda
