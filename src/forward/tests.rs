// SPDX-License-Identifier: GPL-3.0-or-later

use std::hash::{DefaultHasher, Hasher};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::agent::{CATALOGUE, find};

fn reduced(payload: &[u8]) -> Value {
    Value::Object(reduce(&find("claude"), payload).expect("one JSON object"))
}

fn refused(payload: &[u8]) -> bool {
    reduce(&find("claude"), payload).is_err_and(|refusal| refusal.name == ErrorName::InvalidPayload)
}

#[test]
fn what_is_not_listed_is_left_out() {
    let payload = json!({"session_id": "s", "secret": "x", "tool_input": {"command": "ls", "content": "x"}});
    let mut reduced = reduced(payload.to_string().as_bytes());
    let hash = reduced.as_object_mut().and_then(|reduced| reduced.remove(HASH_KEY));
    assert_eq!(reduced, json!({"session_id": "s", "tool_input": {"command": "ls"}}));
    assert_eq!(hash.and_then(|hash| hash.as_str().map(str::len)), Some(16));
}

#[test]
fn nothing_is_an_empty_object() {
    assert_eq!(reduced(b""), json!({}));
    assert_eq!(reduced(b" \r\n\t"), json!({}));
}

#[test]
fn what_is_not_one_whole_object_is_refused() {
    for payload in
        ["[]", "1", "\"x\"", "null", "{", "{\"a\":1", "{}{}", "{} x", "{'a':1}", "{\"a\":01}", "{\"a\":}", "garbage"]
    {
        assert!(refused(payload.as_bytes()), "{payload}");
    }
    assert!(refused(b"\xff\xfe"));
}

#[test]
fn texts_are_cut_at_a_character_and_ids_never() {
    let text = reduced(json!({"message": "é".repeat(300)}).to_string().as_bytes());
    assert_eq!(text, json!({"message": "é".repeat(256)}));
    let odd = reduced(json!({"message": format!("x{}", "é".repeat(300))}).to_string().as_bytes());
    assert_eq!(odd["message"].as_str().map(str::len), Some(511));
    let id = "x".repeat(4096);
    assert_eq!(reduced(json!({"session_id": id}).to_string().as_bytes()), json!({"session_id": id}));
    assert_eq!(reduced(json!({"session_id": format!("{id}x")}).to_string().as_bytes()), json!({}));
}

