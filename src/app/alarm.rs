// SPDX-License-Identifier: GPL-3.0-or-later
//! The one timer of the roster's deadlines.
//!
//! A timer of the main loop stands still while the machine is suspended; this one goes by the boot clock, as the
//! deadlines do, and rings right after a resume that slept through one.

use std::cell::Cell;

use gtk::glib;
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use super::fd::FdWatch;
use crate::time::BootTime;

/// Rings at a point on the boot clock.
#[derive(Debug)]
pub struct Alarm {
    watch: FdWatch,
    set: Cell<Option<BootTime>>,
}

impl Alarm {
    /// An alarm that is not set.
    ///
    /// # Errors
    ///
    /// When the system gives no timer.
    pub fn new(ring: impl Fn() + 'static) -> rustix::io::Result<Self> {
        let fd = timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        let watch = FdWatch::new(fd, move |fd| {
            let mut count = [0; 8];
            match rustix::io::read(fd, &mut count) {
                Ok(_) => ring(),
                // Set anew between the wake-up and the reading: not due any more.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => glib::g_critical!("vigil", "Cannot read the timer: {error}"),
            }
            glib::ControlFlow::Continue
        });
        Ok(Self { watch, set: Cell::new(None) })
    }

    /// Sets it to ring once at that time, at once if that has passed; `None` stops it.
    pub fn set(&self, at: Option<BootTime>) {
        // A time that has passed must ring again, although it is the same.
        if self.set.replace(at) == at && at.is_none() {
            return;
        }
        let value = match at {
            // All zero would stop it.
            Some(BootTime(nanoseconds)) => timespec(nanoseconds.max(1)),
            None => timespec(0),
        };
        let spec = Itimerspec { it_interval: timespec(0), it_value: value };
        if let Err(error) = timerfd_settime(self.watch.fd(), TimerfdTimerFlags::ABSTIME, &spec) {
            glib::g_critical!("vigil", "Cannot set the timer: {error}");
        }
    }
}

fn timespec(nanoseconds: u64) -> Timespec {
    const SECOND: u64 = 1_000_000_000;
    Timespec {
        tv_sec: i64::try_from(nanoseconds / SECOND).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(nanoseconds % SECOND).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::app::clock;

    /// All of it in one test: the default main context belongs to one thread at a time.
    #[test]
    fn an_alarm_rings_when_it_is_due_and_never_when_it_is_off() {
        let context = glib::MainContext::default();
        let _owner = context.acquire().expect("no other test of this binary uses the default context");
        let rung = Rc::new(Cell::new(0));
        let alarm = Alarm::new({
            let rung = rung.clone();
            move || rung.set(rung.get() + 1)
        })
        .unwrap();
        let wait = |until: u32| {
            let end = Instant::now() + Duration::from_secs(5);
            while rung.get() < until && Instant::now() < end {
                context.iteration(false);
            }
            rung.get()
        };

        alarm.set(Some(BootTime(0)));
        assert_eq!(wait(1), 1, "a time that has passed");
        alarm.set(Some(clock::now().boot + Duration::from_millis(20)));
        assert_eq!(wait(2), 2, "a time to come");
        alarm.set(Some(clock::now().boot + Duration::from_millis(20)));
        alarm.set(None);
        let end = Instant::now() + Duration::from_millis(60);
        while Instant::now() < end {
            context.iteration(false);
        }
        assert_eq!(rung.get(), 2, "off");
    }
}
