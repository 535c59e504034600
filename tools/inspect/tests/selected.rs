//! Tests of finding the position of an operand in assembly text.

use halfbyte_inspect::view::selected::only_difference;

#[test]
fn finds_the_only_difference_of_two_texts() {
    assert_eq!(only_difference(&["a", "b"], &["a", "c"]), Some(1));
    assert_eq!(only_difference(&["a", "b"], &["c", "d"]), None);
    assert_eq!(only_difference(&["a", "b"], &["a", "b"]), None);
    assert_eq!(only_difference(&["a"], &["b", "c"]), None);
}
