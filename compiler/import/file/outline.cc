#include "compiler/import/file/outline.h"

#include <climits>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/wire_format_lite.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr uint32_t kMostKept = 1024;  // bytes of raw data that stay in the message

constexpr uint32_t Tag(int field, WireFormatLite::WireType type) {
  return static_cast<uint32_t>(field) << 3 | type;
}
constexpr uint32_t kGraph =
    Tag(::onnx::ModelProto::kGraphFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
constexpr uint32_t kInitializer =
    Tag(::onnx::GraphProto::kInitializerFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
constexpr uint32_t kRawData =
    Tag(::onnx::TensorProto::kRawDataFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
constexpr uint32_t kDataLocation =
    Tag(::onnx::TensorProto::kDataLocationFieldNumber, WireFormatLite::WIRETYPE_VARINT);

// Copies a message field by field. Every function returns whether the bytes are as expected.
class Outliner {
 public:
  Outliner(CodedInputStream& in, int64_t size, const std::string& name)
      : in_(in), size_(size), name_(name) {}

  bool Model(std::string& bytes) {
    return Copy(bytes, [this](uint32_t tag, CodedOutputStream& out) {
      return tag == kGraph ? Nested(tag, out, &Outliner::Graph) : Plain(tag, out);
    });
  }

 private:
  // Copies fields up to the end of the message; `field` copies the one whose tag was read.
  template <typename Field>
  bool Copy(std::string& bytes, const Field& field) {
    google::protobuf::io::StringOutputStream stream(&bytes);
    CodedOutputStream out(&stream);
    while (const uint32_t tag = in_.ReadTag()) {
      if (!field(tag, out)) return false;
    }
    return in_.ConsumedEntireMessage();
  }

  bool Plain(uint32_t tag, CodedOutputStream& out) {
    return WireFormatLite::SkipField(&in_, tag, &out);
  }

  bool Nested(uint32_t tag, CodedOutputStream& out, bool (Outliner::*message)(std::string&)) {
    uint32_t length = 0;
    if (!in_.ReadVarint32(&length)) return false;
    const CodedInputStream::Limit limit = in_.PushLimit(static_cast<int>(length));
    std::string bytes;
    // At the file's end a message seems to be whole, wherever it should have ended.
    if (!(this->*message)(bytes) || in_.BytesUntilLimit() != 0) return false;
    in_.PopLimit(limit);
    out.WriteVarint32(tag);
    out.WriteVarint32(static_cast<uint32_t>(bytes.size()));
    out.WriteString(bytes);
    return true;
  }

  bool Graph(std::string& bytes) {
    return Copy(bytes, [this](uint32_t tag, CodedOutputStream& out) {
      return tag == kInitializer ? Nested(tag, out, &Outliner::Tensor) : Plain(tag, out);
    });
  }

  bool Tensor(std::string& bytes) {
    int values = 0;  // raw data that was found, and statements that it is elsewhere
    ::onnx::TensorProto elsewhere;
    const auto field = [&](uint32_t tag, CodedOutputStream& out) {
      values += tag == kRawData || tag == kDataLocation;
      if (tag == kDataLocation) {
        uint32_t location = 0;
        if (!in_.ReadVarint32(&location)) return false;
        values -= location == ::onnx::TensorProto::DEFAULT;
        out.WriteVarint32(tag);
        out.WriteVarint32(location);
        return true;
      }
      return tag == kRawData ? RawData(out, elsewhere) : Plain(tag, out);
    };
    if (!Copy(bytes, field)) return false;
    elsewhere.AppendToString(&bytes);
    return values <= 1 || elsewhere.external_data_size() == 0;
  }

  // Small data is copied, large data skipped and described in `elsewhere`.
  bool RawData(CodedOutputStream& out, ::onnx::TensorProto& elsewhere) {
    uint32_t length = 0;
    if (!in_.ReadVarint32(&length)) return false;
    const int64_t offset = in_.CurrentPosition();
    if (length > size_ - offset) return false;
    if (length <= kMostKept) {
      std::string data;
      if (!in_.ReadString(&data, static_cast<int>(length))) return false;
      out.WriteVarint32(kRawData);
      out.WriteVarint32(length);
      out.WriteString(data);
      return true;
    }
    const auto say = [&elsewhere](const char* key, const std::string& value) {
      ::onnx::StringStringEntryProto* entry = elsewhere.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    say("location", name_);
    say("offset", absl::StrCat(offset));
    say("length", absl::StrCat(length));
    elsewhere.set_data_location(::onnx::TensorProto::EXTERNAL);
    return in_.Skip(static_cast<int>(length));
  }

  CodedInputStream& in_;
  const int64_t size_;
  const std::string& name_;
};

}  // namespace

absl::optional<std::string> OutlineOf(const UniqueFd& file, int64_t size, const std::string& name) {
  google::protobuf::io::FileInputStream stream(file.get());
  CodedInputStream in(&stream);
  in.SetTotalBytesLimit(INT_MAX);
  std::string bytes;
  if (!Outliner(in, size, name).Model(bytes)) return absl::nullopt;
  return bytes;
}

}  // namespace yuba::onnx
