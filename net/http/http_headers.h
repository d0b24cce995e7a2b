// SPDX-License-Identifier: MIT
// The header fields of an HTTP message: names and values in the order of their arrival.
//
//   HttpHeaders headers = {{"Accept", "application/json"}};
//   headers.add("Authorization", "Bearer " + token);
//   for (const auto& [name, value] : headers) std::cout << name << ": " << value << '\n';
//
// All of them lie in one text, and clear() keeps its memory: a server that reads request after
// request into the same fields allocates nothing for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corolane::net {

// Header names compare without regard to case.
inline bool is_same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return a.size() == b.size() &&
         std::ranges::equal(a, b, [&](char x, char y) { return lower(x) == lower(y); });
}

class HttpHeaders {
 public:
  using Header = std::pair<std::string_view, std::string_view>;
  class Iterator;
  using value_type = Header;
  using const_iterator = Iterator;  // NOLINT(readability-identifier-naming): std's name.

  HttpHeaders() = default;
  HttpHeaders(std::initializer_list<Header> headers) {
    for (const auto& [name, value] : headers) add(name, value);
  }

  void add(std::string_view name, std::string_view value) {
    places_.push_back(
        {.begin = text_.size(), .name_size = name.size(), .value_size = value.size()});
    text_.append(name).append(value);
  }

  // The value of the first header of that name; empty when there is none.
  std::string_view find(std::string_view name) const {
    for (const Place& place : places_) {
      if (place.name_size == name.size() && is_same_name(at(place).first, name)) {
        return at(place).second;
      }
    }
    return {};
  }

  bool empty() const { return places_.empty(); }
  std::size_t size() const { return places_.size(); }
  void clear() {
    text_.clear();
    places_.clear();
  }

  // The views are valid until the next add() or clear().
  inline Iterator begin() const;
  inline Iterator end() const;

  friend bool operator==(const HttpHeaders&, const HttpHeaders&) = default;

 private:
  struct Place {
    std::size_t begin;
    std::size_t name_size;
    std::size_t value_size;

    friend bool operator==(const Place&, const Place&) = default;
  };

  Header at(const Place& place) const {
    const std::string_view text = text_;
    return {text.substr(place.begin, place.name_size),
            text.substr(place.begin + place.name_size, place.value_size)};
  }

  std::string text_;
  std::vector<Place> places_;
};

class HttpHeaders::Iterator {
 public:
  using value_type = Header;
  using difference_type = std::ptrdiff_t;

  Iterator() = default;
  Header operator*() const { return headers_->at(headers_->places_[index_]); }
  Iterator& operator++() {
    ++index_;
    return *this;
  }
  Iterator operator++(int) {
    const Iterator before = *this;
    ++index_;
    return before;
  }
  friend bool operator==(const Iterator&, const Iterator&) = default;

 private:
  friend class HttpHeaders;
  Iterator(const HttpHeaders& headers, std::size_t index) : headers_(&headers), index_(index) {}

  const HttpHeaders* headers_ = nullptr;
  std::size_t index_ = 0;
};

inline HttpHeaders::Iterator HttpHeaders::begin() const { return {*this, 0}; }
inline HttpHeaders::Iterator HttpHeaders::end() const { return {*this, places_.size()}; }

}  // namespace corolane::net
