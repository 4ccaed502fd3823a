#include "runtime/nan_watch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"
#include "runtime/walk.h"

namespace yuba::runtime {
namespace {

// Looks at floats of a format: as unsigned numbers, with this many bits of mantissa, where all bits
// of the exponent are ones in NaN and infinities.
template <typename Bits>
Special SpecialsOfFormat(absl::string_view elements, int mantissa) {
  const auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const auto infinity = static_cast<Bits>(sign - (Bits{1} << mantissa));
  Special special;
  for (size_t at = 0; at + sizeof(Bits) <= elements.size(); at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, elements.data() + at, sizeof bits);
    bits = static_cast<Bits>(bits & static_cast<Bits>(~sign));
    special.infinity |= bits == infinity;
    special.nan |= bits > infinity;
  }
  return special;
}

const char* Name(const Special& special) { return special.nan ? "NaN" : "an infinity"; }

bool HasAny(const Special& special) { return special.any(); }
bool HasNan(const Special& special) { return special.nan; }

}  // namespace

Special SpecialsIn(ElementType type, absl::string_view elements) {
  switch (type) {
    case ElementType::kF64: return SpecialsOfFormat<uint64_t>(elements, 52);
    case ElementType::kF32: return SpecialsOfFormat<uint32_t>(elements, 23);
    case ElementType::kF16: return SpecialsOfFormat<uint16_t>(elements, 10);
    case ElementType::kBF16: return SpecialsOfFormat<uint16_t>(elements, 7);
    default: return {};
  }
}

NanWatch::NanWatch(const LoadedProgram& program, ArenaLayout layout, std::vector<Device*> devices,
                   const std::vector<ExchangePlan>& plans)
    : program_(program),
      layout_(std::move(layout)),
      devices_(std::move(devices)),
      plans_(plans),
      stored_(program.message().buffers_size(), false),
      may_be_infinite_(program.instructions().size(), false) {
  for (const program::Port& output : program.message().outputs()) stored_[output.buffer()] = true;
  for (const program::Initializer& parameter : program.message().parameters()) {
    stored_[parameter.port().buffer()] = true;
  }
  BeginStep();
}

void NanWatch::BeginStep() {
  findings_.assign(devices_.size(), std::vector<Finding>(program_.instructions().size()));
  found_any_.assign(devices_.size(), 0);
}

absl::Status NanWatch::Before(int, int) { return absl::OkStatus(); }

absl::StatusOr<Special> NanWatch::SpecialsOf(int device, int buffer,
                                             const std::vector<BoxWalk>& walks) {
  if (program_.hash() || !IsFloat(program_.type(buffer))) return Special();
  const Box whole = program_.BufferBox(buffer, device);
  const int64_t size = program_.ElementBytes(buffer);
  std::string shard(static_cast<size_t>(WalkOf(whole, {whole}).elements() * size), '\0');
  YUBA_RETURN_IF_ERROR(devices_[device]->Read(layout_.offsets[buffer], &shard[0],
                                              static_cast<int64_t>(shard.size())));
  std::string walked;
  for (const BoxWalk& walk : walks) {
    const int64_t stride = walk.buffers.back().strides.back();
    ForEachRun(walk, [&](const std::vector<int64_t>& offsets, int64_t length) {
      for (int64_t i = 0; i < length; ++i) {
        walked.append(shard, static_cast<size_t>((offsets.back() + i * stride) * size),
                      static_cast<size_t>(size));
      }
    });
  }
  return SpecialsIn(program_.type(buffer), walked);
}

absl::Status NanWatch::After(int device, int instruction) {
  const bool kernel = program_.instructions()[instruction].has_kernel();
  return kernel ? LookAtKernel(device, instruction) : LookAtExchange(device, instruction);
}

absl::Status NanWatch::LookAtExchange(int device, int instruction) {
  const program::Exchange& exchange = program_.instructions()[instruction].exchange();
  const DeviceExchange& own = plans_[instruction].devices[device];
  std::vector<BoxWalk> walks;
  for (const Piece& piece : own.pieces) walks.push_back(piece.walk);
  for (const Cell& cell : own.cells) walks.push_back(cell.walk);
  Finding& finding = findings_[device][instruction];
  YUBA_ASSIGN_OR_RETURN(finding.result, SpecialsOf(device, exchange.destination(), walks));
  if (!finding.result.any()) return absl::OkStatus();
  // What a gather moves was made before it; where nothing was found yet, before the step.
  if (found_any_[device] == 0 && !exchange.reduce()) finding.operands.push_back(exchange.source());
  found_any_[device] = 1;
  return absl::OkStatus();
}

