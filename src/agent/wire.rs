// SPDX-License-Identifier: GPL-3.0-or-later
//! How a translator reads a native payload.

use serde_json::{Map, Value};

/// What one native event holds, as far as it is read. A field of an unexpected type is as good as absent: the agent's
/// next version must not cost us the whole event.
pub(super) struct Wire<'a>(pub(super) &'a Map<String, Value>);

impl<'a> Wire<'a> {
    /// The value at a path of keys, `tool_input.command`.
    pub(super) fn at(&self, path: &str) -> Option<&'a Value> {
        let mut keys = path.split('.');
        let first = self.0.get(keys.next()?)?;
        keys.try_fold(first, |value, key| value.get(key))
    }

    /// A text there that is not empty.
    pub(super) fn text(&self, path: &str) -> Option<&'a str> {
        self.at(path).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// Whether `true` stands there.
    pub(super) fn is_true(&self, path: &str) -> bool {
        self.at(path) == Some(&Value::Bool(true))
    }

    /// The same as [`Self::text`], to keep.
    pub(super) fn owned(&self, path: &str) -> Option<String> {
        self.text(path).map(ToString::to_string)
    }
}
