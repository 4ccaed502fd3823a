#include "runtime/set_values.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "opsemantics/base/half.h"
#include "opsemantics/base/hash_order.h"
#include "opsemantics/base/status.h"
#include "runtime/walk.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kPieceBytes = 4 << 20;

// The value of a float element.
double FloatAt(ElementType type, const char* bytes) {
  double wide;
  uint32_t bits;
  uint16_t half;
  switch (type) {
    case ElementType::kF64: std::memcpy(&wide, bytes, sizeof wide); return wide;
    case ElementType::kF16: std::memcpy(&half, bytes, sizeof half); return FromF16(half);
    case ElementType::kBF16: std::memcpy(&half, bytes, sizeof half); return FromBF16(half);
    default: std::memcpy(&bits, bytes, sizeof bits); return FloatOf(bits);
  }
}

int64_t IntegerAt(ElementType type, const char* bytes) {
  int64_t value = 0;
  std::memcpy(&value, bytes, ByteSize(type));
  return WrapInteger(value, type);
}

// Elements as a file has them, of type `given`, to elements as a program has them.
class Conversion {
 public:
  static absl::StatusOr<Conversion> Make(ElementType given, ElementType type, bool hash) {
    if (given == type) {
      return Conversion(given, type,
                        hash && IsFloat(type)        ? kHash
                        : type == ElementType::kBool ? kBools
                                                     : kNone);
    }
    // 64 bits are an element of hash arithmetic already.
    if (hash && IsFloat(type) && given == ElementType::kI64) return Conversion(given, type, kNone);
    if (!IsFloat(type) && !IsFloat(given)) return Conversion(given, type, kIntegers);
    const bool half = given == ElementType::kF16 || given == ElementType::kBF16;
    if (half && type == ElementType::kF32) return Conversion(given, type, hash ? kHash : kWiden);
    return UserError("elements of ", Name(given), ", the program wants ", Name(type));
  }

  int64_t given_bytes() const { return ByteSize(given_); }

  // The converted elements, which are `bytes` themselves or lie in `room`.
  absl::StatusOr<absl::string_view> Convert(absl::string_view bytes, std::string& room) const {
    if (kind_ == kNone) return bytes;
    room.clear();
    const size_t step = ByteSize(given_);
    for (size_t at = 0; at < bytes.size(); at += step) {
      YUBA_RETURN_IF_ERROR(Append(bytes.data() + at, room));
    }
    return absl::string_view(room);
  }

 private:
  enum Kind { kNone, kHash, kBools, kIntegers, kWiden };
  Conversion(ElementType given, ElementType type, Kind kind)
      : given_(given), type_(type), kind_(kind) {}

  absl::Status Append(const char* element, std::string& room) const {
    if (kind_ == kBools) {
      room.push_back(*element != 0);
      return absl::OkStatus();
    }
    if (kind_ == kWiden) {
      const auto wide = static_cast<float>(FloatAt(given_, element));
      room.append(reinterpret_cast<const char*>(&wide), sizeof wide);
      return absl::OkStatus();
    }
    if (kind_ == kHash) {
      const uint64_t hashed = HashOf(FloatAt(given_, element));
      room.append(reinterpret_cast<const char*>(&hashed), sizeof hashed);
      return absl::OkStatus();
    }
    const int64_t value = IntegerAt(given_, element);
    const size_t at = room.size();
    room.append(reinterpret_cast<const char*>(&value), ByteSize(type_));
    // 64 bits that are below 0 in one of the two types are above all its numbers in the other.
    const bool is_beyond =
        value < 0 && (given_ == ElementType::kU64) != (type_ == ElementType::kU64);
    if (IntegerAt(type_, &room[at]) == value && !is_beyond) return absl::OkStatus();
    return UserError("the value ", value, " does not fit ", Name(type_));
  }

  ElementType given_, type_;
  Kind kind_;
};

// Writes what `shard`, which a device has at `offset` of its arena, shares with a piece, whose
// elements are `elements`.
absl::Status WriteShared(Device& device, int64_t offset, const Box& shard, const Box& piece,
                         absl::string_view elements, int64_t element_bytes, std::string& room) {
  const Box shared = Intersect(shard, piece);
  if (IsEmpty(shared)) return absl::OkStatus();
  const BoxWalk walk = WalkOf(shared, {piece, shared});
  const int64_t bytes = walk.elements() * element_bytes;
  const int64_t place = WalkOf(shared, {shard}).buffers[0].offset * element_bytes;
  if (SameSet(shared, piece)) return device.Write(offset + place, elements.data(), bytes);
  room.resize(static_cast<size_t>(bytes));
  CopyWalk(walk, elements.data(), room.data(), element_bytes);
  return device.Write(offset + place, room.data(), bytes);
}

// What a device of this process has of a tensor.
struct Shard {
  int device = 0;
  Box box;
};

// The shards of a buffer that lies in memory in another order than its values come in, whole on the
// host until all of them are there: what a piece shares with a shard is in many places of it.
class OrderedShards {
 public:
  OrderedShards(const DimOrder& order, std::vector<Shard> shards, int64_t element_bytes)
      : order_(order), shards_(std::move(shards)), element_bytes_(element_bytes) {
    for (const Shard& shard : shards_)
      bytes_.emplace_back(static_cast<size_t>(Volume(shard.box) * element_bytes), '\0');
  }

