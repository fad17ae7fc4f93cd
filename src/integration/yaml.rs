// SPDX-License-Identifier: GPL-3.0-or-later
//! One word of ours in a list of YAML settings, two mappings deep: `plugins: {enabled: [vigil]}`.
//!
//! A parser that knows all of YAML says where everything stands; what is put in or taken out is a piece of text at such
//! a place, and nothing else moves. Afterwards both texts are read again, and have to say the same but for our word. What
//! cannot be changed without touching something else is refused with its place: anchors, tags, merged or repeated keys
//! on the way to the list, and more than one document.
//!
//! What came with our word goes with it, known by its form: an entry of ours in braces is written as JSON is.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::Version;
use super::json::{BYTE_ORDER_MARK, Flaw};
use super::part::{Format, Left, Survey};

/// The word and its place, as a [`Format`].
#[derive(Debug)]
pub struct Listed {
    /// What the entry is called where it is missing.
    pub name: &'static str,
    /// The keys on the way to the list.
    pub keys: [&'static str; 2],
    /// The word.
    pub word: &'static str,
}

/// Whether a list below two keys has that word; not where the text is not understood.
pub fn has(text: &str, keys: [&'static str; 2], word: &'static str) -> bool {
    let listed = Listed { name: "", keys, word };
    Document::read(text).and_then(|document| listed.own(&document)).is_ok_and(|own| own.is_some())
}

/// A text and what the parser found in it.
struct Document<'t> {
    text: &'t str,
    nodes: Vec<Node<'t>>,
}

/// One event of the parser, and the bytes that it stands in.
struct Node<'t> {
    event: Event<'t>,
    span: Range<usize>,
}

/// How far the way to the list goes.
enum Way {
    /// There is nothing but blanks and comments.
    Blank,
    /// The mapping at that node lacks the key of that depth.
    Lacks(usize, usize),
    /// The key of that depth has no value; this is the node of the nothing.
    Void(usize, usize),
    /// The list: the nodes of both keys, and its own.
    List([usize; 2], usize),
}

impl<'t> Document<'t> {
    fn read(text: &'t str) -> Result<Self, Flaw> {
        let starts: Vec<usize> =
            if text.is_ascii() { Vec::new() } else { text.char_indices().map(|(at, _)| at).collect() };
        // The parser counts characters.
        let byte = |index: usize| {
            if text.is_ascii() { index.min(text.len()) } else { starts.get(index).copied().unwrap_or(text.len()) }
        };
        let mut nodes = Vec::new();
        for found in Parser::new_from_str(text) {
            let (event, span) = found.map_err(|error| Flaw::new(text, byte(error.marker().index()), error.info()))?;
            nodes.push(Node { event, span: byte(span.start.index())..byte(span.end.index()) });
        }
        let is_start = |node: &&Node<'_>| matches!(node.event, Event::DocumentStart(_));
        match nodes.iter().filter(is_start).nth(1) {
            Some(second) => Err(Flaw::new(text, second.span.start, "a second document")),
            None => Ok(Self { text, nodes }),
        }
    }

    fn flaw(&self, node: usize, what: impl Into<String>) -> Flaw {
        Flaw::new(self.text, self.nodes[node].span.start, what)
    }

    /// The node behind a node and all that is in it.
    fn after(&self, node: usize) -> usize {
        let mut depth = 0_usize;
        for (at, node) in self.nodes.iter().enumerate().skip(node) {
            match node.event {
                Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
                Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        self.nodes.len()
    }

    /// The nodes right below a mapping or list.
    fn children(&self, node: usize) -> Vec<usize> {
        let mut children = Vec::new();
        let mut at = node + 1;
        while !matches!(self.nodes[at].event, Event::SequenceEnd | Event::MappingEnd) {
            children.push(at);
            at = self.after(at);
        }
        children
    }

    fn says(&self, node: usize, word: &str) -> bool {
        matches!(&self.nodes[node].event, Event::Scalar(value, ..) if value == word)
    }

    fn is_void(&self, node: usize) -> bool {
        let Node { event, span } = &self.nodes[node];
        matches!(event, Event::Scalar(value, ScalarStyle::Plain, 0, None) if value.is_empty() && span.is_empty())
    }

    fn is_flow(&self, node: usize) -> bool {
        self.text[self.nodes[node].span.clone()].starts_with(['[', '{'])
    }

    /// The text from the start of one node to the end of another and all that is in it.
    fn range(&self, from: usize, to: usize) -> Range<usize> {
        let Node { event, span } = &self.nodes[self.after(to) - 1];
        // The parser counts the blanks and the comment behind a bracket to it.
        let is_bracket =
            matches!(event, Event::SequenceEnd | Event::MappingEnd) && self.text[span.start..].starts_with([']', '}']);
        self.nodes[from].span.start..if is_bracket { span.start + 1 } else { span.end }
    }

    fn line_start(&self, at: usize) -> usize {
        let mark = if self.text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        self.text[..at].rfind('\n').map_or(mark, |newline| newline + 1)
    }

    /// Behind the line end of the line that holds that byte.
    fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |newline| at + newline + 1)
    }

