"""What tokens cost; what is unknown is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.config import load_config
from fieldmark.errors import UsageError
from fieldmark.prices import BUNDLED, Costs, Price, find_price, read_prices
from fieldmark.run_models import make_costs
from fieldmark.trace import Tokens

PRICE = Price(input=2.0, output=10.0, cached=0.5)
MILLION = 1_000_000


def test_tokens_from_a_cache_have_their_own_price() -> None:
    assert PRICE.of(Tokens(input=MILLION, output=MILLION)) == 12.0
    assert PRICE.of(Tokens(input=MILLION, output=0, cached=MILLION)) == 0.5
    assert Price(input=2, output=10).of(Tokens(input=MILLION, output=0, cached=MILLION)) == 2.0


def test_a_call_without_usage_or_a_model_without_price_makes_the_cost_unknown() -> None:
    costs = Costs({"agent": PRICE, "eyes": None})
    used = Tokens(input=MILLION, output=0)
    assert costs.whole(used, {}, {"model_calls": 1}) == 2.0
    assert costs.whole(used, {}, {"model_calls": 2, "calls_without_usage": 1}) is None
    assert costs.whole(used, {}, {"model_calls": 1, "eyes_calls": 1}) is None
    assert costs.spent(used, {"eyes": used}) == 2.0
    assert Costs({}).whole(Tokens(), {}, {"model_calls": 1}) is None
    assert Costs({}).whole(Tokens(), {}, {"model_calls": 0}) == 0.0


def test_a_model_that_costs_nothing_costs_nothing_whatever_it_reports() -> None:
    free = find_price("builtin/scout", {})
    assert Costs({"agent": free}).whole(Tokens(), {}, {"model_calls": 3, "calls_without_usage": 3}) == 0.0


def test_an_exact_name_goes_before_a_pattern_and_ones_own_before_the_bundled() -> None:
    own = {"gpt-*": Price(input=9, output=9), "qwen-*": PRICE, "qwen-7b": Price(input=1, output=1)}
    assert find_price("qwen-7b", own) == own["qwen-7b"]
    assert find_price("qwen-8b", own) == PRICE
    assert find_price("gpt-5-mini", own) == own["gpt-*"]
    assert find_price("somebody-elses", own) is None


def test_each_bundled_price_names_its_source_and_day() -> None:
    for name, row in read_prices(BUNDLED).items():
        price = Price.model_validate(row)
        assert price.free or (price.source.startswith("https://") and price.date), name


def test_prices_are_given_as_a_file_or_in_the_runs_own(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text('["qwen*"]\ninput = 0.2\noutput = 0.6\n')
    (tmp_path / "run.toml").write_text('[prices."qwen*"]\ninput = 0.2\noutput = 0.6\n')
    by_flag = load_config(None, {"prices": tmp_path / "prices.toml"})
    by_file = load_config(tmp_path / "run.toml", {})
    assert by_flag.prices == by_file.prices == {"qwen*": Price(input=0.2, output=0.6)}


def test_a_budget_in_money_needs_a_price() -> None:
    config = load_config(None, {"model": "qwen", "max_cost": 1.0})
    with pytest.raises(UsageError, match="no price of 'qwen' is known to count a cost by: give --prices"):
        make_costs(config)


@pytest.mark.parametrize(
    "text",
    ["[x]\ninput = -1\noutput = 1", "[x]\ninput = true\noutput = 1", "[x]\ninput = 1", "x = 1", "[x"],
)
def test_a_price_table_that_is_none_is_told_in_a_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "prices.toml").write_text(text)
    with pytest.raises(UsageError, match="prices"):
        load_config(None, {"prices": tmp_path / "prices.toml"})
