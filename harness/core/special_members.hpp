// SPDX-License-Identifier: Apache-2.0
// Constructors, assignments and destructor of a type that hundreds of files use, compiled once: SPECIAL_MEMBERS(Claim) in the
// type, DEFINE_SPECIAL_MEMBERS(Claim) in a source file. If they were inline, every file that copies or destroys such an
// object would compile them again, which would take most of the file's compile time.
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
