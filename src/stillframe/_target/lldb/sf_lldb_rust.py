"""Enums of Rust, which variant they hold: runs inside lldb.

lldb 19 keeps only 32 bits of the number by which a variant is known, and Rust 1.95's own formatter tells the wrong variant
for it, or reads without end what is none. The rest of the number is known from the type of the data that it is kept in.
"""

import re

_VARIANTS = "$variants$"
_NUMBERED = re.compile(r"\$variant\$(\d+)$")
_OTHERWISE = "$variant$"
_HIGH = re.compile(r"NoHighBit|raw_vec::Cap")
"""Types of numbers whose upper half is free, so that variants are numbered from there on."""
_HALF = 1 << 63
_DEEPEST, _MOST = 16, 64
_LIBRARY = re.compile(r"^(?:&(?:mut )?)?(?:alloc|std|core|hashbrown)::|^&(?:mut )?(?:str|\[)")


class Settings(object):
    is_rust = False


def is_librarys(name):
    """Whether Rust's own formatter is to be asked about values of this type: for containers and texts it tells them well."""
    return not Settings.is_rust or _LIBRARY.match(name) is not None


def variant(value):
    """Name and data of the variant that an enum holds; None for what is no enum with data."""
    if not Settings.is_rust:
        return None
    union = value.GetNonSyntheticValue().GetChildAtIndex(0)
    if not union.IsValid() or union.GetName() != _VARIANTS:
        return None
    variants = {each.GetName(): each for each in (union.GetChildAtIndex(at) for at in range(union.GetNumChildren()))}
    chosen = _chosen(variants)
    if chosen is None:
        return None
    name = (chosen.GetTypeName() or "").rpartition("::")[2].partition("$")[0]
    return name, chosen.GetChildMemberWithName("value")


def _chosen(variants):
    otherwise = variants.get(_OTHERWISE)
    numbered = {name: each for name, each in variants.items() if _NUMBERED.match(name)}
    discriminant = next((each.GetChildMemberWithName("$discr$") for each in numbered.values()), None)
    if discriminant is None or not discriminant.IsValid():
        return otherwise or next(iter(variants.values()), None)
    number = discriminant.GetValueAsUnsigned()
    if otherwise is not None and _is_upper_half_free(otherwise, discriminant):
        number = number & 0xFFFFFFFF if number >= _HALF else None
    elif discriminant.GetByteSize() == 8 and _OTHERWISE + str(number) not in variants:
        number &= 0xFFFFFFFF
    return numbered.get("%s%s" % (_OTHERWISE, number), otherwise)


def _is_upper_half_free(otherwise, discriminant):
    """Whether the variants are numbered by what a length never is, as the type of the data at that place tells."""
    return _holds_length(otherwise.GetChildMemberWithName("value"), discriminant.GetLoadAddress(), 0)


def _holds_length(value, address, depth):
    if not value.IsValid() or depth > _DEEPEST:
        return False
    if _HIGH.search(value.GetTypeName() or ""):
        return True
    plain = value.GetNonSyntheticValue()
    parts = (plain.GetChildAtIndex(at) for at in range(min(plain.GetNumChildren(), _MOST)))
    return any(_covers(each, address) and _holds_length(each, address, depth + 1) for each in parts)


def _covers(value, address):
    start = value.GetLoadAddress()
    return start <= address < start + value.GetByteSize()
