// SPDX-License-Identifier: Apache-2.0
// SPECIAL_MEMBERS(Claim) inside the type Claim declares its constructors, assignments and destructor.
// DEFINE_SPECIAL_MEMBERS(Claim) in a source file defines them, so that they are compiled once. If they were inline,
// each of the hundreds of files that copy or destroy a Claim would compile them again. This would take most of the
// compile time of such a file.
#pragma once

#define SPECIAL_MEMBERS(Type)                                                                                          \
  Type();                                                                                                              \
  Type(const Type &);                                                                                                  \
  Type(Type &&) noexcept;                                                                                              \
  Type &operator=(const Type &);                                                                                       \
  Type &operator=(Type &&) noexcept;                                                                                   \
  ~Type()

#define DEFINE_SPECIAL_MEMBERS(Type)                                                                                   \
  Type::Type() = default;                                                                                              \
  Type::Type(const Type &) = default;                                                                                  \
  Type::Type(Type &&) noexcept = default;                                                                              \
  Type &Type::operator=(const Type &) = default;                                                                       \
  Type &Type::operator=(Type &&) noexcept = default;                                                                   \
  Type::~Type() = default
