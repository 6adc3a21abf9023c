//! The C header of a library: what a caller has to know, and functions that check before they launch.

use std::fmt::Write as _;

use cranelift_backend::entry_symbol;
use kernel_abi::{ABI_VERSION, DomainExtent, WORKSPACE_ALIGN};
use machine::{Architecture, Feature, System};
use numerics::ElementType;
use runtime::{ParamSignature, Signature};

use super::names::Scope;
use super::{AotKernel, Library};

const SUPPORT: &str = include_str!("support.h");

/// The whole header.
pub(super) fn header(library: &Library) -> String {
    let prefix = &library.prefix;
    let rank = library.kernels.iter().map(most_dimensions).max();
    let rank = rank.unwrap_or(1).max(1);
    let mut out = format!(
        "/* Made by tilewright: kernels for {} with {}.\n   C99 and C++17. docs/aot.md of Tilewright says how to use it. */\n\
         #ifndef TILEWRIGHT_{prefix}_H\n#define TILEWRIGHT_{prefix}_H\n\n\
         #include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n",
        library.kernels[0].triple,
        library.features()
    );
    out.push_str(&platform(library));
    let _ = write!(
        out,
        "\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n\
         extern const uint32_t {prefix}_abi_version;       /* the contract of the entry points */\n\
         extern const uint64_t {prefix}_required_features; /* instruction sets: {}, as bits */\n\
         extern const char {prefix}_target[];              /* both in words */\n\n",
        library.features()
    );
    for kernel in &library.kernels {
        for n in 0..kernel.code.entries().len() {
            let symbol = entry_symbol(&format!("{prefix}_"), kernel.name(), n);
            let _ = writeln!(
                out,
                "extern void {symbol}(const uint64_t *record, uint64_t begin, uint64_t end, unsigned char *worker, unsigned char *shared);"
            );
        }
    }
    out.push('\n');
    out.push_str(&supported(library));
    let support = SUPPORT
        .replace("PFX_INTERNAL_RANK", &rank.to_string())
        .replace("PFX_", &format!("{prefix}_"));
    out.push_str(&support);
    for kernel in &library.kernels {
        Function::new(library, kernel).write(&mut out);
    }
    out.push_str("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    out
}

fn most_dimensions(kernel: &AotKernel) -> usize {
    let ranks = kernel
        .signature
        .params
        .iter()
        .map(|(_, param)| match param {
            ParamSignature::View(view) => view.axes.len(),
            ParamSignature::Scalar(_) => 0,
        });
    ranks.max().unwrap_or(0)
}

/// Refuses compilers for other targets, and includes what `supported` asks the system with.
fn platform(library: &Library) -> String {
    let (test, name, include) = match (library.architecture(), library.system()) {
        (Architecture::X86_64, _) => ("__x86_64__", "x86-64", "#include <cpuid.h>\n"),
        (Architecture::Aarch64, System::Linux) => {
            ("__aarch64__", "aarch64", "#include <sys/auxv.h>\n")
        }
        (Architecture::Aarch64, System::Darwin) => ("__aarch64__", "aarch64", ""),
    };
    format!(
        "\n#if !defined({test})\n#error \"this library is for {name}: build one for this target\"\n#endif\n{include}"
    )
}

/// The function that asks the running CPU.
fn supported(library: &Library) -> String {
    let prefix = &library.prefix;
    let mut out = format!(
        "/* 1 if object and header belong together and this CPU and system run the code; ask once, before the first call. */\n\
         static inline int {prefix}_supported(void)\n{{\n    \
         if ({prefix}_abi_version != {ABI_VERSION}u || {prefix}_required_features != {}u) {{\n        return 0;\n    }}\n",
        library.features().bits()
    );
    match (library.architecture(), library.system()) {
        (Architecture::X86_64, _) => out.push_str(&x86_supported(library)),
        (Architecture::Aarch64, System::Linux) => {
            out.push_str("    return (getauxval(AT_HWCAP) >> 1 & 1) != 0; /* Advanced SIMD */\n");
        }
        (Architecture::Aarch64, System::Darwin) => out.push_str("    return 1;\n"),
    }
    out.push_str("}\n\n");
    out
}

/// CPUID for the instruction sets, XGETBV for the system's leave to use their registers.
fn x86_supported(library: &Library) -> String {
    let (mut one, mut seven, mut extended) = (1u32 << 27, 0u32, 0u32);
    for feature in library.features().iter() {
        match feature {
            Feature::Sse3 => one |= 1,
            Feature::Ssse3 => one |= 1 << 9,
            Feature::Fma => one |= 1 << 12,
            Feature::Sse41 => one |= 1 << 19,
            Feature::Sse42 => one |= 1 << 20,
            Feature::Popcnt => one |= 1 << 23,
            Feature::Avx => one |= 1 << 28,
            Feature::F16c => one |= 1 << 29,
            Feature::Bmi1 => seven |= 1 << 3,
            Feature::Avx2 => seven |= 1 << 5,
            Feature::Bmi2 => seven |= 1 << 8,
            Feature::Lzcnt => extended |= 1 << 5,
            Feature::Neon
            | Feature::Fp16
            | Feature::Lse
            | Feature::Dotprod
            | Feature::Bf16
            | Feature::Sve => {}
        }
    }
    format!(
        "    {{\n        unsigned a, b, c, d, low, high;\n        \
         if (!__get_cpuid(1, &a, &b, &c, &d) || (c & {one}u) != {one}u) {{\n            return 0;\n        }}\n        \
         __asm__ __volatile__(\"xgetbv\" : \"=a\"(low), \"=d\"(high) : \"c\"(0));\n        \
         if ((low & 6u) != 6u) {{\n            return 0;\n        }}\n        (void)high;\n        \
         if ({seven}u != 0u && (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & {seven}u) != {seven}u)) {{\n            return 0;\n        }}\n        \
         if ({extended}u != 0u && (!__get_cpuid(0x80000001u, &a, &b, &c, &d) || (c & {extended}u) != {extended}u)) {{\n            return 0;\n        }}\n        \
         return 1;\n    }}\n"
    )
}

/// Everything about one kernel's functions.
struct Function<'l> {
    prefix: &'l str,
    kernel: &'l AotKernel,
    signature: &'l Signature,
    params: Vec<String>,
    /// A name for each axis without a fixed extent.
    axes: Vec<Option<String>>,
}

