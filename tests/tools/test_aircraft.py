"""Registrations: the grammar, the registry, and the tool on top of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fieldmark.errors import UsageError
from fieldmark.tools.aircraft.db import AircraftDb
from fieldmark.tools.aircraft.importing import import_sources
from fieldmark.tools.calling import call_tool
from fieldmark.tools.reading.registrations import marks, nation_of, normalised
from fieldmark.tools.registry import get_tool
from tests.tools.pictures import ContextOf

HEADER = "registration,icao24,type,manufacturer,model,operator,built,source,date\n"
ROWS = """\
N8710M,abfc71,B38M,Boeing,737 MAX 8,Southwest Airlines,2020,sample,2024-03-01
D-AIMA,3c65a1,A388,Airbus,A380-841,Lufthansa,2010,sample,2024-03-01
G-BOAC,400f01,CONC,BAC/Aerospatiale,Concorde 102,British Airways,1975,sample,2003-10-31
ZZ-TSI,,A332,Airbus,A330-200,Old Test Air,,src_a,2019-05-01
ZZ-TSI,,C414,Cessna,414A,,,src_b,2022-06-10
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "sample.csv"
    path.write_text(HEADER + ROWS)
    return path


@pytest.mark.parametrize(
    ("read", "could_be"),
    [
        ("N1O5BA", "N105BA"),
        ("n 105 ba", "N105BA"),
        ("G-8OAC", "G-BOAC"),
        ("D-A1BC", "D-AIBC"),
        ("GEUUU", "G-EUUU"),
        ("Ｂ－１８９０１", "B-18901"),
        ("VH–OQA", "VH-OQA"),
    ],
)
def test_readings_and_the_first_mark_they_could_be(read: str, could_be: str) -> None:
    assert marks(read)[0].text == could_be


def test_the_changed_characters_are_marked() -> None:
    assert marks("G-8OAC")[0].changed == ((2, "8", "B"),)
    assert marks("N105BA")[0].changed == ()


@pytest.mark.parametrize(
    ("mark", "nation"),
    [
        ("N37502", "United States"),
        ("N0123", None),
        ("N12I", None),
        ("NB710M", None),
        ("B-18901", "Taiwan"),
        ("B-2447", "China"),
        ("B-HKA", "Hong Kong"),
        ("HB-JNA", "Switzerland"),
        ("JA8089", "Japan"),
        ("9V-SKA", "Singapore"),
        ("BOEING", None),
        ("G-EUU", None),
    ],
)
def test_the_grammar_is_strict(mark: str, nation: str | None) -> None:
    assert nation_of(mark) == nation


def test_a_long_string_is_answered_at_once() -> None:
    assert marks("O0I1B8S5Z2" * 50) == []


def test_dashes_and_widths_are_folded() -> None:
    assert normalised(" ｂ—２５０１ ") == "B-2501"


@pytest.fixture(params=["csv", "sqlite"])
def registry(request: pytest.FixtureRequest, sample: Path) -> AircraftDb:
    if request.param == "csv":
        return AircraftDb.open(sample)
    target = sample.with_suffix(".sqlite")
    assert [done.records for done in import_sources([sample], target)] == [5]
    return AircraftDb.open(target)


def test_look_up_by_mark_in_any_spelling_and_by_hex(registry: AircraftDb) -> None:
    for query in ("N8710M", "n8710m", "ABFC71", "0xabfc71"):
        reply = registry.lookup(query)
        assert reply["found"]
        assert reply["records"][0]["type"] == "B38M"
        assert reply["nation"] == "United States"


def test_a_misreading_gives_candidates_registered_ones_first(registry: AircraftDb) -> None:
    reply = registry.lookup("G-8OAC")
    assert not reply["found"]
    first = reply["candidates"][0]
    assert first["registration"] == "G-BOAC"
    assert first["changed"] == [{"at": 2, "from": "8", "to": "B"}]
    assert first["record"]["model"] == "Concorde 102"


def test_what_is_no_registration_finds_nothing(registry: AircraftDb) -> None:
    reply = registry.lookup("'; DROP TABLE aircraft; --")
    assert reply == {"found": False, "records": [], "candidates": [], "nation": None}


