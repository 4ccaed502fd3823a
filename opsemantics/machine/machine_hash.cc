#include "opsemantics/machine/machine_hash.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "opsemantics/base/stable_hash.h"
#include "opsemantics/machine/machine_words.h"

namespace yuba {
namespace {

// All numbers of a machine as text, in a fixed order.
class NumbersText {
 public:
  void Add(double number) { absl::StrAppend(&text_, absl::StrFormat("%.17g ", number)); }
  void Add(const KernelModel& model) {
    for (const double n : {model.start, model.rate_share, model.bandwidth_share, model.half_rate})
      Add(n);
    for (int e = 0; e < kExtras; ++e) {
      if (model.extra_operations[e] == 0) continue;
      absl::StrAppend(&text_, ExtraName(static_cast<Extra>(e)), " ");
      Add(model.extra_operations[e]);
    }
  }
  void Add(const DeviceModel& device) {
    for (const double n : {device.bandwidth, device.launch, device.issue}) Add(n);
    for (const int64_t n : {device.memory, device.reserved, int64_t{device.processors}}) {
      Add(static_cast<double>(n));
    }
    for (const auto& [type, rate] : device.rates) Add(rate);
    for (const auto& models : device.kernels) {
      for (const KernelModel& model : models) Add(model);
    }
    if (device.fused_products) absl::StrAppend(&text_, "fused ");
  }
  void Add(const LinkModel& link) {
    Add(link.devices);
    Add(link.shared_by);
    Add(link.latency);
    Add(link.bandwidth);
    for (const CollectiveTable& table : link.tables) {
      absl::StrAppend(&text_, table.collective, " ", table.devices, " ", table.one_process, " ");
      for (const auto& [bytes, seconds] : table.seconds) {
        Add(bytes);
        Add(seconds);
      }
    }
    absl::StrAppend(&text_, ";");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

std::string HashOf(const Machine& machine) {
  NumbersText numbers;
  numbers.Add(machine.nodes);
  numbers.Add(machine.price);
  numbers.Add(machine.device);
  for (const LinkModel& link : machine.links) numbers.Add(link);
  return absl::StrCat(absl::Hex(StableHash(numbers.text()), absl::kZeroPad16));
}

}  // namespace yuba
