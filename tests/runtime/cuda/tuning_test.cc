// Tunings as texts: written and read again, refused with a place where something is wrong, and
// never a crash.
#include "runtime/cuda/tuning.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/support/mutate.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

const TunedCall kCall = {"NVIDIA H200", 90, "cuBLASLt 13.1.0", "f32 m=1 n=2 k=3"};

TunedEntry Entry(int64_t id) {
  TunedEntry entry;
  entry.algorithm.id = id;
  entry.algorithm.tile = 20;
  entry.algorithm.split_k = 4;
  entry.algorithm.reduction = 2;
  entry.algorithm.cluster_shape = 65535;
  entry.algorithm.bytes = std::string(kAlgorithmBytes - 1, '\x1f') + static_cast<char>(id);
  entry.microseconds = 41.204;
  entry.heuristics_microseconds = 55.1;
  return entry;
}

Tuning Example() {
  Tuning tuning;
  TunedCall other = kCall;
  other.gpu = "A \"100\"";
  tuning.Add(kCall, Entry(21));
  tuning.Add(other, Entry(7));
  other.call = "a";
  tuning.Add(other, Entry(8));
  return tuning;
}

TEST_CASE("a tuning has a line for each entry, in order, and reads what it has written") {
  const std::string text = Example().Format();
  CHECK(std::count(text.begin(), text.end(), '\n') == 4);
  CHECK_THAT(
      text, Catch::Contains("{\"gpu\":\"NVIDIA H200\",\"sm\":90,\"library\":\"cuBLASLt 13.1.0\","
                            "\"call\":\"f32 m=1 n=2 k=3\",\"algorithm\":{\"id\":21,\"tile\":20,"
                            "\"stages\":0,\"split_k\":4,\"reduction\":2,\"swizzle\":0,\"custom\":0,"
                            "\"inner_shape\":0,\"cluster_shape\":65535,\"bytes\":\"1f1f1f"));
  CHECK_THAT(text, Catch::Contains("1f1f15\"},\"microseconds\":41.2,"
                                   "\"heuristics_microseconds\":55.1,\"check\":\""));
  CHECK(text.find("\"a\"") < text.find("m=1"));
  const auto read = Tuning::Parse(text);
  REQUIRE_THAT(read, IsOk());
  CHECK((*read)->Format() == text);
  CHECK((*read)->added().empty());
  CHECK((*read)->Find(kCall)->algorithm == Entry(21).algorithm);
  CHECK(Tuning().Format() == "{\"yuba_tuning\":1,\"entries\":[]}\n");
  CHECK_THAT(Tuning::Parse(Tuning().Format()), IsOk());
}

TEST_CASE("choices are what a session takes, call by call") {
  Tuning tuning = Example();
  CHECK(tuning.Choices().empty());
  tuning.Use(kCall);
  TunedCall other = kCall;
  other.call = "refused";
  tuning.Refuse(other, "why");
  other.call = "skipped";
  tuning.Skip(other, "why");
  const std::string algorithm =
      "id 21 tile 20 stages 0 split_k 4 reduction 2 swizzle 0 custom 0 inner_shape 0 "
      "cluster_shape 65535 bytes ";
  std::map<std::string, std::string> choices = tuning.Choices();
  CHECK(choices.size() == 3);
  CHECK(choices["refused"] == "heuristics");
  CHECK(choices["skipped"] == "heuristics");
  const std::string chosen = choices[kCall.call];
  CHECK_THAT(chosen, Catch::StartsWith(algorithm));
  CHECK(chosen.size() == algorithm.size() + 16);
  TunedEntry changed = Entry(21);
  changed.algorithm.bytes[0] = 'a';
  Tuning another;
  another.Add(kCall, changed);
  another.Use(kCall);
  CHECK(another.Choices()[kCall.call] != chosen);
  other.call = kCall.call;
  other.gpu = "another";
  tuning.Skip(other, "why");
  CHECK(tuning.Choices()[kCall.call] == chosen + "; heuristics");
}

TEST_CASE("of two tunings the first one's entries stay") {
  Tuning tuning, other = Example();
  tuning.Add(kCall, Entry(22));
  tuning.Merge(other);
  CHECK(tuning.entries().size() == 3);
  CHECK(tuning.Find(kCall)->algorithm.id == 22);
  CHECK(tuning.added().size() == 1);
}