  void Take(size_t s, const Box& piece, absl::string_view elements) {
    const Box shared = Intersect(shards_[s].box, piece);
    if (IsEmpty(shared)) return;
    CopyWalk(WalkOf(shared, {piece, shards_[s].box}, {DimOrder(), order_}), elements.data(),
             &bytes_[s][0], element_bytes_);
  }

  absl::Status WriteTo(Fleet& fleet, int64_t offset) const {
    for (size_t s = 0; s < bytes_.size(); ++s) {
      YUBA_RETURN_IF_ERROR(fleet.devices[shards_[s].device]->Write(
          offset, bytes_[s].data(), static_cast<int64_t>(bytes_[s].size())));
    }
    return absl::OkStatus();
  }

 private:
  const DimOrder& order_;
  const std::vector<Shard> shards_;
  const int64_t element_bytes_;
  std::vector<std::string> bytes_;  // [shard]
};

}  // namespace

absl::Status ForEachPiece(const std::vector<int64_t>& dims, int64_t most,
                          const std::function<absl::Status(const Box&)>& visit) {
  // A piece has one position of each dimension before `split`, a range of it, and all behind it.
  size_t split = dims.size();
  int64_t inner = 1;  // elements of the dimensions behind `split`
  while (split > 0 && (dims[split - 1] == 0 || inner <= most / dims[split - 1])) {
    inner *= dims[--split];
  }
  Box piece = WholeBox(dims);
  if (split == 0 || IsEmpty(piece)) return IsEmpty(piece) ? absl::OkStatus() : visit(piece);
  const int64_t extent = dims[--split], step = std::max<int64_t>(most / inner, 1);
  const Box outer(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(split));
  absl::Status status;
  ForEachPoint(outer, [&](const std::vector<int64_t>& point) {
    for (size_t d = 0; d < split; ++d) piece[d] = {point[d], point[d] + 1};
    for (int64_t begin = 0; begin < extent && status.ok(); begin += step) {
      piece[split] = {begin, std::min(begin + step, extent)};
      status = visit(piece);
    }
  });
  return status;
}

absl::Status SetElements(const LoadedProgram& program, const ArenaLayout& layout, Fleet& fleet,
                         int buffer, ElementType given, ValueSource& source) {
  YUBA_ASSIGN_OR_RETURN(const Conversion conversion,
                        Conversion::Make(given, program.type(buffer), program.hash()));
  std::vector<Shard> shards;
  for (const int device : OwnDevices(fleet)) {
    shards.push_back({device, program.ShapeBox(buffer, device)});
  }
  const int64_t element_bytes = program.ElementBytes(buffer);
  const int64_t most = kPieceBytes / std::max(element_bytes, conversion.given_bytes());
  const DimOrder order = program.OrderOf(buffer);
  OrderedShards ordered(order, order.empty() ? std::vector<Shard>() : shards, element_bytes);
  std::string converted, room;
  const absl::Status read =
      ForEachPiece(program.ShapeDims(buffer), most, [&](const Box& piece) -> absl::Status {
        const bool is_needed = std::any_of(shards.begin(), shards.end(), [&](const Shard& shard) {
          return !IsEmpty(Intersect(shard.box, piece));
        });
        if (!is_needed) return source.Skip(Volume(piece) * conversion.given_bytes());
        YUBA_ASSIGN_OR_RETURN(const absl::string_view bytes,
                              source.Next(Volume(piece) * conversion.given_bytes()));
        YUBA_ASSIGN_OR_RETURN(const absl::string_view elements,
                              conversion.Convert(bytes, converted));
        for (size_t s = 0; s < shards.size(); ++s) {
          if (!order.empty()) {
            ordered.Take(s, piece, elements);
            continue;
          }
          YUBA_RETURN_IF_ERROR(WriteShared(*fleet.devices[shards[s].device], layout.offsets[buffer],
                                           shards[s].box, piece, elements, element_bytes, room));
        }
        return absl::OkStatus();
      });
  return order.empty() || !read.ok() ? read : ordered.WriteTo(fleet, layout.offsets[buffer]);
}

absl::Status SetFill(const LoadedProgram& program, const ArenaLayout& layout, Fleet& fleet,
                     int buffer, const std::string& element) {
  const std::string* filled = &element;
  std::string hashed;
  if (program.hash() && IsFloat(program.type(buffer))) {
    const uint64_t bits = HashOf(FloatAt(program.type(buffer), element.data()));
    hashed.assign(reinterpret_cast<const char*>(&bits), sizeof bits);
    filled = &hashed;
  }
  const int64_t size = static_cast<int64_t>(filled->size());
  int64_t most = 0;  // elements of a shard
  for (const int device : OwnDevices(fleet))
    most = std::max(most, Volume(program.BufferBox(buffer, device)));
  std::string piece;
  for (int64_t i = 0; i < std::min(most, kPieceBytes / size / 8); ++i) piece += *filled;
  for (const int device : OwnDevices(fleet)) {
    const int64_t bytes = Volume(program.BufferBox(buffer, device)) * size;
    for (int64_t at = 0; at < bytes; at += static_cast<int64_t>(piece.size())) {
      const int64_t count = std::min<int64_t>(bytes - at, static_cast<int64_t>(piece.size()));
      YUBA_RETURN_IF_ERROR(
          fleet.devices[device]->Write(layout.offsets[buffer] + at, piece.data(), count));
    }
  }
  return absl::OkStatus();
}

}  // namespace yuba::runtime
