// SPDX-License-Identifier: MIT
// Fills messages field by field through reflection, and the well-known types within their ranges.
#include "test/rpc/random_message.h"

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <limits>
#include <string>

namespace corolane::test {
namespace {

namespace pb = google::protobuf;
using WellKnown = pb::Descriptor::WellKnownType;

template <typename Number>
Number any_integer(Random& random) {
  switch (random.below(6)) {
    case 0:
      return 0;
    case 1:
      return std::numeric_limits<Number>::max();
    case 2:
      return std::numeric_limits<Number>::min();
    default:
      return static_cast<Number>(random.any() >> random.below(64));
  }
}

double any_double(Random& random) {
  constexpr double odd[] = {0.0,    1.0,    -1.5,  0.1,     1e22,
                            1.5e-7, 5e-324, 1e308, -1e-300, 123456789012345678.0,
                            3.0e38, 1e15};
  if (random.one_in(3)) return odd[random.below(std::size(odd))];
  return static_cast<double>(static_cast<std::int64_t>(random.any())) /
         static_cast<double>(1 + random.below(1'000'000));
}

std::string any_text(Random& random) {
  constexpr const char* pieces[] = {"a",    "Z", "\"", "\\", "/",      "\n", "\t", "\x01",
                                    "\x7f", "ä", "€",  "𝄞",  "\u2028", "<",  " ",  "null"};
  std::string text;
  for (auto count = random.below(8); count > 0; --count) {
    text += pieces[random.below(std::size(pieces))];
  }
  return text;
}

std::string any_bytes(Random& random) {
  std::string bytes(random.below(10), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.any());
  return bytes;
}

void set_time(pb::Message& message, std::int64_t seconds, std::int32_t nanos) {
  const pb::Descriptor& type = *message.GetDescriptor();
  message.GetReflection()->SetInt64(&message, type.FindFieldByNumber(1), seconds);
  message.GetReflection()->SetInt32(&message, type.FindFieldByNumber(2), nanos);
}

std::int32_t any_nanos(Random& random) {
  constexpr std::int32_t units[] = {1, 1'000, 1'000'000};
  const std::int32_t unit = units[random.below(3)];
  return static_cast<std::int32_t>(random.below(1'000'000'000 / static_cast<unsigned>(unit))) *
         unit;
}

void fill_value(pb::Message& value, Random& random, int depth) {
  const pb::Reflection& reflection = *value.GetReflection();
  const pb::Descriptor& type = *value.GetDescriptor();
  switch (random.below(depth > 0 ? 6 : 4)) {
    case 0:
      return reflection.SetEnumValue(&value, type.FindFieldByName("null_value"), 0);
    case 1:
      return reflection.SetDouble(&value, type.FindFieldByName("number_value"), any_double(random));
    case 2:
      return reflection.SetString(&value, type.FindFieldByName("string_value"), any_text(random));
    case 3:
      return reflection.SetBool(&value, type.FindFieldByName("bool_value"), random.one_in(2));
    case 4:
      return fill_with_random(
          *reflection.MutableMessage(&value, type.FindFieldByName("struct_value")), random,
          depth - 1);
    default:
      return fill_with_random(
          *reflection.MutableMessage(&value, type.FindFieldByName("list_value")), random,
          depth - 1);
  }
}

// Fills a well-known type within the ranges of its fields; false for other types.
bool fill_well_known(pb::Message& message, Random& random, int depth) {
  switch (message.GetDescriptor()->well_known_type()) {
    case WellKnown::WELLKNOWNTYPE_ANY:
      return true;
    case WellKnown::WELLKNOWNTYPE_TIMESTAMP:
      set_time(message, static_cast<std::int64_t>(random.below(315'537'897'600)) - 62'135'596'800,
               any_nanos(random));
      return true;
    case WellKnown::WELLKNOWNTYPE_DURATION: {
      const auto seconds = static_cast<std::int64_t>(random.below(315'576'000'000));
      const std::int32_t nanos = any_nanos(random);
      random.one_in(2) ? set_time(message, seconds, nanos) : set_time(message, -seconds, -nanos);
      return true;
    }
    case WellKnown::WELLKNOWNTYPE_FIELDMASK:
      for (auto count = random.below(3); count > 0; --count) {
        message.GetReflection()->AddString(&message, message.GetDescriptor()->field(0),
                                           "child.an_int32");
      }
      return true;
    case WellKnown::WELLKNOWNTYPE_VALUE:
      fill_value(message, random, depth);
      return true;
    default:
      return false;
  }
}

void fill_field(pb::Message& message, const pb::FieldDescriptor* field, Random& random, int depth) {
  const pb::Reflection& to = *message.GetReflection();
  const bool adds = field->is_repeated();
  switch (field->cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32: {
      const auto number = any_integer<std::int32_t>(random);
      return adds ? to.AddInt32(&message, field, number) : to.SetInt32(&message, field, number);
    }
    case pb::FieldDescriptor::CPPTYPE_INT64: {
      const auto number = any_integer<std::int64_t>(random);
      return adds ? to.AddInt64(&message, field, number) : to.SetInt64(&message, field, number);
    }
    case pb::FieldDescriptor::CPPTYPE_UINT32: {
      const auto number = any_integer<std::uint32_t>(random);
      return adds ? to.AddUInt32(&message, field, number) : to.SetUInt32(&message, field, number);
    }
    case pb::FieldDescriptor::CPPTYPE_UINT64: {
      const auto number = any_integer<std::uint64_t>(random);
      return adds ? to.AddUInt64(&message, field, number) : to.SetUInt64(&message, field, number);
    }
    case pb::FieldDescriptor::CPPTYPE_DOUBLE: {
      const double number = any_double(random);
      return adds ? to.AddDouble(&message, field, number) : to.SetDouble(&message, field, number);
    }
    case pb::FieldDescriptor::CPPTYPE_FLOAT: {
      const auto number = static_cast<float>(random.below(1'000'000)) / 128.0F;
      return adds ? to.AddFloat(&message, field, number) : to.SetFloat(&message, field, number);
    }
    case pb::FieldDescriptor::CPPTYPE_BOOL: {
      const bool truth = random.one_in(2);
      return adds ? to.AddBool(&message, field, truth) : to.SetBool(&message, field, truth);
    }
    case pb::FieldDescriptor::CPPTYPE_ENUM: {
      const auto* const type = field->enum_type();
      const int number =
          type->value(static_cast<int>(random.below(static_cast<unsigned>(type->value_count()))))
              ->number();
      return adds ? to.AddEnumValue(&message, field, number)
                  : to.SetEnumValue(&message, field, number);
    }
    case pb::FieldDescriptor::CPPTYPE_STRING: {
      const bool is_bytes = field->type() == pb::FieldDescriptor::TYPE_BYTES;
      std::string text = is_bytes ? any_bytes(random) : any_text(random);
      return adds ? to.AddString(&message, field, std::move(text))
                  : to.SetString(&message, field, std::move(text));
    }
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      if (field->message_type()->well_known_type() == WellKnown::WELLKNOWNTYPE_ANY) return;
      return fill_with_random(
          adds ? *to.AddMessage(&message, field) : *to.MutableMessage(&message, field), random,
          depth - 1);
  }
}

// Sets both key and value, and each key only once.
void fill_map(pb::Message& message, const pb::FieldDescriptor* field, Random& random, int depth) {
  pb::Message* const entry = message.GetReflection()->AddMessage(&message, field);
  fill_field(*entry, field->message_type()->map_key(), random, depth);
  fill_field(*entry, field->message_type()->map_value(), random, depth);
}

}  // namespace

void fill_with_random(pb::Message& message, Random& random, int depth) {
  if (fill_well_known(message, random, depth)) return;
  const pb::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor* const field = type.field(i);
    const bool is_message = field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE;
    if (!random.one_in(4) || (is_message && depth <= 0)) continue;
    if (field->is_map()) {
      fill_map(message, field, random, depth);
    } else {
      for (auto count = field->is_repeated() ? random.below(4) : 1; count > 0; --count) {
        fill_field(message, field, random, depth);
      }
    }
  }
}

}  // namespace corolane::test
