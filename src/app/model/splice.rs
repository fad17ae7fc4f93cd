// SPDX-License-Identifier: GPL-3.0-or-later
//! Brings a list store to a wanted order with the fewest signals.
//!
//! The items that keep their order among each other stay where they are; only the others go and come. A list view
//! keeps the widgets, the focus and the selection of what stays.

use std::collections::HashMap;

use gtk::{gio, glib, prelude::*};

/// Makes `store` hold exactly `wanted`, by identity. No object may stand twice in it.
pub fn splice(store: &gio::ListStore, wanted: &[glib::Object]) {
    let old: Vec<glib::Object> = store.iter::<glib::Object>().map_while(Result::ok).collect();
    let first = old.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    let last = old[first..].iter().rev().zip(wanted[first..].iter().rev()).take_while(|(a, b)| a == b).count();
    let old = &old[first..old.len() - last];
    let new = &wanted[first..wanted.len() - last];
    if old.is_empty() || new.is_empty() {
        if old.len() + new.len() > 0 {
            store.splice(position(first), position(old.len()), new);
        }
        return;
    }

    let places: HashMap<&glib::Object, usize> = old.iter().enumerate().map(|(place, item)| (item, place)).collect();
    let origins: Vec<Option<usize>> = new.iter().map(|item| places.get(item).copied()).collect();
    let kept = longest_increasing(&origins);
    let gaps = gaps(&kept, old.len(), new.len());

    // First all that goes, from the end, so that what comes is never in the list twice. What only comes takes the
    // place of what goes in one signal.
    for gap in gaps.iter().rev() {
        let fresh = origins[gap.new.clone()].iter().all(Option::is_none);
        let added = if fresh { &new[gap.new.clone()] } else { &[] };
        if !gap.old.is_empty() {
            store.splice(position(first + gap.old.start), position(gap.old.len()), added);
        }
    }
    for gap in gaps {
        let fresh = origins[gap.new.clone()].iter().all(Option::is_none);
        if !gap.new.is_empty() && (gap.old.is_empty() || !fresh) {
            store.splice(position(first + gap.new.start), 0, &new[gap.new]);
        }
    }
}

/// What stands between two items that stay.
struct Gap {
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

fn gaps(kept: &[(usize, usize)], old: usize, new: usize) -> Vec<Gap> {
    let ends = kept.iter().copied().chain([(old, new)]);
    let starts = [(0, 0)].into_iter().chain(kept.iter().map(|(old, new)| (old + 1, new + 1)));
    starts.zip(ends).map(|(start, end)| Gap { old: start.0..end.0, new: start.1..end.1 }).collect()
}

/// The longest run of items whose old places only grow, as pairs of old and new place.
fn longest_increasing(origins: &[Option<usize>]) -> Vec<(usize, usize)> {
    // `ends[n]` is the new place of the smallest old place that ends a run of n + 1 items.
    let mut ends: Vec<usize> = Vec::new();
    let mut before = vec![None; origins.len()];
    for (place, origin) in origins.iter().enumerate() {
        let Some(origin) = origin else { continue };
        let length = ends.partition_point(|end| origins[*end] < Some(*origin));
        before[place] = length.checked_sub(1).map(|last| ends[last]);
        if length == ends.len() {
            ends.push(place);
        } else {
            ends[length] = place;
        }
    }
    let mut kept = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(place) = next {
        kept.extend(origins[place].map(|origin| (origin, place)));
        next = before[place];
    }
    kept.reverse();
    kept
}

/// A `GListModel` counts in 32 bits; the roster holds 20 000 rows at most.
fn position(place: usize) -> u32 {
    u32::try_from(place).expect("no list is that long")
}
