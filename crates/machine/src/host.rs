//! The machine that runs this program.

use std::fs;
use std::path::Path;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::Feature;
use crate::{Architecture, Caches, Features, Machine, MachineError};

pub(crate) fn detect() -> Result<Machine, MachineError> {
    let unsupported = MachineError::UnsupportedHost {
        architecture: std::env::consts::ARCH,
        system: std::env::consts::OS,
    };
    let cpu = Cpu::parse(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default());
    let nearest = match (std::env::consts::ARCH, std::env::consts::OS) {
        ("x86_64", "linux") => "x86_64-linux",
        ("aarch64", "linux") => "aarch64-linux",
        ("aarch64", "macos") => "apple-m1",
        _ => return Err(unsupported),
    };
    let nearest = Machine::named(cpu.known().unwrap_or(nearest))?;
    let machine = Machine {
        name: "host".to_owned(),
        model: cpu.model,
        features: features(nearest.architecture),
        caches: read_caches(
            Path::new("/sys/devices/system/cpu/cpu0/cache"),
            nearest.caches,
        ),
        workers: std::thread::available_parallelism().map_or(1, usize::from),
        frequency: read_number(Path::new(
            "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
        ))
        .map(|kilohertz| kilohertz * 1000),
        ..nearest
    };
    machine.check()?;
    Ok(machine)
}

/// Asks the CPU by the names that `std` gives its features.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! detected {
    ($detect:ident; $($feature:ident = $name:tt),* $(,)?) => {{
        let mut found = Features::NONE;
        $(if $detect!($name) { found = found.with(Feature::$feature); })*
        found
    }};
}

#[cfg(target_arch = "x86_64")]
fn features(architecture: Architecture) -> Features {
    use std::is_x86_feature_detected;
    match architecture {
        Architecture::X86_64 => detected!(is_x86_feature_detected;
            Sse3 = "sse3", Ssse3 = "ssse3", Sse41 = "sse4.1", Sse42 = "sse4.2", Popcnt = "popcnt",
            Avx = "avx", Avx2 = "avx2", Fma = "fma", F16c = "f16c", Bmi1 = "bmi1", Bmi2 = "bmi2",
            Lzcnt = "lzcnt",
        ),
        Architecture::Aarch64 => Features::NONE,
    }
}

#[cfg(target_arch = "aarch64")]
fn features(architecture: Architecture) -> Features {
    use std::arch::is_aarch64_feature_detected;
    match architecture {
        Architecture::X86_64 => Features::NONE,
        Architecture::Aarch64 => detected!(is_aarch64_feature_detected;
            Neon = "neon", Fp16 = "fp16", Lse = "lse", Dotprod = "dotprod", Bf16 = "bf16",
            Sve = "sve",
        ),
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn features(_: Architecture) -> Features {
    Features::NONE
}

/// What `/proc/cpuinfo` says of the first CPU; empty where it says nothing.
#[derive(Debug, Default, PartialEq, Eq)]
struct Cpu {
    model: String,
    vendor: String,
    family: String,
    part: String,
}

impl Cpu {
    fn parse(text: &str) -> Cpu {
        let field = |name: &str| {
            text.lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(key, _)| key.trim() == name)
                .map_or(String::new(), |(_, value)| value.trim().to_owned())
        };
        Cpu {
            model: field("model name"),
            vendor: field("vendor_id") + &field("CPU implementer"),
            family: field("cpu family"),
            part: field("CPU part"),
        }
    }

    /// The known machine it is, where it is one. Arm's part numbers stand in each core's Technical Reference Manual
    /// under MIDR_EL1; AMD's family 25 is Zen 3 and Zen 4.
    fn known(&self) -> Option<&'static str> {
        match (
            self.vendor.as_str(),
            self.family.as_str(),
            self.part.as_str(),
        ) {
            ("AuthenticAMD", "25", _) => Some("zen3"),
            ("0x41", _, "0xd0c") => Some("neoverse-n1"),
            ("0x41", _, "0xd4f") => Some("neoverse-v2"),
            _ => None,
        }
    }
}

/// The caches Linux lists in `directory`; what it does not list is taken from `nearest`.
fn read_caches(directory: &Path, nearest: Caches) -> Caches {
    let mut caches = nearest;
    let mut listed = false;
    for index in 0..8 {
        let entry = directory.join(format!("index{index}"));
        let text = |name: &str| fs::read_to_string(entry.join(name)).unwrap_or_default();
        let (level, kind, size) = (text("level"), text("type"), parse_size(&text("size")));
        let Some(size) = size.filter(|&size| size > 0) else {
            continue;
        };
        if !listed {
            // The machine tells its caches: one without a third level has none.
            caches.level3 = 0;
            listed = true;
        }
        match (level.trim(), kind.trim()) {
            ("1", "Data" | "Unified") => {
                caches.level1_data = size;
                let line = parse_size(&text("coherency_line_size"));
                caches.line = line.filter(|&line| line > 0).unwrap_or(caches.line);
            }
            ("2", "Data" | "Unified") => caches.level2 = size,
            ("3", "Data" | "Unified") => caches.level3 = size,
            _ => {}
        }
    }
    caches
}

fn read_number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// `32K`, `1M` or a plain number, in bytes.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_a_machine_or_says_what_it_lacks() {
        match Machine::host() {
            Ok(host) => {
                assert_eq!(host.name, "host");
                assert_eq!(host.architecture.name(), std::env::consts::ARCH);
                assert!(host.workers >= 1 && host.caches.level1_data >= 4096);
                host.check()
                    .expect("a host that is returned can be generated for");
            }
            Err(error) => assert!(
                error.to_string().contains("lacks") || error.to_string().contains("no code is"),
                "{error}"
            ),
        }
    }

    #[test]
    fn a_cpu_is_recognised_by_the_numbers_its_maker_gave_it() {
        let amd =
            "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel name\t: AMD EPYC\n";
        assert_eq!(Cpu::parse(amd).known(), Some("zen3"));
        assert_eq!(Cpu::parse(amd).model, "AMD EPYC");
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(Cpu::parse(arm).known(), Some("neoverse-n1"));
        assert_eq!(Cpu::parse("").known(), None);
    }

    #[test]
    fn sizes_carry_their_units() {
        assert_eq!(parse_size("32K\n"), Some(32 << 10));
        assert_eq!(parse_size("64"), Some(64));
        assert_eq!(parse_size(""), None);
        assert_eq!(parse_size("K"), None);
        assert_eq!(parse_size("99999999999999999999K"), None);
        assert_eq!(parse_size("18446744073709551615K"), None);
    }

    #[test]
    fn caches_that_are_not_told_are_those_of_the_nearest_machine() {
        let nearest = Machine::named("zen3").expect("a known name").caches;
        let directory = std::env::temp_dir().join(format!("machine-caches-{}", std::process::id()));
        assert_eq!(read_caches(&directory, nearest), nearest);

        for (index, level, kind, size) in [
            (0, "1", "Data", "48K"),
            (1, "1", "Instruction", "32K"),
            (2, "2", "Unified", "2048K"),
        ] {
            let entry = directory.join(format!("index{index}"));
            fs::create_dir_all(&entry).expect("a temporary directory");
            for (name, text) in [("level", level), ("type", kind), ("size", size)] {
                fs::write(entry.join(name), format!("{text}\n")).expect("a temporary file");
            }
        }
        let found = read_caches(&directory, nearest);
        fs::remove_dir_all(&directory).expect("it was made above");
        assert_eq!(
            found,
            Caches {
                level1_data: 48 << 10,
                level2: 2 << 20,
                level3: 0,
                line: 64
            }
        );
    }
}
