"""Which notes are found: by words in any script, by pieces of words, by the look of the picture."""

from __future__ import annotations

import numpy as np
import pytest

from fieldmark.memory.notes import Note
from fieldmark.memory.retrieval import Stored, best
from fieldmark.memory.vectors import LENGTH, Floats, packed, text_vector, unpacked

TEXTS = [
    "The blue tail with a white crane is worn by Xiamen Airlines.",
    "Nikon F3 and F3HP differ in the viewfinder's height.",
    "厦门航空的飞机尾翼是蓝色的，上面有一只白鹭。",
    "The Agaricus family has pink gills when it is young.",
]


def stored(text: str, look: Floats | None = None, name: str = "") -> Stored:
    note = Note(id="t", note=name or text[:8], kind="visual_cue", text=text, cites=[1])
    return Stored(note, text_vector(text), look)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("which airline has a white crane on its tail", 0),
        ("viewfinders of the Nikon F3", 1),
        ("蓝色尾翼的航空公司", 2),
        ("AGARICUS", 3),
    ],
)
def test_a_note_is_found_by_its_words_in_any_script(query: str, text: int) -> None:
    hits = best([stored(each) for each in TEXTS], query, None, 4)
    assert hits[0].note.text == TEXTS[text]
    assert hits[0].score == pytest.approx(hits[0].text / 2, abs=1e-4)
    assert all(hit.look == 0 for hit in hits)


def test_a_word_that_all_notes_share_tells_nothing() -> None:
    notes = [stored(f"The aircraft has {part}.") for part in ("winglets", "four engines", "a T-tail")]
    assert "four engines" in best(notes, "an aircraft with four engines", None, 1)[0].note.text


def test_text_and_look_count_alike() -> None:
    here, elsewhere = np.array([1, 0, 0], np.float32), np.array([0, 1, 0], np.float32)
    notes = [stored("a red kite", elsewhere), stored("something else", here), stored("a red kite!", here)]
    both, by_look, by_words = best(notes, "a red kite", here, 3)
    assert [both.note.text, by_look.note.text] == ["a red kite!", "something else"]
    assert both.score == pytest.approx(1.0, abs=0.001)
    assert by_look.look == pytest.approx(1.0)
    assert by_look.text < 0.1
    assert by_words.look == pytest.approx(0.0)
    assert by_words.text == pytest.approx(1.0, abs=0.001)


def test_of_equal_notes_the_newer_goes_first_and_one_text_is_shown_once() -> None:
    notes = [stored("an old note", name="a"), stored("an old note", name="b"), stored("a nut", name="c")]
    hits = best(notes, "unrelated: 鳥", None, 5)
    assert [(hit.note.note, hit.same) for hit in hits] == [("c", ()), ("b", ("a",))]


def test_vectors_of_other_makes_and_of_no_notes_are_borne() -> None:
    assert best([], "anything", np.ones(3, np.float32), 5) == []
    hits = best([stored("a", np.ones(3, np.float32))], "a", np.ones(4, np.float32), 5)
    assert hits[0].look == 0


def test_a_vector_is_the_same_when_it_is_unpacked() -> None:
    vector = text_vector("Boeing 737-800")
    assert vector.shape == (LENGTH,)
    assert vector.dtype == np.float32
    assert (unpacked(packed(vector)) == vector).all()
    assert not text_vector("").any()
