#include <functional>
#include <map>

#include "tests/support/marked_points.h"
#include "tests/support/marking.h"

namespace yuba {
namespace {

// How far apart two devices are.
int KindApart(const Mesh& mesh, int a, int b) {
  int kind = 0;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const int at = static_cast<int>(axis);
    if (Digit(mesh, a, at) != Digit(mesh, b, at)) kind = std::max(kind, mesh.axes[axis].kind);
  }
  return kind;
}

// The nearest of the devices to which `has` applies; -1: there is none.
int Nearest(const Mesh& mesh, int device, const std::function<bool(int)>& has) {
  int nearest = -1;
  for (int other = 0; other < mesh.devices(); ++other) {
    if (!has(other)) continue;
    if (other == device) return device;
    if (nearest < 0 || KindApart(mesh, device, other) < KindApart(mesh, device, nearest)) {
      nearest = other;
    }
  }
  return nearest;
}

// Counts elements that come to one device, by the device that gives them.
class Received {
 public:
  Received(const Mesh& mesh, int device) : mesh_(mesh), device_(device) {}

  void Take(int source) {
    if (source >= 0 && source != device_) ++elements_[source];
  }
  // With elements of `size` bytes, of which one in `share` comes, rounded up.
  void AddTo(int64_t share, int64_t size, Moved* moved) const {
    std::map<int, int64_t> of_kinds;
    for (const auto& [source, count] : elements_) {
      const int kind = KindApart(mesh_, device_, source);
      of_kinds[kind] += count;
      ++moved->messages[kind];
    }
    for (const auto& [kind, count] : of_kinds) {
      moved->bytes[kind] += (count + share - 1) / share * size;
    }
  }

 private:
  const Mesh& mesh_;
  const int device_;
  std::map<int, int64_t> elements_;
};

std::vector<Moved> GatheredMoved(const Mesh& mesh, const std::vector<Points>& reads,
                                 const std::vector<Points>& owned, int64_t size) {
  std::vector<Moved> moved(mesh.devices());
  for (int device = 0; device < mesh.devices(); ++device) {
    Received received(mesh, device);
    for (const Point& point : reads[device]) {
      received.Take(
          Nearest(mesh, device, [&](int other) { return owned[other].count(point) > 0; }));
    }
    received.AddTo(1, size, &moved[device]);
  }
  return moved;
}

std::vector<Moved> ReducedMoved(const Mesh& mesh, const TensorType& type, const Produced& produced,
                                const std::vector<Points>& owned) {
  const std::set<Point> partials(produced.partial.begin(), produced.partial.end());
  const int64_t size = ByteSize(type.type);
  if (partials.size() == 1) return GatheredMoved(mesh, owned, produced.writes, size);
  std::vector<Moved> moved(mesh.devices());
  for (int device = 0; device < mesh.devices(); ++device) {
    int64_t owners = 0;
    std::map<int, int64_t> others;  // by kind
    for (int other = 0; other < mesh.devices(); ++other) {
      if (owned[other] != owned[device]) continue;
      ++owners;
      if (other != device) ++others[KindApart(mesh, device, other)];
    }
    Received received(mesh, device);
    for (const Point& point : owned[device]) {
      for (const Point& partial : partials) {
        received.Take(Nearest(mesh, device, [&](int other) {
          return produced.partial[other] == partial && produced.writes[other].count(point) > 0;
        }));
      }
    }
    received.AddTo(owners, ByteSize(AccumulatorType(type.type)), &moved[device]);
    const auto elements = static_cast<int64_t>(owned[device].size());
    for (const auto& [kind, count] : others) {
      if (elements == 0) continue;
      moved[device].bytes[kind] += (elements * count + owners - 1) / owners * size;
      moved[device].messages[kind] += count;
    }
  }
  return moved;
}

}  // namespace

std::vector<Moved> MarkedMoved(const Definition& definition, const Mesh& mesh, int operand,
                               const Sharding& partition, const Sharding& sharding) {
  const TensorType& type = operand < 0 ? definition.result : definition.operands[operand];
  const std::vector<Points> owned = Owned(mesh, sharding, type.dims);
  if (operand < 0) {
    return ReducedMoved(mesh, type, ProducedBy(definition, mesh, partition), owned);
  }
  std::vector<Points> reads;
  for (int device = 0; device < mesh.devices(); ++device) {
    reads.push_back(ReadsOf(definition, mesh, partition, device, operand));
  }
  return GatheredMoved(mesh, reads, owned, ByteSize(type.type));
}

std::vector<Moved> MarkedCopyMoved(const Mesh& mesh, const TensorType& type,
                                   const Sharding& sharding, const Sharding& copy_sharding) {
  return GatheredMoved(mesh, Owned(mesh, copy_sharding, type.dims),
                       Owned(mesh, sharding, type.dims), ByteSize(type.type));
}

}  // namespace yuba
