//! Tests of JUnit reports for CI systems, which an independent XML parser reads.

use xml::reader::{EventReader, XmlEvent};

use crate::common::{halfbyte, halfbyte_on};

/// An XML element of a report.
#[derive(Debug, PartialEq)]
pub struct Element {
    pub depth: usize,
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub text: String,
}

impl Element {
    /// Returns the value of an attribute, or an empty string if the element has no such attribute.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(of, _)| of == name).map_or("", |(_, value)| value)
    }
}

/// Parses a report. Asserts that it is well-formed and contains only elements and attributes of JUnit.
#[track_caller]
pub fn read(report: &str) -> Vec<Element> {
    let (mut elements, mut open) = (Vec::<Element>::new(), Vec::new());
    for event in EventReader::from_str(report) {
        match event.unwrap() {
            XmlEvent::StartElement { name, attributes, .. } => {
                let attributes = attributes.into_iter().map(|of| (of.name.local_name, of.value)).collect();
                open.push(elements.len());
                elements.push(Element {
                    depth: open.len() - 1,
                    name: name.local_name,
                    attributes,
                    text: String::new(),
                });
            }
            XmlEvent::EndElement { .. } => drop(open.pop()),
            XmlEvent::Characters(text) | XmlEvent::CData(text) => elements[*open.last().unwrap()].text += &text,
            _ => {}
        }
    }
    let parent = |name: &str| match name {
        "testsuites" => 0,
        "testsuite" => 1,
        "testcase" => 2,
        "failure" | "error" | "skipped" => 3,
        other => panic!("JUnit has no element {other}"),
    };
    for element in &elements {
        assert_eq!(element.depth, parent(&element.name), "{element:?}");
        let number = |name: &str| assert!(element.attribute(name).parse::<f64>().is_ok(), "{name} of {element:?}");
        match element.name.as_str() {
            "testsuites" | "testsuite" => ["tests", "failures", "errors", "skipped", "time"].map(number),
            "testcase" if !element.attribute("time").is_empty() => [number("time"); 5],
            _ => [(); 5],
        };
    }
    for (number, suite) in elements.iter().enumerate().filter(|(_, element)| element.depth < 2) {
        let inside = || elements[number + 1..].iter().take_while(|element| element.depth > suite.depth);
        for (attribute, name) in
            [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
        {
            let count = inside().filter(|element| element.name == name).count();
            assert_eq!(suite.attribute(attribute), count.to_string(), "{attribute} of {suite:?}");
        }
    }
    elements
}

const KERNEL: &str =
    "kernel @k(%x: in i32, %y: out i32) {\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  store %v, %y[%i]\n  ret\n}\n";

#[test]
fn test_writes_a_case_a_kernel() {
    let text =
        format!("; test: isel halu\n{}; check: LDG\n{}; check: <&\"'\u{1}>\n", KERNEL, KERNEL.replace("@k", "@other"));
    let called = halfbyte_on(&["test", "-", "--junit", "-"], text.as_bytes());
    assert_eq!(called.code, 1);
    let elements = read(&called.out);
    let names: Vec<&str> = elements.iter().map(|element| element.name.as_str()).collect();
    assert_eq!(names, ["testsuites", "testsuite", "testcase", "testcase", "failure"]);
    assert_eq!((elements[1].attribute("name"), elements[2].attribute("name")), ("<stdin>", "@k"));
    assert_eq!((elements[3].attribute("name"), elements[3].attribute("line")), ("@other", "17"));
    assert_eq!(elements[4].attribute("message"), "`<&\"'\u{fffd}>` is not in the output from here on");
    assert!(elements[4].text.contains("--> <stdin>:17:"), "{}", elements[4].text);
}

#[test]
fn test_writes_what_cannot_be_read_as_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let [kernel, report] = ["bad.hb", "report.xml"].map(|name| folder.path().join(name).display().to_string());
    std::fs::write(&kernel, KERNEL).unwrap();
    let called = halfbyte(&["test", &kernel, "--junit", &report]);
    called.fails(1, "there is no `; test:` line for @k");
    assert!(called.out.ends_with("0 passed, 1 failed\n"), "{}", called.out);
    let elements = read(&std::fs::read_to_string(&report).unwrap());
    assert_eq!((elements[3].name.as_str(), elements[3].attribute("message")), ("error", "no tests can be read"));
    halfbyte(&["test", &kernel, "--junit", "-", "--json"]).fails(2, "--junit FILE");
    let nowhere = folder.path().join("no/such/report.xml").display().to_string();
    halfbyte(&["test", &kernel, "--junit", &nowhere]).fails(2, "report.xml");
}
