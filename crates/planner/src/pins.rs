//! Pins: what a person fixes about a plan, as `width=8,local=1,partials=4`.
//!
//! A pin that can't be kept is an error, never a hint that is dropped.

use std::fmt;
use std::str::FromStr;

use simd_mapping::{FullPackets, PARTIALS, Reload, UNROLLS};
use xir::Lanes;

/// The axes of a plan that are fixed; `None` leaves one to the planner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// Packet width: 2, 4, 8 or 16.
    pub width: Option<Lanes>,
    /// Lanes that share a program: 1 (whole-program) or the width (packet-local).
    pub local: Option<u32>,
    /// Partials of an `unordered` reduction.
    pub partials: Option<u32>,
    /// Packets one iteration of a plain loop handles.
    pub unroll: Option<u32>,
    /// Specialisation of full packets.
    pub full: Option<FullPackets>,
    /// Whether loads are read again from their views.
    pub reload: Option<Reload>,
    /// Programs a task runs; 0 for one task.
    pub grain: Option<u32>,
}

/// Why a list of pins is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// Not `key=value`.
    #[error("`{text}` is not a pin; write key=value, with commas between pins")]
    Form {
        /// The text.
        text: String,
    },
    /// No such axis.
    #[error("a plan has no `{key}`; it has width, local, partials, unroll, full, reload and grain")]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A value the axis doesn't have.
    #[error("`{value}` is no value of `{key}`; it takes {values}")]
    Value {
        /// The key.
        key: &'static str,
        /// What was asked.
        value: String,
        /// What it takes.
        values: &'static str,
    },
    /// One axis twice.
    #[error("`{key}` is pinned twice")]
    Twice {
        /// The key.
        key: &'static str,
    },
    /// Two pins that exclude each other.
    #[error(
        "local = {local} is not realised at width = {width}; use 1 (a lane runs a program) or {width} (a packet does)"
    )]
    Local {
        /// What was asked.
        local: u32,
        /// The width.
        width: u32,
    },
}

fn set<T>(slot: &mut Option<T>, key: &'static str, value: T) -> Result<(), PinError> {
    match slot.replace(value) {
        Some(_) => Err(PinError::Twice { key }),
        None => Ok(()),
    }
}

fn number(
    key: &'static str,
    value: &str,
    values: &'static str,
    allowed: impl Fn(u32) -> bool,
) -> Result<u32, PinError> {
    let refused = || PinError::Value {
        key,
        value: value.to_string(),
        values,
    };
    value
        .parse()
        .ok()
        .filter(|&n| allowed(n))
        .ok_or_else(refused)
}

impl FromStr for Pins {
    type Err = PinError;

    fn from_str(text: &str) -> Result<Pins, PinError> {
        let mut pins = Pins::default();
        for part in text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (key, value) = part.split_once('=').ok_or_else(|| PinError::Form {
                text: part.to_string(),
            })?;
            let (key, value) = (key.trim(), value.trim());
            match key {
                "width" => {
                    let n = number("width", value, "2, 4, 8 or 16", |n| Lanes::new(n).is_some())?;
                    set(
                        &mut pins.width,
                        "width",
                        Lanes::new(n).expect("checked above"),
                    )?;
                }
                "local" => {
                    let n = number("local", value, "1 or the width", |n| {
                        n == 1 || Lanes::new(n).is_some()
                    })?;
                    set(&mut pins.local, "local", n)?;
                }
                "partials" => {
                    let n = number("partials", value, "1, 2, 4, 8 or 16", |n| {
                        PARTIALS.contains(&n)
                    })?;
                    set(&mut pins.partials, "partials", n)?;
                }
                "unroll" => {
                    let n = number("unroll", value, "1, 2, 4, 8 or 16", |n| {
                        UNROLLS.contains(&n)
                    })?;
                    set(&mut pins.unroll, "unroll", n)?;
                }
                "full" => {
                    let full = match value {
                        "shared" => FullPackets::Shared,
                        "inlined" => FullPackets::Inlined,
                        "outlined" => FullPackets::Outlined,
                        _ => {
                            let (key, values) = ("full", "shared, inlined or outlined");
                            return Err(PinError::Value {
                                key,
                                value: value.to_string(),
                                values,
                            });
                        }
                    };
                    set(&mut pins.full, "full", full)?;
                }
                "reload" => {
                    let reload = match value {
                        "never" => Reload::Never,
                        "guarded" => Reload::Guarded,
                        _ => {
                            let (key, values) = ("reload", "never or guarded");
                            return Err(PinError::Value {
                                key,
                                value: value.to_string(),
                                values,
                            });
                        }
                    };
                    set(&mut pins.reload, "reload", reload)?;
                }
                "grain" => {
                    let n = number(
                        "grain",
                        value,
                        "a number of programs, or 0 for one task",
                        |_| true,
                    )?;
                    set(&mut pins.grain, "grain", n)?;
                }
                _ => {
                    return Err(PinError::UnknownKey {
                        key: key.to_string(),
                    });
                }
            }
        }
        Ok(pins)
    }
}

impl fmt::Display for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.width.map(|w| format!("width={}", w.get())),
            self.local.map(|n| format!("local={n}")),
            self.partials.map(|n| format!("partials={n}")),
            self.unroll.map(|n| format!("unroll={n}")),
            self.full.map(|full| format!("full={full}")),
            self.reload.map(|reload| format!("reload={reload}")),
            self.grain.map(|n| format!("grain={n}")),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_round_trip() {
        for text in [
            "",
            "width=8",
            "width=4,local=1,partials=16,unroll=2,full=outlined,reload=guarded,grain=7",
        ] {
            assert_eq!(text.parse::<Pins>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn pins_say_what_they_take() {
        let message = |text: &str| text.parse::<Pins>().unwrap_err().to_string();
        assert_eq!(
            message("width=6"),
            "`6` is no value of `width`; it takes 2, 4, 8 or 16"
        );
        assert_eq!(
            message("speed=9"),
            "a plan has no `speed`; it has width, local, partials, unroll, full, reload and grain"
        );
        assert_eq!(
            message("width"),
            "`width` is not a pin; write key=value, with commas between pins"
        );
        assert_eq!(message("width=8,width=4"), "`width` is pinned twice");
        assert_eq!(
            message("partials=3"),
            "`3` is no value of `partials`; it takes 1, 2, 4, 8 or 16"
        );
    }
}