impl<'l> Function<'l> {
    fn new(library: &'l Library, kernel: &'l AotKernel) -> Function<'l> {
        let signature = &kernel.signature;
        let mut scope = Scope::default();
        let params = signature
            .params
            .iter()
            .map(|(name, _)| scope.claim(name, &["_strides"]))
            .collect();
        let axes = signature
            .axes
            .iter()
            .map(|axis| axis.extent.is_none().then(|| scope.claim(&axis.name, &[])))
            .collect();
        Function {
            prefix: &library.prefix,
            kernel,
            signature,
            params,
            axes,
        }
    }

    fn write(&self, out: &mut String) {
        self.document(out);
        self.workspace(out);
        self.strided(out);
        self.dense(out);
    }

    fn document(&self, out: &mut String) {
        let safe = |text: &str| {
            text.replace("*/", "* /")
                .replace("/*", "/ *")
                .replace("??", "? ?")
        };
        let _ = writeln!(
            out,
            "\n/* {}_{}. {}",
            self.prefix,
            self.kernel.name(),
            safe(&self.kernel.description)
        );
        for ((_, param), name) in self.signature.params.iter().zip(&self.params) {
            let _ = match param {
                ParamSignature::Scalar(element) => writeln!(out, "   {name}: {element}, a number."),
                ParamSignature::View(view) => {
                    let extents: Vec<String> = view
                        .axes
                        .iter()
                        .map(|&axis| self.extent_text(axis))
                        .collect();
                    let way = if view.mutable {
                        "read or written"
                    } else {
                        "read"
                    };
                    writeln!(
                        out,
                        "   {name}: {}[{}], {way}; any alignment.",
                        view.element,
                        extents.join("][")
                    )
                }
            };
        }
        for &(a, b) in &self.signature.may_share {
            let _ = writeln!(
                out,
                "   {} and {} may be the very same elements.",
                self.params[a], self.params[b]
            );
        }
        let _ = writeln!(
            out,
            "   workspace: at least {}_{}_workspace(..) bytes, aligned to {WORKSPACE_ALIGN}; NULL if that is 0.\n   \
             The strided function takes strides in elements, one a dimension, NULL for dense rows. */",
            self.prefix,
            self.kernel.name()
        );
    }

    fn extent_text(&self, axis: usize) -> String {
        match (&self.axes[axis], self.signature.axes[axis].extent) {
            (Some(name), _) => name.clone(),
            (None, extent) => extent.unwrap_or(0).to_string(),
        }
    }

    /// The array of all extents.
    fn axes_array(&self) -> String {
        let mut list: Vec<String> = (0..self.axes.len())
            .map(|axis| self.extent_text(axis))
            .collect();
        if list.is_empty() {
            list.push("0".to_owned());
        }
        format!("    const int64_t tw_axes[] = {{{}}};\n", list.join(", "))
    }

    /// The value of a word of the record that holds an extent.
    fn word(&self, word: u32) -> String {
        let layout = &self.signature.layout;
        for axis in 0..self.axes.len() {
            if layout.axis(axis) == word {
                return format!("tw_axes[{axis}]");
            }
        }
        for (index, (_, param)) in self.signature.params.iter().enumerate() {
            if let ParamSignature::View(view) = param
                && let Some(dim) =
                    (0..view.axes.len()).find(|&dim| layout.extent(index, dim) == word)
            {
                return format!("tw_axes[{}]", view.axes[dim]);
            }
        }
        unreachable!("the extents of an entry's domain are those of axes")
    }

    /// Checks of extents, then `tw_programs`, `tw_packets` and the bytes of both workspaces; `fail` is what a failure returns.
    fn plan(&self, out: &mut String, fail: impl Fn(&str) -> String) {
        out.push_str(&self.axes_array());
        let entries = self.kernel.code.entries().len();
        let _ = writeln!(
            out,
            "    uint64_t tw_packets[{entries}], tw_programs = 0, tw_most = 0, tw_count, tw_bytes;\n    size_t tw_at;\n    \
             for (tw_at = 0; tw_at < sizeof tw_axes / sizeof tw_axes[0]; tw_at++) {{\n        \
             if (tw_axes[tw_at] < 0 || tw_axes[tw_at] > INT32_MAX) {{\n            return {};\n        }}\n    }}",
            fail("error_extent")
        );
        for (entry, domain) in self.kernel.code.entries().enumerate() {
            let mut extents: Vec<String> = domain
                .extents
                .iter()
                .map(|extent| match *extent {
                    DomainExtent::Fixed(extent) => extent.to_string(),
                    DomainExtent::Word(word) => self.word(word),
                })
                .collect();
            let rank = extents.len();
            if extents.is_empty() {
                extents.push("1".to_owned());
            }
            let _ = writeln!(
                out,
                "    {{\n        const int64_t tw_extents[] = {{{}}};\n        \
                 if (!{}_internal_count(tw_extents, {rank}, {}u, &tw_count, &tw_packets[{entry}])) {{\n            return {};\n        }}\n        \
                 tw_programs = tw_count > tw_programs ? tw_count : tw_programs;\n        \
                 tw_most = tw_packets[{entry}] > tw_most ? tw_packets[{entry}] : tw_most;\n    }}",
                extents.join(", "),
                self.prefix,
                domain.programs_per_packet.max(1),
                fail("error_size")
            );
        }
        let (worker, shared) = self.workspaces();
        if shared > 0 {
            let _ = writeln!(
                out,
                "    if (tw_most > (SIZE_MAX - {worker}u) / {shared}u) {{\n        return {};\n    }}",
                fail("error_size")
            );
        }
        let _ = writeln!(out, "    tw_bytes = {worker}u + {shared}u * tw_most;");
    }

    /// Bytes for the worker, rounded up so that what follows is aligned, and shared bytes a packet.
    fn workspaces(&self) -> (u64, u64) {
        let workspaces = self.kernel.code.workspaces();
        (
            workspaces
                .worker_bytes
                .next_multiple_of(WORKSPACE_ALIGN as u64),
            workspaces.shared_bytes_per_packet,
        )
    }

    fn workspace(&self, out: &mut String) {
        let list: Vec<String> = self
            .axes
            .iter()
            .flatten()
            .map(|name| format!("int64_t {name}"))
            .collect();
        let list = if list.is_empty() {
            "void".to_owned()
        } else {
            list.join(", ")
        };
        let _ = writeln!(
            out,
            "static inline size_t {}_{}_workspace({list})\n{{",
            self.prefix,
            self.kernel.name()
        );
        self.plan(out, |_| "SIZE_MAX".to_owned());
        out.push_str("    (void)tw_programs;\n    return (size_t)tw_bytes;\n}\n\n");
    }

    /// The parameters of a function, with or without strides.
    fn parameters(&self, strided: bool) -> String {
        let mut list = Vec::new();
        for ((_, param), name) in self.signature.params.iter().zip(&self.params) {
            match param {
                ParamSignature::Scalar(element) => {
                    list.push(format!("{} {name}", scalar(*element)))
                }
                ParamSignature::View(view) => {
                    let constant = if view.mutable { "" } else { "const " };
                    list.push(format!("{constant}{} *{name}", stored(view.element)));
                    if strided && !view.axes.is_empty() {
                        list.push(format!("const int64_t *{name}_strides"));
                    }
                }
            }
        }
        if self.kernel.has_hook {
            list.push(
                "void (*hook)(void *context, uint32_t id, uint64_t first, uint64_t count)"
                    .to_owned(),
            );
            list.push("void *hook_context".to_owned());
        }
        list.extend(
            self.axes
                .iter()
                .flatten()
                .map(|name| format!("int64_t {name}")),
        );
        list.push("void *workspace, size_t workspace_bytes".to_owned());
        list.join(", ")
    }

    fn strided(&self, out: &mut String) {
        let prefix = self.prefix;
        let layout = &self.signature.layout;
        let fail = |code: &str| format!("{prefix}_{code}");
        let _ = writeln!(
            out,
            "static inline int {prefix}_{}_strided({})\n{{",
            self.kernel.name(),
            self.parameters(true)
        );
        let views: Vec<usize> = (0..self.params.len())
            .filter(|&index| matches!(self.signature.params[index].1, ParamSignature::View(_)))
            .collect();
        let _ = writeln!(
            out,
            "    {prefix}_internal_view tw_views[{}];\n    uint64_t tw_record[{}];\n    unsigned char *tw_workspace = (unsigned char *)workspace;\n    int tw_status;",
            views.len().max(1),
            layout.words()
        );
        self.plan(out, fail);
        out.push_str("    memset(tw_views, 0, sizeof tw_views);\n    memset(tw_record, 0, sizeof tw_record);\n");
        let mut seen = 0;
        for (index, ((_, param), name)) in
            self.signature.params.iter().zip(&self.params).enumerate()
        {
            let word = layout.param(index);
            match param {
                ParamSignature::Scalar(ElementType::Bool) => {
                    let _ = writeln!(out, "    tw_record[{word}] = {name} != 0;");
                }
                ParamSignature::Scalar(_) => {
                    let _ = writeln!(
                        out,
                        "    memcpy(&tw_record[{word}], &{name}, sizeof {name});"
                    );
                }
                ParamSignature::View(view) => {
                    let dims: Vec<String> = view.axes.iter().map(usize::to_string).collect();
                    let fixed: Vec<String> = view
                        .strides
                        .iter()
                        .map(|stride| {
                            stride.map_or("INT64_MIN".to_owned(), |stride| stride.to_string())
                        })
                        .collect();
                    let (dims, fixed, strides) = if dims.is_empty() {
                        ("0".to_owned(), "0".to_owned(), "NULL".to_owned())
                    } else {
                        (dims.join(", "), fixed.join(", "), format!("{name}_strides"))
                    };
                    let _ = writeln!(
                        out,
                        "    {{\n        const int tw_dims[] = {{{dims}}};\n        const int64_t tw_fixed[] = {{{fixed}}};\n        \
                         tw_views[{seen}].element = {};\n        tw_views[{seen}].size = {};\n        tw_views[{seen}].written = {};\n        \
                         tw_views[{seen}].rank = {};\n        \
                         tw_status = {prefix}_internal_see(&tw_views[{seen}], {name}, tw_axes, tw_dims, {strides}, tw_fixed, &tw_record[{word}]);\n        \
                         if (tw_status != {prefix}_ok) {{\n            return tw_status;\n        }}\n    }}",
                        view.element as u8,
                        view.element.size(),
                        u8::from(view.mutable),
                        view.axes.len()
                    );
                    seen += 1;
                }
            }
        }
        if self.kernel.has_hook {
            out.push_str("    tw_record[0] = (uint64_t)(uintptr_t)hook;\n    tw_record[1] = (uint64_t)(uintptr_t)hook_context;\n");
        }
        for axis in 0..self.axes.len() {
            let _ = writeln!(
                out,
                "    tw_record[{}] = (uint64_t)tw_axes[{axis}];",
                layout.axis(axis)
            );
        }
        for condition in &self.kernel.conditions {
            let sum = &condition.sum;
            let limit = 1i64 << 32;
            let _ = writeln!(
                out,
                "    {{\n        int64_t tw_low = {}, tw_high = {};\n        if (tw_low < INT32_MIN || tw_high > INT32_MAX",
                sum.low.clamp(-limit, limit),
                sum.high.clamp(-limit, limit)
            );
            for term in &sum.terms {
                let _ = writeln!(
                    out,
                    "            || !{prefix}_internal_widen(&tw_low, &tw_high, {}, tw_axes[{}])",
                    term.scale.clamp(-limit, limit),
                    term.axis.index()
                );
            }
            let _ = writeln!(
                out,
                "        ) {{\n            return {};\n        }}\n    }}",
                fail("error_coordinates")
            );
        }
        let share: Vec<&str> = views
            .iter()
            .flat_map(|&a| {
                views.iter().map(move |&b| {
                    let pair = (a.min(b), a.max(b));
                    if self.signature.may_share.contains(&pair) {
                        "1"
                    } else {
                        "0"
                    }
                })
            })
            .collect();
        if !views.is_empty() {
            let _ = writeln!(
                out,
                "    {{\n        const unsigned char tw_share[] = {{{}}};\n        \
                 tw_status = {prefix}_internal_overlap(tw_views, {}, tw_share, tw_programs);\n        \
                 if (tw_status != {prefix}_ok) {{\n            return tw_status;\n        }}\n    }}",
                share.join(", "),
                views.len()
            );
        }
        let _ = writeln!(
            out,
            "    if (tw_bytes > 0 && (workspace == NULL || workspace_bytes < tw_bytes)) {{\n        return {prefix}_error_workspace;\n    }}\n    \
             if (tw_bytes > 0 && (uintptr_t)workspace % {WORKSPACE_ALIGN}u != 0) {{\n        return {prefix}_error_workspace_alignment;\n    }}\n    \
             (void)tw_programs;"
        );
        let (worker, _) = self.workspaces();
        for entry in 0..self.kernel.code.entries().len() {
            let symbol = entry_symbol(&format!("{prefix}_"), self.kernel.name(), entry);
            let _ = writeln!(
                out,
                "    if (tw_packets[{entry}] > 0) {{\n        {symbol}(tw_record, 0, tw_packets[{entry}], tw_workspace, tw_bytes > 0 ? tw_workspace + {worker} : NULL);\n    }}"
            );
        }
        let _ = writeln!(out, "    return {prefix}_ok;\n}}\n");
    }

    fn dense(&self, out: &mut String) {
        let mut list = Vec::new();
        for ((_, param), name) in self.signature.params.iter().zip(&self.params) {
            list.push(name.clone());
            if matches!(param, ParamSignature::View(view) if !view.axes.is_empty()) {
                list.push("NULL".to_owned());
            }
        }
        if self.kernel.has_hook {
            list.push("hook, hook_context".to_owned());
        }
        list.extend(self.axes.iter().flatten().cloned());
        list.push("workspace, workspace_bytes".to_owned());
        let name = format!("{}_{}", self.prefix, self.kernel.name());
        let _ = writeln!(
            out,
            "static inline int {name}({})\n{{\n    return {name}_strided({});\n}}",
            self.parameters(false),
            list.join(", ")
        );
    }
}

/// An element in memory.
fn stored(element: ElementType) -> &'static str {
    match element {
        ElementType::F32 => "float",
        ElementType::F64 => "double",
        ElementType::I32 => "int32_t",
        ElementType::Bool => "uint8_t",
        ElementType::F16 | ElementType::BF16 => "uint16_t",
    }
}

/// A number passed by value.
fn scalar(element: ElementType) -> &'static str {
    match element {
        ElementType::F32 | ElementType::F16 | ElementType::BF16 => "float",
        ElementType::F64 => "double",
        ElementType::I32 => "int32_t",
        ElementType::Bool => "int",
    }
}