    /// What stands before a node in its line.
    fn before(&self, node: usize) -> &'t str {
        let start = self.nodes[node].span.start;
        &self.text[self.line_start(start)..start]
    }

    fn line_break(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// The key of a mapping.
    fn key(&self, mapping: usize, key: &str) -> Result<Option<usize>, Flaw> {
        let children = self.children(mapping);
        let keys = || children.iter().copied().step_by(2);
        let mut found = keys().filter(|at| self.says(*at, key));
        let first = found.next();
        if let Some(second) = found.next() {
            return Err(self.flaw(second, format!("`{key}` is there twice")));
        }
        match keys().find(|at| self.says(*at, "<<")) {
            Some(merge) if first.is_none() => Err(self.flaw(merge, "what `<<` brings along is not followed")),
            _ => Ok(first),
        }
    }

    fn way(&self, keys: [&str; 2]) -> Result<Way, Flaw> {
        let Some(start) = self.nodes.iter().position(|node| matches!(node.event, Event::DocumentStart(_))) else {
            return Ok(Way::Blank);
        };
        let mut found = [0; 2];
        let mut at = start + 1;
        for depth in 0..=2 {
            let what = if depth == 0 { "the settings are".to_string() } else { format!("`{}` is", keys[depth - 1]) };
            let (anchor, tag) = match &self.nodes[at].event {
                _ if self.is_void(at) => return Ok(if depth == 0 { Way::Blank } else { Way::Void(depth, at) }),
                Event::MappingStart(anchor, tag) if depth < 2 => (*anchor, tag.is_some()),
                Event::SequenceStart(anchor, tag) if depth == 2 => (*anchor, tag.is_some()),
                Event::Alias(_) => return Err(self.flaw(at, format!("{what} an alias, which is not followed"))),
                _ if depth < 2 => return Err(self.flaw(at, format!("{what} no mapping"))),
                _ => return Err(self.flaw(at, format!("{what} no list"))),
            };
            if anchor != 0 {
                return Err(self.flaw(at, "an anchor: what refers to it would change, too"));
            }
            if tag {
                return Err(self.flaw(at, "a tag, which is not understood"));
            }
            if depth == 2 {
                break;
            }
            match self.key(at, keys[depth])? {
                Some(key) => (found[depth], at) = (key, self.after(key)),
                None => return Ok(Way::Lacks(depth, at)),
            }
        }
        Ok(Way::List(found, at))
    }
}

impl Listed {
    /// Our word: the nodes of both keys, of the list, and its own.
    fn own(&self, document: &Document<'_>) -> Result<Option<([usize; 2], usize, usize)>, Flaw> {
        let Way::List(keys, list) = document.way(self.keys)? else { return Ok(None) };
        let own = document.children(list).into_iter().find(|item| document.says(*item, self.word));
        Ok(own.map(|own| (keys, list, own)))
    }

