//! Allocations by texts in any script are limited to a small multiple of their bytes.

#![expect(unsafe_code, reason = "counting allocations requires an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use candor_domain::people::CustomFields;
use candor_search_words::SearchQuery;

/// Maximum number of allocated bytes per byte of a text.
const MOST: u64 = 2;

thread_local! {
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, with a counter of allocated bytes per thread.
struct CountingAllocator;

fn count(bytes: usize) {
    // The counter of a thread that is ending has already been dropped.
    let _ = ALLOCATED.try_with(|allocated| allocated.set(allocated.get() + bytes as u64));
}

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Returns the number of bytes that this thread allocates during some work.
fn count_allocated<T>(work: impl FnOnce() -> T) -> u64 {
    let count_before = ALLOCATED.get();
    let result = work();
    let count_after = ALLOCATED.get();
    drop(result);
    count_after - count_before
}

/// Returns custom fields of the maximum number, each with this text.
fn custom_fields(value: &str) -> String {
    let fields: Vec<_> = (0..32).map(|number| format!("\"field_{number}\":\"{value}\"")).collect();
    format!("{{{}}}", fields.join(","))
}

#[test]
fn custom_fields_are_decoded_without_copies_of_texts() {
    for (script, value) in [("ASCII", "a".repeat(4 * 1024)), ("emoji", "\u{1f600}".repeat(1024))] {
        let json = custom_fields(&value);
        let bytes = count_allocated(|| serde_json::from_str::<CustomFields>(&json).unwrap());
        let text_bytes = json.len() as u64;
        assert!(bytes <= MOST * text_bytes, "{script}: {bytes} bytes allocated for {text_bytes} bytes of JSON");
    }
}

#[test]
fn search_does_not_allocate_per_character() {
    for (script, text, present) in [
        ("ASCII", "calm under ".repeat(5_000), "calm"),
        ("Han", "漢字文章".repeat(5_000), "漢字"),
        ("Hiragana", "がんばりや".repeat(4_000), "ばり"),
        ("emoji", "\u{1f600}\u{1f389}\u{1f680}".repeat(6_600), "\u{1f389}"),
    ] {
        for query in [present, "pressure"] {
            let query = SearchQuery::parse(query).unwrap();
            let bytes = count_allocated(|| query.find(&[("observation", &text)]));
            let text_bytes = text.len() as u64;
            assert!(
                bytes <= MOST * text_bytes,
                "{script}: {bytes} bytes allocated for {text_bytes} bytes of text"
            );
        }
    }
}
