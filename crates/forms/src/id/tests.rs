use super::*;
use proptest::prelude::*;

#[test]
fn id_in_non_canonical_spelling_is_rejected() {
    let good = "obs_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    assert!(good.parse::<ObservationId>().is_ok());
    for bad in [
        "",
        "obs_",
        "obs01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "obj_01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "obs_01arz3ndektsv4rrffq69g5fav",
        "obs_01ARZ3NDEKTSV4RRFFQ69G5FA",
        "obs_01ARZ3NDEKTSV4RRFFQ69G5FAVV",
        "obs_81ARZ3NDEKTSV4RRFFQ69G5FAV",
        "obs_01ARZ3NDEKTSV4RRFFQ69G5FAI",
        "obs_01ARZ3NDEKTSV4RRFFQ69G5FAL",
        "obs_01ARZ3NDEKTSV4RRFFQ69G5FAO",
        "obs_01ARZ3NDEKTSV4RRFFQ69G5FAU",
        " obs_01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "obs_01ARZ3NDEKTSV4RRFFQ69G5F\u{e9}",
        "OBS_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ] {
        assert!(bad.parse::<ObservationId>().is_err(), "{bad:?}");
    }
}

proptest! {
    #[test]
    fn id_survives_a_round_trip_through_text_and_bytes(bits: u128) {
        let id = EmployeeId::from_ulid(Ulid(bits));
        prop_assert_eq!(id.to_string().parse::<EmployeeId>(), Ok(id));
        prop_assert_eq!(EmployeeId::from_bytes(id.to_bytes()), id);
    }

    #[test]
    fn text_that_parses_as_an_id_is_canonical(text in ".{0,40}") {
        if let Ok(id) = text.parse::<EmployeeId>() {
            prop_assert_eq!(id.to_string(), text);
        }
    }
}