def test_the_tool_tells_source_date_and_conflict(context_of: ContextOf, registry: AircraftDb) -> None:
    context = context_of(Image.new("RGB", (50, 50)), registry=registry)
    text = call_tool(get_tool("aircraft_registry"), {"registration": "ZZ-TSI"}, context, door="graph").text
    assert text.index("Cessna 414A") < text.index("Airbus A330-200")  # the newer first
    assert "(source src_b, 2022-06-10)" in text
    assert "disagree" in text


def test_the_tool_shows_what_a_misreading_could_be(context_of: ContextOf, registry: AircraftDb) -> None:
    context = context_of(Image.new("RGB", (50, 50)), registry=registry)
    result = call_tool(get_tool("aircraft_registry"), {"registration": "D-A1MA"}, context, door="graph")
    assert result.ok
    assert result.data["found"] is False
    assert "- D-AIMA (1->I): in the registry as D-AIMA: Airbus A380-841" in result.text


def test_the_tool_says_which_mark_it_looked_for(context_of: ContextOf, registry: AircraftDb) -> None:
    context = context_of(Image.new("RGB", (50, 50)), registry=registry)
    result = call_tool(get_tool("aircraft_registry"), {"registration": "n 105 ba"}, context, door="graph")
    assert 'No registry record for N105BA (from "n 105 ba")' in result.text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"icao24": "3C65A1"}, "- D-AIMA: Airbus A380-841"),
        ({"registration": "", "icao24": "0x3c65a1", "serial": ""}, "- D-AIMA: Airbus A380-841"),
        ({"serial": "077"}, "No registry record for 077."),
        ({"registration": None, "serial": 12345}, "No registry record for 12345."),
        ({"registration": "N1"}, "US numbering: N1 = 24-bit address a00001"),
    ],
)
def test_the_tool_takes_an_address_or_a_serial_instead(
    context_of: ContextOf, registry: AircraftDb, arguments: dict[str, Any], says: str
) -> None:
    context = context_of(Image.new("RGB", (50, 50)), registry=registry)
    result = call_tool(get_tool("aircraft_registry"), arguments, context, door="graph")
    assert result.ok
    assert says in result.text


@pytest.mark.parametrize(
    "arguments", [{}, {"registration": " "}, {"registration": "N1", "serial": "22"}, {"icao24": "D-AIMA"}]
)
def test_the_tool_wants_exactly_one_thing_to_look_up(
    context_of: ContextOf, registry: AircraftDb, arguments: dict[str, str]
) -> None:
    context = context_of(Image.new("RGB", (50, 50)), registry=registry)
    result = call_tool(get_tool("aircraft_registry"), arguments, context, door="graph")
    assert result.error_kind == "invalid_args"


@pytest.mark.parametrize(
    ("read", "nation"),
    [("NIO5", "United States"), ("QQ-ABC", None), ("85123", None), ("UR-82060", "Ukraine")],
)
def test_a_guess_at_the_prefix_names_no_nation(registry: AircraftDb, read: str, nation: str | None) -> None:
    assert registry.lookup(read)["nation"] == nation


def test_without_a_registry_it_is_unavailable(context_of: ContextOf) -> None:
    context = context_of(Image.new("RGB", (50, 50)))
    result = call_tool(get_tool("aircraft_registry"), {"registration": "D-AIMA"}, context, door="graph")
    assert result.error_kind == "unavailable"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tail,type\nD-AIMA,A388\n", "none of the formats"),
        (HEADER + ROWS + ",,,,,,,,\n", "line 7: neither a registration nor a 24-bit address"),
        (HEADER + "D-AIMA,xyz,A388,,,,,,\n", "'xyz' is no 24-bit address"),
    ],
)
def test_a_csv_read_as_it_is_must_be_good(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(UsageError, match=says):
        AircraftDb.open(tmp_path / "bad.csv")


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG...")
    with pytest.raises(UsageError, match="not an aircraft registry"):
        AircraftDb.open(tmp_path / "picture.png")
