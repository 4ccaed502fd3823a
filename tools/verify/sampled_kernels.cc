#include "tools/verify/sampled_kernels.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/spmd/short_sums.h"
#include "opsemantics/base/hash_order.h"
#include "opsemantics/base/status.h"
#include "runtime/host/kernel_object.h"
#include "tools/verify/sampled_kernel.h"

namespace yuba::tools {
namespace {

// The interpreter computes about 10 million terms a second.
constexpr int64_t kComparedTerms = 1 << 13;
constexpr int64_t kMostComparedTerms = 1 << 20;  // of several definitions, which are run whole
// Some milliseconds of work, against which a call's own time is nothing.
constexpr int64_t kTimedTerms = 1 << 22;

// Which end of its range an index begins at.
enum class Place { kBegin, kEnd, kBetween };

class Sampler {
 public:
  Sampler(const runtime::LoadedProgram& program, const kernels::FunctionUse& use,
          const kernels::NamedKernel& named, runtime::HostKernel function, uint64_t seed)
      : program_(program), named_(named), seed_(seed) {
    part_.program = &program.message();
    part_.use = &use;
    part_.named = &named;
    part_.function = function;
  }

  // The number of compared elements; -1 where no part is small enough.
  absl::StatusOr<int64_t> Compare() {
    int64_t elements = -1;
    for (const int device : {0, program_.devices() - 1}) {
      for (const Place place : {Place::kBegin, Place::kEnd, Place::kBetween}) {
        const KernelPart part = PartOf(device, place, kComparedTerms);
        if (TermsOf(part) > kMostComparedTerms) continue;
        YUBA_ASSIGN_OR_RETURN(const SampleResult result, CompareSample(part, seed_));
        if (result.fits) elements = std::max<int64_t>(elements, 0) + result.elements;
      }
    }
    return elements;
  }

  // Seconds for a term, of a part of about kTimedTerms; 0 where no part fits into memory.
  double SecondsPerTerm() {
    for (int64_t terms = kTimedTerms; terms > 0; terms /= 8) {
      const KernelPart part = PartOf(0, Place::kBegin, terms);
      const SampleResult first = RunSample(part, seed_);
      if (!first.fits) continue;
      // The first run may have brought the code into memory; other work may disturb either.
      const double seconds = std::min(first.seconds, RunSample(part, seed_).seconds);
      return seconds / static_cast<double>(std::max<int64_t>(TermsOf(part), 1));
    }
    return 0;
  }

 private:
  // A part of the device's work with about so many terms. Several definitions must agree on what
  // they hand to each other, so only their shared indices are cut.
  KernelPart PartOf(int device, Place place, int64_t terms) {
    KernelPart part = part_;
    std::vector<Interval> whole;
    for (const program::Range& range : part.use->kernel->indices())
      whole.push_back(program_.IntervalOf(range, device));
    part.ranges = whole;
    const bool alone = named_.definitions.size() == 1;
    const size_t cut = alone ? whole.size() : static_cast<size_t>(named_.shared);
    for (size_t i = 0; i < cut; ++i) part.ranges[i] = Shortened(whole[i], 1, place);
    // Doubles one index after the other while there is room.
    for (bool grown = true; grown;) {
      grown = false;
      for (size_t i = cut; i-- > 0;) {
        const int64_t size = part.ranges[i].size();
        if (size >= whole[i].size() || TermsOf(part) * 2 > terms) continue;
        part.ranges[i] = Shortened(whole[i], size * 2, place);
        grown = true;
      }
    }
    return part;
  }

  Interval Shortened(const Interval& whole, int64_t size, Place place) {
    if (whole.size() <= size) return whole;
    const int64_t last = whole.end - size;
    int64_t begin = place == Place::kBegin ? whole.begin : last;
    if (place == Place::kBetween) {
      random_ = HashMix(random_ + 1, seed_ + 1);
      begin = whole.begin + static_cast<int64_t>(random_ % (last - whole.begin + 1));
    }
    return {begin, begin + size};
  }

  const runtime::LoadedProgram& program_;
  const kernels::NamedKernel& named_;
  const uint64_t seed_;
  uint64_t random_ = 0;
  KernelPart part_;
};

// [function]: the terms that its kernels have on all devices, in one run of all entries.
std::vector<double> TermsOfFunctions(const runtime::LoadedProgram& program,
                                     const std::vector<kernels::NamedKernel>& named) {
  std::vector<double> terms(named.size(), 0);
  for (const program::Instruction& instruction : program.instructions()) {
    if (!instruction.has_kernel()) continue;
    KernelPart part;
    part.named = &named[instruction.kernel().function()];
    for (int device = 0; device < program.devices(); ++device) {
      part.ranges.clear();
      for (const program::Range& range : instruction.kernel().indices())
        part.ranges.push_back(program.IntervalOf(range, device));
      terms[instruction.kernel().function()] += static_cast<double>(TermsOf(part));
    }
  }
  return terms;
}

}  // namespace

absl::StatusOr<SampledKernels> SampleKernels(const Graph& graph,
                                             const runtime::LoadedProgram& program, uint64_t seed) {
  YUBA_ASSIGN_OR_RETURN(const std::shared_ptr<const runtime::KernelObject> object,
                        runtime::KernelObject::Load(program));
  const absl::optional<compiler::ShortSums> sums = compiler::WithShortSums(graph);
  const std::vector<kernels::FunctionUse> uses =
      kernels::UsesOf(sums.has_value() ? sums->graph : graph, program.message());
  std::vector<kernels::NamedKernel> named;
  for (size_t f = 0; f < uses.size(); ++f)
    named.push_back(kernels::KernelOf(program.message().functions(static_cast<int>(f)), uses[f]));
  const std::vector<double> terms = TermsOfFunctions(program, named);
  SampledKernels report;
  for (size_t f = 0; f < uses.size(); ++f) {
    if (!uses[f].used) continue;
    const runtime::HostKernel function = object->function(static_cast<int>(f));
    if (function == nullptr) {
      report.left_out.push_back(uses[f].node->name);
      continue;
    }
    Sampler sampler(program, uses[f], named[f], function, seed);
    YUBA_ASSIGN_OR_RETURN(const int64_t elements, sampler.Compare());
    if (elements < 0) {
      report.left_out.push_back(uses[f].node->name);
    } else {
      ++report.functions;
      report.elements += elements;
    }
    report.seconds += terms[f] * sampler.SecondsPerTerm();
  }
  return report;
}

}  // namespace yuba::tools
