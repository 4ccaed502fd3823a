// Exchanges between virtual devices of one process (ExchangeSteps): each device reads its peers'
// arenas directly and writes only its own. A copy is complete when Copy returns, so arriving and
// departing need nothing.
#ifndef YUBA_RUNTIME_HOST_HOST_EXCHANGE_STEPS_H_
#define YUBA_RUNTIME_HOST_HOST_EXCHANGE_STEPS_H_

#include <utility>
#include <vector>

#include "runtime/exchange_protocol.h"

namespace yuba::runtime {

class HostExchangeSteps : public ExchangeSteps {
 public:
  // arenas: [device], in the address space of this process; they outlive the steps.
  explicit HostExchangeSteps(std::vector<char*> arenas) : arenas_(std::move(arenas)) {}

  absl::Status Copy(int device, int instruction, const ExchangePlan& plan) override;

 private:
  const std::vector<char*> arenas_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_HOST_EXCHANGE_STEPS_H_