absl::Status NanWatch::LookAtKernel(int device, int instruction) {
  const program::Kernel& kernel = program_.instructions()[instruction].kernel();
  const auto look = [&](const program::Access& access) {
    const Box whole = program_.BufferBox(access.buffer(), device);
    return SpecialsOf(device, access.buffer(),
                      {WalkOf(program_.BoxOf(access.box(), device), {whole})});
  };
  Finding& finding = findings_[device][instruction];
  for (const program::Access& result : kernel.results()) {
    YUBA_ASSIGN_OR_RETURN(const Special special, look(result));
    finding.result.nan |= special.nan;
    finding.result.infinity |= special.infinity;
  }
  if (!finding.result.any() || found_any_[device] != 0) return absl::OkStatus();
  found_any_[device] = 1;
  for (const program::Access& operand : kernel.operands()) {
    const bool overwritten = std::any_of(
        kernel.results().begin(), kernel.results().end(),
        [&](const program::Access& result) { return result.buffer() == operand.buffer(); });
    if (overwritten) continue;
    YUBA_ASSIGN_OR_RETURN(const Special special, look(operand));
    if (special.any()) finding.operands.push_back(operand.buffer());
  }
  return absl::OkStatus();
}

std::pair<int, int> NanWatch::First(bool (*wanted)(const Special&)) const {
  for (int i = 0; i < program_.instructions().size(); ++i) {
    for (size_t d = 0; d < devices_.size(); ++d) {
      Special special = findings_[d][i].result;
      if (may_be_infinite_[i]) special.infinity = false;
      if (wanted(special)) return {static_cast<int>(i), static_cast<int>(d)};
    }
  }
  return {-1, -1};
}

// "output loss holds NaN", of the first stored tensor of which an instruction made a special that
// is there still; empty where there is none.
absl::StatusOr<std::string> NanWatch::WhatIsLeft() {
  std::vector<bool> made(stored_.size(), false);
  for (int i = 0; i < program_.instructions().size(); ++i) {
    const program::Instruction& at = program_.instructions()[i];
    for (const std::vector<Finding>& findings : findings_) {
      if (!findings[i].result.any()) continue;
      if (at.has_exchange()) made[at.exchange().destination()] = true;
      for (const program::Access& result : at.kernel().results()) made[result.buffer()] = true;
    }
  }
  for (int b = 0; b < static_cast<int>(stored_.size()); ++b) {
    if (!stored_[b] || !made[b]) continue;
    for (int d = 0; d < static_cast<int>(devices_.size()); ++d) {
      if (devices_[d] == nullptr) continue;
      const Box whole = program_.BufferBox(b, d);
      YUBA_ASSIGN_OR_RETURN(const Special special, SpecialsOf(d, b, {WalkOf(whole, {whole})}));
      if (special.any()) {
        return absl::StrCat(program_.message().buffers(b).name(), " holds ", Name(special));
      }
    }
  }
  return std::string();
}

std::string NanWatch::Text(int instruction, int device) const {
  const Finding& finding = findings_[device][instruction];
  std::string text = absl::StrCat(program_.Describe(instruction), " on device ", device);
  if (!finding.operands.empty()) {
    return absl::StrCat(text, " read ", Name(finding.result),
                        " that was there before the step, in ",
                        absl::StrJoin(finding.operands, ", ", [&](std::string* out, int buffer) {
                          out->append(program_.message().buffers(buffer).name());
                        }));
  }
  absl::StrAppend(&text, " made ", Name(finding.result));
  const program::Instruction& at = program_.instructions()[instruction];
  if (!at.has_kernel()) return text;
  const auto& definitions = program_.message().functions(at.kernel().function()).definitions();
  return absl::StrCat(text, " by ",
                      absl::StrJoin(definitions, " and ", [](std::string* out, const auto& one) {
                        out->append(one.text());
                      }));
}

absl::Status NanWatch::EndStep() {
  YUBA_ASSIGN_OR_RETURN(const std::string left, WhatIsLeft());
  const auto [first, device] = First(HasAny);
  if (left.empty() || first < 0) {
    for (const std::vector<Finding>& findings : findings_) {
      for (size_t i = 0; i < findings.size(); ++i) {
        if (findings[i].result.infinity) may_be_infinite_[i] = true;
      }
    }
    return absl::OkStatus();
  }
  std::string message = absl::StrCat(left, ". First, ", Text(first, device));
  const auto [nan, nan_device] = First(HasNan);
  if (nan >= 0 && nan != first) {
    absl::StrAppend(&message, ". The first NaN: ", Text(nan, nan_device));
  }
  return absl::FailedPreconditionError(message);
}

}  // namespace yuba::runtime