#[test]
fn arrays_are_cut_and_keep_their_shape() {
    let many: Vec<_> = (0..100).map(|id| json!({"id": id.to_string(), "secret": 1})).collect();
    let reduced_many = reduced(json!({"background_tasks": many}).to_string().as_bytes());
    assert_eq!(reduced_many["background_tasks"].as_array().map(Vec::len), Some(ARRAY_ITEMS));
    assert_eq!(reduced_many["background_tasks"][63], json!({"id": "63"}));
    // An empty list says that nothing runs; a missing one says nothing.
    assert_eq!(reduced(br#"{"background_tasks":[]}"#), json!({"background_tasks": []}));
    assert_eq!(reduced(br#"{"background_tasks":null}"#), json!({"background_tasks": null}));
    assert_eq!(reduced(br#"{"background_tasks":{"[]":{"id":"x"}}}"#), json!({}));
}

#[test]
fn scalars_pass_and_containers_do_not() {
    let payload = br#"{"seq":18446744073709551615,"value":0.1,"waiting":true,"title":null,"cwd":{"a":1},"model":[1]}"#;
    assert_eq!(reduced(payload), json!({"seq": u64::MAX, "value": 0.1, "waiting": true, "title": null}));
    assert_eq!(reduced(br#"{"value":-1,"seq":1e999}"#), json!({"value": -1}));
}

#[test]
fn the_last_of_equal_keys_counts() {
    assert_eq!(reduced(br#"{"cwd":"/a","cwd":"/b"}"#), json!({"cwd": "/b"}));
    assert_eq!(reduced(br#"{"cwd":"/a","cwd":{}}"#), json!({}));
    assert_eq!(reduced(br#"{"cwd":"/a","c\u0077d":"/b"}"#), json!({"cwd": "/b"}));
}

#[test]
fn what_is_no_text_reads_as_a_replacement_character() {
    assert_eq!(reduced(b"{\"message\":\"a\xffb\"}"), json!({"message": "a\u{FFFD}b"}));
    assert_eq!(reduced(br#"{"message":"a\ud800b\udc00\ud800\ud800c"}"#), json!({"message": "a�b���c"}));
    assert_eq!(reduced(br#"{"message":"\ud83d\ude80\ud83dx"}"#), json!({"message": "🚀�x"}));
    assert_eq!(reduced(b"{\"message\":\"a\\u0000b\0c\"}"), json!({"message": "a�b�c"}));
    assert_eq!(reduced(br#"{"a\ud800":1,"b\u0000":2,"cwd":"/"}"#), json!({"cwd": "/"}));
    assert_eq!(reduced(b"{\"\xff\":1,\"cwd\":\"/\"}"), json!({"cwd": "/"}));
}

#[test]
fn escapes_are_read() {
    assert_eq!(reduced(br#"{"message":"\"\\\/\b\f\n\r\t\u00e9"}"#), json!({"message": "\"\\/\u{8}\u{c}\n\r\té"}));
}

#[test]
fn depth_of_a_skipped_value_harms_nothing() {
    let deep = |key: &str| format!("{{\"{key}\":{}{},\"cwd\":\"/\"}}", "[".repeat(100_000), "]".repeat(100_000));
    for key in ["unknown", "message", "background_tasks", "tool_response"] {
        assert_eq!(reduced(deep(key).as_bytes())["cwd"], "/", "{key}");
    }
    let objects = format!("{{\"tool_input\":{}1{},\"cwd\":\"/\"}}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    assert_eq!(reduced(objects.as_bytes())["cwd"], "/");
    assert!(refused("[".repeat(100_000).as_bytes()));
}

#[test]
fn the_hash_is_of_the_input_whatever_its_white_space() {
    let hash = |payload: &[u8]| reduced(payload)[HASH_KEY].clone();
    let one = hash(br#"{"tool_input":{"a b":"c \" d","e":[1,2]}}"#);
    assert_eq!(one, hash(b"{\"tool_input\" : {\n\"a b\": \"c \\\" d\", \"e\": [1, 2] }}"));
    assert_ne!(one, hash(br#"{"tool_input":{"a b":"c\" d","e":[1,2]}}"#));
    assert_eq!(hash(br#"{"tool_input":1,"vigil_input_hash":"known"}"#), "known");
    assert_eq!(hash(br#"{"cwd":"/"}"#), Value::Null);
}

/// What two hook processes of any two versions have to agree on.
fn hash_of(text: &str) -> Value {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    format!("{:016x}", hasher.finish()).into()
}

/// The payload with a long string in it, as that is written in JSON.
fn with_content(content: &str) -> String {
    format!(r#"{{"session_id":"s","tool_input":{{"file_path":"/f","content":"{content}"}},"cwd":"/"}}"#)
}

#[test]
fn a_long_string_is_hashed_to_its_end() {
    for content in
        ["x".repeat(1 << 20), "0123456789abcde\\n".repeat(50_000), "\\ud83d\\ude80é🚀\\\\\\\"".repeat(20_000)]
    {
        let payload = with_content(&content);
        let input = format!(r#"{{"file_path":"/f","content":"{content}"}}"#);
        let expected = json!({
            "session_id": "s", "tool_input": {"file_path": "/f"}, "cwd": "/", HASH_KEY: hash_of(&input)
        });
        assert_eq!(reduced(payload.as_bytes()), expected);
        assert_ne!(reduced(with_content(&format!("{content}y")).as_bytes())[HASH_KEY], expected[HASH_KEY]);
    }
    let twice = br#"{"tool_input":{"a":1},"tool\u005finput" : [ 1, "x y" ],"x":{"tool_input":2}}"#;
    assert_eq!(reduced(twice)[HASH_KEY], hash_of(r#"[1,"x y"]"#));
    let legible = format!(r#"{{"file_path":"/f","content":"a{0}b{0}"}}"#, '\u{FFFD}');
    assert_eq!(
        reduced(b"{\"tool_input\":{\"file_path\":\"/f\",\"content\":\"a\xffb\0\"}}")[HASH_KEY],
        hash_of(&legible)
    );
}

#[test]
fn a_long_string_is_cut_as_a_short_one() {
    for (unit, character) in [("x", "x"), ("é", "é"), ("\\u0041", "A"), ("\\n", "\n"), ("\\ud83d\\ude80", "🚀")] {
        let long = format!(r#"{{"message":"{0}","session_id":"{0}","cwd":"/"}}"#, unit.repeat(100_000));
        let expected = json!({"message": character.repeat(TEXT_BYTES / character.len()), "cwd": "/"});
        assert_eq!(reduced(long.as_bytes()), expected, "{unit}");
    }
    let long_key = format!(r#"{{"{0}":1,"session_id{0}":"x","cwd":"/"}}"#, "k".repeat(100_000));
    assert_eq!(reduced(long_key.as_bytes()), json!({"cwd": "/"}));
}

#[test]
fn what_is_malformed_in_a_long_string_is_refused() {
    for wrong in ["\n", "\u{1}", "\\x", "\\é", "\\u12", "\\u12x4", "\\ud83d\\u", "\\u🚀", "\"x"] {
        for length in [10, 24_598, 24_599, 24_600, 24_601, 100_000] {
            let payload = with_content(&format!("{}{wrong}{}", "x".repeat(length), "y".repeat(50_000)));
            assert!(refused(payload.as_bytes()), "{wrong:?} after {length}");
        }
    }
    let payload = with_content(&"x".repeat(100_000));
    for end in [50_000, 100_010, payload.len() - 1] {
        assert!(refused(&payload.as_bytes()[..end]));
    }
}

/// The payload in pieces of that length.
fn reduced_by(length: usize, payload: &[u8]) -> Result<Map<String, Value>, Refusal> {
    let mut reduction = Reduction::new(&find("claude"));
    payload.chunks(length).for_each(|piece| reduction.push(piece));
    reduction.finish()
}

#[test]
fn the_pieces_may_end_anywhere() {
    let long = with_content(&"\\ud83d\\ude80é🚀\\\\".repeat(5_000));
    let mut broken = long.clone().into_bytes();
    broken.extend_from_slice(b" \xf0\x9f\x9a");
    let odd = b"{\"message\":\"a\xf0\x9f\x9a\xffb\xe2\x82\0c\",\"tool_input\" : [1 , \"\xc3\"]}";
    for payload in [long.as_bytes(), &broken, odd, b"{\"cwd\":\"/\"}\xc3"] {
        for length in [1, 2, 3, 5, 7, 64, 4_099, 24_600] {
            assert_eq!(reduced_by(length, payload).ok(), reduce(&find("claude"), payload).ok(), "by {length}");
        }
    }
    assert_eq!(reduced_by(3, odd).map(|kept| kept["message"].clone()), Ok("a��b��c".into()));
}

#[test]
fn little_of_a_large_payload_is_kept() {
    let mut intake = Intake::new(None);
    let content = "0123456789abcde\\n".repeat(100_000);
    intake.push(with_content(&content).as_bytes());
    let (text, _) = intake.finish();
    assert!(text.len() < 26_000, "{}", text.len());
    assert!(content.starts_with(&text[60..20_000]));
}

/// Every path in a value, as `Field::path` spells it.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    let below = |step: &str| if path.is_empty() { step.to_string() } else { format!("{path}.{step}") };
    match value {
        Value::Object(object) if !object.is_empty() => {
            object.iter().for_each(|(key, value)| paths(value, &below(key), found));
        }
        Value::Array(array) if !array.is_empty() => array.iter().for_each(|item| paths(item, &below(ITEMS), found)),
        _ => found.push(path.to_string()),
    }
}

/// JSON that is made of what matters here: listed keys and others, texts around the limits, any nesting.
fn payload() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        (500_usize..520, "[aé🚀]").prop_map(|(length, text)| text.repeat(length).into()),
        (4090_usize..4100).prop_map(|length| "x".repeat(length).into()),
    ];
    let key = prop_oneof![
        8 => (0..CATALOGUE.len(), any::<prop::sample::Index>(), 0_usize..3).prop_map(|(agent, index, step)| {
            let fields: Vec<_> = CATALOGUE[agent].all_fields().collect();
            let mut steps = index.get(&fields).path.split('.').cycle();
            steps.nth(step).unwrap_or_default().to_string()
        }),
        1 => Just(HASH_KEY.to_string()),
        1 => "[a-z]{0,3}",
    ];
    let value = scalar.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..8)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    });
    value.prop_filter("an object", Value::is_object)
}

/// No payload grows beyond this, for the listed fields are few and each has its limit.
const BOUND: usize = 2 << 20;

fn check(agent: &Agent<'_>, payload: &[u8]) -> Result<(), TestCaseError> {
    let Ok(once) = reduce(agent, payload) else { return Ok(()) };
    let text = Value::Object(once.clone()).to_string();
    prop_assert!(text.len() < BOUND);
    if agent.id == "claude" {
        prop_assert_eq!(reduced_by(7, payload), Ok(once.clone()));
    }
    prop_assert_eq!(reduce(agent, text.as_bytes()), Ok(once.clone()));
    let mut found = Vec::new();
    paths(&Value::Object(once), "", &mut found);
    for path in found {
        let listed = |field: &Field| field.path == path || field.path.starts_with(&format!("{path}."));
        prop_assert!(path.is_empty() || path == HASH_KEY || agent.all_fields().any(listed), "{} is not listed", path);
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_object_is_reduced_once_and_for_all(payload in payload(), agent in 0..CATALOGUE.len()) {
        let agent = &CATALOGUE[agent];
        prop_assert!(reduce(agent, payload.to_string().as_bytes()).is_ok());
        check(agent, payload.to_string().as_bytes())?;
    }

    #[test]
    fn any_bytes_are_survived(payload in prop::collection::vec(any::<u8>(), 0..256)) {
        check(&find("claude"), &payload)?;
    }

    #[test]
    fn a_damaged_object_is_survived(payload in payload(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = payload.to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        check(&find("claude"), &bytes)?;
        check(&find("claude"), &bytes[..at])?;
    }
}