    /// All that is ours in lines of its own, below the key of that depth.
    fn block(&self, depth: usize, indent: &str, line_break: &str) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (step, key) in self.keys.iter().skip(depth).enumerate() {
            lines.push(format!("{indent}{}{key}:", "  ".repeat(step)));
        }
        lines.push(format!("{indent}{}- {}", "  ".repeat(2 - depth), self.word));
        lines.join(line_break)
    }

    /// The same as JSON has it: an entry of the mapping that lacks the key of that depth.
    fn entry(&self, depth: usize) -> String {
        let list = format!("\"{}\": [\"{}\"]", self.keys[1], self.word);
        if depth == 0 { format!("\"{}\": {{{list}}}", self.keys[0]) } else { list }
    }

    /// The same in the place of nothing, behind the key before that depth.
    fn value(&self, depth: usize) -> String {
        if depth == 1 { format!(" {{ {} }}", self.entry(1)) } else { format!(" [ \"{}\" ]", self.word) }
    }

    /// Where something is put in, and what.
    fn insertion(&self, document: &Document<'_>) -> Result<Option<(usize, String)>, Flaw> {
        let (text, line_break) = (document.text, document.line_break());
        let start = |node: usize| document.nodes[node].span.start;
        let odd = |node: usize| document.flaw(node, "a form that is not understood");
        let way = document.way(self.keys)?;
        let bottom = |indent: &str| {
            let block = self.block(0, indent, line_break);
            if text.ends_with('\n') {
                return Ok((text.len(), format!("{block}{line_break}")));
            }
            // A line end more would be a part of what such a text says.
            let is_open = |node: &Node<'_>| {
                matches!(node.event, Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, ..))
            };
            let last = document.nodes.iter().rposition(|node| matches!(node.event, Event::Scalar(..)));
            match last.filter(|last| is_open(&document.nodes[*last])) {
                Some(last) => Err(document.flaw(last, "a text without the end of its line, behind which nothing fits")),
                None => Ok((text.len(), format!("{line_break}{block}"))),
            }
        };
        Ok(Some(match way {
            Way::Blank => bottom("")?,
            Way::Void(depth, node) => {
                let at = document.nodes[node].span.end;
                let colon = text[at..].starts_with(':').then_some(at + 1).ok_or_else(|| odd(node))?;
                (colon, self.value(depth))
            }
            Way::Lacks(depth, mapping) => match (document.is_flow(mapping), document.children(mapping).first()) {
                (true, Some(first)) => (start(*first), format!("{}, ", self.entry(depth))),
                (true, None) => (start(mapping) + 1, self.entry(depth)),
                (false, Some(first)) if document.before(*first).trim().is_empty() => {
                    let indent = document.before(*first);
                    if depth == 0 {
                        bottom(indent)?
                    } else {
                        let block = self.block(depth, indent, line_break);
                        (document.line_start(start(*first)), format!("{block}{line_break}"))
                    }
                }
                _ => return Err(odd(mapping)),
            },
            Way::List(_, list) => {
                let items = document.children(list);
                if items.iter().any(|item| document.says(*item, self.word)) {
                    return Ok(None);
                }
                match (document.is_flow(list), items.first()) {
                    (true, Some(first)) => (start(*first), format!("{}, ", self.word)),
                    (true, None) => (start(list) + 1, self.word.to_string()),
                    (false, Some(first)) if document.before(*first).trim() == "-" => {
                        let indent = document.before(*first).trim_end().trim_end_matches('-');
                        (document.line_start(start(*first)), format!("{indent}- {}{line_break}", self.word))
                    }
                    _ => return Err(odd(list)),
                }
            }
        }))
    }

    /// What is taken out for one word of ours.
    fn removal(&self, document: &Document<'_>) -> Result<Option<Range<usize>>, Flaw> {
        let Some((keys, list, own)) = self.own(document)? else { return Ok(None) };
        let text = document.text;
        let items = document.children(list);
        let alone = items.len() == 1;
        let item = document.range(own, own);
        if !document.is_flow(list) {
            return Ok(Some(self.lines(document, keys, alone, item)));
        }
        let list = document.range(list, list);
        if alone {
            let entry = document.nodes[keys[1]].span.start..list.end;
            let mapping = document.range(keys[0], keys[0] + 1);
            let ends_so = |end: usize, form: &str| text[..end].ends_with(form).then(|| end - form.len()..end);
            let of_ours = ends_so(list.end, &self.value(2)).or_else(|| ends_so(mapping.end, &self.value(1)));
            let in_braces = || {
                let whole = ends_so(mapping.end, &self.entry(0));
                whole.or_else(|| (text[entry.clone()] == *self.entry(1)).then_some(entry))
            };
            let with_comma = |range: Range<usize>| {
                let comma = if text[range.end..].starts_with(", ") { 2 } else { 0 };
                range.start..range.end + comma
            };
            if let Some(range) = of_ours.or_else(|| in_braces().map(with_comma)) {
                return Ok(Some(range));
            }
        }
        let behind = text[item.end..].trim_start().starts_with(',');
        let place = items.iter().position(|other| *other == own).unwrap_or_default();
        let next = items.get(place + 1).map(|next| document.nodes[*next].span.start);
        Ok(Some(match (next, place.checked_sub(1)) {
            (Some(next), _) if text[item.end..next] == *", " => item.start..next,
            (None, Some(before)) => document.range(items[before], items[before]).end..item.end,
            _ if behind => item.start..item.end + text[item.end..].find(',').map_or(0, |comma| comma + 1),
            _ => item,
        }))
    }

    /// The lines of our word in a list in lines: with its keys, if nothing else is below them.
    fn lines(&self, document: &Document<'_>, keys: [usize; 2], alone: bool, item: Range<usize>) -> Range<usize> {
        let text = document.text;
        let end = document.line_end(item.end);
        let without_blanks = |range: &Range<usize>| -> String { text[range.clone()].split_whitespace().collect() };
        let from = |key: usize| document.line_start(document.nodes[key].span.start)..end;
        let [outer, inner] = self.keys;
        let forms = [format!("{outer}:{inner}:-{}", self.word), format!("{inner}:-{}", self.word)];
        let mut whole = keys.into_iter().map(from).zip(&forms);
        let only_key = document.children(keys[0] + 1).len() == 2;
        let ours = whole.find(|(range, form)| {
            let fits = alone && without_blanks(range) == **form;
            fits && (only_key || **form == forms[1])
        });
        let lines = ours.map_or(document.line_start(item.start)..end, |(range, _)| range);
        // At the end of a text that ended in the middle of a line, the line end before is ours.
        let before = if text[..lines.start].ends_with("\r\n") { 2 } else { usize::from(lines.start > 0) };
        if text[lines.clone()].ends_with('\n') { lines } else { lines.start - before..lines.end }
    }

    /// What a text says without our word, and without what may have come with it.
    fn bare(&self, text: &str) -> Result<Vec<String>, Flaw> {
        let document = Document::read(text)?;
        let mut out: Vec<Range<usize>> = Vec::new();
        let others = |node: usize, ours: usize| document.children(node).len() > ours;
        let root = document.nodes.iter().position(|node| matches!(node.event, Event::DocumentStart(_)));
        match document.way(self.keys)? {
            Way::Blank => return Ok(Vec::new()),
            Way::Lacks(0, root) if !others(root, 0) => return Ok(Vec::new()),
            Way::Lacks(1, mapping) if !others(mapping, 0) => out.push(mapping - 1..document.after(mapping)),
            Way::Lacks(..) => {}
            Way::Void(1, nothing) => out.push(nothing - 1..nothing + 1),
            Way::Void(_, nothing) => out.push(nothing - 1..nothing + 1),
            Way::List(keys, list) => {
                let items = document.children(list);
                let ours: Vec<usize> = items.iter().copied().filter(|item| document.says(*item, self.word)).collect();
                if ours.len() == items.len() {
                    out.push(keys[1]..document.after(list));
                } else {
                    out.extend(ours.into_iter().map(|own| own..own + 1));
                }
            }
        }
        let is_out = |at: usize| out.iter().any(|range| range.contains(&at));
        let mut kept: Vec<String> = Vec::new();
        for (at, node) in document.nodes.iter().enumerate().filter(|(at, _)| !is_out(*at)) {
            kept.push(format!("{:?}", node.event));
            // A mapping that is empty now may have come with the key in it.
            if matches!(node.event, Event::MappingEnd) && Some(at) != root {
                let open = kept.len().wrapping_sub(2);
                let is_outer = kept.get(open.wrapping_sub(1)).is_some_and(|key| key.contains(self.keys[0]));
                if kept.get(open).is_some_and(|event| event.starts_with("MappingStart")) && is_outer {
                    kept.truncate(open - 1);
                }
            }
        }
        let nothing = kept.len() == 6 && kept[3].starts_with("MappingEnd");
        Ok(if nothing { Vec::new() } else { kept })
    }

    /// The changed text, if it says the same as the old but for our word.
    fn checked(&self, old: &str, new: String) -> Result<String, Flaw> {
        if self.bare(old)? == self.bare(&new).unwrap_or_default() {
            Ok(new)
        } else {
            Err(Flaw::new(old, 0, "the settings cannot be changed without changing what else they say"))
        }
    }
}

