// SPDX-License-Identifier: GPL-3.0-or-later
//! A file of our own that an agent loads from a folder of its own: a plugin or extension.
//!
//! The whole file is ours, known by its first line. In it stands the program that it runs, as a string literal of the
//! language (one form for JavaScript and Python), in the place of [`PROGRAM`]. A file of that name without that first
//! line is somebody else's, and is left alone.

use super::Version;
use super::json::Flaw;
use super::part::{Fault, Format, Left, Survey};

/// What stands in a template in the place of the program.
pub const PROGRAM: &str = "\"@VIGILCTL@\"";

/// Such a file, as a [`Format`].
#[derive(Debug)]
pub struct Dropped {
    /// What it is called where it is missing.
    pub name: &'static str,
    /// Its text, with [`PROGRAM`] in it once, or not at all.
    pub template: &'static str,
}

impl Dropped {
    fn text(&self, program: &str) -> String {
        self.template.replacen(PROGRAM, &literal(program), 1)
    }

    /// Whether a text is ours, of this version or another.
    fn is_ours(&self, text: &str) -> bool {
        text.lines().next() == self.template.lines().next()
    }

    /// The program that a text of ours runs.
    fn program(&self, text: &str) -> Option<String> {
        let line = self.template.lines().find(|line| line.contains(PROGRAM))?;
        let (before, after) = line.split_once(PROGRAM)?;
        let between = text.lines().find_map(|line| line.strip_prefix(before)?.strip_suffix(after))?;
        unliteral(between)
    }
}

/// A string literal. A program's path has no control characters (see [`super::program`]).
fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn unliteral(literal: &str) -> Option<String> {
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.push(chars.next()?),
            '"' => return None,
            c => text.push(c),
        }
    }
    Some(text)
}

impl Format for Dropped {
    fn survey(
        &self,
        text: Option<&str>,
        _version: Option<Version>,
        runs: &dyn Fn(&str) -> bool,
    ) -> Result<Survey, Flaw> {
        let Some(text) = text.filter(|text| self.is_ours(text)) else {
            return Ok(Survey { required: 1, missing: vec![self.name], ..Survey::default() });
        };
        let program = self.program(text);
        let fault = match &program {
            _ if self.text(program.as_deref().unwrap_or_default()) != *text => Some(Fault::Outdated),
            Some(program) => (!runs(program)).then(|| Fault::Gone(program.clone())),
            None => None,
        };
        Ok(Survey { served: 1, required: 1, missing: Vec::new(), fault, programs: program.into_iter().collect() })
    }

    fn install(&self, text: Option<&str>, _version: Option<Version>, program: &str) -> Result<String, Flaw> {
        match text {
            Some(text) if !text.trim().is_empty() && !self.is_ours(text) => {
                Err(Flaw::new(text, 0, "this file is not Vigil's: move it away"))
            }
            _ => Ok(self.text(program)),
        }
    }

    fn uninstall(&self, text: &str) -> Result<Left, Flaw> {
        Ok(if self.is_ours(text) { Left::Nothing } else { Left::Text(text.to_string()) })
    }

    fn snippet(&self, _version: Option<Version>, program: &str) -> String {
        self.text(program)
    }

    fn emptied(&self) -> &'static str {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLUGIN: Dropped =
        Dropped { name: "plugin", template: "// Vigil's plugin\nconst program = \"@VIGILCTL@\";\nrun(program);\n" };

    fn installed(text: Option<&str>, program: &str) -> String {
        PLUGIN.install(text, None, program).unwrap()
    }

    #[test]
    fn what_is_put_in_is_complete_and_goes() {
        for program in ["/usr/bin/vigilctl", "/home/o\"neil/\\x/ü/vigilctl"] {
            let text = installed(None, program);
            let survey = PLUGIN.survey(Some(&text), None, &|asked| asked == program).unwrap();
            assert_eq!((survey.served, survey.fault, survey.missing.len()), (1, None, 0), "{text}");
            assert_eq!(survey.programs, [program.to_string()].into());
            assert_eq!(installed(Some(&text), program), text);
            assert_eq!(PLUGIN.uninstall(&text).unwrap(), Left::Nothing);
        }
    }

    #[test]
    fn an_older_one_is_seen_and_brought_up_to_date() {
        let old = "// Vigil's plugin\nold();\n";
        assert_eq!(PLUGIN.survey(Some(old), None, &|_| true).unwrap().fault, Some(Fault::Outdated));
        assert_eq!(installed(Some(old), "/usr/bin/vigilctl"), installed(None, "/usr/bin/vigilctl"));
        let gone = installed(None, "/gone/vigilctl");
        let fault = PLUGIN.survey(Some(&gone), None, &|_| false).unwrap().fault;
        assert_eq!(fault, Some(Fault::Gone("/gone/vigilctl".into())));
    }

    #[test]
    fn a_file_of_somebody_else_stays() {
        let theirs = "// mine\n";
        assert_eq!(PLUGIN.survey(Some(theirs), None, &|_| true).unwrap().served, 0);
        assert!(PLUGIN.install(Some(theirs), None, "/usr/bin/vigilctl").is_err());
        assert_eq!(PLUGIN.uninstall(theirs).unwrap(), Left::Text(theirs.into()));
        // What an uninstallation left behind a link is nobody's.
        assert_eq!(installed(Some(""), "/usr/bin/vigilctl"), installed(None, "/usr/bin/vigilctl"));
    }
}
