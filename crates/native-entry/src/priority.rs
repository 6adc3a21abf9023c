//! Keeping other work off the processor that is being timed.
//!
//! A compiler running beside a measurement makes it half again as slow, and `nice` does not help where every session is a
//! scheduling group of its own. The round-robin real-time class does, where the system allows it. It does not protect the
//! caches and the memory that processors share.

use std::io;

/// What the calling thread has while it measures. Children it starts get ordinary priority.
///
/// Dropping it gives the processors and the priority back.
#[derive(Debug)]
pub struct Quiet {
    /// The processor, if the thread could be kept on one.
    pub processor: Option<usize>,
    /// Why the thread has no real-time priority, if so.
    pub refused: Option<String>,
    before: Option<libc::cpu_set_t>,
}

/// Keeps the calling thread on the last processor it may use, at real-time priority if the system allows that. A system
/// that refuses is no error: the measurement goes on and says so.
pub fn one_processor() -> Quiet {
    let before = allowed().ok();
    let processor = before
        .as_ref()
        .and_then(|set| processors(set).last().copied())
        .filter(|&last| keep_on(&[last]).is_ok());
    Quiet {
        processor,
        refused: real_time().err().map(|error| error.to_string()),
        before,
    }
}

/// Real-time priority for the calling thread where the system allows it, on all the processors it may use: for threads
/// that work together. It lasts as long as the thread.
///
/// # Errors
/// What the system said.
pub fn real_time() -> io::Result<()> {
    schedule(libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, 1)
}

/// Keeps the calling thread on some processors.
///
/// # Errors
/// What the system said.
pub fn keep_on(processors: &[usize]) -> io::Result<()> {
    // SAFETY: all zeros is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &processor in processors
        .iter()
        .filter(|&&one| one < libc::CPU_SETSIZE as usize)
    {
        // SAFETY: the number is below the size of a set.
        unsafe { libc::CPU_SET(processor, &mut set) };
    }
    set_allowed(&set)
}

/// The processors the calling thread may use, in order; empty where the system doesn't say.
pub fn usable() -> Vec<usize> {
    allowed().map(|set| processors(&set)).unwrap_or_default()
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Nothing depends on it: at worst the thread stays where it is.
            let _ = set_allowed(before);
        }
        let _ = schedule(libc::SCHED_OTHER, 0);
    }
}

fn processors(set: &libc::cpu_set_t) -> Vec<usize> {
    (0..libc::CPU_SETSIZE as usize)
        // SAFETY: the number is below the size of a set.
        .filter(|&number| unsafe { libc::CPU_ISSET(number, set) })
        .collect()
}

fn allowed() -> io::Result<libc::cpu_set_t> {
    // SAFETY: all zeros is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is of the size that is said.
    let status = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) };
    outcome(status).map(|()| set)
}

fn set_allowed(set: &libc::cpu_set_t) -> io::Result<()> {
    // SAFETY: the set is of the size that is said.
    outcome(unsafe { libc::sched_setaffinity(0, size_of_val(set), set) })
}

fn schedule(policy: i32, priority: i32) -> io::Result<()> {
    // SAFETY: all zeros is a valid parameter.
    let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    parameter.sched_priority = priority;
    // SAFETY: the parameter lives through the call.
    outcome(unsafe { libc::sched_setscheduler(0, policy, &parameter) })
}

fn outcome(status: i32) -> io::Result<()> {
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_stays_on_one_processor_and_gets_the_others_back() {
        let before = usable();
        assert!(!before.is_empty());
        let quiet = one_processor();
        let last = *before.last().expect("at least one");
        assert_eq!(quiet.processor, Some(last));
        assert_eq!(usable(), [last]);
        drop(quiet);
        assert_eq!(usable(), before);
    }
}
