// SPDX-License-Identifier: GPL-3.0-or-later
//! npm's settings of one folder, `.npmrc`: two lines of ours above everything else.
//!
//! OpenCode and Kilo Code install a package of their own with npm's code into their folder of settings, and before they
//! load a plugin they wait for that. Without a network npm tries three times within a minute: seen, 1.18.33 and 7.7.7
//! stood still for 66 to 71 s, at each start until one with a network. With these lines they try once. Whoever has said
//! how often to try has it their way.

use super::Version;
use super::json::Flaw;
use super::part::{Format, Left, Survey};

/// The setting: how often a download is tried again.
const KEY: &str = "fetch-retries";

/// What is ours, without its ends of line.
const LINES: [&str; 2] = [
    "# Put in by Vigil: without a network, the agent must not wait a minute for its package at each start.",
    "fetch-retries=0",
];

/// Such a file, as a [`Format`].
#[derive(Debug)]
pub struct Npmrc;

/// The mark that some editors put first.
const MARK: char = '\u{feff}';

fn block(end: &str) -> String {
    LINES.map(|line| format!("{line}{end}")).concat()
}

/// What a text says before and after what is ours.
fn around(text: &str) -> Option<(&str, &str)> {
    ["\n", "\r\n"].iter().find_map(|end| text.split_once(block(end).as_str()))
}

/// Whether a text of somebody else's has the setting.
fn says(text: &str) -> bool {
    let key = |line: &str| line.split('=').next().unwrap_or_default().trim().to_string();
    text.trim_start_matches(MARK).lines().any(|line| key(line) == KEY)
}

impl Format for Npmrc {
    fn survey(
        &self,
        text: Option<&str>,
        _version: Option<Version>,
        _runs: &dyn Fn(&str) -> bool,
    ) -> Result<Survey, Flaw> {
        let text = text.unwrap_or_default();
        let ours = around(text).is_some() || is_whole(text);
        let required = usize::from(ours || !says(text));
        let missing = if required == 1 && !ours { vec![KEY] } else { Vec::new() };
        // By themselves these lines are no integration.
        Ok(Survey { served: 0, required, missing, ..Survey::default() })
    }

    fn install(&self, text: Option<&str>, _version: Option<Version>, _program: &str) -> Result<String, Flaw> {
        Ok(match text {
            None => block("\n"),
            // Without the last end of line: there was a file.
            Some("") => LINES.join("\n"),
            Some(text) if around(text).is_some() || is_whole(text) || says(text) => text.to_string(),
            Some(text) => {
                let (mark, rest) = text.strip_prefix(MARK).map_or(("", text), |rest| (&text[..MARK.len_utf8()], rest));
                let end = if rest.lines().next().is_some_and(|line| rest[line.len()..].starts_with("\r\n")) {
                    "\r\n"
                } else {
                    "\n"
                };
                format!("{mark}{}{rest}", block(end))
            }
        })
    }

    fn uninstall(&self, text: &str) -> Result<Left, Flaw> {
        Ok(match around(text) {
            Some(("", "")) => Left::Nothing,
            Some((before, after)) => Left::Text(format!("{before}{after}")),
            None if is_whole(text) => Left::Text(String::new()),
            None => Left::Text(text.to_string()),
        })
    }

    fn snippet(&self, _version: Option<Version>, _program: &str) -> String {
        block("\n")
    }

    fn emptied(&self) -> &'static str {
        ""
    }
}

/// What was put into an empty file.
fn is_whole(text: &str) -> bool {
    text == LINES.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_there_again() {
        for text in [
            "",
            "\n",
            "registry=https://npm.example/\n",
            "registry=https://npm.example/",
            "\u{feff}; mine\r\nsave-exact=true\r\n",
            "//npm.example/:_authToken=x\n\n\n",
            "fetch-retry-mintimeout = 10",
        ] {
            let there = Npmrc.install(Some(text), None, "").unwrap();
            assert!(there.contains("fetch-retries=0"), "{there}");
            assert_eq!(there.contains('\r'), text.contains('\r'));
            assert_eq!(there.starts_with(MARK), text.starts_with(MARK));
            assert_eq!(Npmrc.install(Some(&there), None, "").unwrap(), there, "twice is once");
            assert_eq!(Npmrc.survey(Some(&there), None, &|_| true).unwrap().missing.len(), 0);
            assert_eq!(Npmrc.survey(Some(text), None, &|_| true).unwrap().missing, [KEY]);
            assert_eq!(Npmrc.uninstall(&there).unwrap(), Left::Text(text.into()));
        }
    }

    #[test]
    fn a_file_that_came_with_us_goes() {
        let there = Npmrc.install(None, None, "").unwrap();
        assert_eq!(Npmrc.uninstall(&there).unwrap(), Left::Nothing);
        let more = format!("{there}save-exact=true\n");
        assert_eq!(Npmrc.uninstall(&more).unwrap(), Left::Text("save-exact=true\n".into()), "what was added stays");
    }

    #[test]
    fn whoever_has_said_how_often_has_it_their_way() {
        for text in ["fetch-retries=5\n", "fetch-retries = 5", "a=b\nfetch-retries=5\n", "\u{feff}fetch-retries=5"] {
            assert_eq!(Npmrc.install(Some(text), None, "").unwrap(), text);
            let survey = Npmrc.survey(Some(text), None, &|_| true).unwrap();
            assert_eq!((survey.required, survey.missing.len()), (0, 0));
            assert_eq!(Npmrc.uninstall(text).unwrap(), Left::Text(text.into()));
        }
    }
}
