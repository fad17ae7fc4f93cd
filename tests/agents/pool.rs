// SPDX-License-Identifier: GPL-3.0-or-later
//! The Poolside Agent CLI's captures: none was recorded, for the program could not be run. They are written by hand, by
//! the fields that its documentation names.

use vigil::protocol::{ChainLink, Origin};

use crate::labels::{Line, Set};
use crate::play::{Actor, Play, captures};

static POOL: Set = Set { folder: "pool", names: &["hooks"], unrevealed: &[], decided: &[] };

struct Pool;

fn pool(_capture: &str) -> Pool {
    Pool
}

impl Actor for Pool {
    fn deliver(&mut self, line: &Line, play: &mut Play) {
        let name = line.event.strip_prefix("hook:").expect("nothing but hooks");
        // Its window is a client of a second process of the same name, which does the work.
        let link = |pid, comm: &str| ChainLink { pid, start: 100, comm: comm.into(), tty: 34818 };
        let chain = vec![link(9, "sh"), link(8, "pool"), link(7, "pool"), link(6, "bash")];
        play.hook(line.millis, "pool", name, &line.payload, Origin { chain, ..Origin::default() });
    }
}

captures! {
    POOL, pool;
    a_turn_with_a_tool = "hooks";
}