TEST_CASE("what is wrong with a tuning is said with its place") {
  const std::string text = Example().Format();
  const auto refused = [&](const std::string& from, const std::string& to,
                           const std::string& message) {
    std::string changed = text;
    const size_t at = changed.rfind(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    INFO(changed);
    CHECK_THAT(Tuning::Parse(changed), StatusIs(absl::StatusCode::kInvalidArgument, message));
  };
  refused("\"yuba_tuning\":1", "\"yuba_tuning\":2",
          "yuba_tuning is 2: the file is of another version of Yuba, and this one reads 1");
  refused("\"yuba_tuning\":1,", "", "there is no yuba_tuning");
  refused("\"reduction\":2", "\"reduction\":1",
          "entries[2].algorithm.reduction is 1, which adds up parts of sums in the result's type "
          "or in any order");
  refused("\"sm\":90", "\"sm\":\"90\"", "entries[2].sm is \"90\", expected an integer");
  refused("\"library\":\"cuBLASLt 13.1.0\"", "\"library\":\"\"", "entries[2].library is");
  refused("\"microseconds\":41.2", "\"microseconds\":-1", "entries[2].microseconds is -1");
  refused("\"custom\":0", "\"custom\":0,\"magic\":1",
          "entries[2].algorithm.magic is an unknown field");
  refused("\"custom\":0,", "", "there is no entries[2].algorithm.custom");
  refused("\"tile\":20", "\"tile\":21",
          "entries[2].check is not of this entry, which was changed since Yuba wrote it");
  refused("NVIDIA H200", "NVIDIA H100", "entries[2].check is not of this entry");
  refused("1f1f", "1f2f", "entries[2].check is not of this entry");
  refused("1f1f", "1f1F", "entries[2].algorithm.bytes is \"1f");
  refused("1f1f", "1f1", "expected 128 digits of hexadecimal numbers");
  const std::string last = text.substr(text.rfind("{\"gpu\""));
  refused("]}\n", ",\n " + last,
          "entries[3] is of the same GPU, library and call as one before it");
  refused("]}\n", "", "");
  CHECK_THAT(Tuning::Parse(""), StatusIs(absl::StatusCode::kInvalidArgument));
  CHECK_THAT(Tuning::Parse("[]"), StatusIs(absl::StatusCode::kInvalidArgument, "the file is"));
}

TEST_CASE("no beginning of a tuning is one") {
  const std::string text = Example().Format();
  for (size_t length = 0; length + 2 < text.size(); ++length) {
    INFO(length);
    CHECK_THAT(Tuning::Parse(text.substr(0, length)), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST_CASE("mutants of a tuning are tunings that no run is hurt by, or are refused") {
  const std::string text = Example().Format();
  const std::vector<std::string> words = {"0",  "1",  "-1",   "1e999", "1e21",   "{",
                                          "}",  "[",  "]",    ",",     ":",      "{}",
                                          "[]", "\"", "null", "true",  "\"id\"", "\"call\""};
  const uint64_t seed = Catch::rngSeed() * uint64_t{1000003};
  constexpr int kRounds = 3000;
  int accepted = 0;
  for (int round = 0; round < kRounds; ++round) {
    Random random(seed + round);
    const std::string mutant =
        Below(random, 2) == 0 ? MutateWords(text, words, random) : MutateBytes(text, random);
    const auto tuning = Tuning::Parse(mutant);
    INFO("seed " << seed + round << "\n" << mutant);
    if (!tuning.ok()) {
      CHECK(tuning.status().code() == absl::StatusCode::kInvalidArgument);
      CHECK_FALSE(tuning.status().message().empty());
      continue;
    }
    ++accepted;
    for (const auto& [call, entry] : (*tuning)->entries()) {
      CHECK(CanBeWritten(entry.algorithm));
      CHECK(AddsUpInOrder(entry.algorithm));
    }
    const auto again = Tuning::Parse((*tuning)->Format());
    REQUIRE_THAT(again, IsOk());
    CHECK((*again)->Format() == (*tuning)->Format());
  }
  std::cerr << "tuning: " << accepted << " of " << kRounds << " mutants were accepted\n";
  CHECK(accepted > 0);
  CHECK(accepted < kRounds);
}

}  // namespace
}  // namespace yuba::cuda
