// A machine: devices, the links between them, and how long work takes on them.
//
// A machine is a JSON file of machines/ or of the user's (`yuba calibrate` writes one); it is found
// by find_machine.h, and machines/README.md says what it holds. Its kernels are those of Yuba, or a
// set by name that the file has too, as what the vendor's libraries reach. Links are listed by kind
// from the innermost out, as the kinds of mesh axes (opsemantics/base/mesh.h) are numbered: on
// nodes of 8 GPUs kind 0 joins the devices of a node, kind 1 the nodes. Device d is in the group d
// / links[c].devices of kind c, so that the devices of a group have consecutive numbers. Groups
// nest: each links[c].devices is a multiple of the one before.
//
// Units: seconds, bytes, bytes a second, operations a second (an addition or a multiplication is
// one). Example: 2 nodes of 8 H100: devices = 16, links = {8 devices, NVLink}, {16, InfiniBand}.
#ifndef YUBA_OPSEMANTICS_MACHINE_MACHINE_H_
#define YUBA_OPSEMANTICS_MACHINE_MACHINE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "opsemantics/base/element_type.h"

namespace yuba {

// The structure that decides how fast a kernel is.
enum class KernelClass : uint8_t { kProduct, kConvolution, kMap, kReduction };
inline constexpr int kKernelClasses = 4;

// What takes longer than the operations as which it counts: quotients and roots, functions of one
// argument and of two that a library computes (FunctionCost, opsemantics/definition/functions.h),
// and each beginning of a run. Generated code runs along one index, element after element; a
// library is called once for each matrix product of a batch. It turns an operand whose rows lie
// along the sum where the result's do not: so many elements are turned.
enum class Extra : uint8_t { kRoot, kFunction, kPower, kRun, kTurned };
inline constexpr int kExtras = 5;

// What one kernel has to do on one device.
struct KernelWork {
  KernelClass kernel_class = KernelClass::kMap;
  bool library = false;                  // a library computes it; else generated code
  ElementType type = ElementType::kF32;  // in which it computes
  double operations = 0;
  double bytes = 0;  // read and written
  // Elements of its results. Few results are computed by few threads: a sum over all rows of a
  // matrix uses less of a device than a product. 0: so many that it does not matter.
  double results = 0;
  double extras[kExtras] = {0, 0, 0, 0, 0};  // how many there are of each
};

// Of the kernels of one class:
//   seconds = start + max(operations / rate, bytes / bandwidth) * (1 + half_rate / results),
// where rate and bandwidth are these shares of the device's, and each extra counts as so many
// operations more. `start` is what a kernel takes without work, beyond DeviceModel::launch: a
// device whose queue is full needs launch + seconds for each.
struct KernelModel {
  double start = 0;            // seconds
  double rate_share = 1;       // of DeviceModel::rates
  double bandwidth_share = 1;  // of DeviceModel::bandwidth; above 1 where caches serve most of it
  double half_rate = 0;        // results of a kernel that reaches half of both; 0: all reach them
  double extra_operations[kExtras] = {0, 0, 0, 0, 0};  // [Extra]
};

struct DeviceModel {
  std::string name;      // as the driver names the GPU: "NVIDIA H100 80GB HBM3"; "host"
  int64_t memory = 0;    // bytes
  int64_t reserved = 0;  // bytes that driver and libraries take
  double bandwidth = 0;  // of its memory, read and written
  double launch = 0;     // seconds between two kernels that are queued
  double issue = 0;      // seconds of a host thread for each instruction that it starts
  std::map<ElementType, double> rates;     // operations a second, of every type
  KernelModel kernels[2][kKernelClasses];  // [library][class]
  // Kernels keep on the chip what lies between the products of an attention: the results of batched
  // products that are larger than both operands, and what maps make of them
  // (runtime/model/on_chip.h).
  bool fused_products = false;
  std::string kernels_version;  // of the code whose times were fitted; empty: none were measured
  // Virtual devices share so many processors (SpeedShare); 0: each device has its own. Rates and
  // bandwidth are then those of a device that runs alone, on all of them.
  int processors = 0;
};

// Measured seconds of one collective among the first n devices of a group (collective_table.h).
// They never fall from one row to the next.
struct CollectiveTable {
  std::string collective;    // its name in opsemantics/base/collectives.h
  int devices = 0;           // n
  bool one_process = false;  // one process drives all devices; else one a device
  std::vector<std::pair<double, double>>
      seconds;  // (bytes of the whole tensor, seconds), ascending
};

// A kind of links.
struct LinkModel {
  std::string name;    // "NVLink", "InfiniBand"
  int devices = 1;     // of a group: all that are joined by this and inner kinds
  double latency = 0;  // seconds of a message
  // One way, of each device while all that share its port use it; a device that uses it alone has
  // up to shared_by times as much.
  double bandwidth = 0;
  int shared_by = 1;  // devices that share a port
  std::vector<CollectiveTable> tables;
};

struct Machine {
  std::string name;  // "hgx-h100"; with a set of kernels and nodes "hgx-h100@libraries:8"
  int nodes = 1;
  DeviceModel device;
  std::vector<LinkModel> links;  // [kind]; at least one
  double price = 0;              // dollars an hour, all of it; 0: not known
  std::string hash;              // of all numbers above (machine_hash.h)
  std::string text;              // of its file, which is of one node

  int devices() const { return links.back().devices; }
};

// The kind of the links between two devices: the innermost group that both are in. 0 of a device
// and itself.
int KindBetween(const Machine& machine, int device, int other);

// Which share of the speed of a device that runs alone each of `computing` devices has that compute
// at the same time: 1 where devices have processors of their own, else 1 / computing.
double SpeedShare(const Machine& machine, int computing);

// Seconds of a kernel on one device that runs alone, without the launch. Generated code
// computes small floats in AccumulatorType(work.type), at the rate of that type.
double KernelSeconds(const Machine& machine, const KernelWork& work);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_MACHINE_MACHINE_H_
