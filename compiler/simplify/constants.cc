#include "compiler/simplify/constants.h"

#include <cstring>

#include "opsemantics/base/check.h"
#include "opsemantics/base/half.h"

namespace yuba::compiler {
namespace {

template <typename T>
T Load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

Scalar LoadScalar(ElementType type, const char* bytes) {
  Scalar scalar;
  scalar.integer = 0;
  switch (type) {
    case ElementType::kF64: scalar.number = Load<double>(bytes); break;
    case ElementType::kF32: scalar.number = Load<float>(bytes); break;
    case ElementType::kF16: scalar.number = FromF16(Load<uint16_t>(bytes)); break;
    case ElementType::kBF16: scalar.number = FromBF16(Load<uint16_t>(bytes)); break;
    default:
      std::memcpy(&scalar.integer, bytes, ByteSize(type));
      scalar.integer = WrapInteger(scalar.integer, type);
  }
  return scalar;
}

template <typename T>
void Store(T value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void StoreScalar(ElementType type, const Scalar& scalar, std::string& bytes) {
  switch (type) {
    case ElementType::kF64: return Store(scalar.number, bytes);
    case ElementType::kF32: return Store(static_cast<float>(scalar.number), bytes);
    case ElementType::kF16: return Store(ToF16(static_cast<float>(scalar.number)), bytes);
    case ElementType::kBF16: return Store(ToBF16(static_cast<float>(scalar.number)), bytes);
    case ElementType::kBool: return Store(static_cast<char>(scalar.integer != 0), bytes);
    default:  // the low bytes come first
      bytes.append(reinterpret_cast<const char*>(&scalar.integer), ByteSize(type));
  }
}

template <typename T>
TensorValue ValueOf(ElementType type, const std::vector<int64_t>& dims,
                    const std::vector<T>& elements, T Scalar::* member) {
  TensorValue value;
  value.type = TensorType{type, dims};
  for (const T element : elements) {
    Scalar scalar;
    scalar.*member = element;
    value.elements.push_back(scalar);
  }
  return value;
}

}  // namespace

TensorValue ValueFromBytes(ElementType type, const std::vector<int64_t>& dims,
                           const std::string& bytes) {
  TensorValue value;
  value.type = TensorType{type, dims};
  const int64_t size = ByteSize(type);
  const int64_t elements = ElementCount(value.type);
  YUBA_CHECK(static_cast<int64_t>(bytes.size()) == elements * size) << bytes.size();
  value.elements.reserve(elements);
  for (int64_t i = 0; i < elements; ++i)
    value.elements.push_back(LoadScalar(type, bytes.data() + i * size));
  return value;
}

std::string BytesFromValue(const TensorValue& value) {
  std::string bytes;
  bytes.reserve(value.elements.size() * ByteSize(value.type.type));
  for (const Scalar& scalar : value.elements) StoreScalar(value.type.type, scalar, bytes);
  return bytes;
}

TensorValue IntegerValue(const std::vector<int64_t>& dims, const std::vector<int64_t>& elements) {
  return ValueOf(ElementType::kI64, dims, elements, &Scalar::integer);
}

TensorValue FloatValue(const std::vector<int64_t>& dims, const std::vector<double>& elements) {
  return ValueOf(ElementType::kF32, dims, elements, &Scalar::number);
}

}  // namespace yuba::compiler
