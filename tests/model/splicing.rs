// SPDX-License-Identifier: GPL-3.0-or-later
//! Any list becomes any other with the fewest signals.

use std::cell::Cell;
use std::rc::Rc;

use gtk::{gio, glib, prelude::*};
use vigil::app::model::splice;

use proptest::prelude::*;

fn store(names: &[u8], pool: &[glib::Object]) -> gio::ListStore {
    names.iter().map(|name| pool[usize::from(*name)].clone()).collect()
}

/// Lists without repetition of a few objects.
fn list() -> impl Strategy<Value = Vec<u8>> {
    proptest::sample::subsequence((0..12_u8).collect::<Vec<_>>(), 0..=12).prop_shuffle()
}

proptest! {
    #[test]
    fn any_list_becomes_any_other_and_never_holds_a_thing_twice(old in list(), new in list()) {
        let pool: Vec<glib::Object> = (0..12).map(|_| gio::Menu::new().upcast()).collect();
        let store = store(&old, &pool);
        let moved = Rc::new(Cell::new(0));
        store.connect_items_changed(glib::clone!(#[strong] moved, move |store, _, removed, added| {
            moved.set(moved.get() + removed + added);
            let items: Vec<glib::Object> = store.iter().map(Result::unwrap).collect();
            let once: std::collections::HashSet<_> = items.iter().collect();
            assert_eq!(once.len(), items.len());
        }));
        let wanted: Vec<glib::Object> = new.iter().map(|name| pool[usize::from(*name)].clone()).collect();
        splice(&store, &wanted);
        let items: Vec<glib::Object> = store.iter().map(Result::unwrap).collect();
        prop_assert_eq!(&items, &wanted);

        // The fewest: what stays is the longest run that both lists have in common.
        let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
        for (i, a) in old.iter().enumerate() {
            for (j, b) in new.iter().enumerate() {
                common[i + 1][j + 1] =
                    if a == b { common[i][j] + 1 } else { common[i][j + 1].max(common[i + 1][j]) };
            }
        }
        let kept = common[old.len()][new.len()];
        prop_assert_eq!(moved.get() as usize, old.len() + new.len() - 2 * kept);
    }
}