impl Format for Listed {
    fn survey(&self, text: Option<&str>, _: Option<Version>, _: &dyn Fn(&str) -> bool) -> Result<Survey, Flaw> {
        let served = self.own(&Document::read(text.unwrap_or_default())?)?.is_some();
        let missing = if served { Vec::new() } else { vec![self.name] };
        Ok(Survey { served: served.into(), required: 1, missing, ..Survey::default() })
    }

    fn install(&self, text: Option<&str>, version: Option<Version>, program: &str) -> Result<String, Flaw> {
        let Some(text) = text else { return Ok(self.snippet(version, program)) };
        match self.insertion(&Document::read(text)?)? {
            None => Ok(text.to_string()),
            Some((at, ours)) => self.checked(text, format!("{}{ours}{}", &text[..at], &text[at..])),
        }
    }

    fn uninstall(&self, text: &str) -> Result<Left, Flaw> {
        let mut left = text.to_string();
        // Somebody may have put it in again.
        while let Some(range) = self.removal(&Document::read(&left)?)? {
            left.replace_range(range, "");
            left = self.checked(text, left)?;
        }
        Ok(if left.is_empty() && text.ends_with('\n') { Left::Nothing } else { Left::Text(left) })
    }

    fn snippet(&self, _: Option<Version>, _: &str) -> String {
        format!("{}\n", self.block(0, "", "\n"))
    }

    fn emptied(&self) -> &'static str {
        ""
    }
}

#[cfg(test)]
mod tests;
