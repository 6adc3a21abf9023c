//! Names that C and C++ accept, distinct within a function and within a library.

use std::collections::BTreeSet;

/// Words that can't name a parameter: keywords of C and C++, and macros that headers or compilers define.
const TAKEN: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class \
    compl const const_cast constexpr continue decltype default delete do double dynamic_cast else enum errno explicit \
    export extern false float for friend goto if inline int linux long mutable namespace new noexcept not not_eq nullptr \
    operator or or_eq private protected public register reinterpret_cast restrict return short signed sizeof static \
    static_assert static_cast stderr stdin stdout struct switch template this thread_local throw true try typedef typeid \
    typename union unix unsigned using virtual void volatile wchar_t while xor xor_eq \
    NULL I workspace workspace_bytes hook hook_context \
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t uintptr_t \
    INT32_MIN INT32_MAX INT64_MIN SIZE_MAX UINT64_MAX UINTPTR_MAX memcpy";

/// What a library defines for all kernels, after the prefix.
pub(super) const LIBRARY_NAMES: [&str; 16] = [
    "abi_version",
    "required_features",
    "target",
    "supported",
    "status_text",
    "ok",
    "error_null",
    "error_extent",
    "error_stride",
    "error_size",
    "error_coordinates",
    "error_overlaps_itself",
    "error_overlap",
    "error_in_place",
    "error_workspace",
    "error_workspace_alignment",
];

/// The names in one function so far.
#[derive(Debug, Default)]
pub(super) struct Scope {
    used: BTreeSet<String>,
}

impl Scope {
    /// `name`, with underscores behind it until it and each `name` + `suffix` are free.
    pub(super) fn claim(&mut self, name: &str, suffixes: &[&str]) -> String {
        let mut name = name.to_owned();
        // Names the functions use themselves begin so; capital letters alone are a macro's.
        let is_macro = name.len() > 1
            && name
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if name.starts_with("tw_") || name.starts_with('_') || is_macro {
            name = format!("arg_{name}");
        }
        let free =
            |name: &str| !TAKEN.split(' ').any(|word| word == name) && !self.used.contains(name);
        while !free(&name)
            || suffixes
                .iter()
                .any(|suffix| !free(&format!("{name}{suffix}")))
        {
            name.push('_');
        }
        for suffix in suffixes {
            self.used.insert(format!("{name}{suffix}"));
        }
        self.used.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::Scope;

    #[test]
    fn keywords_and_repeated_names_are_stepped_round() {
        let mut scope = Scope::default();
        assert_eq!(scope.claim("x", &["_strides"]), "x");
        assert_eq!(scope.claim("x", &[]), "x_");
        assert_eq!(scope.claim("new", &[]), "new_");
        assert_eq!(scope.claim("x_strides", &[]), "x_strides_");
        assert_eq!(scope.claim("workspace", &[]), "workspace_");
        assert_eq!(scope.claim("tw_record", &[]), "arg_tw_record");
        assert_eq!(scope.claim("EOF", &[]), "arg_EOF");
    }
}
