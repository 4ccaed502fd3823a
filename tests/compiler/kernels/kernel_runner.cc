#include "tests/compiler/kernels/kernel_runner.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/half.h"
#include "opsemantics/base/status.h"
#include "opsemantics/regions/boxes.h"

namespace yuba::kernels {
namespace {

constexpr int64_t kGuard = 64;  // bytes before and after a buffer
constexpr uint8_t kPoison = 0xa5;

int64_t StoredSize(ElementType type, Arithmetic arithmetic) {
  return arithmetic == Arithmetic::kHash && IsFloat(type) ? 8 : ByteSize(type);
}

template <typename T>
void Put(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

template <typename T>
T Get(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void Write(uint8_t* at, Scalar value, ElementType type, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::kHash && IsFloat(type)) return Put(at, value.hash);
  switch (type) {
    case ElementType::kF64: return Put(at, value.number);
    case ElementType::kF32: return Put(at, static_cast<float>(value.number));
    case ElementType::kF16: return Put(at, ToF16(static_cast<float>(value.number)));
    case ElementType::kBF16: return Put(at, ToBF16(static_cast<float>(value.number)));
    case ElementType::kI64: return Put(at, value.integer);
    case ElementType::kI32: return Put(at, static_cast<int32_t>(value.integer));
    case ElementType::kI8:
    case ElementType::kU8:
    case ElementType::kBool: return Put(at, static_cast<int8_t>(value.integer));
    case ElementType::kI16:
    case ElementType::kU16: return Put(at, static_cast<int16_t>(value.integer));
    case ElementType::kU32: return Put(at, static_cast<uint32_t>(value.integer));
    case ElementType::kU64: return Put(at, value.integer);
  }
}

Scalar ReadBack(const uint8_t* at, ElementType type, Arithmetic arithmetic) {
  Scalar value = {};
  if (arithmetic == Arithmetic::kHash && IsFloat(type)) {
    value.hash = Get<uint64_t>(at);
    return value;
  }
  switch (type) {
    case ElementType::kF64: value.number = Get<double>(at); break;
    case ElementType::kF32: value.number = Get<float>(at); break;
    case ElementType::kF16: value.number = FromF16(Get<uint16_t>(at)); break;
    case ElementType::kBF16: value.number = FromBF16(Get<uint16_t>(at)); break;
    case ElementType::kI64: value.integer = Get<int64_t>(at); break;
    case ElementType::kI32: value.integer = Get<int32_t>(at); break;
    case ElementType::kI8: value.integer = Get<int8_t>(at); break;
    case ElementType::kU8:
    case ElementType::kBool: value.integer = Get<uint8_t>(at); break;
    case ElementType::kI16: value.integer = Get<int16_t>(at); break;
    case ElementType::kU16: value.integer = Get<uint16_t>(at); break;
    case ElementType::kU32: value.integer = Get<uint32_t>(at); break;
    case ElementType::kU64: value.integer = Get<int64_t>(at); break;
  }
  return value;
}

double Tolerance(ElementType type) {
  switch (type) {
    case ElementType::kF64: return 1e-9;
    case ElementType::kF32: return 2e-5;
    case ElementType::kF16: return 4e-3;
    default: return 3e-2;
  }
}

bool Same(Scalar a, Scalar b, ElementType type, Arithmetic arithmetic) {
  if (!IsFloat(type)) return a.integer == b.integer;
  if (arithmetic == Arithmetic::kHash) return a.hash == b.hash;
  if (std::isnan(a.number) || std::isnan(b.number))
    return std::isnan(a.number) && std::isnan(b.number);
  if (std::isinf(a.number) || std::isinf(b.number)) return a.number == b.number;
  return std::fabs(a.number - b.number) <= Tolerance(type) * (1 + std::fabs(b.number));
}

std::string Show(Scalar value, ElementType type, Arithmetic arithmetic) {
  if (IsFloat(type) && arithmetic == Arithmetic::kFloat) return absl::StrCat(value.number);
  return absl::StrCat(value.integer);
}

int64_t OffsetIn(const Box& box, const std::vector<int64_t>& point) {
  int64_t offset = 0;
  for (size_t d = 0; d < box.size(); ++d) offset = offset * box[d].size() + point[d] - box[d].begin;
  return offset;
}

// The box that a device holds: a little more than the kernel touches; the rest is poison.
struct Buffer {
  TensorType type;
  Box box;
  std::vector<uint8_t> bytes;
  uint8_t* data() { return bytes.data() + kGuard; }
};

Buffer ExactBuffer(const TensorType& type, const Box& box, Arithmetic arithmetic) {
  Buffer buffer;
  buffer.type = type;
  buffer.box = box;
  if (IsEmpty(box)) buffer.box.assign(box.size(), Interval{0, 0});
  const int64_t size = Volume(buffer.box) * StoredSize(type.type, arithmetic);
  buffer.bytes.assign(size + 2 * kGuard, kPoison);
  return buffer;
}

Buffer MakeBuffer(const TensorType& type, const Box& needed, Arithmetic arithmetic,
                  std::mt19937_64& random) {
  if (IsEmpty(needed)) return ExactBuffer(type, needed, arithmetic);
  Box box = needed;
  for (size_t d = 0; d < needed.size(); ++d) {
    if (needed[d].begin > 0) box[d].begin -= random() % 2;
    if (needed[d].end < type.dims[d]) box[d].end += random() % 2;
  }
  return ExactBuffer(type, box, arithmetic);
}

std::vector<int64_t> Arguments(const std::vector<Interval>& ranges,
                               const std::vector<Buffer>& buffers) {
  std::vector<int64_t> arguments;
  for (const Interval& range : ranges) {
    arguments.push_back(range.begin);
    arguments.push_back(range.end);
  }
  for (const Buffer& buffer : buffers) {
    for (const Interval& interval : buffer.box) {
      arguments.push_back(interval.begin);
      arguments.push_back(interval.size());
    }
  }
  return arguments;
}

int64_t WholeOffset(const TensorType& type, const std::vector<int64_t>& point) {
  return OffsetIn(WholeBox(type.dims), point);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoadedObject>> LoadedObject::Load(const std::string& bytes) {
  const int file = memfd_create("kernels", MFD_CLOEXEC);
  if (file < 0 || write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    return InternalError("cannot write the object to memory");
  void* handle = dlopen(absl::StrCat("/proc/self/fd/", file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    close(file);
    return InternalError(dlerror());
  }
  return std::unique_ptr<LoadedObject>(new LoadedObject(handle, file));
}

LoadedObject::~LoadedObject() {
  dlclose(handle_);
  close(file_);
}

runtime::HostKernel LoadedObject::Find(const std::string& symbol) const {
  return reinterpret_cast<runtime::HostKernel>(dlsym(handle_, symbol.c_str()));
}

TensorValue RandomTensor(const TensorType& type, Arithmetic arithmetic, std::mt19937_64& random) {
  TensorValue value{type, {}};
  value.elements.resize(ElementCount(type));
  for (Scalar& element : value.elements) {
    if (arithmetic == Arithmetic::kHash && IsFloat(type.type)) {
      element.hash = random();
    } else if (IsFloat(type.type)) {
      // Eighths are exact in every float type.
      element.number = static_cast<double>(static_cast<int64_t>(random() % 33) - 16) / 8;
    } else if (type.type == ElementType::kBool) {
      element.integer = random() % 2;
    } else if (type.type == ElementType::kU64 && random() % 4 == 0) {
      element.integer = static_cast<int64_t>(random() | uint64_t{1} << 63);  // no number below 0
    } else if (!IsSigned(type.type)) {
      element.integer = random() % 9;
    } else {
      element.integer = static_cast<int64_t>(random() % 12) - 4;
    }
  }
  return value;
}

std::vector<Interval> RandomRanges(const Definition& definition, std::mt19937_64& random) {
  std::vector<Interval> ranges;
  for (const Index& index : definition.indices) {
    if (index.extent == 0) {
      ranges.push_back({0, 0});
      continue;
    }
    int64_t begin = random() % index.extent, end = 1 + random() % index.extent;
    if (random() % 3 == 0) begin = 0, end = index.extent;
    if (end <= begin) std::swap(begin, --end), ++end;
    ranges.push_back({begin, end});
  }
  return ranges;
}

std::string CompareWithInterpreter(const Definition& definition, runtime::HostKernel kernel,
                                   const std::vector<Interval>& ranges, Arithmetic arithmetic,
                                   std::mt19937_64& random) {
  const Boxes boxes = AnalyzeBoxes(definition, ranges);
  std::vector<TensorValue> values;
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < definition.operands.size(); ++i) {
    const TensorType& type = definition.operands[i];
    values.push_back(RandomTensor(type, arithmetic, random));
    buffers.push_back(MakeBuffer(type, boxes.reads[i], arithmetic, random));
    Buffer& buffer = buffers.back();
    const int64_t size = StoredSize(type.type, arithmetic);
    ForEachPoint(boxes.reads[i], [&](const std::vector<int64_t>& point) {
      Write(buffer.data() + OffsetIn(buffer.box, point) * size,
            values[i].elements[WholeOffset(type, point)], type.type, arithmetic);
    });
  }
  const TensorType& type = definition.result;
  buffers.push_back(MakeBuffer(type, boxes.writes, arithmetic, random));
  Box written;
  for (const Affine& left : definition.left) written.push_back(Range(left, ranges));
  if (boxes.writes != written) {  // elements without a term: the buffer must not have room for them
    buffers.back() = ExactBuffer(type, boxes.writes, arithmetic);
  }
  std::vector<const TensorValue*> operands;
  for (const TensorValue& value : values) operands.push_back(&value);
  TensorValue expected{type, std::vector<Scalar>(ElementCount(type))};
  Interpret(definition, ranges, operands, arithmetic, expected);

  const std::vector<Buffer> before = buffers;
  std::vector<void*> pointers;
  for (Buffer& buffer : buffers) pointers.push_back(buffer.data());
  kernel(pointers.data(), Arguments(ranges, buffers).data());

  for (size_t i = 0; i < values.size(); ++i)
    if (buffers[i].bytes != before[i].bytes) return absl::StrCat("operand ", i, " was changed");
  Buffer& result = buffers.back();
  const int64_t size = StoredSize(type.type, arithmetic);
  std::string wrong;
  ForEachPoint(boxes.writes, [&](const std::vector<int64_t>& point) {
    uint8_t* at = result.data() + OffsetIn(result.box, point) * size;
    const Scalar actual = ReadBack(at, type.type, arithmetic);
    const Scalar wanted = expected.elements[WholeOffset(type, point)];
    if (wrong.empty() && !Same(actual, wanted, type.type, arithmetic)) {
      wrong = "element (";
      for (int64_t x : point) absl::StrAppend(&wrong, x, " ");
      absl::StrAppend(&wrong, ") is ", Show(actual, type.type, arithmetic), ", not ",
                      Show(wanted, type.type, arithmetic));
    }
    std::memset(at, kPoison, size);
  });
  if (wrong.empty() && result.bytes != before.back().bytes) wrong = "wrote outside of its box";
  return wrong;
}

std::string CheckKernels(const std::vector<Definition>& definitions, Arithmetic arithmetic,
                         int parts, const std::string& cpu) {
  std::vector<NamedKernel> named;
  for (size_t i = 0; i < definitions.size(); ++i)
    named.push_back(Alone(absl::StrCat("kernel_", i), definitions[i]));
  KernelTarget target;
  target.arithmetic = arithmetic;
  target.cpu = cpu;
  if (const char* folder = std::getenv("YUBA_DUMP")) target.dump_dir = folder;
  absl::StatusOr<std::string> bytes = GenerateKernels(named, target);
  if (!bytes.ok()) return bytes.status().ToString();
  absl::StatusOr<std::unique_ptr<LoadedObject>> object = LoadedObject::Load(*bytes);
  if (!object.ok()) return object.status().ToString();
  std::string wrong;
  for (size_t i = 0; i < definitions.size(); ++i) {
    runtime::HostKernel kernel = (*object)->Find(named[i].symbol);
    if (kernel == nullptr) return absl::StrCat("no symbol ", named[i].symbol);
    std::mt19937_64 random(i);
    for (int part = 0; part <= parts; ++part) {
      const std::vector<Interval> ranges =
          part == 0 ? WholeRanges(definitions[i]) : RandomRanges(definitions[i], random);
      const std::string problem =
          CompareWithInterpreter(definitions[i], kernel, ranges, arithmetic, random);
      if (problem.empty()) continue;
      absl::StrAppend(&wrong, named[i].symbol, " ", ToString(definitions[i]), " on ",
                      ToString(Box(ranges)), ": ", problem, "\n");
      break;
    }
  }
  return wrong;
}

}  // namespace yuba::kernels
