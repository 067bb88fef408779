"""The ten source datasets as they are distributed, each as a tree of a few files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from fieldmark.errors import UsageError
from fieldmark.evals.curation.sources.found import Found
from fieldmark.evals.curation.sources.reading import LAYOUTS, read
from tests.evals.curation.pictures import save


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def aircraft(root: Path) -> None:
    save(root / "data/images/0034309.jpg", 1)
    write(root / "data/images_variant_train.txt", "0034309 737-300\n")
    write(root / "data/images_variant_trainval.txt", "0034309 737-300\n")


def cars(root: Path) -> None:
    save(root / "cars_train/00001.jpg", 1)
    save(root / "cars_test/00001.jpg", 2)
    names = np.array(["AM General Hummer SUV 2000", "Acura RL Sedan 2012"], dtype=object)
    box = {"bbox_x1": 1, "bbox_y1": 2, "bbox_x2": 30, "bbox_y2": 40}
    (root / "devkit").mkdir()
    savemat(root / "devkit/cars_meta.mat", {"class_names": names})
    for file, which in (("devkit/cars_train_annos.mat", 2), ("cars_test_annos_withlabels.mat", 1)):
        savemat(root / file, {"annotations": [{**box, "class": which, "fname": "00001.jpg"}]})


def dogs(root: Path) -> None:
    save(root / "Images/n02092339-Weimaraner/n02092339_107.jpg", 1)
    save(root / "Images/n02101388-Brittany_spaniel/n02101388_1.jpg", 2)


def flowers(root: Path) -> None:
    save(root / "jpg/image_00001.jpg", 1)
    savemat(root / "imagelabels.mat", {"labels": np.array([[77]], np.uint8)})
    write(root / "cat_to_name.json", json.dumps({"77": "passion flower"}))


def food(root: Path) -> None:
    save(root / "images/apple_pie/1005649.jpg", 1)
    write(root / "meta/classes.txt", "apple_pie\n")
    write(root / "meta/labels.txt", "Apple pie\n")


def vegfru(root: Path) -> None:
    save(root / "veg200_images/Chinese_artichoke/v_14_01_0001.jpg", 1)
    save(root / "fru92_images/kumquat/f_01_01_0001.jpg", 2)


def landmarks(root: Path) -> None:
    name = "6e158a47eb2ca3f6"
    save(root / f"train/6/e/1/{name}.jpg", 1)
    write(root / "train.csv", f"id,url,landmark_id\n{name},http://x.org/a.jpg,142820\n0,u,1\n")
    owner = f"{name},http://x.org/a,Ann,CC BY-SA 3.0,A view\n"
    write(root / "train_attribution.csv", f"id,url,author,license,title\n{owner}")
    category = "http://commons.wikimedia.org/wiki/Category:Bor%C3%A5s_tower"
    write(root / "train_label_to_category.csv", f"landmark_id,category\n142820,{category}\n")


def minerals(root: Path) -> None:
    save(root / "train/azurite/1.jpg", 1)


def met(root: Path) -> None:
    save(root / "images/438427.jpg", 1)
    write(root / "MetObjects.csv",
          "\ufeffObject Number,Is Public Domain,Object ID,Object Name,Title,Culture\n"
          "2000.68,True,438427,Painting,The Lamentation,\n1,False,1,Coin,One-dollar,\n")  # fmt: skip


def objects(root: Path) -> None:
    save(root / "images/small/14/14fe8812.jpg", 1)
    for file, text in (
        ("images/metadata/images.csv.gz", "image_id,height,width,path\n81iZ,96,96,14/14fe8812.jpg\n"),
        ("listings/metadata/listings_0.json.gz", json.dumps({
            "item_id": "B07", "main_image_id": "81iZ",
            "item_name": [{"language_tag": "de_DE", "value": "Stuhl"},
                          {"language_tag": "en_US", "value": "Rivet chair"}]}) + "\n"),
    ):  # fmt: skip
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_bytes(gzip.compress(text.encode()))


@pytest.mark.parametrize(
    ("layout", "make", "labels", "licence"),
    [
        ("fgvc-aircraft", aircraft, ["737-300"], "non-commercial research"),
        ("stanford-cars", cars, ["Acura RL Sedan 2012", "AM General Hummer SUV 2000"], ""),
        ("stanford-dogs", dogs, ["Weimaraner", "Brittany spaniel"], ""),
        ("oxford-flowers-102", flowers, ["passion flower"], ""),
        ("food-101", food, ["Apple pie"], ""),
        ("vegfru", vegfru, ["kumquat", "Chinese artichoke"], ""),
        ("google-landmarks-v2", landmarks, ["Borås tower"], "CC BY-SA 3.0"),
        ("minerals", minerals, ["azurite"], ""),
        ("met-open-access", met, ["The Lamentation"], "CC0-1.0"),
        ("amazon-berkeley-objects", objects, ["Rivet chair"], "CC-BY-NC-4.0"),
    ],
)
def test_a_layout_is_read(tmp_path: Path, layout: str, make: object, labels: list[str], licence: str) -> None:
    assert callable(make)
    make(tmp_path)
    found: list[Found] = list(read(tmp_path, layout))
    assert [each.label for each in found] == labels
    assert {each.licence for each in found} == {licence}
    assert all(isinstance(each.picture, Path) and each.picture.is_file() for each in found)


@pytest.mark.parametrize("layout", sorted(set(LAYOUTS) - {"minerals"}))
def test_a_folder_of_another_kind_is_told(tmp_path: Path, layout: str) -> None:
    with pytest.raises(UsageError, match="has no"):
        list(read(tmp_path, layout))
